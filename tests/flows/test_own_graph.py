"""What docs/own-data.md says of a graph of one's own: where its files and its declaration go, and what protects it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.sparse import csr_array, save_npz

from flows.context.request import StudyRequest
from flows.run.command_line import main
from flows.studies.requests import own_datasets, read_request
from flows.system.environment import PACKAGE_ROOT
from tasks.datasets.user.user_graph import load_user_graph

SECTION = (PACKAGE_ROOT / "docs/own-data.md").read_text()
SMALL = ("repeats=1", 'node_classification.backbones=["gcn"]', 'node_classification.methods=["base"]')


@pytest.fixture
def declared(workspace: Path) -> Path:
    """The shipped params.yaml with the page's block in place of the last line, and the files that it names."""
    (block,) = re.findall(r"```yaml\n(.*?)```", SECTION, re.DOTALL)
    shipped = (PACKAGE_ROOT / "params.yaml").read_text()
    assert shipped.endswith("\ndatasets: {}\n")
    (workspace / "params.yaml").write_text(shipped.replace("\ndatasets: {}\n", f"\n{block}"))
    files = yaml.safe_load(block)["datasets"]["friends"]
    place = workspace / files["edges"]
    place.parent.mkdir(parents=True)
    shutil.move(workspace / "edges.csv", place)
    shutil.move(workspace / "labels.csv", workspace / files["labels"])
    features = np.loadtxt(workspace / "features.csv", delimiter=",")
    np.savez(workspace / files["features"], features=features)
    return workspace


def test_the_command_protects_and_with_a_seed_it_simulates(
    declared: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (command,) = re.findall(r"```\n(python .*)\n```", SECTION)
    words = shlex.split(command)[3:]
    small = [f"--set={item}" for item in (*SMALL, 'node_classification.search={"epochs": 2}')]
    monkeypatch.chdir(declared.parent)  # paths are relative to params.yaml, wherever one is
    said = {}
    for arguments in (words, words[:-2]):
        assert main("node_classification", ["--plain", *arguments, *small]) == 0
        said[len(arguments)] = capsys.readouterr().out
    protected, simulated = said[len(words)], said[len(words) - 2]
    assert "] protected: " in protected and "simulation" not in protected
    assert "simulation" in simulated and "] protected: " not in simulated
    assert not {"mean_degree", "noise_edges"} & set(protected.split())


def test_git_and_dvc_ignore_what_lies_there(tmp_path: Path) -> None:
    for name in (".gitignore", ".dvcignore"):
        shutil.copy(PACKAGE_ROOT / name, tmp_path)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    kept = subprocess.run(["git", "check-ignore", "data/own/friends.csv"], cwd=tmp_path, check=False)
    assert kept.returncode == 0
    from dvc.repo import Repo

    with Repo.init(str(tmp_path)) as repo:
        assert repo.dvcignore.is_ignored_file(str(tmp_path / "data/own/friends.csv"))
        assert not repo.dvcignore.is_ignored_file(str(tmp_path / "data/raw/friends.csv"))


def as_npz(folder: Path, name: str, **arrays: Any) -> Path:
    np.savez(folder / f"{name}.npz", **arrays)
    return folder / f"{name}.npz"


FORMS: dict[str, Callable[[Path, np.ndarray, np.ndarray, list[int]], dict[str, Any]]] = {
    "npz": lambda folder, edges, features, labels: {
        "edges": as_npz(folder, "e", edges=edges),
        "features": as_npz(folder, "f", features=features),
        "labels": as_npz(folder, "l", labels=labels),
    },
    "tsv without heading, npy, class unknown as nothing": lambda folder, edges, features, labels: {
        "edges": write(folder / "e.tsv", [f"{head}\t{tail}" for head, tail in edges]),
        "features": saved(folder / "f.npy", lambda path: np.save(path, features)),
        "labels": write(folder / "l.tsv", [f"{node}\t{'' if c < 0 else c}" for node, c in enumerate(labels)]),
    },
    "sparse, class unknown as -1": lambda folder, edges, features, labels: {
        "edges": write(folder / "e.csv", ["from,to", *(f"{head},{tail}" for head, tail in edges)]),
        "features": saved(folder / "f.npz", lambda path: save_npz(path, csr_array(features))),
        "labels": write(folder / "l.csv", [f"{node},{c}" for node, c in enumerate(labels)]),
    },
    "without features": lambda folder, edges, features, labels: {
        "edges": as_npz(folder, "e", edges=edges),
        "nodes": len(labels),
        "labels": as_npz(folder, "l", labels=labels),
    },
}


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines))
    return path


def saved(path: Path, save: Callable[[Path], None]) -> Path:
    save(path)
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("absolute", [True, False])
def test_every_form_that_the_readme_names_is_read(workspace: Path, form: str, absolute: bool) -> None:
    edges, features, labels = np.array([[0, 1], [1, 2]]), np.array([[0.0, 1], [0.5, 0], [1, 1], [0, 0]]), [0, 1, -1, 1]
    files = FORMS[form](workspace, edges, features, labels)
    shown = {
        k: str(v if absolute else v.relative_to(workspace)) if isinstance(v, Path) else v for k, v in files.items()
    }
    bounds = {"feature_bounds": [0, 1]} if "features" in files else {}
    tree = yaml.safe_load((workspace / "params.yaml").read_text())
    (workspace / "params.yaml").write_text(yaml.safe_dump(tree | {"datasets": {"mine": shown | bounds}}))
    graph = load_user_graph(own_datasets(read_request(StudyRequest()))["mine"])
    assert graph.private and graph.nodes == 4
    np.testing.assert_array_equal(np.argwhere(np.triu(graph.adjacency.toarray())), edges)
    assert graph.labels is not None and graph.labels.tolist() == labels
    if graph.features is not None:
        np.testing.assert_array_equal(graph.features.toarray(), features)


FREE = ["random-features", "constant-features", "label-propagation"]


def test_without_features_the_methods_that_need_none_run_and_others_are_refused_by_name(
    workspace: Path, declare: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    declare(features=None, feature_bounds=None, private=False, nodes=90)
    small = ["--plain", "--dataset", "friends", "--set", "repeats=1", 'node_classification.backbones=["gcn"]']
    methods = json.dumps(FREE)
    command = [*small, f"node_classification.methods={methods}", "node_classification.shared_choice=true"]
    assert main("node_classification", command) == 0
    said = capsys.readouterr().out
    assert all(method in said for method in FREE)
    assert "feature" not in said.partition("in words")[2].split("Deployment")[0]
    assert main("node_classification", command) == 0
    assert "0 points computed" in capsys.readouterr().err
    assert main("node_classification", [*small, 'node_classification.methods=["base"]']) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert all(name in line for name in ("friends", *FREE))
