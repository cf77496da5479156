"""``release_once``: each device encodes each entry of its list once, and the server may walk the noisy lists forever.

Guarantee. Entries are encoded independently. With true lengths, replacing one neighbour changes one encoding:
epsilon * rho + ln(Z/Z'), at worst r = epsilon * depth + slack; the degree is public. With ``pad`` a list has the
published noisy degree n as its length: too long a list keeps a uniform subset of n entries, too short a one gains
encodings of uniform vertices. Given n, one neighbour more or less then exchanges at most one entry's source: in a
short list a filler for the neighbour, in a long one a kept entry for it (condition on the subset's other members).
An encoding's law changes by at most e^r with its source, and so does the list's. Sorting is post-processing.
Both ends hold a relation, which has the sum: 2r at worst.

Exactness. The encoder rounds (``tasks.client.fedwalk.encoder``): the bound holds but for events of total probability
(depth + 2) 2^-52 an entry. With ``pad``, the kept subset is drawn by 53-bit keys, uniform but for n^2 2^-54.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoder import encode, encoder_for
from tasks.client.fedwalk.guarantee import worst_release_budget
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.counter_draws import draw_key, stream, uniform
from tasks.epsilon import canonical_epsilon
from tasks.errors import UserError
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.ledgers.ledger_line import Charge, LedgerLine, fresh_report_key, local_privacy_line, uncharged
from tasks.reports.ledgers.units import spent_on_entries


def release_lists(
    lists: NeighbourLists,
    tree: ClusterTree,
    epsilon: str,
    rng: np.random.Generator,
    *,
    dataset: str,
    simulated: bool,
    published_degrees: NDArray[np.int64] | None = None,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> EncodedListReport:
    """Every device's list, encoded entry by entry.

    Args:
        lists: every device's neighbours.
        tree: the broadcast tree over the same vertices.
        epsilon: canonical budget of the encoder, per level of the tree.
        rng: source of the noise.
        dataset, notes: for the ledger.
        charge: called with the ledger's line before anything is drawn.
        simulated: whether ``rng`` was seeded; if not, every draw comes from ``rng`` itself.
        published_degrees: int64 (V,): pads or truncates to these (0 for negative ones); None reveals the degrees.

    Raises:
        UserError: for a tree or degrees over other vertices.
    """
    epsilon = canonical_epsilon(epsilon, name="eps_encoder")
    sizes = {tree.leaves, lists.nodes, lists.nodes if published_degrees is None else len(published_degrees)}
    if len(sizes) > 1:
        raise UserError(f"{dataset}: tree, lists and degrees are over different numbers of vertices; make them again")
    padded = published_degrees is not None
    line = charge(_ledger_line(tree, epsilon, rng, padded, dataset, simulated, notes))
    indptr, sources = (lists.indptr, lists.indices)
    if published_degrees is not None:
        wanted = np.clip(published_degrees, 0, lists.nodes)
        indptr, sources = _padded(lists, wanted, rng)
    # Addressed draws repeat the bytes of a seed; their 64-bit key is no secret that a guarantee may rest on.
    uniforms = _addressed(draw_key(rng), 2 * len(sources)) if simulated else rng.random(2 * len(sources))
    indices = _encoded(encoder_for(tree, epsilon), sources, uniforms)
    owner = np.repeat(np.arange(lists.nodes), np.diff(indptr))
    return EncodedListReport(epsilon, padded, indptr, indices[np.lexsort((indices, owner))], line)


def _padded(
    lists: NeighbourLists, wanted: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lists of the wanted lengths, before encoding."""
    # A random order within every row makes the first n entries a uniform subset.
    owner = np.repeat(np.arange(lists.nodes), lists.degrees)
    shuffled = lists.indices[np.lexsort((rng.random(len(owner)), owner))]
    rank = np.arange(len(owner)) - lists.indptr[owner]
    chosen = rank < wanted[owner]
    indptr = np.zeros(lists.nodes + 1, dtype=np.int64)
    np.cumsum(wanted, out=indptr[1:])
    sources = rng.integers(0, lists.nodes, size=indptr[-1], dtype=np.int32)
    sources[indptr[owner[chosen]] + rank[chosen]] = shuffled[chosen]
    return indptr, sources


@njit(nogil=True)
def _addressed(key, count):  # type: ignore[no-untyped-def]
    draws = stream(key, 0)
    uniforms = np.empty(count)
    for slot in range(count):
        uniforms[slot] = uniform(draws, slot)
    return uniforms


@njit(nogil=True)
def _encoded(encoder, sources, uniforms):  # type: ignore[no-untyped-def]
    encodings = np.empty(len(sources), dtype=np.int32)
    for entry in range(len(sources)):
        encodings[entry] = encode(encoder, sources[entry], uniforms[2 * entry], uniforms[2 * entry + 1])
    return encodings


def _ledger_line(
    tree: ClusterTree,
    epsilon: str,
    rng: np.random.Generator,
    padded: bool,
    dataset: str,
    simulated: bool,
    notes: tuple[str, ...],
) -> LedgerLine:
    worst = worst_release_budget(tree, epsilon)
    change = "added, removed or replaced, given the published degree" if padded else "replaced, degree public"
    length = (
        "every list is as long as the published noisy degree, which eps_degree has paid for"
        if padded
        else "the exact degree is sent in clear, as the length of the list, and no eps_degree is charged for it"
    )
    return local_privacy_line(
        mechanism=f"encoded lists, released once (encoder epsilon {epsilon} a level, {tree.source} tree)",
        dataset=dataset,
        deployment_key="encoded lists",
        report_key=fresh_report_key(rng, "encoded lists", dataset, epsilon, padded),
        epsilon=worst,
        unit=f"neighbour list (one neighbour {change})",
        claim=(
            f"at worst {worst}-LDP for one neighbour {change} (epsilon {epsilon} a level, depth {tree.depth});"
            f" less between vertices that are close in the tree; {length}"
        ),
        not_protected=("" if padded else "the degree, in clear; ")
        + "about half of the entries at epsilon 1 a level, most at 2",
        simulated=simulated,
        spends=spent_on_entries(worst, padded),
        notes=notes,
    )
