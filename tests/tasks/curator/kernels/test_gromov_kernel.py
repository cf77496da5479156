import numpy as np
import pytest

from tasks.curator.kernels.gromov_kernel import GAMMAS, distance_unit, gromov_kernels
from tasks.errors import UserError

DISTANCES = np.abs(np.arange(5.0)[:, None] - np.arange(5.0)) ** 2
TRAIN = np.array([0, 1, 3])


def test_unit_is_the_median_of_training_pairs() -> None:
    assert distance_unit(DISTANCES, TRAIN, "median") == 4.0  # of 1, 9 and 4
    assert distance_unit(DISTANCES, TRAIN, "raw") == 1.0
    changed = DISTANCES.copy()
    changed[2], changed[:, 4] = 1e9, 1e9
    assert distance_unit(changed, TRAIN, "median") == 4.0


def test_unit_survives_copies_and_single_graphs() -> None:
    copies = np.zeros((4, 4))
    assert distance_unit(copies, np.arange(4), "median") == 1.0
    copies[0, 1] = copies[1, 0] = 6.0
    assert distance_unit(copies, np.arange(4), "median") == 1.0  # the mean of 6 and five zeros
    assert distance_unit(copies, np.array([0]), "median") == 1.0


def test_kernels_cover_the_grid() -> None:
    assert GAMMAS[0] == 2**-10
    assert GAMMAS[-1] == 2**10
    assert len(GAMMAS) == 21
    kernels = list(gromov_kernels({0.5: DISTANCES, 1.0: 2 * DISTANCES}, TRAIN, gammas=(1.0, 2.0)))
    assert [settings for settings, _ in kernels] == [{"alpha": a, "gamma": g} for a in (0.5, 1.0) for g in (1.0, 2.0)]
    np.testing.assert_allclose(kernels[1][1], np.exp(-2.0 * DISTANCES[:, TRAIN] / 4.0))
    np.testing.assert_allclose(kernels[1][1], kernels[3][1])  # the unit takes the scale away


def test_wrong_units_and_distances_are_refused() -> None:
    with pytest.raises(UserError, match="'mean'"):
        distance_unit(DISTANCES, TRAIN, "mean")
    for bad in (np.nan, -1.0):
        with pytest.raises(UserError):
            next(gromov_kernels({1.0: np.full((5, 5), bad)}, TRAIN))
