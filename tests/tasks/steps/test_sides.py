"""Whoever computes for the curator of a private set reaches nothing raw, whatever is planted in a step of theirs."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.execution.submission import Call, PlainSubmitter
from flows.execution.task_runners import plain_pool
from tasks.errors import UserError
from tasks.parameters.profiles import Profile
from tasks.steps.guard import landlock_version
from tasks.steps.node_classification.perturb import report_labels
from tasks.steps.node_embedding.tree import build_tree, count_neighbours, publish_degrees
from tasks.steps.point import REFUSED
from tasks.steps.raw_source import RawSource, _load
from tasks.steps.sides import JobFailed, forks, side_of
from tasks.steps.split import split
from tasks.store import CLIENTS, CURATOR, PointRef, PointStore, PrivateFailure
from tests.tasks.steps.planted import ATTACKS, FOUND, NATIVE, SILENT, add_up, die, keep_raw, steal

NEEDLES = ("kestrel", "wagtail", "1048577")
"""Names of classes and a number of the edges that stand nowhere else."""
STUDY: Any = {"datasets": ["digits"], "eps_x": ["1"], "eps_a": ["7"]}


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    ring = [f"{node},{(node + 1) % 40}" for node in range(40)]
    (folder / "edges.csv").write_text("\n".join([*ring, f"{NEEDLES[2]},0"]) + "\n")
    (folder / "labels.csv").write_text("".join(f"{node},{NEEDLES[node % 2]}\n" for node in range(40)))
    (folder / "script.py").write_text(f"found = {NEEDLES[0]!r}\n")
    return folder


@pytest.fixture
def source(store: PointStore, raw: Path) -> RawSource:
    from tasks.datasets.user.declaration import UserDataset
    from tasks.steps.download import download

    own = UserDataset("friends", raw / "edges.csv", None, raw / "labels.csv", nodes=int(NEEDLES[2]) + 1, private=True)
    found: RawSource = download.plain(store, "friends", own)  # type: ignore[attr-defined]
    return found


@pytest.fixture
def report(store: PointStore, source: RawSource) -> PointRef:
    """The labels in clear of half of the nodes, which the curator knows."""
    drawn: PointRef = report_labels.plain(store, source, split.plain(store, source, 0, None), repeat=0)  # type: ignore[attr-defined]
    return drawn


@pytest.fixture
def target(store: PointStore, raw: Path, source: RawSource, tmp_path: Path) -> Iterator[dict[str, str]]:
    """What attacks are after: it exists, and this process may read it, and has."""
    assert source.load().labels is not None
    own_point = keep_raw.plain(store, source)  # type: ignore[attr-defined]
    link = tmp_path / "link"
    link.symlink_to(raw / "edges.csv")
    places = {
        "folder": raw,
        "edges": raw / "edges.csv",
        "labels": raw / "labels.csv",
        "script": raw / "script.py",
        "link": link,
        "store": store.root,
        "secret": store.root / "secret",
        "points": store.root / "points",
        "own point": own_point.folder,
        "code": Path(__file__).with_name("planted.py"),
    }
    assert all(place.exists() for place in places.values())
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        yield {
            **{name: str(place) for name, place in places.items()},
            "port": port,
            "client": own_point.file("process").read_text(),
        }


@pytest.mark.parametrize("runner", ["threads", "processes", "dask"])
def test_no_attack_in_a_step_of_the_curator_finds_anything_raw(
    runner: str, store: PointStore, report: PointRef, target: dict[str, str]
) -> None:
    code = Path(target["code"]).read_text()
    profile = Profile.model_validate({"node_classification": STUDY, "runner": runner, "workers": 2})
    ended: dict[str, str] = {}
    with plain_pool(profile) as pool:
        submitter = PlainSubmitter(pool)
        for attack in [name for name in ATTACKS if landlock_version() or name not in NATIVE]:
            call = Call(steal, attack, {"store": store, "report": report, "attack": attack, "target": target})
            try:
                (done,) = submitter.run([call])
            except UserError as refusal:
                ended[attack] = "refused" if "the curator's step tried to" in str(refusal) else str(refusal)
                continue
            ended[attack] = "failed" if done.error else done.result.file(FOUND).read_text()
            assert done.error is None or isinstance(done.error, (JobFailed, OSError, PrivateFailure)), (
                attack,
                done.error,
            )
    assert not [attack for attack, found in ended.items() if any(needle in found for needle in NEEDLES)]
    assert {attack for attack, found in ended.items() if found not in ("refused", "failed")} == SILENT
    assert {attack for attack, found in ended.items() if found == "failed"} <= set(NATIVE)
    assert json.loads(ended["swallowed errors"].join("[]"))[0] == "[]"
    assert Path(target["code"]).read_text() == code and Path(target["edges"]).exists()


def test_a_refusal_is_told_as_one_line_that_names_step_and_place(
    store: PointStore, report: PointRef, target: dict[str, str]
) -> None:
    with pytest.raises(UserError) as refusal:
        steal.plain(store, report, attack="a link", target=target)  # type: ignore[attr-defined]
    assert str(refusal.value).startswith(f"steal by a link: the curator's step tried to open {target['edges']}: ")
    assert steal.fn(store, report, attack="open", target=target).name == REFUSED


def test_what_is_raw_is_the_clients_and_what_was_reported_the_curators(
    store: PointStore, source: RawSource, report: PointRef
) -> None:
    kept = keep_raw.plain(store, source)  # type: ignore[attr-defined]
    assert (kept.side, report.side) == (CLIENTS, CURATOR)
    assert side_of({"a": [report], "b": {"c": kept}}) == side_of(source) == CLIENTS
    assert side_of({"a": report, "b": 3}) == CURATOR
    assert side_of({"a": 3}) == ""


def test_the_curators_step_that_is_given_raw_data_runs_with_the_clients(
    store: PointStore, source: RawSource, target: dict[str, str]
) -> None:
    """Such as the embedding of DeepWalk's walks, the baseline without privacy; it is no report, and stays theirs."""
    kept = keep_raw.plain(store, source)  # type: ignore[attr-defined]
    assert add_up.plain(store, kept, count=1).side == CLIENTS  # type: ignore[attr-defined]


def test_either_side_computes_the_bytes_that_one_process_would(
    tmp_path: Path, secret_source: RawSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = {"repeat": 0, "seed": 5}

    def computed(store: PointStore) -> dict[str, bytes]:
        degrees = publish_degrees.plain(store, secret_source, eps_degree="1", **drawn)  # type: ignore[attr-defined]
        counts = count_neighbours.plain(store, secret_source, degrees, bins="auto", eps_counts="1", **drawn)  # type: ignore[attr-defined]
        named = {"kind": "private", "linkage": "balanced", "dataset": "friends"}
        tree = build_tree.plain(store, counts, **named, **drawn)  # type: ignore[attr-defined]
        points = (degrees, counts, tree)
        files = [path for point in points for path in sorted(point.folder.iterdir()) if path.name != "meta.json"]
        return {f"{number} {path.name}": path.read_bytes() for number, path in enumerate(files)}

    apart = computed(PointStore(tmp_path / "apart"))
    monkeypatch.setattr("tasks.steps.declaration.side_of", lambda arguments: "")
    together = computed(PointStore(tmp_path / "together"))
    assert apart == together and len(apart) > 5


def test_the_process_that_asks_and_the_curators_hold_nothing_raw(store: PointStore, source: RawSource) -> None:
    _load.cache_clear()
    kept = [keep_raw.plain(PointStore(store.root / str(n)), source) for n in range(2)]  # type: ignore[attr-defined]
    processes = {int(point.file("process").read_text()) for point in kept}
    assert len(processes) == 1 and os.getpid() not in processes
    assert _load.cache_info().currsize == 0


def test_parts_are_points_until_the_whole_is_stored(store: PointStore, report: PointRef) -> None:
    whole = add_up.plain(store, report, count=4)  # type: ignore[attr-defined]
    assert json.loads(whole.file(FOUND).read_text()) == [0, 1, 4, 9]
    assert {path.name for path in whole.folder.iterdir()} == {FOUND, "meta.json"}


def test_a_killed_process_is_one_error_and_the_next_step_has_another(
    store: PointStore, report: PointRef, source: RawSource
) -> None:
    with pytest.raises(UserError, match=r"use os\.kill"):
        die.plain(store, report, signal=signal.SIGKILL)  # type: ignore[attr-defined]
    kept = keep_raw.plain(store, source)  # type: ignore[attr-defined]
    with pytest.raises(PrivateFailure, match=r"^end by 9: its process was killed"):
        die.plain(store, kept, signal=9)  # type: ignore[attr-defined]
    assert forks._process is not None
    forks._process.kill()
    forks._process.wait()
    assert add_up.plain(store, report, count=2).side == CURATOR  # type: ignore[attr-defined]
