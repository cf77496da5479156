"""Step on the curator's side: train one method on one pair of reports and choose by validation."""

from __future__ import annotations

from pathlib import Path

from tasks.code_version import code_version
from tasks.curator.hyper_parameters import grid
from tasks.curator.rectify import rectified
from tasks.curator.training import train
from tasks.models.architecture import Backbone
from tasks.models.networks import Device, resolve
from tasks.params import NodeClassification
from tasks.reports.edge import EdgeReport
from tasks.reports.feature import FeatureReport
from tasks.reports.label import LabelReport
from tasks.steps.curator_seed import curator_seed
from tasks.steps.perturb import REPORT
from tasks.steps.point_task import point_task
from tasks.store import PointRef, PointStore

TRAINED = "trained.npz"


@point_task()
def search(
    store: PointStore,
    edges: PointRef,
    features: PointRef,
    labels: PointRef,
    *,
    dataset: str,
    method: str,
    backbone: Backbone,
    repeat: int,
    seed: int | None,
    device: Device,
    study: NodeClassification,
) -> PointRef:
    """Trains on reports alone. Its seed is public: with ``seed: null`` only the users' noise is secret."""
    point = f"{method} {backbone}"
    training_seed = curator_seed(seed, study="node_classification", dataset=dataset, point=point, repeat=repeat)
    where, form = resolve(device, "auto")
    tuning = study.search

    def compute(folder: Path) -> None:
        trained = train(
            EdgeReport.load(edges.file(REPORT)).adjacency(),
            rectified(FeatureReport.load(features.file(REPORT))),
            LabelReport.load(labels.file(REPORT)),
            backbone=backbone,
            grid=grid(tuning.learning_rate, tuning.dropout, tuning.weight_decay),
            seed=training_seed,
            epochs=tuning.epochs,
            patience=tuning.patience,
            normalization=study.normalization,
            device=device,
        )
        trained.save(folder / TRAINED)

    key = {
        "step": "search",
        "edges": edges.content,
        "features": features.content,
        "labels": labels.content,
        "method": method,
        "backbone": backbone,
        "search": tuning.model_dump(),
        "normalization": study.normalization,
        "seed": training_seed,
        "device": [where.type, form],
        "code": code_version("tasks.curator.training", "tasks.reports.edge"),
    }
    return store.point(key, compute, label=f"search {dataset} {point} repeat={repeat}")
