from __future__ import annotations

import pandas as pd
import pytest

from tasks.curator.engine.settings import EngineSettings
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.search.searching import search
from tasks.curator.search.shared_choice import shared_configuration, train_shared
from tasks.curator.search.strategy import Strategy
from tasks.errors import UserError

GRID = tuple(HyperParameters(rate, 0.5, decay) for rate in (0.001, 0.1) for decay in (0.001, 0.1))
SETTINGS = EngineSettings("sage", epochs=12, workers=1)


def test_it_is_the_best_on_average_and_trained_in_every_repeat(repeats):
    problems = repeats(3)
    tables = [trained.search for trained in search(problems, GRID, SETTINGS, Strategy()).trained]
    means = pd.concat(tables).groupby(level=0)[["validation_accuracy", "validation_loss"]].mean()
    best = means.sort_values(["validation_accuracy", "validation_loss"], ascending=[False, True], kind="stable")
    assert shared_configuration(tables) == GRID[best.index[0]]
    for table, trained in zip(tables, train_shared(problems, tables, SETTINGS), strict=True):
        assert trained.hyper_parameters == GRID[best.index[0]]
        assert trained.search["validation_loss"].item() == table["validation_loss"].iloc[best.index[0]]


def test_only_points_that_reached_the_last_round_everywhere_count(repeats):
    (table,) = (trained.search for trained in search(repeats(1), GRID, SETTINGS, Strategy()).trained)
    other = table.copy()
    table["rounds"], other["rounds"] = [2, 2, 1, 1], [1, 2, 2, 1]
    assert shared_configuration([table, other]) == GRID[1]
    other["rounds"] = [1, 1, 2, 2]
    with pytest.raises(UserError):
        shared_configuration([table, other])
