from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.code_version import code_version
from tasks.curator.methods import METHODS, Graph, method_named
from tasks.errors import UserError
from tasks.seeds import generator

RING = csr_array((np.roll(np.eye(30), 1, axis=1) + np.roll(np.eye(30), -1, axis=1)).astype(np.int8))


def report(mode: str = "directed"):
    return randomise_neighbour_lists(RING, "3", mode, generator(0), 10, True, dataset="toy")  # type: ignore[arg-type]


def test_every_registered_method_is_found_by_its_name() -> None:
    for name, method in METHODS.items():
        assert method_named(name) == method and method.name == name


def test_combinations() -> None:
    method = method_named("mutual + smoothing + Drop")
    assert method.name == "mutual + smoothing + drop"
    assert (method.graph, method.features) == ("mutual", "reported")
    assert method.feature_smoothing and method.target_smoothing and method.prediction_smoothing and not method.joint
    plain = method_named("base+mutual")
    assert plain.graph == "mutual" and not (plain.feature_smoothing or plain.prediction_smoothing)
    control = method_named("lpgnn + bayes-soft + random-features")
    assert (control.graph, control.features) == ("bayes-soft", "random") and control.target_smoothing
    assert method_named("label-propagation + mutual").backbone_free


@pytest.mark.parametrize("graph", get_args(Graph))
def test_every_graph_has_weights_between_zero_and_one(graph: str) -> None:
    method = method_named("base" if graph == "reported" else f"base + {graph}")
    calibrated = method.calibrated_graph(report())
    assert calibrated.shape == (30, 30) and calibrated.data.min() > 0 and calibrated.data.max() <= 1


def test_what_is_not_read_need_not_be_reported() -> None:
    assert method_named("base").needs == ("edges", "features", "labels")
    for name in ("random-features", "constant-features", "label-propagation", "mutual + random-features"):
        assert method_named(name).needs == ("edges", "labels")


@pytest.mark.parametrize("name", METHODS)
def test_modules_are_those_of_the_calibrations(name: str) -> None:
    modules = METHODS[name].modules
    assert all(module.startswith("tasks.curator.calibration.") and code_version(module) for module in modules)
    assert ("tasks.curator.calibration.mutual" in modules) == (METHODS[name].graph == "mutual")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("gromov", "'gromov'"),
        ("base + magic", "'magic'"),
        ("base + mutual + bayes-hard", r"'base \+ mutual \+ bayes-hard'"),
        ("base + drop + drop", r"'base \+ drop \+ drop'"),
        ("label-propagation + drop", "label-propagation .*drop"),
        ("", "method ''"),
    ],
)
def test_mistakes_are_named(text: str, named: str) -> None:
    with pytest.raises(UserError, match=named):
        method_named(text)


def test_a_mode_without_the_needed_reports_is_refused() -> None:
    with pytest.raises(UserError, match="pair"):
        METHODS["mutual"].calibrated_graph(report("pair"))
    assert METHODS["bayes-hard"].calibrated_graph(report("pair")).shape == (30, 30)
