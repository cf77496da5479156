"""The curator finishes without raw data: they are moved away, and its processes refuse to open anything but reports.

What is planted in such a process: tests/tasks/steps/test_sides.py.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.client.embedding_encoder import encode_embeddings
from tasks.datasets.user.declaration import UserDataset
from tasks.parameters.classification import NodeClassification
from tasks.parameters.graphs import Solver
from tasks.seeds import generator
from tasks.steps.download import RawSource, download
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.node_embedding.tree import count_neighbours, publish_degrees
from tasks.steps.report_point import REPORT
from tasks.steps.split import split
from tasks.store import CURATOR, PointRef, PointStore

METHODS = ("base", "solitude", "mutual", "bayes-soft", "label-propagation")


@dataclass
class Curator:
    """Reports that lie in the store, and the steps to be done on them."""

    store: PointStore
    done: list[PointRef] = field(default_factory=list)

    def do(self, step: Any, **arguments: Any) -> PointRef:
        self.done.append(step.plain(self.store, **arguments))
        return self.done[-1]


@pytest.fixture
def curator(tmp_path: Path, own_files: Path) -> Curator:
    """The users' side of all studies on a private graph; then the raw folder is moved away."""
    raw = tmp_path / "raw"
    shutil.copytree(own_files, raw)
    store = PointStore(tmp_path / "store")
    own = UserDataset(
        "secrets",
        raw / "edges.csv",
        raw / "features.csv",
        raw / "labels.csv",
        feature_bounds=(0.0, 1.0),
        account=tmp_path / "account",
    )
    source: RawSource = download.plain(store, "secrets", own)
    drawn = {"repeat": 0, "seed": None}
    roles = split.plain(store, source, **drawn)
    reports = {
        "edges": perturb_edges.plain(store, source, mode="directed", eps_a="3", memory_limit_mb=100, **drawn),
        "features": perturb_features.plain(store, source, eps_x="1", **drawn),
        "labels": report_labels.plain(store, source, roles, repeat=0),
    }
    degrees = publish_degrees.plain(store, source, eps_degree="1", **drawn)
    counts = count_neighbours.plain(store, source, degrees, bins="auto", eps_counts="1", **drawn)
    embeddings = reported_embeddings(store)
    raw.rename(tmp_path / "elsewhere")
    curator = Curator(store)
    conclude(curator, reports, counts, embeddings)
    return curator


def reported_embeddings(store: PointStore) -> PointRef:
    """Private graph sets cannot be declared: the report of a set of embeddings stands for one, with its guarantee."""
    rows = [np.random.default_rng(n).random((n, 4)) for n in range(3, 9)]
    sent = encode_embeddings(rows, "per_row", "1", generator(None), simulated=False, dataset="graphs")
    drawn = store.point({"embeddings": 0}, lambda folder: sent.save(folder / REPORT), label="embeddings", private=True)
    return replace(drawn, raw=False, side=CURATOR)


def conclude(curator: Curator, reports: dict[str, PointRef], counts: PointRef, embeddings: PointRef) -> None:
    from tasks.steps.graph_classification.gromov import compare_reports
    from tasks.steps.node_classification.search import search
    from tasks.steps.node_embedding.embed import embed
    from tasks.steps.node_embedding.tree import build_tree
    from tasks.steps.node_embedding.walks import walk_reported_lists

    named = {"dataset": "secrets", "repeat": 0, "seed": None}
    search_space: Any = {"epochs": 2, "learning_rate": [0.1], "l_x": [2], "l_y": [2]}
    for method in METHODS:
        study = NodeClassification(
            datasets=["secrets"], eps_x=["1"], eps_a=["3"], methods=[method], search=search_space
        )
        backbone = "none" if method == "label-propagation" else "sage"
        curator.do(search, **reports, method=method, backbone=backbone, device="cpu", study=study, **named)
    curator.do(build_tree, report=counts, kind="private", linkage="balanced", **named)
    walks = curator.do(walk_reported_lists, lists=reports["edges"], encoded=False, walks=1, length=6, **named)
    curator.do(embed, walks=walks, dimensions=4, window=2, threads=1, label="secrets", **named)
    curator.do(
        compare_reports,
        report=embeddings,
        metric="euclidean",
        rectify=False,
        solver=Solver(),
        dataset="graphs",
        label="graphs",
        seed=None,
    )


def test_every_step_of_the_curator_finishes_without_the_raw_data(curator: Curator) -> None:
    assert len(curator.done) == len(METHODS) + 4
    assert not any(point.cached for point in curator.done)
    assert {point.side for point in curator.done} == {CURATOR}
