import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chi2, kstest

from tasks.client.embedding_encoder import encode_embeddings, row_softmax
from tasks.errors import UserError
from tasks.reports.embedding import EmbeddingReport
from tasks.reports.embedding_budget import sampled_cells, vector_budget
from tasks.seeds import generator

TINY = np.array([[0.7, 0.3], [0.1, 0.9]])


def encode(embeddings: list, encoder: str, epsilon: str, seed: int | None = 0) -> EmbeddingReport:
    return encode_embeddings(embeddings, encoder, epsilon, generator(seed), seed is not None, dataset="toy")


def dense_signs(report: EmbeddingReport, shape: tuple[int, ...]) -> np.ndarray:
    rows = np.zeros((len(report.indptr) - 1, report.dimensions), dtype=int)
    rows[np.repeat(np.arange(len(rows)), np.diff(report.indptr)), report.columns] = report.signs
    return rows.reshape(shape)


def budgets(encoder: str, epsilon: float, n: int, h: int) -> tuple[float, int]:
    """a and m, from the definition."""
    b = epsilon if encoder == "row" else epsilon / n
    m = max(1, min(h, math.floor(b / 2.18)))
    return b / m, m


def law(encoder: str, epsilon: float, h: np.ndarray) -> dict[tuple[int, ...], float]:
    """Probability of every possible outcome of one vector, from the definition; all of H is one vector for paper."""
    a, m = budgets(encoder, epsilon, *h.shape)
    x = h.ravel() if encoder == "paper" else h[0]
    outcomes: dict[tuple[int, ...], float] = {}
    for chosen in combinations(range(len(x)), m):
        for bits in range(2**m):
            signs, probability = [0] * len(x), 1 / math.comb(len(x), m)
            for k, cell in enumerate(chosen):
                plus = 1 / (math.exp(a) + 1) + x[cell] * (math.exp(a) - 1) / (math.exp(a) + 1)
                signs[cell] = 1 if bits >> k & 1 else -1
                probability *= plus if signs[cell] == 1 else 1 - plus
            outcomes[tuple(signs)] = probability
    assert sum(outcomes.values()) == pytest.approx(1)
    return outcomes


@pytest.mark.parametrize("encoder", ["per_row", "row", "paper"])
@pytest.mark.parametrize("epsilon", ["0.5", "3", "9"])
def test_reports_follow_the_law(encoder: str, epsilon: str) -> None:
    draws = 30_000
    report = encode([TINY] * draws, encoder, epsilon, seed=3)
    signs = dense_signs(report, (draws, 4))
    seen = signs if encoder == "paper" else signs[:, :2]
    expected = law(encoder, float(epsilon), TINY)
    counts = [(seen == outcome).all(axis=1).sum() for outcome in expected]
    assert sum(counts) == draws
    wanted = draws * np.array(list(expected.values()))
    assert ((counts - wanted) ** 2 / wanted).sum() < chi2.isf(1e-7, len(wanted) - 1)


@pytest.mark.parametrize("encoder", ["per_row", "row"])
def test_rows_are_independent_of_each_other(encoder: str) -> None:
    draws = 30_000
    signs = dense_signs(encode([TINY] * draws, encoder, "3", seed=5), (draws, 2, 2))
    first_row, second_row = signs[:, 0] @ [1, 3], signs[:, 1] @ [1, 3]
    first, second = (law(encoder, 3.0, rows) for rows in (TINY, TINY[::-1]))
    for one, p in first.items():
        for other, q in second.items():
            seen = ((first_row == np.dot(one, [1, 3])) & (second_row == np.dot(other, [1, 3]))).mean()
            assert abs(seen - p * q) < 5.4 * math.sqrt(p * q / draws)


@pytest.mark.parametrize(("encoder", "per_graph"), [("per_row", 18), ("row", 18), ("paper", 1)])
def test_one_over_n_is_each_graphs_own(encoder: str, per_graph: int) -> None:
    sizes = [18, 1, 5, 18]
    report = encode([np.full((n, 4), 0.25) for n in sizes], encoder, "1/n")
    assert report.node_counts.tolist() == sizes
    assert report.indptr[18] == per_graph  # one cell a vector: far below 2.18
    for n in sizes:
        whole = 1 / n if encoder == "row" else 1 / n**2
        assert float(vector_budget(report.encoder, "1/n", n)) == pytest.approx(whole, rel=1e-12)
    assert report.ledger.epsilon == "1"  # the smallest graph's


def test_number_of_cells_grows_with_the_budget_and_stops_at_the_width() -> None:
    expected = {"2.18": 1, "4.36": 2, "4.359": 1, "21.8": 10, "100": 16, "0.01": 1}
    assert {b: sampled_cells(b, 16) for b in expected} == expected
    h = np.full((3, 16), 1 / 16)
    assert (np.diff(encode([h], "per_row", "13.08").indptr) == 2).all()
    assert (np.diff(encode([h], "row", "1000").indptr) == 16).all()
    assert len(encode([h], "paper", "1000").columns) == 16


def test_budgets_are_never_rounded_up() -> None:
    for n in (3, 7, 18, 620):
        assert Fraction(vector_budget("per_row", "10", n)) * n <= 10
        assert Fraction(vector_budget("per_row", "1/n", n)) * n * n <= 1
        assert Fraction(vector_budget("row", "1/n", n)) * n <= 1
    with pytest.raises(UserError, match=r"eps.*620 nodes"):
        vector_budget("per_row", "0." + "0" * 322 + "1", 620)


@pytest.mark.parametrize("encoder", ["per_row", "row", "paper", "gaussian_scale"])
def test_infinite_budget_is_the_identity(encoder: str) -> None:
    rng = np.random.default_rng(0)
    embeddings = [row_softmax(rng.normal(size=(n, 5))) for n in (1, 4, 9)]
    report = encode(embeddings, encoder, "inf")
    assert (report.values == np.concatenate(embeddings)).all()
    assert not len(report.columns)
    assert report.ledger.epsilon == "inf"
    assert not report.ledger.guarantee
    assert not report.ledger.simulated


def test_gaussian_scale_is_a_standard_deviation() -> None:
    h = np.full((40, 50), 0.02)
    for scale, sd in (("0.5", 0.5), ("1/n", 1 / 40)):
        report = encode([h] * 20, "gaussian_scale", scale, seed=1)
        assert kstest((report.values - 0.02).ravel() / sd, "norm").pvalue > 1e-6
    assert encode([h], "gaussian_scale", "0").epsilon == "inf"  # the source's "no LDP"
    line = encode([h], "gaussian_scale", "0.5", None).ledger
    assert not line.guarantee
    assert line.epsilon == "inf"
    assert "0.5" in line.statement


def test_softmax_is_scipys_and_survives_large_values() -> None:
    values = np.random.default_rng(0).normal(scale=300, size=(20, 7)).astype(np.float32)
    np.testing.assert_allclose(row_softmax(values), softmax(values.astype(float), axis=1), atol=1e-12)
    assert (row_softmax(np.array([[1e4, -1e4]])) == [[1, 0]]).all()


def test_ledger_says_what_each_encoder_protects() -> None:
    lines = {name: encode([TINY, np.ones((3, 2))], name, "0.3", None).ledger for name in ("per_row", "row", "paper")}
    assert all(line.guarantee and line.epsilon == "0.3" for line in lines.values())
    assert lines["per_row"].unit == lines["paper"].unit == "graph"
    assert "0.3-LDP" in lines["per_row"].statement
    assert "divided by n" in lines["paper"].statement
    assert lines["row"].unit == "row of H"
    assert " 3 times" in lines["row"].not_protected
    seeded = encode([TINY], "per_row", "0.3").ledger
    assert (seeded.simulated, seeded.guarantee) == (True, False)


def test_same_seed_same_bytes() -> None:
    graphs = [np.full((n, 8), 0.125) for n in (5, 3, 620, 1)]
    one, two, other = (encode(graphs, "per_row", "10", seed) for seed in (0, 0, 1))
    assert one.digest() == two.digest() != other.digest()
    assert one.ledger == two.ledger


def test_unfit_inputs_are_refused_in_one_line() -> None:
    for bad in (math.nan, -0.1, 1.1):
        with pytest.raises(UserError, match=r"\[0, 1\]"):
            encode([np.array([[bad, 0.5]])], "per_row", "1")
    with pytest.raises(UserError, match="graph 1 "):
        encode([TINY, np.zeros((0, 2))], "per_row", "1")
    with pytest.raises(UserError, match="embeddings"):
        encode([], "per_row", "1")
    with pytest.raises(UserError, match="'column'"):
        encode([TINY], "column", "1")
    for encoder, bad_budget in (("per_row", "0"), ("row", "-1"), ("gaussian_scale", "nan")):
        with pytest.raises(UserError, match="eps"):
            encode([TINY], encoder, bad_budget)
