"""Randomised response on neighbour lists (Warner 1965; Qin et al., CCS 2017; Solitude, eq. 4).

Law. Each reported bit is flipped independently with p = 1/(1+e^eps) and kept with q = 1 - p.

Proof sketch. Two lists that differ in one bit give any output with probabilities whose ratio is that of the one bit:
at most q/p = e^eps. So a report is eps-edge-LDP; lists that differ in k bits are k*eps apart (group privacy).

Unit of protection. One bit of one user's list. In the directed modes both ends report a relation, so the relation has
2*eps; in ``pair`` mode it is reported once, by the lower id, and has eps.

Exactness. ``tasks.client.flip_positions``: flips are drawn with integers alone, each with a probability within 2^-120
above the rational p, itself rounded up to 2^-128; the realised budget exceeds eps by less than (N^2 + e^eps) 2^-119.
A device that reports alone runs the same sampler over its own row: rows are independent, so the law is the same.
"""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
from scipy.sparse import csr_array, triu

from tasks.client.biased_coin import rare_side, uniform_words
from tasks.client.flip_positions import skip_table, toggle
from tasks.epsilon import INFINITE, canonical_epsilon, epsilon_value
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode, checked_mode, ends_of
from tasks.reports.ledgers.ledger_line import Charge, LedgerLine, fresh_report_key, local_privacy_line, uncharged
from tasks.reports.ledgers.units import spent_on_bits

_WORDS_AT_ONCE = 1 << 18


def flip_probability(epsilon: str) -> float:
    """p = 1/(1+e^eps), 0 at ``"inf"``."""
    return 0.0 if epsilon == INFINITE else rare_side(epsilon, 128) / 2.0**128


def reported_bits(nodes: int, mode: EdgeMode) -> int:
    """How many bits all users report together."""
    return {"directed": nodes * nodes, "directed-no-diagonal": nodes * (nodes - 1)}.get(mode, nodes * (nodes - 1) // 2)


def expected_report_bytes(nodes: int, ones: int, epsilon: str, mode: EdgeMode) -> float:
    """Expected size of an ``EdgeReport``: 4 bytes a reported one and 8 a node.

    Args:
        nodes: N.
        ones: ones among the reported bits (directed modes: both directions of every edge; pair mode: each edge once).
        epsilon: canonical budget.
        mode: edge mode.
    """
    p = flip_probability(epsilon)
    return 8.0 * (nodes + 1) + 4.0 * (ones * (1 - p) + (reported_bits(nodes, mode) - ones) * p)


def randomise_neighbour_lists(
    adjacency: csr_array,
    epsilon: str,
    mode: EdgeMode,
    rng: np.random.Generator,
    memory_limit_mb: float,
    simulated: bool,
    *,
    dataset: str,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> EdgeReport:
    """One noisy report of every neighbour list.

    Args:
        adjacency: (N, N) of zeros and ones; symmetric in ``pair`` mode, without self-loops in the modes that do not
            report the diagonal.
        epsilon: budget of one bit; ``"inf"`` reports the lists as they are.
        mode: which bits are reported.
        rng: source of the noise; the report is a function of it and of the arguments.
        memory_limit_mb: refuse before drawing when the report is expected to be larger than this (in 10^6 bytes).
        simulated: whether ``rng`` was made from a known seed, for the ledger.
        dataset: name for the ledger.
        notes: the data set's remarks for the ledger.
        charge: called with the ledger's line before anything is drawn.

    Raises:
        UserError: for an unknown mode, a bad budget, an unfit matrix or a report above the limit.
    """
    epsilon, mode = canonical_epsilon(epsilon, name="eps_a"), checked_mode(mode)
    lists = _reported_lists(adjacency, mode, dataset)
    nodes, ones = lists.shape[0], lists.nnz
    # Of noise alone: whether a report is refused must not tell the number of edges.
    if expected_report_bytes(nodes, ones if epsilon == INFINITE else 0, epsilon, mode) > memory_limit_mb * 1e6:
        p = flip_probability(epsilon)  # the text names public quantities only, not the number of edges
        raise UserError(
            f"{dataset}: at eps_a {epsilon} noise sets {p:.2g} of {reported_bits(nodes, mode)} reported bits, and the "
            f"report would outgrow memory_limit_mb={memory_limit_mb:g}: raise the limit or eps_a"
        )
    line = charge(_ledger_line(nodes, epsilon, mode, rng, simulated, dataset, notes))
    indptr, indices = lists.indptr.astype(np.int64), lists.indices.astype(np.int32)
    if epsilon != INFINITE:
        indptr, indices = _flipped(indptr, indices, epsilon, mode, rng)
    return EdgeReport(nodes=nodes, mode=mode, epsilon=epsilon, indptr=indptr, indices=indices, ledger=line)


def _reported_lists(adjacency: csr_array, mode: EdgeMode, dataset: str) -> csr_array:
    """The ones among the reported bits, sorted, after checking that the matrix is what the mode needs."""
    rows, columns = adjacency.shape
    if rows != columns or rows < 1:
        raise UserError(f"{dataset}: neighbour lists need a square matrix with at least one node")
    if not adjacency.has_canonical_format:
        adjacency = adjacency.copy()
        adjacency.sum_duplicates()
    if not (adjacency.data == 1).all():
        raise UserError(f"{dataset}: neighbour lists must hold ones only: remove weights and repeated entries")
    if mode == "directed":
        return adjacency
    if adjacency.diagonal().any():
        raise UserError(f"{dataset}: mode {mode} does not report the diagonal: remove the self-loops")
    if mode == "directed-no-diagonal":
        return adjacency
    upper, lower = (csr_array(triu(matrix, 1, format="csr")) for matrix in (adjacency, adjacency.T))
    lower.sort_indices()
    if not (np.array_equal(upper.indptr, lower.indptr) and np.array_equal(upper.indices, lower.indices)):
        raise UserError(f"{dataset}: mode pair needs a symmetric graph; use a directed mode")
    return upper


def _flipped(
    indptr: np.ndarray, indices: np.ndarray, epsilon: str, mode: EdgeMode, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    nodes, ones = len(indptr) - 1, len(indices)
    bits, p = reported_bits(nodes, mode), flip_probability(epsilon)
    table = skip_table(rare_side(epsilon, 128))
    # A word per flip, a word per empty block; the margin makes a second refill rare, not wrong.
    flips = bits * p
    needed = int(flips * 1.17 + bits / len(table[1]) + 8 * math.sqrt(flips + 1)) + 16
    chunk = min(needed, _WORDS_AT_ONCE)
    report = np.empty(ones + int(flips) + chunk, dtype=np.int32)
    report_indptr = np.zeros(nodes + 1, dtype=np.int64)
    state = np.zeros(4, dtype=np.int64)
    number = get_args(EdgeMode).index(mode)
    while state[0] < nodes:
        capacity = ones + int(state[3]) + chunk
        if capacity > len(report):
            report.resize(max(capacity, len(report) + len(report) // 8), refcheck=False)
        toggle(uniform_words(rng, chunk), *table, number, nodes, indptr, indices, state, report_indptr, report)
    report.resize(ones + int(state[3]), refcheck=False)
    return report_indptr, report


def _ledger_line(
    nodes: int,
    epsilon: str,
    mode: EdgeMode,
    rng: np.random.Generator,
    simulated: bool,
    dataset: str,
    notes: tuple[str, ...],
) -> LedgerLine:
    spends = spent_on_bits(epsilon, ends_of(mode))
    reported = "both ends report a relation" if ends_of(mode) == 2 else "a relation is reported once, by the lower id"
    if nodes > 2 and epsilon != INFINITE and epsilon_value(epsilon) > math.log(nodes - 1):
        notes = (*notes, f"eps_a {epsilon} is above ln(N-1) = {math.log(nodes - 1):.3f}, the source's range of meaning")
    return local_privacy_line(
        mechanism=f"randomised response ({mode})",
        dataset=dataset,
        deployment_key="edges",
        report_key=fresh_report_key(rng, "randomised response", dataset, mode, epsilon),
        epsilon=epsilon,
        unit="neighbour list (one edge)" if ends_of(mode) == 2 else "neighbour list (one pair)",
        claim=f"{epsilon}-edge-LDP for one bit of a list; {reported}, so the relation has {spends['relation']}",
        not_protected="several edges of one list together (k of them cost k times the budget)",
        simulated=simulated,
        spends=spends,
        notes=notes,
    )
