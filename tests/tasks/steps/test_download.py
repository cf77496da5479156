from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.steps import download as subject
from tasks.steps.download import RawSource, download
from tasks.store import PointStore

fetch = download.plain  # type: ignore[attr-defined]
Declare = Callable[..., RawSource]


def test_digits_is_stored_once_and_parsed_from_the_store(store: PointStore) -> None:
    first, second = fetch(store, "digits"), fetch(store, "digits")
    assert (first.cached, second.cached, first.private) == (False, True, False)
    assert second.content == first.content
    graph = second.load()
    assert isinstance(graph, RawGraph)
    assert graph.adjacency.shape == (1797, 1797)
    assert second.load() is graph


def test_an_unknown_set_is_refused(store: PointStore) -> None:
    with pytest.raises(UserError, match="'cora2'"):
        fetch(store, "cora2")
    assert list((store.root / "points").iterdir()) == []


def test_a_file_with_another_published_hash_is_another_point(
    store: PointStore, mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fetch(store, "citeseer-lcc")
    assert fetch(store, "citeseer-lcc").cached

    class Changed:
        hashes = frozenset({"0" * 64})

    monkeypatch.setattr(subject, "manifest", lambda: dict.fromkeys(["nettack/citeseer.npz"], Changed()))
    monkeypatch.setattr(subject, "fetch_dataset", lambda name, folder: (folder / name).mkdir())
    assert not fetch(store, "citeseer-lcc").cached
    assert first.point


def test_a_users_files_stay_where_they_are(store: PointStore, source: RawSource) -> None:
    graph = source.load()
    assert isinstance(graph, RawGraph)
    assert graph.adjacency.shape == (90, 90)
    assert (source.point, source.cached) == (None, True)
    assert list((store.root / "points").iterdir()) == []


def test_the_digest_of_a_users_graph_is_the_files_content_wherever_they_lie(
    declare: Declare, own_files: Path, tmp_path: Path
) -> None:
    moved = shutil.copytree(own_files, tmp_path / "moved")
    there = {name: moved / f"{name}.csv" for name in ("edges", "features", "labels")}
    first = declare()
    assert declare(**there).content == first.content
    there["edges"].write_text(there["edges"].read_text() + "0,45\n")
    assert declare(**there).content != first.content
    assert declare(feature_bounds=(0.0, 2.0)).content != first.content
    assert declare(nodes=91).content != first.content


def test_the_digest_of_a_private_graph_can_not_be_guessed(
    declare: Declare, store: PointStore, tmp_path: Path, own_files: Path
) -> None:
    secret, public = declare(private=True), declare()
    assert secret.content != public.content
    other = PointStore(tmp_path / "other store")
    assert secret.own
    elsewhere = replace(secret.own, account=tmp_path / "other account")
    assert fetch(store, "friends", elsewhere).content != secret.content
    assert fetch(other, "friends", secret.own).content == secret.content
    assert fetch(other, "friends", public.own).content == public.content
    assert fetch(store, "friends", secret.own).content == secret.content
    assert hashlib.sha256((own_files / "edges.csv").read_bytes()).hexdigest() not in repr(secret)


@pytest.mark.parametrize("edges", ["missing.csv", ""])
def test_a_missing_file_is_one_line_that_names_it(declare: Declare, own_files: Path, edges: str) -> None:
    with pytest.raises(UserError, match=f"{own_files / edges}"):
        declare(edges=own_files / edges).load()
