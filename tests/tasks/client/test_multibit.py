import math
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import chi2

from tasks.client.biased_coin import rare_side
from tasks.client.multibit import drawn_signs, encode_features, sampled_dimensions
from tasks.errors import UserError
from tasks.reports.feature import FeatureReport
from tasks.seeds import generator


def encode(
    features: np.ndarray, epsilon: str, bounds: tuple[float, float] = (0.0, 1.0), seed: int = 0
) -> FeatureReport:
    return encode_features(csr_array(features), bounds, epsilon, generator(seed), True, dataset="toy")


@pytest.mark.parametrize(
    ("epsilon", "dimensions", "expected"),
    [("0.5", 10, 1), ("2.18", 10, 1), ("4.359", 10, 1), ("4.36", 10, 2), ("100", 10, 10), ("6.54", 10, 3), ("9", 2, 2)],
)
def test_number_of_sampled_dimensions(epsilon: str, dimensions: int, expected: int) -> None:
    assert sampled_dimensions(epsilon, dimensions) == expected


@pytest.mark.parametrize(("epsilon", "d"), [("1", 5), ("5", 5), ("7", 5), ("9", 5)])
def test_every_set_of_dimensions_is_drawn_alike(epsilon: str, d: int) -> None:
    users = 40_000
    report = encode(np.zeros((users, d)), epsilon)
    sets = list(combinations(range(d), report.sampled))
    seen = np.array([(report.dims == np.array(chosen)).all(axis=1).sum() for chosen in sets])
    expected = users / math.comb(d, report.sampled)
    assert seen.sum() == users
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-7, len(sets) - 1)


@pytest.mark.parametrize("epsilon", ["0.5", "2", "5", "8"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, 5.0)])
def test_signs_follow_the_law_at_every_position(epsilon: str, low: float, high: float) -> None:
    users, positions = 60_000, np.array([0.0, 0.25, 0.5, 0.9, 1.0])
    features = np.tile(low + positions * (high - low), (users, 1))
    report = encode(features, epsilon, (low, high), seed=3)
    grown = math.exp(float(epsilon) / report.sampled)
    for dimension, t in enumerate(positions):
        signs = report.signs[report.dims == dimension]
        p = 1 / (grown + 1) + t * (grown - 1) / (grown + 1)
        z = ((signs == 1).sum() - len(signs) * p) / math.sqrt(len(signs) * p * (1 - p))
        assert abs(z) < 5.4


def test_signs_of_one_user_and_of_neighbours_are_independent() -> None:
    report = encode(np.full((50_000, 3), 0.3), "6.54", seed=5)
    assert report.sampled == 3
    rates = report.signs.astype(float)
    for a, b in ((rates[:, 0], rates[:, 1]), (rates[:, 1], rates[:, 2]), (rates[:-1, 0], rates[1:, 0])):
        assert abs(np.corrcoef(a, b)[0, 1]) * math.sqrt(len(a)) < 5.4


@pytest.mark.parametrize("epsilon", ["0.001", "1", "8", "40", "80"])
def test_no_threshold_leaves_the_range_that_the_budget_allows(epsilon: str) -> None:
    """With the words at the edges of the range, both signs stay possible at both ends of the bounds."""

    class EdgeWords:
        def __init__(self, word: int) -> None:
            self.word = word

        def integers(self, *_: object, size: tuple[int, ...], **__: object) -> np.ndarray:
            return np.full(size, self.word, dtype=np.uint64)

    rare = rare_side(epsilon, 64)
    values = np.array([[0.0, 1e-320, 0.5, 1 - 2**-53, 1.0]])

    def signs(word: int) -> np.ndarray:
        return drawn_signs(values, (0.0, 1.0), rare, EdgeWords(word))  # type: ignore[arg-type]

    assert (signs(rare - 1) == 1).all()
    assert (signs(2**64 - rare) == -1).all()
    assert signs(rare)[0, 0] == -1
    assert signs(2**64 - rare - 1)[0, -1] == 1


def test_sparse_look_up_finds_zeros_and_values() -> None:
    rng = np.random.default_rng(2)
    dense = (rng.random((300, 40)) < 0.1).astype(float)
    report = encode(dense, "87.2", seed=1)  # share 2.18 on all 40 dimensions
    expected = 1 / (math.exp(2.18) + 1)
    rate = (report.signs == np.where(dense == 1, 1, -1)).mean()
    assert rate == pytest.approx(1 - expected, abs=6 * math.sqrt(expected / dense.size))


def test_infinite_budget_is_the_identity() -> None:
    dense = np.random.default_rng(0).random((20, 6)).astype(np.float32)
    dense[dense < 0.4] = 0
    report = encode(dense, "inf")
    assert report.exact is not None
    assert (report.exact.toarray() == dense).all()
    assert report.sampled == 6
    assert (report.ledger.epsilon, report.ledger.guarantee) == ("inf", False)


@pytest.mark.parametrize(
    ("features", "bounds"),
    [([[0.5, 1.5]], (0, 1)), ([[-0.1, 0.5]], (0, 1)), ([[1.5, 0.0]], (1, 2)), ([[0.5, 1.0000001]], (0, 1))],
)
def test_values_outside_the_declared_bounds_are_refused(features: list, bounds: tuple[float, float]) -> None:
    for epsilon in ("1", "inf"):
        with pytest.raises(UserError, match=rf"\[{bounds[0]:g}, {bounds[1]:g}\]") as refusal:
            encode(np.array(features), epsilon, bounds)
        assert "1.5" not in str(refusal.value)


def test_unfit_inputs_are_refused() -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(UserError, match="NaN"):
            encode(np.array([[value, 0.5]]), "1")
    with pytest.raises(UserError, match=r"toy.*features"):
        encode(np.zeros((3, 0)), "1")
    for bounds in ((1.0, 0.0), (0.0, 0.0), (math.nan, 1.0), (0.0, math.inf)):
        with pytest.raises(UserError, match=rf"\[{bounds[0]:g}, {bounds[1]:g}\]"):
            encode(np.zeros((3, 2)), "1", bounds)
    for bad in ("0", "-2", "nan"):
        with pytest.raises(UserError, match="eps_x"):
            encode(np.zeros((3, 2)), bad)


def test_extreme_bounds_do_not_overflow() -> None:
    largest = np.finfo(np.float64).max
    report = encode(np.array([[largest, -largest, 0.0]] * 2000), "6.54", (-largest, largest))
    rates = (report.signs == 1).mean(axis=0)
    assert rates[0] > 0.85
    assert rates[1] < 0.15
    assert abs(rates[2] - 0.5) < 0.07


def test_same_seed_same_bytes_and_ledger_line() -> None:
    dense = np.eye(50)
    reports = [encode(dense, "5", seed=seed) for seed in (0, 0, 1)]
    assert reports[0].digest() == reports[1].digest() != reports[2].digest()
    assert reports[0].ledger == reports[1].ledger
    line = encode_features(csr_array(dense), (0, 1), "1", generator(None), False, dataset="toy").ledger
    assert line.guarantee
    assert line.unit == "feature vector"
    assert line.relation_epsilon is None
    assert (reports[0].ledger.simulated, reports[0].ledger.guarantee) == (True, False)
