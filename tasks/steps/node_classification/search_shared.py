"""Step on the curator's side: the second protocol, one hyper-parameter point for all repeats of a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.code_version import code_version
from tasks.curator.methods import method_named
from tasks.curator.search.shared_choice import train_shared
from tasks.curator.trained import Trained
from tasks.models.architecture import Backbone
from tasks.models.networks import Device
from tasks.parameters.classification import NodeClassification
from tasks.steps.node_classification.search import TRAINED, search_key, seed_of_training
from tasks.steps.node_classification.search_plan import Received, planned
from tasks.steps.point import point_task
from tasks.store import PointRef, PointStore


@point_task()
def search_shared(
    store: PointStore,
    reports: list[dict[str, Any]],
    searched: list[PointRef],
    *,
    dataset: str,
    method: str,
    backbone: Backbone,
    seed: int | None,
    device: Device,
    study: NodeClassification,
) -> PointRef:
    """Trains the point with the best mean validation score in every repeat; one file a repeat (``shared_file``).

    Args:
        store: where points lie.
        reports: per repeat the arguments ``edges``, ``features`` and ``labels`` of its search.
        searched: per repeat the point of its search.
        dataset, method, backbone, seed, device, study: as in ``search``.

    Raises:
        UserError: when no point was trained to its end in all repeats.
    """
    chosen = method_named(method)

    def compute(folder: Path) -> None:
        plans = [
            planned(
                chosen,
                Received.load(**received),
                backbone,
                device,
                seed_of_training(seed, dataset, method, backbone, repeat),
                study,
            )
            for repeat, received in enumerate(reports)
        ]
        tables = [Trained.load(point.file(TRAINED)).search for point in searched]
        shared = train_shared([plan.problem for plan in plans], tables, plans[0].settings)
        for repeat, trained in enumerate(shared):
            trained.save(folder / shared_file(repeat))

    keys = [
        search_key(
            **received,
            dataset=dataset,
            method=method,
            backbone=backbone,
            repeat=repeat,
            seed=seed,
            device=device,
            study=study,
        )
        for repeat, received in enumerate(reports)
    ]
    key = {
        "step": "search shared",
        "searches": keys,
        "searched": [point.content for point in searched],
        "code": code_version("tasks.curator.search.shared_choice"),
    }
    private = any(point.raw for point in searched)
    return store.point(key, compute, label=f"search shared {dataset} {method} {backbone}", private=private)


def shared_file(repeat: int) -> str:
    """The name of one repeat's model."""
    return f"trained-{repeat}.npz"
