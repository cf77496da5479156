"""Step on the curator's side: the second protocol, one configuration of hyper-parameters for all repeats of a cell."""

from __future__ import annotations

from typing import Any

from tasks.curator.methods import method_named
from tasks.curator.search.shared_choice import train_shared
from tasks.curator.trained import Trained
from tasks.models.architecture import Backbone
from tasks.models.networks import Device
from tasks.parameters.classification import NodeClassification
from tasks.steps.declaration import Draft, Given
from tasks.steps.node_classification.search import TRAINED, TRAINING, search_key
from tasks.steps.node_classification.search_plan import Received, planned
from tasks.steps.point import point
from tasks.store import PointRef


def _searches(of: Given) -> dict[str, object]:
    same = {name: vars(of)[name] for name in ("dataset", "method", "backbone", "seed", "device", "study")}
    return {"searches": [search_key(**received, **same, repeat=n) for n, received in enumerate(of.reports)]}


@point(
    label="search shared {dataset} {method} {backbone}",
    ignore=("reports", "dataset", "method", "backbone", "seed", "device", "study"),
    also=_searches,
)
def search_shared(
    draft: Draft,
    reports: list[dict[str, Any]],
    searched: list[PointRef],
    *,
    dataset: str,
    method: str,
    backbone: Backbone,
    seed: int | None,
    device: Device,
    study: NodeClassification,
) -> None:
    """Trains the configuration with the best mean validation score in every repeat; one file each (``shared_file``).

    Args:
        draft: the point in the making; the step takes the store instead.
        reports: per repeat the arguments ``edges``, ``features`` and ``labels`` of its search.
        searched: per repeat the point of its search.
        dataset, method, backbone, seed, device, study: as in ``search``.

    Raises:
        UserError: when no configuration was trained to its end in all repeats.
    """
    chosen = method_named(method)
    purpose: dict[str, Any] = {"seed": seed, "dataset": dataset, "method": method, "backbone": backbone}
    plans = [
        planned(chosen, Received.load(**received), backbone, device, TRAINING.of(**purpose, repeat=repeat), study)
        for repeat, received in enumerate(reports)
    ]
    tables = [Trained.load(point.file(TRAINED)).search for point in searched]
    shared = train_shared([plan.problem for plan in plans], tables, plans[0].settings)
    for repeat, trained in enumerate(shared):
        trained.save(draft.file(shared_file(repeat)))


def shared_file(repeat: int) -> str:
    """The name of one repeat's model."""
    return f"trained-{repeat}.npz"
