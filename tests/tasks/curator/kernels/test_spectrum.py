import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curator.kernels.spectrum import CORRECTIONS, corrected, spectrum_of
from tasks.errors import UserError


def indefinite(seed: int, graphs: int = 14) -> np.ndarray:
    a = np.random.default_rng(seed).normal(size=(graphs, graphs))
    return (a + a.T) / 2


def test_spectrum_in_three_figures() -> None:
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    report = spectrum_of(rotation @ np.diag([-1.0, 0.0, 2.0, 5.0]) @ rotation.T)
    assert report.smallest == pytest.approx(-1)
    assert report.largest == pytest.approx(5)
    assert report.negative_mass == pytest.approx(1 / 8)
    assert spectrum_of(np.ones((5, 5))).negative_mass == 0.0


@settings(max_examples=30)
@given(seed=st.integers(0, 2**31), correction=st.sampled_from(["clip", "flip", "shift"]))
def test_corrected_training_matrices_have_no_negative_eigenvalue(seed: int, correction: str) -> None:
    kernel, train = indefinite(seed), np.arange(2, 12)
    columns = kernel[:, train]
    values, vectors = np.linalg.eigh(kernel[np.ix_(train, train)])
    wanted = {"clip": np.maximum(values, 0), "flip": np.abs(values), "shift": values - values[0]}[correction]
    ours = corrected(columns, train, correction)
    np.testing.assert_allclose(ours[train], (vectors * wanted) @ vectors.T, atol=1e-10)
    assert (columns == kernel[:, train]).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_corrections_never_look_at_other_rows(correction: str) -> None:
    kernel, train = indefinite(3), np.array([0, 3, 4, 9, 11])
    columns = kernel[:, train]
    before = corrected(columns, train, correction)
    columns[1] = 100.0
    after = corrected(columns, train, correction)
    others = np.arange(14) != 1
    np.testing.assert_allclose(before[others], after[others], atol=1e-12)


def test_an_unseen_twin_of_a_training_graph_gets_its_row() -> None:
    kernel, train = indefinite(5), np.arange(10)
    columns = kernel[:, train]
    columns[12] = columns[4]
    for correction in ("clip", "flip"):
        ours = corrected(columns, train, correction)
        np.testing.assert_allclose(ours[12], ours[4], atol=1e-10)


def test_sound_kernels_stay_and_unknown_corrections_are_named() -> None:
    kernel = indefinite(1) @ indefinite(1).T
    for correction in CORRECTIONS:
        np.testing.assert_allclose(corrected(kernel, np.arange(14), correction), kernel, atol=1e-9)
    with pytest.raises(UserError, match="'square'"):
        corrected(kernel, np.arange(14), "square")
