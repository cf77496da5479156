"""Reports on private data: drawn once, charged before they are drawn, and, with all that is made of them, private."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tasks.account.account import Account
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.errors import UserError
from tasks.reports.ledgers.units import limits_of
from tasks.steps.download import RawSource, download
from tasks.steps.node_classification.perturb import perturb_edges
from tasks.steps.node_embedding.embed import embed
from tasks.steps.node_embedding.walks import walk_reported_lists
from tasks.steps.report_point import ChargedDeclaration, client_report, drawn
from tasks.store import PointRef, PointStore, PrivateFailure

Protocol = Callable[..., dict[str, PointRef]]
Declare = Callable[..., RawSource]


def lists(store: PointStore, source: RawSource, eps_a: str, seed: int | None = None, repeat: int = 0) -> PointRef:
    drawn = {"mode": "directed-no-diagonal", "repeat": repeat, "memory_limit_mb": 10}
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


def account(source: RawSource) -> Account:
    assert source.own
    return Account(source.own)


def redeclared(store: PointStore, source: RawSource, **changes: Any) -> RawSource:
    assert source.own
    return download.plain(store, source.name, replace(source.own, **changes))  # type: ignore[attr-defined]


@pytest.mark.parametrize(("eps_a", "seed"), [("inf", None), ("inf", 0), ("2", 0), ("2", None)])
def test_whatever_is_made_of_private_data_is_private(
    store: PointStore, secret_source: RawSource, eps_a: str, seed: int | None
) -> None:
    sent = lists(store, secret_source, eps_a, seed)
    made = learnt(store, sent)
    assert all(point.raw and kept_to_owner(point) for point in [sent, *made])
    again = learnt(store, lists(store, secret_source, eps_a, seed))
    assert all(point.cached for point in again)
    assert [point.digest for point in again] == [point.digest for point in made]


def test_what_is_made_of_public_data_is_public(store: PointStore, source: RawSource) -> None:
    sent = lists(store, source, "inf", 0)
    assert not any(kept_to_owner(point) or point.raw for point in [sent, *learnt(store, sent)])
    assert not account(source).path.exists()


def test_a_report_is_charged_once_and_found_from_every_store(
    store: PointStore, secret_source: RawSource, tmp_path: Path
) -> None:
    first = lists(store, secret_source, "1")
    elsewhere = PointStore(tmp_path / "elsewhere")
    again = lists(elsewhere, redeclared(elsewhere, secret_source), "1")
    assert (first.cached, again.cached, again.content) == (False, True, first.content)
    assert account(secret_source).spent() == {"edge": "1", "replacement": "2", "relation": "2"}
    assert not lists(store, secret_source, "1", repeat=1).cached
    assert account(secret_source).spent()["edge"] == "2"


def test_another_version_of_the_code_uses_the_report_and_says_so(
    store: PointStore, secret_source: RawSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = lists(store, secret_source, "1")
    monkeypatch.setattr(ChargedDeclaration, "_code", lambda self, of: "0123456789abcdef")
    again = lists(store, secret_source, "1")
    assert again.content == first.content
    (charge,) = account(secret_source).charges()
    assert charge.code in again.remark and charge.drawn in again.remark


def test_beyond_the_lifetime_budget_nothing_is_drawn(store: PointStore, declare: Declare) -> None:
    limited = declare(private=True, budget=tuple(limits_of("3").items()))
    lists(store, limited, "2")
    with pytest.raises(UserError, match=r"friends: .*eps_a=1\.9.* 2 of its lifetime budget 3"):
        lists(store, limited, "1.9")
    assert account(limited).spent()["edge"] == "2"
    assert lists(store, limited, "2").cached
    lists(store, limited, "1")
    assert account(limited).spent()["edge"] == "3"
    with pytest.raises(UserError):
        lists(store, limited, "0.000001")
    with pytest.raises(UserError, match="replacement"):
        lists(store, declare(private=True, budget=(("replacement", "6.5"),)), "0.5")


def test_noise_from_a_known_seed_has_no_budget(store: PointStore, declare: Declare) -> None:
    with pytest.raises(UserError, match="seed=null"):
        lists(store, declare(private=True, budget=(("edge", "100"),)), "1", seed=0)
    unlimited = declare(private=True)
    lists(store, unlimited, "1", seed=0)
    assert account(unlimited).spent()["edge"] == "inf"


@pytest.mark.parametrize("harm", ["flipped", "removed"])
def test_a_lost_report_is_drawn_again_only_when_asked_for_and_is_paid_twice(
    store: PointStore, secret_source: RawSource, harm: str
) -> None:
    sent = lists(store, secret_source, "1")
    report = sent.file("report.npz")
    whole = report.read_bytes()
    if harm == "flipped":
        report.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    else:
        report.unlink()
    with pytest.raises(UserError, match=r"--draw-again"):
        lists(store, secret_source, "1")
    report.write_bytes(whole)
    assert lists(store, secret_source, "1").content == sent.content
    report.unlink()
    again = lists(store, redeclared(store, secret_source, draw_again=True), "1")
    assert again.content != sent.content
    assert account(secret_source).spent()["edge"] == "2"
    assert lists(store, secret_source, "1").cached


@client_report("edges", study="test", point="{eps_a}")
def careless(draft: Any, source: RawSource, *, eps_a: str, repeat: int, seed: int | None) -> Any:
    """Draws without a charge."""
    graph = source.load()
    told = {name: value for name, value in drawn(draft, graph).items() if name != "charge"}
    return randomise_neighbour_lists(graph.adjacency, eps_a, "directed", memory_limit_mb=9, **told)


def test_a_mechanism_cannot_forget_the_charge(store: PointStore, secret_source: RawSource) -> None:
    with pytest.raises(PrivateFailure, match="AssertionError"):
        careless.plain(store, secret_source, eps_a="1", repeat=0, seed=None)  # type: ignore[attr-defined]
    assert account(secret_source).charges() == []
    assert list((account(secret_source).folder / "points").iterdir()) == []


def test_of_private_data_the_random_tree_alone_is_public(protocol: Protocol, secret_source: RawSource) -> None:
    made = protocol(secret_source, seed=None)
    assert {name for name in made if not kept_to_owner(made[name])} == {"random tree"}
