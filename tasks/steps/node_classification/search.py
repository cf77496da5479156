"""Step on the curator's side: train one method on one pair of reports and choose by validation."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from tasks.code_version import code_version
from tasks.curator.calibration.label_propagation import propagate_labels
from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.curator.methods import Method, method_named
from tasks.curator.search.searching import search as search_grid
from tasks.curator.search.table import write_search_table
from tasks.curator.trained import Trained
from tasks.curator.training import train
from tasks.models.architecture import Backbone
from tasks.models.networks import Device, resolve
from tasks.parameters.classification import NodeClassification, Search
from tasks.steps.node_classification.search_plan import WIDTH, Received, axes_of, planned
from tasks.steps.point import point_task
from tasks.steps.progress import adding_up, occasionally
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore

TRAINED = "trained.npz"
TABLE = "search.parquet"
COST = "cost.json"
STUDY = "node_classification"

log = logging.getLogger("pipeline")


@point_task()
def search(
    store: PointStore,
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
) -> PointRef:
    """Trains on reports alone. Its seed is public: with ``seed: null`` only the users' noise is secret.

    The features of a method that reads none serve for their public width only, and are not part of its key; None where
    the users have none.
    """
    chosen = method_named(method)
    training_seed = seed_of_training(seed, dataset, method, backbone, repeat)
    label = f"search {dataset} {method} {backbone} repeat={repeat}"

    def compute(folder: Path) -> None:
        received = Received.load(edges, features, labels)
        if chosen.backbone_free or backbone == "none":
            trained = _propagated(chosen, received, study)
        elif study.search_for(method).engine == "dgl":
            trained = _looped(method, received, backbone, device, training_seed, study)
        else:
            plan = planned(chosen, received, backbone, device, training_seed, study)
            told = adding_up(occasionally(label, plan.model_epochs, "model-epochs at most"))
            found = search_grid(
                [plan.problem], plan.points, plan.settings, plan.strategy, seed=training_seed, progress=told
            )
            for note in found.notes:
                log.warning("%s: %s", label, note)
            (trained,) = found.trained
            (folder / COST).write_text(json.dumps({"model_epochs": found.model_epochs}) + "\n")
        trained.save(folder / TRAINED)
        write_search_table(folder / TABLE, [trained])

    key = search_key(
        edges,
        features,
        labels,
        dataset=dataset,
        method=method,
        backbone=backbone,
        repeat=repeat,
        seed=seed,
        device=device,
        study=study,
    )
    return store.point(key, compute, label=label, private=reads_raw(edges, features))


def reads_raw(edges: PointRef, features: PointRef | None) -> bool:
    """Whether a search on these reports is private; the labels are public by assumption."""
    return edges.raw or (features is not None and features.raw)


def seed_of_training(seed: int | None, dataset: str, method: str, backbone: str, repeat: int) -> int:
    """The public seed of initial weights, dropout and the subset of points."""
    return curator_seed(seed, study=STUDY, dataset=dataset, point=f"{method} {backbone}", repeat=repeat)


def search_key(
    edges: PointRef,
    features: PointRef | None,
    labels: PointRef,
    *,
    dataset: str,
    method: str,
    backbone: str,
    repeat: int,
    seed: int | None,
    device: Device,
    study: NodeClassification,
) -> dict[str, object]:
    """Everything that decides the outcome of ``search`` with these arguments."""
    chosen, tuning = method_named(method), study.search_for(method)
    where, form = resolve(device, "auto")
    return {
        "step": "search",
        "edges": edges.content,
        "features": features.content if features and "features" in chosen.needs else None,
        **({} if features else {"width": WIDTH}),
        "labels": labels.content,
        "method": asdict(chosen),
        "backbone": backbone,
        "search": tuning.model_dump(),
        "normalization": study.normalization,
        "smoothing": study.smoothing,
        "seed": seed_of_training(seed, dataset, method, backbone, repeat),
        "device": [where.type, form],
        "code": code_version("tasks.reports.edge", *_modules(chosen, tuning)),
    }


def _modules(method: Method, tuning: Search) -> tuple[str, ...]:
    if method.backbone_free:
        return method.modules
    if tuning.engine == "dgl":
        return ("tasks.curator.training",)
    return ("tasks.curator.problems", "tasks.curator.search.searching", *method.modules)


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
        grid=axes_of(tuning).points(l_x=False, l_y=False, joint=False),
        seed=seed,
        epochs=tuning.epochs,
        patience=tuning.patience,
        normalization=study.normalization,
        device=device,
    )
