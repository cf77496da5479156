from __future__ import annotations

import pytest

from flows.studies.registry import STUDIES
from tasks.curator.methods import METHODS
from tasks.evaluation.tables.controls import control_of

CONTROLS: dict[str, dict[str, str]] = {}
for study in STUDIES:
    for column, reasons in study.controls.items():
        CONTROLS.setdefault(column, {}).update(reasons)


@pytest.mark.parametrize("name", METHODS)
def test_methods_without_noise_calibration_or_features_are_controls(name: str) -> None:
    method = METHODS[name]
    calibrated = method.graph != "reported" or method.joint or method.feature_smoothing
    plain = not calibrated and not method.noise_free
    assert bool(control_of({"method": name}, CONTROLS)) == (plain or method.noise_free or method.features != "reported")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ({"method": "mutual + random-features"}, "random features"),
        ({"method": "base (shared choice)"}, "no calibration"),
        ({"method": "node-count", "input": "node counts"}, "number of nodes"),
        ({"method": "spk", "input": "raw"}, "no privacy"),
        ({"method": "svm-gw", "input": "gin-H", "encoder": "none", "eps": "inf"}, "without noise"),
        ({"method": "deepwalk", "mode": "deepwalk"}, "no privacy"),
        ({"method": "fedwalk", "mode": "walk-random-tree"}, "random tree"),
    ],
)
def test_controls_say_what_they_control_for(line: dict[str, str], word: str) -> None:
    assert word in control_of(line, CONTROLS)


@pytest.mark.parametrize(
    "line",
    [
        {"method": "mutual", "mode": "directed"},
        {"method": "base + bayes-soft"},
        {"method": "svm-gw", "input": "gin-H-ldp", "encoder": "row", "eps": "1"},
        {"method": "fedwalk", "mode": "walk"},
    ],
)
def test_the_methods_themselves_are_none(line: dict[str, str]) -> None:
    assert control_of(line, CONTROLS) == ""
