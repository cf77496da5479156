"""Step on the curator's side: what a search will take, measured by a few epochs of its own work."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tasks.curator.methods import method_named
from tasks.curator.search.forecast import Forecast
from tasks.curator.search.forecast import forecast as measured
from tasks.curator.search.strategy import random_subset
from tasks.models.architecture import Backbone
from tasks.models.networks import Device
from tasks.parameters.classification import NodeClassification
from tasks.steps.node_classification.search import TRAINING
from tasks.steps.node_classification.search_plan import Received, planned
from tasks.steps.point import point_task
from tasks.steps.sides import call_apart
from tasks.store import PointRef, PointStore


@point_task()
def forecast(
    store: PointStore,
    edges: PointRef,
    features: PointRef | None,
    labels: PointRef,
    *,
    dataset: str,
    method: str,
    backbone: Backbone,
    repeat: int,
    seed: int | None,
    device: Device,
    study: NodeClassification,
) -> Forecast:
    """An upper bound for ``search`` with the same arguments; it depends on the machine and is kept nowhere."""
    training_seed = TRAINING.of(seed=seed, dataset=dataset, method=method, backbone=backbone, repeat=repeat)
    given: dict[str, Any] = {"edges": edges, "features": features, "labels": labels, "method": method}
    given |= {"backbone": backbone, "training_seed": training_seed, "device": device, "study": study}
    return Forecast(**call_apart(measure, f"forecast {dataset} {method} {backbone}", **given))


def measure(
    edges: PointRef,
    features: PointRef | None,
    labels: PointRef,
    *,
    method: str,
    backbone: Backbone,
    training_seed: int,
    device: Device,
    study: NodeClassification,
) -> dict[str, float]:
    """The fields of the forecast, measured by the curator."""
    received = Received.load(edges, features, labels)
    plan = planned(method_named(method), received, backbone, device, training_seed, study)
    configurations, limit = plan.configurations, plan.strategy.points
    configurations = configurations if limit is None else random_subset(configurations, limit, training_seed)
    return asdict(measured([plan.problem], configurations, plan.settings, plan.strategy))
