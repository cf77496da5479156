"""The curator finishes without raw data: they are moved away, and every open below them raises.

The hook sees what Python opens (an audit hook cannot be removed, so it lives in a process of its own); code that opens
files past it, in C, would find nothing where the data were.
"""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.system.environment import PACKAGE_ROOT
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
from tasks.store import PointRef, PointStore

METHODS = ("base", "solitude", "mutual", "bayes-soft", "label-propagation")

# Arguments: the file with the jobs, what to plant before each job, and the guarded places.
CURATOR = """
import importlib, json, os, pickle, sys

jobs, plant, *guarded = sys.argv[1:]
opened = []

def asked_by_the_store():
    # Every digest of a private point is keyed with the secret, before anything is computed.
    frame = sys._getframe()
    while frame:
        if frame.f_code.co_name == "_digest" and frame.f_code.co_filename.endswith("tasks/store.py"):
            return True
        frame = frame.f_back
    return False

def guard(event, arguments):
    if event not in ("open", "os.listdir", "os.scandir") or not isinstance(arguments[0], (str, bytes)):
        return
    path = os.path.realpath(os.fsdecode(arguments[0]))
    if path.endswith("/secret") and asked_by_the_store():
        return
    if any(path == place or path.startswith(place + os.sep) for place in guarded):
        opened.append(path)
        raise PermissionError("raw data opened: " + path)

sys.addaudithook(guard)

def planted(module, name, read):
    sound = getattr(module, name)
    def reading(*arguments, **more):
        exec(read)
        return sound(*arguments, **more)
    setattr(module, name, reading)

import tasks.steps.node_classification.search_plan
from tasks.store import PrivateFailure
if plant:
    planted(tasks.steps.node_classification.search_plan, "rectified", plant)

done, errors = [], []
with open(jobs, "rb") as file:
    listed = pickle.load(file)
for module, name, arguments in listed:
    step = getattr(importlib.import_module(module), name)
    # What an earlier step of the curator has made is named by its place in the list.
    known = {key: done[value[1]] if isinstance(value, tuple) else value for key, value in arguments.items()}
    if "distances" in known:
        known["distances"] = {1.0: known["distances"]}
    try:
        done.append(step.plain(**known))
    except PrivateFailure as error:
        errors.append(str(error))
        break
print(json.dumps({"computed": [not point.cached for point in done], "errors": errors, "opened": opened}))
"""


@dataclass
class Curator:
    """Reports that lie in the store, the steps to be done on them, and where nobody may look."""

    store: PointStore
    raw: Path
    elsewhere: Path
    guarded: list[Path]
    jobs: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def add(self, step: Any, **arguments: Any) -> tuple[str, int]:
        self.jobs.append((step.plain.__module__, step.plain.__name__, {"store": self.store, **arguments}))
        return "result of job", len(self.jobs) - 1

    def run(self, plant: str = "") -> dict[str, list[Any]]:
        file = self.store.root / "jobs"
        file.write_bytes(pickle.dumps(self.jobs))
        places = [self.raw, self.elsewhere, self.store.root / "secret", *self.guarded]
        program = [sys.executable, "-c", CURATOR, str(file), plant, *(str(place.resolve()) for place in places)]
        done = subprocess.run(program, cwd=PACKAGE_ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
        return found


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
    elsewhere = tmp_path / "elsewhere"
    raw.rename(elsewhere)
    curator = Curator(store, raw, elsewhere, [roles.folder])
    plan(curator, reports, counts, embeddings)
    return curator


def reported_embeddings(store: PointStore) -> PointRef:
    """Private graph sets cannot be declared: the report of a set of embeddings stands for one, with its guarantee."""
    rows = [np.random.default_rng(n).random((n, 4)) for n in range(3, 9)]
    sent = encode_embeddings(rows, "per_row", "1", generator(None), simulated=False, dataset="graphs")
    drawn = store.point({"embeddings": 0}, lambda folder: sent.save(folder / REPORT), label="embeddings", private=True)
    return replace(drawn, raw=False)


def plan(curator: Curator, reports: dict[str, PointRef], counts: PointRef, embeddings: PointRef) -> None:
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
        curator.add(search, **reports, method=method, backbone=backbone, device="cpu", study=study, **named)
    curator.add(build_tree, report=counts, kind="private", linkage="balanced", **named)
    walks = curator.add(walk_reported_lists, lists=reports["edges"], encoded=False, walks=1, length=6, **named)
    curator.add(embed, walks=walks, dimensions=4, window=2, threads=1, label="secrets", **named)
    curator.add(
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
    found = curator.run()
    assert found == {"computed": [True] * len(curator.jobs), "errors": [], "opened": []}
    assert len(curator.jobs) == len(METHODS) + 4


def test_a_planted_read_is_caught_and_ends_the_step(curator: Curator) -> None:
    del curator.jobs[1:]
    place = curator.elsewhere / "features.csv"
    stopped = curator.run(f"open({str(place)!r}).read()")
    assert (stopped["computed"], stopped["opened"]) == ([], [str(place)])
    (error,) = stopped["errors"]
    assert "PermissionError" in error and str(place) not in error  # its text may quote private data


def test_every_way_to_read_is_noted_even_where_its_error_is_swallowed(curator: Curator) -> None:
    del curator.jobs[1:]
    store, raw, elsewhere = curator.store.root, curator.raw, curator.elsewhere
    reads = {
        f"open({str(raw / 'edges.csv')!r})": raw / "edges.csv",
        f"import numpy; numpy.genfromtxt({str(elsewhere / 'labels.csv')!r})": elsewhere / "labels.csv",
        f"import os; os.listdir({str(elsewhere)!r})": elsewhere,
        f"import os; os.open({str(elsewhere / 'edges.csv')!r}, os.O_RDONLY)": elsewhere / "edges.csv",
        f"import pathlib; pathlib.Path({str(store / 'secret')!r}).read_bytes()": store / "secret",
        f"import numpy; numpy.load({str(curator.guarded[0] / 'split.npz')!r})": curator.guarded[0] / "split.npz",
    }
    swallow = "for read in {!r}:\n try: exec(read)\n except PermissionError: pass"
    found = curator.run(swallow.format(list(reads)))
    assert found == {"computed": [True], "errors": [], "opened": [str(place) for place in reads.values()]}
