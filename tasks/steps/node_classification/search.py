"""Step on the curator's side: train one method on one pair of reports and choose by validation."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from typing import Literal

from tasks.curator.calibration.label_propagation import propagate_labels
from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.curator.methods import Method, method_named
from tasks.curator.search.searching import search as search_grid
from tasks.curator.search.table import write_search_table
from tasks.curator.trained import Trained
from tasks.curator.training import train
from tasks.models.architecture import Backbone
from tasks.models.networks import Device, resolve
from tasks.parameters.classification import NodeClassification
from tasks.steps.declaration import Draft, Given
from tasks.steps.node_classification.search_plan import WIDTH, Received, axes_of, planned
from tasks.steps.point import point
from tasks.steps.progress import adding_up, occasionally
from tasks.steps.seeds import Seed
from tasks.store import PointRef

TRAINED = "trained.npz"
TABLE = "search.parquet"
COST = "cost.json"
STUDY = "node_classification"
OF_SOME = {
    "tasks.curator.calibration.feature_free",
    "tasks.curator.calibration.label_propagation",
    "tasks.curator.calibration.smoothing",
    "tasks.curator.training",
}
"""Modules that some methods and engines run, and others do not."""

log = logging.getLogger("pipeline")


TRAINING = Seed(STUDY, "{method} {backbone}")
"""Of initial weights, dropout and the subset of configurations."""


def _decided(of: Given) -> dict[str, object]:
    chosen, tuning = method_named(of.method), of.study.search_for(of.method)
    where, form = resolve(of.device, "auto")
    return {
        "features": of.features.content if of.features and "features" in chosen.needs else None,
        **({} if of.features else {"width": WIDTH}),
        "method": asdict(chosen),
        "search": tuning.model_dump(),
        "normalization": of.study.normalization,
        "smoothing": of.study.smoothing,
        "device": [where.type, form],
    }


def _code(of: Given, named: frozenset[str]) -> frozenset[str]:
    looped = of.study.search_for(of.method).engine == "dgl"
    return (named - OF_SOME).union(method_named(of.method).modules, ["tasks.curator.training"] if looped else [])


@point(
    label="search {dataset} {method} {backbone} repeat={repeat}",
    seed=TRAINING,
    ignore=("dataset", "repeat", "study"),
    also=_decided,
    code=_code,
)
def search(
    draft: Draft,
    edges: PointRef,
    features: PointRef | None,
    labels: PointRef,
    *,
    dataset: str,
    method: str,
    backbone: Backbone | Literal["none"],
    repeat: int,
    seed: int | None,
    device: Device,
    study: NodeClassification,
) -> None:
    """Trains on reports alone. Its seed is public: with ``seed: null`` only the users' noise is secret.

    The features of a method that reads none serve for their public width only, and are not part of its key; None where
    the users have none.
    """
    chosen, received = method_named(method), Received.load(edges, features, labels)
    if chosen.backbone_free or backbone == "none":
        trained = _propagated(chosen, received, study)
    elif study.search_for(method).engine == "dgl":
        trained = _looped(method, received, backbone, device, draft.seed, study)
    else:
        plan = planned(chosen, received, backbone, device, draft.seed, study)
        told = adding_up(occasionally(draft.label, plan.model_epochs, "model-epochs at most"))
        found = search_grid(
            [plan.problem], plan.configurations, plan.settings, plan.strategy, seed=draft.seed, progress=told
        )
        for note in found.notes:
            log.warning("%s: %s", draft.label, note)
        (trained,) = found.trained
        draft.file(COST).write_text(json.dumps({"model_epochs": found.model_epochs}) + "\n")
    trained.save(draft.file(TRAINED))
    write_search_table(draft.file(TABLE), [trained])


search_key: Callable[..., dict[str, object]] = search.key  # type: ignore[attr-defined]
"""Everything that decides the outcome of ``search`` with these arguments, which leave the store out."""


def reads_raw(edges: PointRef, features: PointRef | None) -> bool:
    """Whether a search on these reports is private; the labels are public by assumption."""
    return edges.raw or (features is not None and features.raw)


def _propagated(method: Method, received: Received, study: NodeClassification) -> Trained:
    operator = smoothing_matrix(method.calibrated_graph(received.edges), study.smoothing)
    found = propagate_labels(operator, received.labels)
    return Trained("none", found.log_probabilities, {}, found.search, found.chosen)


def _looped(
    method: str, received: Received, backbone: Backbone, device: Device, seed: int, study: NodeClassification
) -> Trained:
    tuning = study.search_for(method)
    return train(
        received.edges.adjacency(),
        received.rectified(),
        received.labels,
        backbone=backbone,
        grid=axes_of(tuning).configurations(l_x=False, l_y=False, joint=False),
        seed=seed,
        epochs=tuning.epochs,
        patience=tuning.patience,
        normalization=study.normalization,
        device=device,
    )
