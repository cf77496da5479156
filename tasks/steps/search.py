"""Step on the curator's side: train one method on one pair of reports and choose by validation."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tasks.code_version import code_version
from tasks.curator.calibration.feature_free import constant_features, random_features
from tasks.curator.calibration.label_propagation import propagate_labels
from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.curator.engine.settings import EngineSettings, GraphSteps
from tasks.curator.methods import Method, method_named
from tasks.curator.problems import prepared
from tasks.curator.rectify import AffineSparse, rectified
from tasks.curator.search.axes import Axes, axes_named
from tasks.curator.search.searching import search as search_grid
from tasks.curator.search.strategy import Strategy
from tasks.curator.search.table import write_search_table
from tasks.curator.trained import Trained
from tasks.curator.training import train
from tasks.models.architecture import Backbone
from tasks.models.networks import Device, resolve
from tasks.params import NodeClassification, Search
from tasks.reports.edge import EdgeReport
from tasks.reports.feature import FeatureReport
from tasks.reports.label import LabelReport
from tasks.steps.curator_seed import curator_seed
from tasks.steps.perturb import REPORT
from tasks.steps.point_task import point_task
from tasks.store import PointRef, PointStore

TRAINED = "trained.npz"
TABLE = "search.parquet"
STUDY = "node_classification"


@point_task()
def search(
    store: PointStore,
    edges: PointRef,
    features: PointRef,
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

    The features of a method that reads none serve for their public width only, and are not part of its key.
    """
    chosen, tuning = method_named(method), study.search
    point = f"{method} {backbone}"
    training_seed = curator_seed(seed, study=STUDY, dataset=dataset, point=point, repeat=repeat)
    where, form = resolve(device, "auto")

    def compute(folder: Path) -> None:
        reported = EdgeReport.load(edges.file(REPORT))
        values = FeatureReport.load(features.file(REPORT))
        known = LabelReport.load(labels.file(REPORT))
        if chosen.backbone_free or backbone == "none":
            trained = _propagated(chosen, reported, known, study)
        elif tuning.engine == "dgl":
            trained = _looped(reported, values, known, backbone, device, training_seed, study)
        else:
            trained = _searched(chosen, reported, values, known, backbone, device, training_seed, study, folder)
        trained.save(folder / TRAINED)
        write_search_table(folder / TABLE, [trained])

    key = {
        "step": "search",
        "edges": edges.content,
        "features": features.content if "features" in chosen.needs else None,
        "labels": labels.content,
        "method": asdict(chosen),
        "backbone": backbone,
        "search": tuning.model_dump(),
        "normalization": study.normalization,
        "smoothing": study.smoothing,
        "seed": training_seed,
        "device": [where.type, form],
        "code": code_version("tasks.reports.edge", *_modules(chosen, tuning)),
    }
    return store.point(key, compute, label=f"search {dataset} {point} repeat={repeat}")


def axes_of(tuning: Search) -> Axes:
    """The grid that params.yaml asks for: a preset, or its own values."""
    if tuning.preset is not None:
        return axes_named(tuning.preset)
    names = ("learning_rate", "dropout", "weight_decay", "l_x", "l_y", "lambda1", "lambda2")
    return Axes(**{name: tuple(getattr(tuning, name)) for name in names})


def _modules(method: Method, tuning: Search) -> tuple[str, ...]:
    if method.backbone_free:
        return method.modules
    if tuning.engine == "dgl":
        return ("tasks.curator.training",)
    return ("tasks.curator.problems", "tasks.curator.search.searching", *method.modules)


def _searched(
    method: Method,
    edges: EdgeReport,
    features: FeatureReport,
    labels: LabelReport,
    backbone: Backbone,
    device: Device,
    seed: int,
    study: NodeClassification,
    folder: Path,
) -> Trained:
    tuning = study.search
    axes = axes_of(tuning)
    values: AffineSparse | NDArray[np.float32]
    if method.features == "reported":
        values = rectified(features)
    elif method.features == "random":
        values = random_features(features.nodes, features.dimensions, seed)
    else:
        values = constant_features(features.nodes, features.dimensions)
    problem = prepared(
        method.calibrated_graph(edges),
        values,
        labels,
        seed=seed,
        smoothing=study.smoothing,
        dropped=axes.l_y if method.target_smoothing else (),
    )
    points = axes.points(
        l_x=method.feature_smoothing,
        l_y=method.prediction_smoothing or method.target_smoothing,
        joint=method.joint,
    )
    settings = EngineSettings(
        backbone=backbone,
        epochs=tuning.epochs,
        patience=tuning.patience,
        normalization=study.normalization,
        smooth_loss=tuning.smooth_loss,
        joint=GraphSteps(tuning.step_size, tuning.inner_steps) if method.joint else None,
        device=device,
        workers=1,  # the flow's runner spreads points over the cores
        memory_mb=tuning.memory_mb,
    )
    strategy = Strategy(
        tuning.strategy, points=tuning.points, minutes=tuning.minutes, factor=tuning.factor, rungs=tuning.rungs
    )
    (trained,) = search_grid([problem], points, settings, strategy, seed=seed).trained
    return trained


def _propagated(method: Method, edges: EdgeReport, labels: LabelReport, study: NodeClassification) -> Trained:
    operator = smoothing_matrix(method.calibrated_graph(edges), study.smoothing)
    found = propagate_labels(operator, labels)
    return Trained("none", found.log_probabilities, {}, found.search, found.chosen)


def _looped(
    edges: EdgeReport,
    features: FeatureReport,
    labels: LabelReport,
    backbone: Backbone,
    device: Device,
    seed: int,
    study: NodeClassification,
) -> Trained:
    tuning = study.search
    return train(
        edges.adjacency(),
        rectified(features),
        labels,
        backbone=backbone,
        grid=axes_of(tuning).points(l_x=False, l_y=False, joint=False),
        seed=seed,
        epochs=tuning.epochs,
        patience=tuning.patience,
        normalization=study.normalization,
        device=device,
    )
