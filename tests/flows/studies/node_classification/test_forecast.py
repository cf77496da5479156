from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.context.request import StudyRequest
from flows.context.study import Study
from flows.execution.submission import Call, Done
from flows.studies.node_classification.forecast import duration, expect
from flows.studies.registry import declared
from tasks.curator.search.forecast import Forecast
from tasks.parameters.profiles import Profile
from tasks.steps.node_classification.search import COST, search
from tasks.store import PointRef, PointStore

STUDY = "node_classification"


class Measured:
    """A submitter that knows what every search takes."""

    def __init__(self) -> None:
        self.probed: list[tuple[str, str, str]] = []

    def run(self, calls: Iterable[Call]) -> Iterator[Done]:
        for call in calls:
            self.probed.append(call.key)
            yield Done(call, Forecast(configurations=4, model_epochs=100, minutes=1.5, memory_mb=20))


def study_of(folder: Path, submitter: Any) -> Study:
    grid = {"datasets": ["digits"], "eps_x": [1], "eps_a": [7, 8], "methods": ["base", "label-propagation"]}
    profile = Profile.model_validate({"repeats": 2, "workers": 2, STUDY: grid})
    return Study(declared(STUDY), StudyRequest(), profile, ["digits"], {}, PointStore(folder), submitter)


def searches(study: Study, folder: Path) -> list[Call]:
    report = PointRef("r", folder, "content", cached=True, seconds=0, raw=False)
    lines = [("base", "gcn"), ("base", "sage"), ("label-propagation", "none")]
    return [
        study.call(
            search,
            "search",
            f"{method} {backbone}",
            repeat,
            dataset="digits",
            method=method,
            backbone=backbone,
            edges=report,
            features=report,
            labels=report,
        )
        for method, backbone in lines
        for repeat in range(2)
    ]


def test_what_is_missing_is_measured_once_for_all_repeats_and_summed(tmp_path: Path) -> None:
    submitter = Measured()
    study = study_of(tmp_path / "store", submitter)
    calls = searches(study, tmp_path)
    (tmp_path / "meta.json").write_text(json.dumps({"files": {}, "key": {}, "label": ""}))
    expected = expect(study, calls)
    assert sorted(submitter.probed) == [("digits", "base", "gcn"), ("digits", "base", "sage")]
    assert expected.calls == {call.name for call in calls if "label-propagation" not in call.name}
    assert expected.model_epochs == 4 * 100
    assert expected.minutes == pytest.approx(4 * 1.5 / 2)  # on two workers


def test_what_is_stored_is_not_expected(tmp_path: Path) -> None:
    submitter = Measured()
    study = study_of(tmp_path / "store", submitter)
    calls = searches(study, tmp_path)
    (tmp_path / "meta.json").write_text(json.dumps({"files": {}, "key": {}, "label": ""}))
    for call in calls:
        key = search.key(**{name: value for name, value in call.arguments.items() if name != "store"})
        study.store.point(key, lambda folder: None, label=call.name)
    expected = expect(study, calls)
    assert (submitter.probed, expected.calls, expected.minutes) == ([], frozenset(), 0)


def test_what_it_took_is_logged_beside_the_forecast(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    study = study_of(tmp_path / "store", Measured())
    calls = searches(study, tmp_path)
    (tmp_path / "meta.json").write_text(json.dumps({"files": {}, "key": {}, "label": ""}))
    (tmp_path / COST).write_text(json.dumps({"model_epochs": 77}))
    done = PointRef("s", tmp_path, "content", cached=False, seconds=1, raw=False)
    with caplog.at_level("INFO", logger="pipeline"):
        expect(study, calls).compare([(call, done) for call in calls])
    assert str(4 * 77) in caplog.messages[-1]


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (0.0, "less than a minute"),
        (0.99, "less than a minute"),
        (1.0, "about 1.0 minutes"),
        (90.04, "about 90.0 minutes"),
    ],
)
def test_a_duration_is_never_about_nothing(minutes: float, words: str) -> None:
    assert duration(minutes) == words
