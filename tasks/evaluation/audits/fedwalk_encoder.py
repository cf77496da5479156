"""Audit of FedWalk's encoder and of lists that are encoded and released once; walks claim nothing."""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.encoder import encode, encoder_for
from tasks.client.fedwalk.guarantee import worst_release_budget
from tasks.evaluation.audits.case import AuditCase, gathered
from tasks.evaluation.audits.fedwalk_tree import reported_degrees, same_lists
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.ledgers.composition import compose

DEPTH = 8
"""Of the balanced tree that lists are encoded by: 256 devices draw at once."""
DRAWS = 1_000_000
FILLER = "a uniform filler stands in for nobody, nearer to the neighbour than the worst vertex is"


def encoder_cases() -> list[AuditCase]:
    """The encoder on a balanced and on a one-sided tree, and the lists with true and with published lengths."""
    return [
        *(_encoder_case("balanced", balanced_tree(3), epsilon) for epsilon in ("0.2", "0.5", "1", "2")),
        *(_encoder_case("one-sided", _one_sided_tree(6), epsilon) for epsilon in ("0.2", "0.5")),
        *(_list_case(epsilon, padded, "replaced") for padded in (False, True) for epsilon in ("0.1", "0.25", "0.5")),
        _list_case("0.25", True, "added", FILLER),
        _joint_case("0.5", "0.25", FILLER),
    ]


def balanced_tree(depth: int) -> ClusterTree:
    """2^depth leaves in their order."""
    children = np.arange(2 * (2**depth - 1), dtype=np.int32).reshape(-1, 2)
    return ClusterTree("random", "balanced", children)


def _one_sided_tree(leaves: int) -> ClusterTree:
    """Leaf 0 deepest, the last leaf below the root."""
    children = [(0, 1), *((leaves + row - 1, row + 1) for row in range(1, leaves - 1))]
    return ClusterTree("random", "average", np.array(children, dtype=np.int32))


def _encoder_case(shape: str, tree: ClusterTree, epsilon: str) -> AuditCase:
    return AuditCase(
        "tree-path encoder",
        f"eps_encoder {epsilon} a level, {shape} tree of depth {tree.depth}",
        "vertex",
        float(worst_release_budget(tree, epsilon)),
        partial(encodings, tree, epsilon),
    )


def encodings(
    tree: ClusterTree, epsilon: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Encodings of the first leaf or of the last: they meet at the root."""
    vertex = tree.leaves - 1 if changed else 0
    return _encoded(encoder_for(tree, epsilon), vertex, rng.random((draws, 2)))


@njit(nogil=True)
def _encoded(encoder, vertex, uniform):  # type: ignore[no-untyped-def]
    drawn = np.empty(len(uniform), dtype=np.int64)
    for number in range(len(uniform)):
        drawn[number] = encode(encoder, vertex, uniform[number, 0], uniform[number, 1])
    return drawn


def reported(
    neighbours: list[int], epsilon: str, padded: bool, rng: np.random.Generator, lengths: NDArray | None = None
) -> EncodedListReport:
    """The same list from every device, at its true length or at a published one (1 unless given)."""
    tree = balanced_tree(DEPTH)
    lengths = np.ones(tree.leaves, dtype=np.int64) if lengths is None else lengths
    return release_lists(
        same_lists(neighbours, tree.leaves),
        tree,
        epsilon,
        rng,
        dataset="audit",
        simulated=True,
        published_degrees=lengths if padded else None,
    )


def _list_case(epsilon: str, padded: bool, change: str, remark: str = "") -> AuditCase:
    line = reported([0], epsilon, padded, np.random.default_rng(0)).ledger
    length = "at a published length" if padded else "at its true length"
    return AuditCase(
        "encoded lists, released once",
        f"eps_encoder {epsilon} a level, depth {DEPTH}, {length}",
        f"neighbour list (one neighbour {change})",
        float(line.epsilon),
        partial(_lists, epsilon, padded, change),
        DRAWS,
        remark,
    )


def _lists(
    epsilon: str, padded: bool, change: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Lists of one entry: the first leaf, and instead the last leaf or (published length 1) nobody."""
    other = [2**DEPTH - 1] if change == "replaced" else []
    neighbours = other if changed else [0]
    return gathered(lambda: _place(reported(neighbours, epsilon, padded, rng).indices), draws)


def _place(leaves: NDArray[np.int32]) -> NDArray[np.int64]:
    """How far up a leaf's path meets that of the first leaf, 0 to 7, or of the last, 8 to 15: where its law is flat."""
    last = 2**DEPTH - 1
    near = leaves <= last // 2
    # Leaves stand in their order: the highest bit in which two differ is the level at which their paths meet.
    level = np.frexp(np.where(near, leaves, last - leaves))[1]
    return np.where(near, level, DEPTH + level).astype(np.int64)


def _joint_case(eps_degree: str, epsilon: str, remark: str) -> AuditCase:
    lists = reported([0], epsilon, True, np.random.default_rng(0)).ledger
    return AuditCase(
        "noisy degree + encoded list of that length",
        f"eps_degree {eps_degree} + eps_encoder {epsilon} a level, depth {DEPTH}",
        "neighbour list (one neighbour added or removed)",
        float(compose([eps_degree, lists.epsilon])),
        partial(_degrees_and_lists, eps_degree, epsilon),
        DRAWS,
        remark,
    )


def _degrees_and_lists(
    eps_degree: str, epsilon: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The noisy degree, limited to -1 to 3, and the entry that lies nearest to the first leaf, if there is one."""
    neighbours = [0] * changed

    def outputs() -> NDArray[np.int64]:
        degrees = reported_degrees(same_lists(neighbours, 2**DEPTH), eps_degree, rng).degrees
        report = reported(neighbours, epsilon, True, rng, degrees)
        nearest = np.full(report.nodes, 2 * DEPTH, dtype=np.int64)
        owner = np.repeat(np.arange(report.nodes), np.diff(report.indptr))
        np.minimum.at(nearest, owner, _place(report.indices))
        return np.clip(degrees, -1, 3) + 1 + 5 * nearest

    return gathered(outputs, draws)
