"""What the searches of a study will take, said before they start, and what they took, said after."""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from flows.context.artifacts import show_forecast
from flows.context.study import Study
from flows.execution.submission import Call
from flows.execution.task_runners import worker_count
from tasks.curator.methods import method_named
from tasks.curator.search.forecast import Forecast
from tasks.parameters.classification import NodeClassification
from tasks.parameters.profiles import section_of
from tasks.point_folder import is_private
from tasks.steps.node_classification.forecast import forecast
from tasks.steps.node_classification.search import COST, reads_raw, search_key
from tasks.store import PointRef

log = logging.getLogger("pipeline")


@dataclass(frozen=True)
class Expected:
    """The searches that the store does not have, and when they were handed out."""

    calls: frozenset[str]
    minutes: float
    model_epochs: int
    started: float

    def compare(self, trained: Sequence[tuple[Call, PointRef]]) -> None:
        """Logs what was expected beside what it took."""
        if not self.calls:
            return
        costs = [point.file(COST) for call, point in trained if call.name in self.calls]
        epochs = sum(json.loads(cost.read_text())["model_epochs"] for cost in costs)
        log.info(
            "searches took %s and %d model-epochs (forecast: %s and at most %d)",
            duration((time.monotonic() - self.started) / 60),
            epochs,
            duration(self.minutes),
            self.model_epochs,
        )


def duration(minutes: float) -> str:
    """As much of a forecast as it can know."""
    return "less than a minute" if minutes < 1 else f"about {minutes:.1f} minutes"


def expect(study: Study, calls: Sequence[Call]) -> Expected:
    """Measures one search of every (data set, method, backbone) that has some to do, and logs the sum."""
    grid = section_of(study.profile, NodeClassification)
    alike: defaultdict[tuple[str, str, str], list[Call]] = defaultdict(list)
    for call in calls:
        of = {name: value for name, value in call.arguments.items() if name != "store"}
        looped = grid.search_for(of["method"]).engine == "dgl"
        if looped or method_named(of["method"]).backbone_free:
            continue
        if not study.store.holds(search_key(**of), private=reads_raw(of["edges"], of["features"])):
            alike[of["dataset"], of["method"], of["backbone"]].append(call)
    probes = [Call(forecast, f"forecast {' '.join(group)}", same[0].arguments, group) for group, same in alike.items()]
    found: dict[tuple[str, str, str], Forecast] = {
        done.call.key: done.result for done in study.submitter.run(probes) if done.error is None
    }
    workers = min(worker_count(study.profile), max(len(calls), 1))
    minutes = sum(cost.minutes * len(alike[group]) for group, cost in found.items()) / workers
    epochs = sum(cost.model_epochs * len(alike[group]) for group, cost in found.items())
    if found:
        configurations = sum(cost.configurations * len(alike[group]) for group, cost in found.items())
        line = (
            f"{sum(map(len, alike.values()))} searches of {configurations} points, at most {epochs} model-epochs, "
            f"{duration(minutes)} on {workers} workers"
        )
        # Memory grows with the number of reported edges, which is told of no private graph.
        if not any(is_private(call.arguments["edges"].folder) for same in alike.values() for call in same):
            line += f", at most {max(cost.memory_mb for cost in found.values()):.0f} MB each"
        log.info("forecast: %s", line)
        show_forecast(study.name, line)
    names = frozenset(call.name for same in alike.values() for call in same)
    return Expected(names, minutes, epochs, time.monotonic())
