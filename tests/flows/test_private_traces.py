"""A run on a private graph leaves no raw value and no digest of raw data anywhere but where the user keeps them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flows.run.command_line import main
from flows.system.environment import PACKAGE_ROOT
from tasks.datasets.graph import RawGraph
from tasks.datasets.user.declaration import UserDataset
from tasks.datasets.user.user_graph import load_user_graph
from tasks.steps.download import RawSource, download
from tasks.steps.split import split
from tasks.store import PointStore
from tests.flows.conftest import write_parameters

STUDY = "node_classification"
NAME = "secrets"
CLASSES = ("kestrel-5d1", "wagtail-90c", "dunlin-e77")
GRID = ["seed=null", "repeats=1", f'{STUDY}.methods=["base", "mutual", "label-propagation"]', f"{STUDY}.eps_a=[3]"]
EGO = {"graphs": 12, "hops": [1], "eps": ["1"], "rounds": 1, "clients": 2}
WALKS = {"walks": [1], "length": 8, "dimensions": 4, "window": 2, "train_ratios": [0.5], "splits": 1}


@pytest.fixture
def secrets(workspace: Path) -> UserDataset:
    """The small graph with values that nothing else would hold: nine decimals a feature, names that mean nothing."""
    rng = np.random.default_rng(11)
    nodes = len((workspace / "features.csv").read_text().splitlines())
    np.savetxt(workspace / "features.csv", rng.random((nodes, 12)), delimiter=",", fmt="%.9f")
    labels = "\n".join(f"{node},{CLASSES[node // 30]}" for node in range(nodes))
    (workspace / "labels.csv").write_text(f"node,class\n{labels}\n")
    files = {part: f"{part}.csv" for part in ("edges", "features", "labels")}
    write_parameters(workspace, {NAME: {**files, "feature_bounds": [0, 1]}})
    return UserDataset(NAME, *(workspace / file for file in files.values()), feature_bounds=(0.0, 1.0))


class Needles:
    """What must not be found: values as text and as bytes, and digests of them in every spelling."""

    def __init__(self, own: UserDataset) -> None:
        graph = load_user_graph(own)
        assert graph.features is not None and graph.labels is not None
        files = [path for path in (own.edges, own.features, own.labels) if path]
        dense = graph.features.toarray()
        spelt = {text for line in own.features.read_text().split() for text in line.split(",")}  # type: ignore[union-attr]
        # As written, and as single precision is printed; eight decimals of it tell enough.
        self.values = {spelling[:10].encode() for text in spelt for spelling in (text, str(np.float32(text)))}
        self.patterns = {f"class {name}": name.encode() for name in CLASSES}
        for width in ("float32", "float64"):
            self.patterns |= {f"row {i} as {width}": row.astype(width).tobytes() for i, row in enumerate(dense)}
        raw = {path.name: path.read_bytes() for path in files}
        arrays = {
            "classes": graph.labels,
            "list ends": graph.adjacency.indptr,
            "lists": graph.adjacency.indices,
            "features": graph.features.data,
        }
        for name, array in arrays.items():
            for width in ("int8", "int32", "int64") if array.dtype.kind == "i" else ("float32", "float64"):
                content = array.astype(width).tobytes()
                self.patterns[f"{name} as {width}"] = raw[f"{name} as {width}"] = content
        for name, content in raw.items():
            self._digests(f"digest of {name}", hashlib.sha256(content))
            self._digests(f"md5 of {name}", hashlib.md5(content))
        self._digests("digest of all files", hashlib.sha256(b"".join(path.read_bytes() for path in files)))

    def add(self, name: str, digest: str) -> None:
        """A digest that the pipeline itself works with, whole or cut short."""
        self.patterns[name] = digest[:12].encode()

    def found(self, content: bytes) -> set[str]:
        values = self.values & set(re.findall(rb"0\.\d{8}", content))
        return {name for name, pattern in self.patterns.items() if pattern in content} | {str(v) for v in values}

    def _digests(self, name: str, digest: Any) -> None:
        self.patterns[f"{name}, hex"] = digest.hexdigest()[:12].encode()
        self.patterns[f"{name}, raw"] = digest.digest()[:12]
        self.patterns[f"{name}, base64"] = base64.b64encode(digest.digest())[:16]


def contents(*places: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file below the places, and what compressed tables hold."""
    for place in places:
        for path in sorted(path for path in place.rglob("*") if path.is_file()):
            yield path, path.read_bytes()
            if path.suffix == ".parquet":
                yield path, pd.read_parquet(path).to_csv().encode()


def traces(needles: Needles, said: str, *places: Path) -> dict[str, set[str]]:
    """What was found, by file; ``said`` is what the command printed and logged."""
    found = {str(path): needles.found(content) for path, content in contents(*places)}
    found["said"] = needles.found(said.encode())
    return {place: names for place, names in found.items() if names}


def private_digests(store: PointStore, own: UserDataset) -> dict[str, str]:
    """Digests that the pipeline itself makes of raw data: of the source, without the secret, and of the split."""
    source: RawSource = download.plain(store, NAME, own)  # type: ignore[attr-defined]
    roles = split.plain(store, source, 0, 0)  # type: ignore[attr-defined]
    assert roles.cached
    public = download.plain(store, NAME, UserDataset(**{**vars(own), "private": False}))  # type: ignore[attr-defined]
    return {"source": source.content, "source without the secret": public.content, "split": roles.content}


@pytest.fixture
def needles(secrets: UserDataset) -> Needles:
    return Needles(secrets)


def outside(workspace: Path) -> list[Path]:
    """Everything below the project but the user's own files."""
    return [path for path in workspace.iterdir() if path.is_dir()]


def test_a_scan_finds_what_it_looks_for(needles: Needles, secrets: UserDataset, tmp_path: Path) -> None:
    """Planted: a value in a log, a row in an archive, a shortened digest in a tag, a column of a compressed table."""
    graph = load_user_graph(secrets)
    place = tmp_path / "planted"
    place.mkdir()
    assert isinstance(graph, RawGraph) and graph.features is not None and secrets.features
    rows = graph.features.toarray()
    np.savez(place / "report.npz", some=rows[7:9])
    np.save(place / "graph.npy", graph.adjacency.indices)
    digest = hashlib.sha256(secrets.edges.read_bytes())
    (place / "tags.json").write_text(json.dumps({"data": digest.hexdigest()[:16]}))
    (place / "key.bin").write_bytes(digest.digest())
    value = float(secrets.features.read_text().split(",")[3])
    pd.DataFrame({"x": [value]}).to_parquet(place / "search.parquet")
    found = traces(needles, f"KeyError: {value}; class {CLASSES[1]}", place)
    assert {Path(name).name for name in found} == {
        "report.npz", "graph.npy", "tags.json", "key.bin", "search.parquet", "said"
    }  # fmt: skip
    assert len(found["said"]) == 2
    (place / "clean.txt").write_text("0.5, accuracy 0.83, 1/n")
    assert str(place / "clean.txt") not in traces(needles, "", place)


def test_a_plain_run_leaves_no_trace(
    needles: Needles,
    secrets: UserDataset,
    workspace: Path,
    tmp_path: Path,
    _mlflow_folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = tmp_path / "rows.json"
    walks = [f"--set=node_embedding.{name}={json.dumps(value)}" for name, value in WALKS.items()]
    modes = '--set=node_embedding.modes=["walk", "release-once", "randomized-response"]'
    egos = [f"--set=ego_clustering.{name}={json.dumps(value)}" for name, value in EGO.items()]
    said, before, there = "", os.umask(0o022), set(_mlflow_folder.rglob("*"))  # runs of other tests
    for study, arguments in ((STUDY, []), ("node_embedding", [*walks, modes]), ("ego_clustering", egos)):
        grid = [f"--set={item}" for item in GRID]
        assert main(study, ["--plain", "--dataset", NAME, "--json", str(rows), *grid, *arguments]) == 0
        printed = capsys.readouterr()
        said += printed.out + printed.err + rows.read_text()
        assert main(study, ["--plain", "--dataset", NAME, "--export", *grid, *arguments]) == 2
        said += capsys.readouterr().err
    os.umask(before)
    store = PointStore(tmp_path / "store")
    for name, digest in private_digests(store, secrets).items():
        needles.add(name, digest)
    assert len(list((tmp_path / "store/points").iterdir())) > 15
    assert (workspace / "edges.csv.account/account.jsonl").is_file()
    places = [tmp_path / "store/points", _mlflow_folder, workspace / "edges.csv.account"]
    files = [rows, *(path for place in places for path in place.rglob("*") if "numba" not in path.parts)]
    files = [path for path in files if path not in there]
    assert {str(path): oct(path.stat().st_mode) for path in files if path.stat().st_mode & 0o077} == {}
    assert traces(needles, said, tmp_path / "store", _mlflow_folder, *outside(workspace)) == {}


def test_without_noise_every_point_is_its_owners_and_found_again(
    secrets: UserDataset, workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    methods = f'{STUDY}.methods=["mutual", "label-propagation", "non-private"]'
    free = [*GRID, methods, f'{STUDY}.eps_a=["inf"]', f'{STUDY}.eps_x=["inf"]', f"{STUDY}.shared_choice=true"]
    said = []
    for _ in range(2):
        assert main(STUDY, ["--plain", "--dataset", secrets.name, *(f"--set={item}" for item in free)]) == 0
        said.append(capsys.readouterr().err)
    points = list((tmp_path / "store/points").iterdir())
    assert len(points) > 8
    assert {path.stat().st_mode & 0o077 for point in points for path in [point, *point.rglob("*")]} == {0}
    assert {json.loads((point / "meta.json").read_text())["key"] for point in points} == {None}
    # The engine's memory would tell about how many edges there are.
    assert "forecast: 2 searches" in said[0] and " MB" not in said[0]
    assert ": 0 points computed" in said[1] and "forecast" not in said[1]


FAILING = """
import tasks.steps.node_classification.perturb as perturb


def mechanism(features, *_, **__):
    text = f"could not broadcast {features.toarray()[3, 4]:.9f}, class CLASS"
    try:
        raise KeyError(text)
    except KeyError as error:
        raise ValueError(text) from error


perturb.encode_features = mechanism
""".replace("CLASS", CLASSES[0])
"""A mechanism that fails as libraries do: with the values that it was given in its text."""


def test_a_step_that_fails_on_raw_data_quotes_none(
    needles: Needles,
    secrets: UserDataset,
    workspace: Path,
    tmp_path: Path,
    _mlflow_folder: Path,
    capsys: pytest.CaptureFixture[str],
    plant: Callable[[str], Path],
) -> None:
    plant(FAILING)
    assert main(STUDY, ["--plain", "--dataset", NAME, *(f"--set={item}" for item in GRID)]) == 1
    said = "".join(capsys.readouterr())
    label = f"features {NAME} eps_x=1 repeat=0"
    assert re.search(rf"PrivateFailure: {label}: ValueError at perturb.py:\d+; its text is withheld", said)
    assert traces(needles, said, tmp_path / "store", _mlflow_folder, *outside(workspace)) == {}


BROKEN = {
    "a word among the features": ("features.csv", lambda text: text.replace(",", ",kestrel-5d1", 1)),
    "features out of bounds": ("features.csv", lambda text: re.sub(r"^0\.", "7.", text)),
    "a row too short": ("features.csv", lambda text: text.replace(",", "", 1)),
    "an edge to nobody": ("edges.csv", lambda text: text + "3,987654321\n"),
    "an edge of three": ("edges.csv", lambda text: text + "3,4,987654321\n"),
    "a class twice": ("labels.csv", lambda text: text + "5,wagtail-90c\n"),
    "a class for nobody": ("labels.csv", lambda text: text + "wagtail-90c,5\n"),
}


@pytest.mark.parametrize("mistake", BROKEN)
def test_a_mistake_in_the_files_is_named_and_not_quoted(
    needles: Needles, secrets: UserDataset, workspace: Path, capsys: pytest.CaptureFixture[str], mistake: str
) -> None:
    file, breaking = BROKEN[mistake]
    path = workspace / file
    path.write_text(breaking(path.read_text()))
    assert main(STUDY, ["--plain", "--dataset", NAME, *(f"--set={item}" for item in GRID)]) == 2
    said = "".join(capsys.readouterr())
    assert NAME in said or file in said
    assert "987654321" not in said
    assert needles.found(said.encode()) == set()


# Arguments: the workspace, perhaps a folder with code to plant, the command's own.
SERVED = """
import contextlib, sys
from pathlib import Path
from flows.context import project
from flows.run import command_line as command

workspace, fails, *arguments = sys.argv[1:]
project.WORKSPACE = Path(workspace)
leased = command._server

@contextlib.contextmanager
def served(plain, warm_up):
    with leased(plain, lambda: None) as url:  # nothing is imported before it is replaced
        if fails:
            sys.path.insert(0, fails)  # for the processes that compute
        yield url

command._server = served
sys.exit(command.main("node_classification", arguments))
"""


def test_under_prefect_neither_a_result_nor_a_log_holds_a_trace(
    needles: Needles,
    secrets: UserDataset,
    workspace: Path,
    tmp_path: Path,
    served_root: Path,
    wait_until: Any,
    plant: Callable[[str], Path],
) -> None:
    own = {"DVC_ROOT": str(served_root), "POINT_STORE": str(tmp_path / "store"), "PREFECT_SERVER_IDLE_SECONDS": "5"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_"))}
    said = ""
    for fails, status in (("", 0), (str(plant(FAILING)), 1)):
        # The second run draws other features, so that it has something to fail at.
        grid = [f"--set={item}" for item in (*GRID, f"{STUDY}.eps_x=[{2 if fails else 1}]", 'runner="threads"')]
        program = [sys.executable, "-c", SERVED, str(workspace), fails, "--dataset", NAME, *grid]
        done = subprocess.run(
            program, cwd=PACKAGE_ROOT, env=environment | own, capture_output=True, text=True, check=False
        )
        said += done.stdout + done.stderr
        assert done.returncode == status, said
    assert "PrivateFailure" in said
    for name, digest in private_digests(PointStore(tmp_path / "store"), secrets).items():
        needles.add(name, digest)
    wait_until(lambda: not (served_root / ".prefect/server.json").exists())
    database = b"".join(path.read_bytes() for path in (served_root / ".prefect").glob("prefect.db*"))
    assert b"PrivateFailure" in database
    assert f"perturb features {NAME}".encode() in database
    assert (served_root / ".mlflow/mlflow.db").is_file()
    assert traces(needles, said, served_root, tmp_path / "store", *outside(workspace)) == {}
