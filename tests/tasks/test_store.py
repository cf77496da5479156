from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tasks.store
from tasks.errors import UserError
from tasks.store import PointRef, PointStore

ROOT = Path(__file__).resolve().parents[2]
KEY = {"step": "draw", "eps": "7", "seed": 0}


class Draw:
    """Writes two files, one of them in a folder, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        np.savez(folder / "report.npz", values=np.arange(5))
        (folder / "part").mkdir()
        (folder / "part" / "ledger.json").write_text("[]")


@pytest.fixture
def draw() -> Draw:
    return Draw()


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def inside(store: PointStore, part: str) -> list[str]:
    return sorted(path.name for path in (store.root / part).iterdir())


def test_a_point_is_computed_once(store: PointStore, draw: Draw) -> None:
    first = store.point(KEY, draw, label="draw")
    second = store.point(dict(reversed(KEY.items())), draw, label="another label")
    assert (draw.calls, first.cached, second.cached) == (1, False, True)
    assert (second.digest, second.folder, second.content) == (first.digest, first.folder, first.content)
    assert np.load(second.file("report.npz"))["values"].tolist() == [0, 1, 2, 3, 4]
    assert inside(store, "temporary") == []
    assert first.remark == second.remark == ""


@pytest.mark.parametrize("change", [{"eps": "8"}, {"seed": 1}, {"seed": None}, {"more": 1}])
def test_every_part_of_the_key_matters(store: PointStore, draw: Draw, change: dict[str, object]) -> None:
    store.point(KEY, draw, label="draw")
    assert not store.point({**KEY, **change}, draw, label="draw").cached


def test_the_description_holds_the_key_and_the_hash_of_every_file(store: PointStore, draw: Draw) -> None:
    ref = store.point(KEY, draw, label="draw cora")
    meta = json.loads(ref.file("meta.json").read_text())
    assert (meta["key"], meta["label"]) == (KEY, "draw cora")
    files = tree(ref.folder)
    del files["meta.json"]
    assert meta["files"] == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_two_stores_write_the_same_bytes(tmp_path: Path, draw: Draw) -> None:
    one, two = (PointStore(tmp_path / name).point(KEY, draw, label="draw") for name in ("one", "two"))
    assert tree(one.folder) == tree(two.folder)
    assert one.content == two.content


def test_content_names_the_files_alone(store: PointStore, draw: Draw) -> None:
    other_key = store.point({**KEY, "seed": 1}, draw, label="draw")
    assert other_key.content == store.point(KEY, draw, label="draw").content
    changed = store.point({**KEY, "seed": 2}, lambda folder: (folder / "report.npz").touch(), label="draw")
    assert changed.content != other_key.content


DAMAGES: dict[str, Callable[[Path], object]] = {
    "changed": lambda folder: (folder / "report.npz").write_bytes(b"x"),
    "truncated": lambda folder: os.truncate(folder / "part/ledger.json", 1),
    "file missing": lambda folder: (folder / "report.npz").unlink(),
    "file added": lambda folder: (folder / "more").touch(),
    "meta missing": lambda folder: (folder / "meta.json").unlink(),
    "meta empty": lambda folder: (folder / "meta.json").write_text(""),
    "meta cut": lambda folder: os.truncate(folder / "meta.json", 30),
    "meta a list": lambda folder: (folder / "meta.json").write_text("[]"),
    "meta without files": lambda folder: (folder / "meta.json").write_text("{}"),
    "meta of null": lambda folder: (folder / "meta.json").write_text('{"files": null}'),
    "meta of a number": lambda folder: (folder / "meta.json").write_text('{"files": 3}'),
    "meta binary": lambda folder: (folder / "meta.json").write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_point_is_computed_again_and_said_so(store: PointStore, draw: Draw, damage: str) -> None:
    sound = store.point(KEY, draw, label="draw")
    before = tree(sound.folder)
    DAMAGES[damage](sound.folder)
    again = store.point(KEY, draw, label="draw")
    assert (again.cached, draw.calls, again.content) == (False, 2, sound.content)
    assert again.remark.startswith(f"stored point {sound.digest} was damaged: ")
    assert len(again.remark.splitlines()) == 1
    assert tree(again.folder) == before
    assert store.point(KEY, draw, label="draw").remark == ""


def test_a_folder_replaced_by_a_file_is_computed_again(store: PointStore, draw: Draw) -> None:
    sound = store.point(KEY, draw, label="draw")
    sound.folder.rename(sound.folder.with_name("elsewhere"))
    sound.folder.touch()
    assert store.point(KEY, draw, label="draw").remark


@given(
    description=st.recursive(
        st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_no_description_is_trusted(store: PointStore, draw: Draw, description: object) -> None:
    ref = store.point(KEY, draw, label="draw")
    ref.file("meta.json").write_text(json.dumps({"files": description}))
    assert store.point(KEY, draw, label="draw").content == ref.content


def test_a_failed_computation_leaves_nothing(store: PointStore, draw: Draw) -> None:
    def fail(folder: Path) -> None:
        draw(folder)
        raise ValueError("diverged")

    with pytest.raises(ValueError, match="diverged"):
        store.point(KEY, fail, label="draw")
    assert inside(store, "points") == inside(store, "temporary") == []
    assert not store.point(KEY, draw, label="draw").cached


KILLED = """
import os, signal, sys
from pathlib import Path
from tasks.store import PointStore

def compute(folder):
    (folder / "half").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)

PointStore(Path(sys.argv[1])).point({"step": "killed"}, compute, label="killed")
"""


def test_a_killed_computation_leaves_only_what_a_sweep_removes(store: PointStore, draw: Draw) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(store.root)], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert inside(store, "points") == []
    assert len(inside(store, "temporary")) == 1
    assert store.sweep_leftovers() == 1
    assert inside(store, "temporary") == []
    assert store.sweep_leftovers() == 0
    assert not store.point({"step": "killed"}, draw, label="killed").cached


def test_a_sweep_spares_what_is_being_computed_and_clears_probes_in_silence(store: PointStore) -> None:
    def compute(folder: Path) -> None:
        (folder / "half").touch()
        found.append(PointStore(store.root).sweep_leftovers())
        assert (folder / "half").exists()

    found: list[int] = []
    (store.root / "temporary" / "probe.1.abcd").touch()
    # A thread of its own: the lock must hold against this very process as well.
    thread = threading.Thread(target=store.point, args=(KEY, compute), kwargs={"label": "draw"})
    thread.start()
    thread.join(timeout=600)
    assert found == [0]
    assert inside(store, "temporary") == []


RACER = """
import sys, time
from pathlib import Path
from tasks.store import PointStore

root = Path(sys.argv[1])

def compute(folder):
    with (root / "computed").open("a") as log:
        log.write("x")
    time.sleep(0.5)
    (folder / "value").write_text("7")

print("ready", flush=True)
sys.stdin.readline()
ref = PointStore(root).point({"step": "race"}, compute, label="race")
print(ref.cached, ref.content)
"""


def test_two_processes_compute_one_point_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACER, str(tmp_path)]
    racers = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout and racer.stdout.readline() == "ready\n"
    answers = [racer.communicate("go\n", timeout=600)[0].split() for racer in racers]
    assert (tmp_path / "computed").read_text() == "x"
    assert sorted(cached for cached, _ in answers) == ["False", "True"]
    assert answers[0][1] == answers[1][1]


def test_threads_compute_one_point_once(store: PointStore, draw: Draw) -> None:
    refs: list[PointRef] = []
    threads = [threading.Thread(target=lambda: refs.append(store.point(KEY, draw, label="draw"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=600)
    assert draw.calls == 1
    assert sorted(ref.cached for ref in refs) == [False] + [True] * 7


def test_an_exported_point_is_taken_over(tmp_path: Path, store: PointStore, draw: Draw) -> None:
    data = tmp_path / "data"
    first = store.point(KEY, draw, label="draw")
    store.export([first], data / "noisy" / "demo")
    fresh = PointStore(tmp_path / "fresh", exports=(data,))
    ref = fresh.point(KEY, draw, label="draw")
    assert (ref.cached, draw.calls, ref.content) == (True, 1, first.content)
    assert tree(ref.folder) == tree(first.folder)
    assert fresh.point(KEY, draw, label="draw").cached


def test_a_damaged_export_is_not_taken_over_nor_touched(tmp_path: Path, store: PointStore, draw: Draw) -> None:
    data = tmp_path / "data"
    first = store.point(KEY, draw, label="draw")
    store.export([first], data)
    (data / first.digest / "report.npz").unlink()
    (data / first.digest / "report.npz").write_bytes(b"x")
    assert not PointStore(tmp_path / "fresh", exports=(data,)).point(KEY, draw, label="draw").cached
    assert (data / first.digest / "report.npz").read_bytes() == b"x"


def test_a_damaged_point_is_mended_from_its_export(tmp_path: Path, draw: Draw) -> None:
    store = PointStore(tmp_path / "store", exports=(tmp_path / "data",))
    first = store.point(KEY, draw, label="draw")
    store.export([first], tmp_path / "data")
    first.file("report.npz").unlink()
    again = PointStore(tmp_path / "store", exports=(tmp_path / "data",)).point(KEY, draw, label="draw")
    assert (again.cached, draw.calls) == (True, 1)
    assert again.remark


def test_an_export_holds_exactly_the_points(tmp_path: Path, store: PointStore, draw: Draw) -> None:
    refs = [store.point({**KEY, "seed": seed}, draw, label="draw") for seed in range(3)]
    folder = tmp_path / "data" / "noisy"
    store.export(refs[:2], folder)
    (folder / "stray").touch()
    (folder / "stray folder").mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / refs[1].digest / "part" / "ledger.json").unlink()
    untouched = (folder / refs[0].digest / "meta.json").stat()
    store.export([refs[0], refs[1], refs[1], refs[2]], folder)
    assert {path.name for path in folder.iterdir()} == {ref.digest for ref in refs}
    assert all(tree(folder / ref.digest) == tree(ref.folder) for ref in refs)
    assert (folder / refs[0].digest / "meta.json").stat().st_mtime_ns == untouched.st_mtime_ns
    store.export([], folder)
    assert list(folder.iterdir()) == []
    assert all(store.point({**KEY, "seed": seed}, draw, label="draw").cached for seed in range(3))


def test_an_export_shares_the_disk_space(tmp_path: Path, store: PointStore, draw: Draw) -> None:
    ref = store.point(KEY, draw, label="draw")
    store.export([ref], tmp_path / "data")
    assert (tmp_path / "data" / ref.digest / "report.npz").samefile(ref.file("report.npz"))


def test_an_export_across_file_systems_is_a_copy(
    tmp_path: Path, store: PointStore, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    ref = store.point(KEY, draw, label="draw")
    store.export([ref], tmp_path / "data")
    assert tree(tmp_path / "data" / ref.digest) == tree(ref.folder)


@pytest.mark.parametrize("make", [Path.touch, lambda place: place.symlink_to(place)], ids=["a file", "a loop"])
def test_an_unusable_place_is_one_line_with_the_remedy(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "store")
    with pytest.raises(UserError, match="POINT_STORE") as refusal:
        PointStore(tmp_path / "store")
    assert str(tmp_path / "store") in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_place_that_may_not_be_written(tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code), str(self))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(UserError, match=f"{os.strerror(code)}.*POINT_STORE"):
        PointStore(tmp_path / "store")


def test_an_export_that_cannot_be_written_names_its_place(tmp_path: Path, store: PointStore, draw: Draw) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(UserError, match=str(tmp_path / "data")):
        store.export([store.point(KEY, draw, label="draw")], tmp_path / "data")


@pytest.mark.parametrize("when", ["computing", "flushing", "describing", "locking"])
def test_a_full_disk_is_one_line_and_leaves_nothing(
    store: PointStore, draw: Draw, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if when == "flushing":
            patch.setattr(os, "fsync", full)
        elif when == "describing":
            patch.setattr(tasks.store, "describe", full)
        elif when == "locking":
            patch.setattr(tasks.store.FileLock, "acquire", full)
        with pytest.raises(UserError, match=f"{os.strerror(errno.ENOSPC)}.*POINT_STORE"):
            store.point(KEY, full if when == "computing" else draw, label="draw")
    assert inside(store, "points") == inside(store, "temporary") == []
    assert not store.point(KEY, draw, label="draw").cached


def test_another_error_of_a_computation_is_not_taken_for_the_stores(store: PointStore) -> None:
    def miss(folder: Path) -> None:
        (folder / "nowhere" / "file").read_bytes()

    with pytest.raises(FileNotFoundError):
        store.point(KEY, miss, label="draw")


def test_a_discarded_point_is_computed_again(store: PointStore, draw: Draw) -> None:
    kept = store.point({**KEY, "seed": 1}, draw, label="draw")
    point = store.point(KEY, draw, label="draw")
    store.discard(point)
    store.discard(point)
    assert inside(store, "points") == [kept.digest]
    assert store.point(KEY, draw, label="draw").content == point.content
    assert draw.calls == 3


def test_references_and_stores_travel(store: PointStore, draw: Draw) -> None:
    ref = store.point(KEY, draw, label="draw")
    store.point({**KEY, "seed": 1}, draw, label="draw")
    assert pickle.loads(pickle.dumps(ref)) == ref
    assert pickle.loads(pickle.dumps(store)).point(KEY, draw, label="draw").cached
