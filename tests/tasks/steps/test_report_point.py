"""What is made of private reports: keyed by the report under a guarantee, by the secret and its owner's without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges
from tasks.steps.node_embedding.embed import embed
from tasks.steps.node_embedding.walks import walk_reported_lists
from tasks.store import PointRef, PointStore

Protocol = Callable[..., dict[str, PointRef]]


def lists(store: PointStore, source: RawSource, eps_a: str, seed: int | None) -> PointRef:
    drawn = {"mode": "directed-no-diagonal", "repeat": 0, "memory_limit_mb": 10}
    return perturb_edges.plain(store, source, eps_a=eps_a, seed=seed, **drawn)  # type: ignore[attr-defined]


def learnt(store: PointStore, sent: PointRef) -> list[PointRef]:
    """Two steps of the curator, one upon the other."""
    named: dict[str, Any] = {"dataset": "friends", "repeat": 0, "seed": None}
    walks = walk_reported_lists.plain(store, sent, encoded=False, walks=1, length=5, **named)  # type: ignore[attr-defined]
    tiny = {"dimensions": 4, "window": 2, "threads": 1, "label": "friends"}
    return [walks, embed.plain(store, walks, **tiny, **named)]  # type: ignore[attr-defined]


def kept_to_owner(point: PointRef) -> bool:
    modes = {path.stat().st_mode & 0o077 for path in [point.folder, *point.folder.rglob("*")]}
    return json.loads(point.file("meta.json").read_text())["key"] is None and modes == {0}


@pytest.mark.parametrize(("eps_a", "seed"), [("inf", None), ("inf", 0), ("2", 0)])
def test_what_is_made_of_private_data_without_a_guarantee_is_private(
    store: PointStore, secret_source: RawSource, eps_a: str, seed: int | None
) -> None:
    sent = lists(store, secret_source, eps_a, seed)
    made = learnt(store, sent)
    assert all(map(kept_to_owner, [sent, *made]))
    again = learnt(store, lists(store, secret_source, eps_a, seed))
    assert all(point.cached and point.raw for point in again)
    assert [point.digest for point in again] == [point.digest for point in made]


def test_under_a_guarantee_the_curator_needs_no_secret(store: PointStore, secret_source: RawSource) -> None:
    sent = lists(store, secret_source, "2", None)
    assert kept_to_owner(sent) and not sent.raw
    walks, embedding = learnt(store, sent)
    assert json.loads(walks.file("meta.json").read_text())["key"]["lists"] == sent.content
    assert not any(kept_to_owner(point) or point.raw for point in (walks, embedding))


def test_what_is_made_of_public_data_is_public(store: PointStore, source: RawSource) -> None:
    sent = lists(store, source, "inf", 0)
    assert not any(kept_to_owner(point) or point.raw for point in [sent, *learnt(store, sent)])


def test_a_tree_is_as_private_as_its_counts(store: PointStore, protocol: Protocol, secret_source: RawSource) -> None:
    noisy = protocol(secret_source, seed=None)
    assert {name for name in noisy if noisy[name].raw} == {"matrices", "paper tree", "walks", "deepwalk"}
    exact = protocol(secret_source, eps_degree="inf", eps_counts="inf", eps_encoder="inf")
    assert {name for name in exact if not kept_to_owner(exact[name])} == {"random tree"}
