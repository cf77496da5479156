from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from tasks.curator.engine.settings import EngineSettings
from tasks.curator.engine.train_batch import train_batch
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.search.forecast import forecast
from tasks.curator.search.searching import COLUMNS, search
from tasks.curator.search.strategy import Strategy, random_subset
from tasks.curator.search.table import read_search_table, write_search_table

GRID = tuple(
    HyperParameters(rate, dropout, 0.001, l_x=l_x, l_y=l_y)
    for rate in (0.001, 0.01, 0.1)
    for dropout in (0.0, 0.5)
    for l_x in (0, 2)
    for l_y in (0, 2)
)
SETTINGS = EngineSettings("gcn", epochs=36, patience=20, workers=1)
STRATEGIES = (Strategy(), Strategy("random", points=10), Strategy("halving"), Strategy("halving", points=12, rungs=2))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: f"{strategy.kind}-{strategy.points}")
def test_the_choice_is_the_best_of_the_table_trained_to_its_end(repeats, strategy):
    problems = repeats(2)
    found = search(problems, GRID, SETTINGS, strategy)
    for problem, trained in zip(problems, found.trained, strict=True):
        table = trained.search
        assert tuple(table.columns) == COLUMNS and len(table) == (strategy.points or len(GRID))
        order = table.sort_values(["validation_accuracy", "validation_loss"], ascending=[False, True], kind="stable")
        assert trained.chosen == order.index[0]
        assert table["rounds"].iloc[trained.chosen] == table["rounds"].max()
        (alone,) = train_batch([problem], [[trained.hyper_parameters]], SETTINGS).trained
        assert (alone.log_probabilities == trained.log_probabilities).all()
    assert (
        found.model_epochs
        <= forecast(problems, random_subset(GRID, len(table), seed=0), SETTINGS, strategy).model_epochs
    )


def test_halving_costs_less_and_keeps_what_leads(repeats):
    problems = repeats(1)
    full, halved = (search(problems, GRID, SETTINGS, Strategy(kind)) for kind in ("full", "halving"))
    assert halved.model_epochs < full.model_epochs / 2
    table = halved.trained[0].search
    assert sorted(table["rounds"].value_counts()) == sorted([24 - 8, 8 - 3, 3 - 1, 1])
    first = train_batch(problems, [GRID], EngineSettings("gcn", epochs=2, patience=20, workers=1)).trained[0].search
    leaders = first.sort_values(["validation_accuracy", "validation_loss"], ascending=[False, True], kind="stable")
    assert set(table.index[table["rounds"] > 1]) == set(leaders.index[:8])


def test_the_same_seed_gives_the_same_table_file(repeats, tmp_path):
    for name, workers in (("a", 1), ("b", 2)):
        settings = EngineSettings("gcn", epochs=10, workers=workers)
        found = search(repeats(2), GRID, settings, Strategy("halving", points=9), seed=4)
        write_search_table(tmp_path / name, found.trained)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    table = read_search_table(tmp_path / "a")
    assert list(table.columns) == ["repeat", *COLUMNS, "chosen"] and len(table) == 18
    assert table.groupby("repeat")["chosen"].sum().tolist() == [1, 1]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time of a search: every probe of the forecast takes a second, and the rest none."""
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: float(next(ticks)), monotonic=lambda: 0.0)
    for module in ("search.forecast", "search.searching", "engine.schedule"):
        monkeypatch.setattr(f"tasks.curator.{module}.time", clock)
    return clock


def test_minutes_leave_out_points_that_the_forecast_has_no_time_for(repeats, clock):
    problems, settings = repeats(1), EngineSettings("gcn", epochs=5, workers=1)
    assert len(search(problems, GRID, settings, Strategy()).trained[0].search) == len(GRID)
    minutes = 0.4 * forecast(problems, GRID, settings, Strategy()).minutes
    found = search(problems, GRID, settings, Strategy(minutes=minutes))
    assert len(found.trained[0].search) == int(0.4 * len(GRID))


def test_no_model_starts_when_the_minutes_are_over(repeats, clock):
    settings = EngineSettings("gcn", epochs=5, workers=1)
    minutes = forecast(repeats(1), GRID, settings, Strategy()).minutes
    late = iter([0.0] * 4)
    clock.monotonic = lambda: next(late, 60 * minutes + 1)
    found = search(repeats(1), GRID, settings, Strategy(minutes=minutes))
    assert 1 <= len(found.trained[0].search) < len(GRID)
