import math
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array, triu
from scipy.stats import binom, chi2, geom

from tasks.client import randomized_response
from tasks.client.randomized_response import (
    expected_report_bytes,
    flip_probability,
    randomise_neighbour_lists,
    reported_bits,
)
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode
from tasks.seeds import generator

MODES: tuple[EdgeMode, ...] = ("directed", "directed-no-diagonal", "pair")


def random_graph(nodes: int, edges: int, seed: int = 5) -> csr_array:
    ends = np.random.default_rng(seed).integers(0, nodes, size=(2, edges))
    rows, columns = ends[:, ends[0] != ends[1]]
    matrix = csr_array((np.ones(2 * len(rows)), (np.r_[rows, columns], np.r_[columns, rows])), shape=(nodes, nodes))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix.astype(np.int8)


def draw(
    graph: csr_array, epsilon: str, mode: EdgeMode = "directed", seed: int = 0, simulated: bool = True
) -> EdgeReport:
    return randomise_neighbour_lists(graph, epsilon, mode, generator(seed), 1000, simulated, dataset="toy")


def lists(report: EdgeReport) -> csr_array:
    data = np.ones(len(report.indices), dtype=np.int8)
    return csr_array((data, report.indices, report.indptr), shape=(report.nodes, report.nodes))


def bit_mask(mode: EdgeMode, nodes: int) -> np.ndarray:
    every = np.ones((nodes, nodes), dtype=bool)
    return {"directed": every, "directed-no-diagonal": ~np.eye(nodes, dtype=bool)}.get(mode, np.triu(every, 1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_every_bit_flips_alike_and_alone(mode: EdgeMode, epsilon: str) -> None:
    graph, draws = random_graph(6, 6), 3000
    mask = bit_mask(mode, 6)
    truth = graph.toarray()[mask]
    rng = generator(11)
    flips = np.array(
        [
            lists(randomise_neighbour_lists(graph, epsilon, mode, rng, 10, True, dataset="toy")).toarray()[mask] ^ truth
            for _ in range(draws)
        ],
        dtype=float,
    )
    p, bits = 1 / (1 + math.exp(float(epsilon))), mask.sum()
    assert bits == reported_bits(6, mode)
    z = (flips.sum(axis=0) - draws * p) / math.sqrt(draws * p * (1 - p))
    assert np.abs(z).max() < 5.6  # every position, the first, the last and the diagonal among them
    assert chi2.ppf(1e-7, bits) < (z**2).sum() < chi2.isf(1e-7, bits)
    pairs = bits * (bits - 1) // 2
    correlations = np.corrcoef(flips.T)[np.triu_indices(bits, 1)]
    assert draws * (correlations**2).sum() < chi2.isf(1e-7, pairs)


@pytest.mark.parametrize(("epsilon", "nodes"), [("5", 1500), ("8", 4000), ("10", 4000)])
def test_gaps_between_flips_are_geometric(epsilon: str, nodes: int) -> None:
    report = draw(csr_array((nodes, nodes), dtype=np.int8), epsilon, seed=2)
    rows = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(report.indptr))
    positions = rows * nodes + report.indices
    p, flips = 1 / (1 + math.exp(float(epsilon))), len(positions)
    assert binom.ppf(1e-7, nodes**2, p) <= flips <= binom.isf(1e-7, nodes**2, p)
    cuts = np.unique(geom.ppf(np.linspace(0, 1, 41)[1:-1], p))
    probabilities = np.diff(np.r_[0, geom.cdf(cuts, p), 1])
    gaps = np.diff(positions)
    seen = np.bincount(np.searchsorted(cuts, gaps, side="left"), minlength=len(cuts) + 1)
    statistic = ((seen - len(gaps) * probabilities) ** 2 / (len(gaps) * probabilities)).sum()
    assert statistic < chi2.isf(1e-7, len(cuts))
    halves = np.histogram(positions, bins=50, range=(0, nodes**2))[0]
    assert ((halves - flips / 50) ** 2 / (flips / 50)).sum() < chi2.isf(1e-7, 49)


@pytest.mark.parametrize("mode", MODES)
def test_true_edges_are_kept_and_false_ones_added_at_the_stated_rates(mode: EdgeMode) -> None:
    graph, epsilon = random_graph(1200, 6000), "4"
    truth = csr_array(triu(graph)) if mode == "pair" else graph
    report = draw(graph, epsilon, mode, seed=4)
    kept = int(lists(report).multiply(truth).nnz)
    added = len(report.indices) - kept
    p = flip_probability(epsilon)
    assert p == pytest.approx(1 / (1 + math.exp(4)), rel=1e-12)
    assert binom.ppf(1e-7, truth.nnz, 1 - p) <= kept <= binom.isf(1e-7, truth.nnz, 1 - p)
    zeros = reported_bits(1200, mode) - truth.nnz
    assert binom.ppf(1e-7, zeros, p) <= added <= binom.isf(1e-7, zeros, p)
    expected = expected_report_bytes(1200, truth.nnz, epsilon, mode)
    assert report.indices.nbytes + report.indptr.nbytes == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("mode", MODES)
def test_infinite_budget_is_the_identity(mode: EdgeMode) -> None:
    graph = random_graph(50, 120)
    report = draw(graph, "inf", mode)
    assert (report.adjacency() != graph).nnz == 0
    assert report.ledger.epsilon == "inf"
    assert not report.ledger.guarantee


def test_pair_reports_are_mirrored_and_leave_the_diagonal_empty() -> None:
    matrix = draw(random_graph(80, 200), "1", "pair").adjacency()
    assert (matrix != matrix.T).nnz == 0
    assert not matrix.diagonal().any()
    assert draw(random_graph(80, 200), "1", "directed").adjacency().diagonal().any()
    assert not draw(random_graph(80, 200), "1", "directed-no-diagonal").adjacency().diagonal().any()


def test_edgeless_and_one_node_graphs() -> None:
    one = csr_array((1, 1), dtype=np.int8)
    assert all(draw(one, "1", mode).nodes == 1 for mode in MODES)
    assert len(draw(one, "1", "pair").indices) == len(draw(one, "1", "directed-no-diagonal").indices) == 0
    assert draw(csr_array((2, 2), dtype=np.int8), "80", "directed").indices.size == 0
    with pytest.raises(UserError, match="square"):
        draw(csr_array((0, 0), dtype=np.int8), "1")


def test_directed_lists_may_hold_the_diagonal() -> None:
    loops = csr_array(np.eye(4, dtype=np.int8))
    assert (draw(loops, "inf").adjacency() != loops).nnz == 0
    with pytest.raises(UserError, match="directed-no-diagonal"):
        draw(loops, "1", "directed-no-diagonal")


def test_unfit_matrices_are_refused() -> None:
    one_way = csr_array(np.array([[0, 1], [0, 0]], dtype=np.int8))
    with pytest.raises(UserError, match="mode pair"):
        draw(one_way, "1", "pair")
    with pytest.raises(UserError, match="weights"):
        draw(csr_array(2 * random_graph(5, 5)), "1")
    twice = csr_array((np.ones(2, dtype=np.int8), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    with pytest.raises(UserError, match="repeated"):
        draw(twice, "1")
    with pytest.raises(UserError, match="square"):
        draw(csr_array((2, 3), dtype=np.int8), "1")
    with pytest.raises(UserError, match="'both'"):
        draw(one_way, "1", "both")  # type: ignore[arg-type]
    for bad in ("0", "-1", "nan", "seven"):
        with pytest.raises(UserError, match="eps_a"):
            draw(one_way, bad)


def test_a_large_report_is_refused_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_drawing(*_: object) -> None:
        raise AssertionError("drawn")

    graph = random_graph(2000, 100)
    monkeypatch.setattr(randomized_response, "uniform_words", no_drawing)
    with pytest.raises(UserError, match="memory_limit_mb=4") as refusal:
        randomise_neighbour_lists(graph, "1", "directed", generator(0), 4, True, dataset="toy")
    assert str(graph.nnz) not in str(refusal.value)
    # 27% ones at epsilon 1
    assert expected_report_bytes(2000, 0, "1", "directed") == pytest.approx(4 * 0.2689 * 2000**2, rel=0.01)


def test_dense_reports_refill_the_words_more_than_once() -> None:
    report = draw(random_graph(1500, 3000), "0.5", seed=9)
    p = flip_probability("0.5")
    ones = p * (1500**2 - 6000) + (1 - p) * 6000
    assert abs(len(report.indices) - ones) < 6 * math.sqrt(1500**2 * p * (1 - p))
    blocks = np.histogram(np.repeat(np.arange(1500), np.diff(report.indptr)), bins=30)[0]
    assert ((blocks - blocks.mean()) ** 2 / (75_000 * p * (1 - p))).sum() < chi2.isf(1e-7, 29)


@pytest.mark.parametrize("mode", MODES)
def test_same_seed_same_bytes(mode: EdgeMode) -> None:
    graph = random_graph(300, 900)
    reports = [draw(graph, "3", mode, seed) for seed in (0, 0, 1, 2)]
    assert reports[0].digest() == reports[1].digest()
    assert reports[0].ledger == reports[1].ledger
    assert len({report.digest() for report in reports}) == 3
    assert len({report.ledger.report_key for report in reports}) == 3


SCRIPT = """
import sys
import numpy as np
from scipy.sparse import csr_array
from tasks.client.multibit import encode_features
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.seeds import generator
ring = np.roll(np.eye(200, dtype=np.int8), 1, axis=1)
graph, features = csr_array(ring | ring.T), csr_array(ring.astype(np.float32))
print(randomise_neighbour_lists(graph, "2", "directed", generator(0), 100, True, dataset="toy").digest())
print(encode_features(features, (0, 1), "5", generator(0), True, dataset="toy").digest())
"""


def test_same_seed_same_bytes_in_every_process() -> None:
    outputs = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    ring = np.roll(np.eye(200, dtype=np.int8), 1, axis=1)
    here = randomise_neighbour_lists(csr_array(ring | ring.T), "2", "directed", generator(0), 100, True, dataset="toy")
    assert outputs[0] == outputs[1]
    assert outputs[0].split()[0] == here.digest()


def test_operating_system_entropy_gives_a_guarantee_and_new_noise() -> None:
    graph = random_graph(100, 200)
    reports = [
        randomise_neighbour_lists(graph, "1", "directed", generator(None), 10, False, dataset="toy") for _ in range(2)
    ]
    assert reports[0].digest() != reports[1].digest()
    assert all(report.ledger.guarantee and "1-edge-LDP" in report.ledger.statement for report in reports)


def test_ledger_line_says_what_is_protected() -> None:
    graph = random_graph(2708, 10, seed=1)
    directed, pair = (draw(graph, "7.9", mode).ledger for mode in ("directed", "pair"))
    assert (directed.epsilon, directed.relation_epsilon) == ("7.9", "15.8")
    assert (pair.epsilon, pair.relation_epsilon) == ("7.9", "7.9")
    assert directed.simulated
    assert not directed.guarantee
    notes = [draw(graph, epsilon).ledger.notes for epsilon in ("7", "7.9", "8")]
    assert [len(note) for note in notes] == [0, 0, 1]  # ln(2707) = 7.904
    assert "7.904" in notes[2][0]


MEMORY = """
import tracemalloc
import numpy as np
from scipy.sparse import csr_array
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.seeds import generator
N, M = 22470, 170823
ends = np.random.default_rng(0).integers(0, N, size=(2, M))
rows, columns = ends[:, ends[0] != ends[1]]
graph = csr_array((np.ones(2 * len(rows)), (np.r_[rows, columns], np.r_[columns, rows])), shape=(N, N))
graph.sum_duplicates()
graph.data[:] = 1
graph = graph.astype(np.int8)
randomise_neighbour_lists(graph[:50][:, :50], "8", "directed", generator(0), 10, True, dataset="warm")
tracemalloc.start()
report = randomise_neighbour_lists(graph, "8", "directed", generator(0), 100, True, dataset="toy")
print(tracemalloc.get_traced_memory()[1] / 1e6, len(report.indices))
"""


def test_memory_at_the_size_of_facebook() -> None:
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    peak_mb, ones = run.stdout.split()
    assert float(peak_mb) < 100
    p = 1 / (1 + math.exp(8))
    assert int(ones) == pytest.approx(2 * 170_800 + 22470**2 * p, rel=0.01)


def test_rows_never_repeat_or_disorder() -> None:
    report = draw(random_graph(60, 300), "0.3", "directed")
    for start, end in pairwise(report.indptr):
        assert (np.diff(report.indices[start:end]) > 0).all()
