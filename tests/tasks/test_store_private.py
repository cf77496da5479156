"""Private points: what they are called, who may read them, and what is told when they fail."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tasks.errors import UserError
from tasks.store import PointStore, PrivateFailure

KEY = {"step": "draw", "eps": "inf", "seed": 0}


def draw(folder: Path) -> None:
    """A report and, in a folder of its own, its ledger."""
    (folder / "report.npz").write_bytes(b"the true lists")
    (folder / "part").mkdir()
    (folder / "part" / "ledger.json").write_text("[]")


@pytest.fixture
def lax() -> Iterator[None]:
    """A umask that lets everybody read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Permissions of a folder and of everything below it."""
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}


OWNERS = {".": 0o700, "part": 0o700, "report.npz": 0o600, "part/ledger.json": 0o600, "meta.json": 0o600}


def test_a_private_point_tells_nothing_of_its_key(tmp_path: Path, store: PointStore) -> None:
    key = {**KEY, "raw": "a digest of raw data"}
    public = store.point(key, draw, label="draw")
    private = store.point(key, draw, label="draw", private=True)
    plain = hashlib.sha256(json.dumps(key, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    assert plain.startswith(public.digest)
    assert not plain.startswith(private.digest)
    assert json.loads(private.file("meta.json").read_text())["key"] is None
    assert "a digest" not in private.file("meta.json").read_text()
    assert store.point(key, draw, label="draw", private=True).cached
    elsewhere = PointStore(tmp_path / "elsewhere").point(key, draw, label="draw", private=True)
    assert elsewhere.digest != private.digest


def test_the_secret_is_drawn_once_and_kept_from_others(store: PointStore) -> None:
    secret = store.secret()
    assert len(secret) == 32
    assert store.secret() == PointStore(store.root).secret() == secret
    assert (store.root / "secret").stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("lax")
def test_its_owner_alone_may_read_a_private_point(tmp_path: Path) -> None:
    """Whatever the umask, in a store that everybody may enter, and while it is still being computed."""
    seen: list[int] = []

    def watched(folder: Path) -> None:
        seen.append(folder.stat().st_mode & 0o777)
        draw(folder)

    (tmp_path / "store").mkdir(mode=0o777)
    store = PointStore(tmp_path / "store")
    private = store.point(KEY, watched, label="draw", private=True)
    assert seen == [0o700]
    assert modes(private.folder) == OWNERS
    assert set(modes(store.point(KEY, draw, label="draw").folder).values()) == {0o777, 0o666}


@pytest.mark.usefixtures("lax")
def test_a_private_point_that_others_may_read_is_theirs_no_more_once_it_is_found(store: PointStore) -> None:
    folder = store.point(KEY, draw, label="draw", private=True).folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777)
    assert store.point(KEY, draw, label="draw", private=True).cached
    assert modes(folder) == OWNERS


def test_a_private_point_is_not_exported(tmp_path: Path, store: PointStore) -> None:
    refs = [store.point(KEY, draw, label="draw", private=private) for private in (False, True)]
    with pytest.raises(UserError, match=refs[1].digest):
        store.export(refs, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def raising(error: BaseException) -> Callable[[Path], None]:
    def compute(folder: Path) -> None:
        try:
            raise KeyError("0.48392, a neighbour's feature")
        except KeyError:
            raise error  # noqa: B904 - chained on purpose

    return compute


@pytest.mark.parametrize("error", [ValueError("0.48392"), KeyError(0.48392), OSError(errno.EIO, "0.48392")], ids=repr)
def test_the_text_of_an_error_on_private_data_is_withheld(store: PointStore, error: Exception) -> None:
    with pytest.raises(PrivateFailure) as caught:
        store.point(KEY, raising(error), label="encode friends", private=True)
    assert re.fullmatch(
        rf"encode friends: {type(error).__name__} at store.py:\d+; its text is withheld, for the data are private",
        str(caught.value),
    )
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert "0.48392" not in "".join(traceback.format_exception(caught.value))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(type(error)):
        store.point(KEY, raising(error), label="encode friends")
    assert list((store.root / "temporary").iterdir()) == []


def test_a_failure_within_a_private_point_is_told_once(store: PointStore) -> None:
    def outer(folder: Path) -> None:
        store.point({**KEY, "block": 0}, raising(ValueError("0.48392")), label="block 0", private=True)

    with pytest.raises(PrivateFailure, match=r"^block 0: ValueError"):
        store.point(KEY, outer, label="whole", private=True)


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (UserError("friends: use a smaller eps"), UserError),
        (OSError(errno.ENOSPC, "No space left on device"), UserError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
    ids=repr,
)
def test_mistakes_and_interruptions_on_private_data_are_told(
    store: PointStore, error: BaseException, seen: type[BaseException]
) -> None:
    with pytest.raises(seen) as caught:
        store.point(KEY, raising(error), label="encode friends", private=True)
    assert type(caught.value) is seen
