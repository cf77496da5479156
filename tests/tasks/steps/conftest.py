from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prefect import Task

import tasks.steps
from tasks.datasets.user.declaration import UserDataset
from tasks.steps.declaration import Declaration
from tasks.steps.download import download, fetched
from tasks.steps.node_embedding.tree import (
    build_random_tree,
    build_tree,
    count_neighbours,
    publish_degrees,
    send_structural_matrices,
)
from tasks.steps.node_embedding.walks import encode_lists, walk_devices, walk_reported_lists, walk_true_graph
from tasks.steps.raw_source import RawSource
from tasks.store import PointRef, PointStore

MODULES = [importlib.import_module(found.name) for found in pkgutil.walk_packages(tasks.steps.__path__, "tasks.steps.")]
STEPS: dict[str, Any] = {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, Task) and value.fn.__module__ == module.__name__
}
"""Every step of the package."""
DECLARATIONS: dict[str, Declaration] = {
    **{name: step.key.__self__ for name, step in STEPS.items() if hasattr(step, "key")},
    "download": fetched,
}
"""What every step declares that stores a point."""

Declare = Callable[..., RawSource]


@pytest.fixture
def declare(store: PointStore, own_files: Path) -> Declare:
    """The small graph as a source: declare(private=True) and other changes of its declaration."""

    def declared(**changes: object) -> RawSource:
        fields = {
            "name": "friends",
            "edges": own_files / "edges.csv",
            "features": own_files / "features.csv",
            "labels": own_files / "labels.csv",
            "feature_bounds": (0.0, 1.0),
            "private": False,
            "account": store.root.parent / "account",
            **changes,
        }
        return download.plain(store, fields["name"], UserDataset(**fields))  # type: ignore[attr-defined]

    return declared


@pytest.fixture
def source(declare: Declare) -> RawSource:
    return declare()


@pytest.fixture
def secret_source(declare: Declare) -> RawSource:
    return declare(private=True)


Protocol = Callable[..., dict[str, PointRef]]
SMALL: dict[str, Any] = {"walks": 2, "length": 8, "repeat": 0, "seed": 0}


@pytest.fixture
def protocol(store: PointStore) -> Protocol:
    """Every point of the node embedding study: protocol(source, seed=1, eps_encoder="inf") and other changes."""

    def run(source: RawSource, **changes: Any) -> dict[str, PointRef]:
        chosen = {
            "bins": "auto",
            "eps_degree": "1",
            "eps_counts": "1",
            "eps_encoder": "2",
            "p": 0.2,
            **SMALL,
            **changes,
        }

        def step(task: Any, *inputs: Any, names: str = "", **more: Any) -> PointRef:
            return task.plain(
                store, *inputs, **{name: chosen[name] for name in ["repeat", "seed", *names.split()]}, **more
            )

        points = {"degrees": step(publish_degrees, source, names="eps_degree")}
        points["counts"] = step(count_neighbours, source, points["degrees"], names="bins eps_counts")
        points["matrices"] = step(send_structural_matrices, source, names="bins eps_counts")
        grown = {"linkage": "balanced", "dataset": source.name}
        points["tree"] = step(build_tree, points["counts"], kind="private", **grown)
        points["paper tree"] = step(build_tree, points["matrices"], kind="paper", **grown)
        points["random tree"] = step(build_random_tree, source)
        points["walks"] = step(walk_devices, source, points["tree"], names="eps_encoder p walks length")
        points["lists"] = step(encode_lists, source, points["tree"], names="eps_encoder")
        listed = {"encoded": True, "dataset": source.name}
        points["list walks"] = step(walk_reported_lists, points["lists"], names="walks length", **listed)
        points["deepwalk"] = step(walk_true_graph, source, names="walks length")
        return points

    return run
