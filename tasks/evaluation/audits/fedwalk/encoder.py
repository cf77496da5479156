"""Audit of FedWalk's encoder, one release of one vertex; walks claim nothing.

An encoding is summarised by its likelihood ratio under the claimed law, next to the pair of vertices; by whether it is
the one or the other vertex; and by how far up its path meets theirs.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoder import encode, encoder_for
from tasks.client.fedwalk.guarantee import worst_release_budget
from tasks.evaluation.audits.case import AuditCase, Copies, joined
from tasks.evaluation.audits.features.inputs import on_grid
from tasks.evaluation.audits.fedwalk.laws import (
    balanced_tree,
    levels_from,
    log_law,
    one_sided_tree,
    uneven_tree,
    vertex_pairs,
)

RARE_COPIES = 8_000_000
"""Draws where a vertex that is sent as it is is seldom: a few more of them are seen."""


def encoder_cases() -> list[AuditCase]:
    """Balanced trees, a one-sided one and an uneven one."""
    return [
        *(_case("balanced", balanced_tree(3), epsilon) for epsilon in ("0.2", "0.5", "1", "2")),
        *(_case("one-sided", one_sided_tree(6), epsilon) for epsilon in ("0.2", "0.5")),
        *(_case("uneven", uneven_tree(40), epsilon) for epsilon in ("0.1", "0.4")),
        *(_case("balanced", balanced_tree(10), epsilon, RARE_COPIES) for epsilon in ("0.05", "0.1", "0.2")),
    ]


def _case(shape: str, tree: ClusterTree, epsilon: str, draws: int = 4_000_000) -> AuditCase:
    before, after = vertex_pairs(tree, float(epsilon))[0]
    own, neighbour = (np.exp(log_law(tree, float(epsilon), v)[after]) / 2 for v in (after, before))
    return AuditCase(
        "tree-path encoder",
        f"eps_encoder {epsilon} a level, {shape} tree of depth {tree.depth}",
        "vertex",
        float(worst_release_budget(tree, epsilon)),
        partial(encodings, tree, epsilon),
        draws,
        copies=Copies(float(own), float(neighbour), 0.5),
    )


def encoded(tree: ClusterTree, epsilon: str, vertices: NDArray[np.int64], rng: np.random.Generator) -> NDArray:
    """One encoding of every vertex by the real mechanism."""
    return _encoded(encoder_for(tree, epsilon), vertices, rng.random((len(vertices), 2)))


@njit(nogil=True)
def _encoded(encoder, vertices, uniform):  # type: ignore[no-untyped-def]
    drawn = np.empty(len(uniform), dtype=np.int64)
    for number in range(len(uniform)):
        drawn[number] = encode(encoder, vertices[number], uniform[number, 0], uniform[number, 1])
    return drawn


def encodings(
    tree: ClusterTree, epsilon: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Every second one of the vertices that the law tells apart best, the others in turn of the other kinds."""
    pairs = vertex_pairs(tree, float(epsilon))
    number = np.arange(draws)
    kinds = np.where(number % 2 == 0, 0, 1 + number // 2 % (len(pairs) - 1))
    laws, levels = (
        np.array([[one(v) for v in pair] for pair in pairs])
        for one in (partial(log_law, tree, float(epsilon)), partial(levels_from, tree))
    )
    sent = encoded(tree, epsilon, pairs[kinds, int(changed)], rng)
    kind, claim = (kinds, len(pairs)), float(worst_release_budget(tree, epsilon))
    ratios = laws[:, 1] - laws[:, 0]
    met = [(levels[kinds, side, sent], tree.depth + 1) for side in (0, 1)]
    return np.array(
        [
            joined(kind, on_grid(ratios[kinds, sent], claim)),
            joined(kind, *((sent == pairs[kinds, side], 2) for side in (0, 1))),
            joined(kind, *met),
            joined(kind, (sent % 2, 2), met[0]),
        ]
    )
