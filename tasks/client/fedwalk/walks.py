"""Walks of all devices in one compiled loop: the same bytes as the device-by-device simulation.

Every decision reads the draw that the protocol assigns to it (``walk_slots``), so neither the order of the walks
nor the number of threads matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk import walk_slots as slots
from tasks.client.fedwalk.encoder import Encoder, encode, encoder_for
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.client.fedwalk.protocol import HEADER_BYTES, TOKEN_BYTES, Predictor, check_walk_settings
from tasks.client.fedwalk.walk_ledger import walk_line
from tasks.counter_draws import below, draw_key, stream, uniform
from tasks.epsilon import canonical_epsilon
from tasks.errors import UserError
from tasks.reports.fedwalk.walk_corpus import END, WalkCorpus
from tasks.reports.fedwalk.walks import Traffic, WalkReport
from tasks.reports.ledgers.ledger_line import Charge, uncharged


def release_walks(
    lists: NeighbourLists,
    tree: ClusterTree,
    epsilon: str,
    folder: Path,
    rng: np.random.Generator,
    *,
    dataset: str,
    simulated: bool,
    walks: int = 80,
    length: int = 40,
    skip: float = 0.2,
    predictor: Predictor = "triadic",
    threads: int = 1,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> WalkReport:
    """Runs the protocol from every vertex with a neighbour ``walks`` times and writes what the server receives.

    Args:
        lists: every device's neighbours.
        tree: the broadcast tree over the same vertices.
        epsilon: canonical budget of the encoder, per level of the tree.
        folder: receives the rounds, each in a random order of starts.
        rng: source of the walks' key.
        dataset, notes: for the ledger.
        charge: called with the ledger's line before the walks are anybody's to read.
        simulated: whether ``rng`` was seeded.
        walks: gamma, rounds of one walk a vertex.
        length: l, vertices in a walk.
        skip: p, probability of predicting a two-hop vertex.
        predictor: rule for that vertex.
        threads: workers of the compiled loop; the bytes do not depend on it.

    Raises:
        UserError: for a setting out of range, or a tree over other vertices.
    """
    check_walk_settings(length, walks, skip, predictor)
    if tree.leaves != lists.nodes:
        raise UserError(f"{dataset}: the tree has {tree.leaves} leaves for {lists.nodes} vertices; build it again")
    epsilon = canonical_epsilon(epsilon, name="eps_encoder")
    key, encoder, total = draw_key(rng), encoder_for(tree, epsilon), Traffic()
    starts = np.flatnonzero(lists.degrees)

    def rounds() -> Iterator[NDArray[np.int32]]:
        nonlocal total
        for number in range(walks):
            tokens, traffic = walk_round(
                lists,
                encoder,
                rng.permutation(starts),
                walk=number * lists.nodes,
                length=length,
                skip=skip,
                predictor=predictor,
                key=key,
                threads=threads,
            )
            total += traffic
            yield tokens

    corpus = WalkCorpus.write(folder, rounds(), nodes=lists.nodes, length=length)
    line = charge(walk_line(tree, epsilon, rng, dataset=dataset, simulated=simulated, predictor=predictor, notes=notes))
    report = WalkReport(corpus, epsilon, skip, predictor, total, line)
    report.save()
    return report


def walk_round(
    lists: NeighbourLists,
    encoder: Encoder,
    starts: NDArray[np.int64],
    *,
    walk: int,
    length: int,
    skip: float,
    predictor: Predictor,
    key: np.uint64,
    threads: int = 1,
) -> tuple[NDArray[np.int32], Traffic]:
    """One walk from every start, row i numbered ``walk + starts[i]``; see ``simulated_round``."""
    tokens = np.full((len(starts), length), END, dtype=np.int32)
    sent = np.zeros((len(starts), 2), dtype=np.int64)
    triadic = predictor == "triadic"

    def run(part: NDArray[np.int64]) -> None:
        rows = slice(part[0], part[-1] + 1)
        _walk(*lists, encoder, starts[rows], np.int64(walk), skip, triadic, key, tokens[rows], sent[rows])

    parts = [part for part in np.array_split(np.arange(len(starts)), threads) if len(part)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, parts))
    uploaded = int((tokens != END).sum())
    return tokens, Traffic(
        messages=int(sent[:, 0].sum()),
        message_bytes=int(sent[:, 0].sum() * HEADER_BYTES + sent[:, 1].sum() * TOKEN_BYTES),
        uploads=len(starts),
        upload_bytes=len(starts) * HEADER_BYTES + uploaded * TOKEN_BYTES,
    )


@njit(nogil=True)
def _walk(  # type: ignore[no-untyped-def]
    indptr, indices, encoder, starts, walk, skip, triadic, key, tokens, sent
):
    length = tokens.shape[1]
    tree = encoder.tree
    for row in range(len(starts)):
        vertex = starts[row]
        draws = stream(key, walk + vertex)
        tokens[row, 0] = encode(encoder, vertex, uniform(draws, slots.START_CLIMB), uniform(draws, slots.START_PICK))
        written, remaining = 1, length
        while remaining > 1:
            first = indptr[vertex]
            degree = indptr[vertex + 1] - first
            if degree == 0:
                break
            base = remaining * slots.PER_STEP
            chosen = below(draws, base + slots.NEIGHBOUR, degree)
            following = indices[first + chosen]
            climb, pick = uniform(draws, base + slots.NEIGHBOUR_CLIMB), uniform(draws, base + slots.NEIGHBOUR_PICK)
            tokens[row, written] = encode(encoder, following, climb, pick)
            written += 1
            remaining -= 1
            if remaining > 1 and uniform(draws, base + slots.TRIGGER) < skip and (degree > 1 or not triadic):
                if triadic:
                    other = below(draws, base + slots.SECOND, degree - 1)
                    following = indices[first + other + (1 if other >= chosen else 0)]
                else:
                    beside = tree.sibling[following]
                    other = below(draws, base + slots.SECOND, tree.size[beside])
                    following = tree.order[tree.first[beside] + other]
                climb, pick = uniform(draws, base + slots.SECOND_CLIMB), uniform(draws, base + slots.SECOND_PICK)
                tokens[row, written] = encode(encoder, following, climb, pick)
                written += 1
                remaining -= 1
            sent[row, 0] += 1
            sent[row, 1] += written
            vertex = following
