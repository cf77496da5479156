from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tasks.curator.trained import Trained
from tasks.parameters.classification import NodeClassification
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.node_classification.search import TRAINED, search
from tasks.steps.split import split
from tasks.store import PointRef, PointStore

Declare = Callable[..., RawSource]
Train = Callable[..., PointRef]


def study(**changes: Any) -> NodeClassification:
    search = {"epochs": 3, "learning_rate": [0.1], **changes.pop("search", {})}
    return NodeClassification(datasets=["friends"], eps_x=["1"], eps_a=["2"], search=search, **changes)


def reports(store: PointStore, source: RawSource, eps_a: str = "2", eps_x: str = "1") -> dict[str, PointRef]:
    edges = {"mode": "directed", "eps_a": eps_a, "repeat": 0, "seed": 0, "memory_limit_mb": 100}
    parts = split.plain(store, source, 0, 0)  # type: ignore[attr-defined]
    return {
        "edges": perturb_edges.plain(store, source, **edges),  # type: ignore[attr-defined]
        "features": perturb_features.plain(store, source, eps_x=eps_x, repeat=0, seed=0),  # type: ignore[attr-defined]
        "labels": report_labels.plain(store, source, parts, repeat=0),  # type: ignore[attr-defined]
    }


@pytest.fixture
def train(store: PointStore, source: RawSource) -> Train:
    def trained(eps_a: str = "2", eps_x: str = "1", **changes: Any) -> PointRef:
        fields = {
            "dataset": "friends", "method": "base", "backbone": "gcn", "repeat": 0, "seed": 0, "device": "cpu",
            "study": study(), **changes,
        }  # fmt: skip
        return search.plain(store, **reports(store, source, eps_a, eps_x), **fields)  # type: ignore[attr-defined]

    return trained


def test_it_trains_once_on_the_same_reports(train: Train) -> None:
    first = train()
    assert train().cached
    assert Trained.load(first.file(TRAINED)).log_probabilities.shape == (90, 3)


@pytest.mark.parametrize(
    "change",
    [
        {"eps_a": "3"},
        {"eps_x": "2"},
        {"backbone": "sage"},
        {"repeat": 1},
        {"seed": 1},
        {"study": study(search={"epochs": 4})},
        {"study": study(search={"dropout": [0.2]})},
        {"study": study(normalization="mean")},
    ],
    ids=str,
)
def test_whatever_decides_the_result_is_in_the_key(train: Train, change: dict[str, Any]) -> None:
    train()
    assert not train(**change).cached
    assert train().cached


@pytest.mark.parametrize("change", [{"datasets": ["friends", "cora"]}, {"eps_a": ["2", "3"]}, {"memory_limit_mb": 9}])
def test_the_rest_of_the_grid_is_not(train: Train, change: dict[str, Any]) -> None:
    train()
    grid = {**study().model_dump(), **change}
    assert train(study=NodeClassification(**grid)).cached


def test_the_curators_seed_is_public_when_the_users_have_none(train: Train) -> None:
    """With ``seed: null`` noise is secret; training on one and the same report stays reproducible."""
    assert train(seed=None).digest == train(seed=0).digest


def test_training_on_the_same_reports_gives_the_same_bytes(train: Train, store: PointStore, source: RawSource) -> None:
    first = train()
    content = first.file(TRAINED).read_bytes()
    first.file("meta.json").unlink()
    again = train()
    assert "damaged" in again.remark
    assert again.file(TRAINED).read_bytes() == content


def test_the_point_of_a_private_graph_is_keyed_by_the_reports_alone(
    store: PointStore, source: RawSource, secret_source: RawSource
) -> None:
    fields: dict[str, Any] = {
        "dataset": "friends", "method": "base", "backbone": "gcn", "repeat": 0, "seed": 0, "device": "cpu",
        "study": study(),
    }  # fmt: skip
    public = search.plain(store, **reports(store, source), **fields)  # type: ignore[attr-defined]
    private = search.plain(store, **reports(store, secret_source), **fields)  # type: ignore[attr-defined]
    text = private.file("meta.json").read_text()
    assert secret_source.content not in text
    ours, theirs = (Trained.load(point.file(TRAINED)).log_probabilities for point in (public, private))
    assert np.array_equal(ours, theirs)
