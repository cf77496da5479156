from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walk_corpus import END, WalkCorpus
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges
from tasks.steps.node_embedding.walks import read_traffic, walk_reported_lists, walk_true_graph
from tasks.steps.report_point import REPORT, ledger_lines
from tasks.store import PointRef, PointStore

Protocol = Callable[..., dict[str, PointRef]]


def steps_of(point: PointRef) -> np.ndarray:
    """Every pair of vertices that follow each other, (steps, 2)."""
    walks = np.concatenate(list(WalkCorpus.open(point.folder)))
    pairs = np.stack([walks[:, :-1].ravel(), walks[:, 1:].ravel()], axis=1)
    return pairs[(pairs != END).all(axis=1)]


@pytest.mark.parametrize("name", ["walks", "list walks", "deepwalk"])
def test_without_noise_walks_follow_edges(protocol: Protocol, source: RawSource, name: str) -> None:
    points = protocol(source, eps_encoder="inf", p=0.0)
    adjacency = source.load().adjacency.toarray()
    steps = steps_of(points[name])
    assert len(steps) == 2 * 90 * 7
    assert adjacency[steps[:, 0], steps[:, 1]].all()


def test_lists_under_randomised_response_are_walked_as_reported(store: PointStore, source: RawSource) -> None:
    lists = perturb_edges.plain(  # type: ignore[attr-defined]
        store, source, mode="directed-no-diagonal", eps_a="inf", repeat=0, seed=0, memory_limit_mb=10
    )
    chosen: dict[str, Any] = {"dataset": "friends", "walks": 1, "length": 5, "repeat": 0, "seed": 0}
    point = walk_reported_lists.plain(store, lists, encoded=False, **chosen)  # type: ignore[attr-defined]
    steps = steps_of(point)
    assert source.load().adjacency.toarray()[steps[:, 0], steps[:, 1]].all()


@pytest.mark.parametrize("p", [0.0, 0.1, 0.2, 0.4])
def test_messages_are_those_of_the_recursion(protocol: Protocol, source: RawSource, p: float) -> None:
    walks = protocol(source, p=p, walks=30, length=40)["walks"]
    traffic = read_traffic(walks, private=False)
    expected = [0.0, 0.0, 1.0]
    for length in range(3, 41):
        expected.append(1 + (1 - p) * expected[length - 1] + p * expected[length - 2])
    assert traffic["expected_messages"] == pytest.approx(expected[40])
    assert traffic["messages_per_walk"] == pytest.approx(expected[40], rel=0.005)
    assert traffic["bytes_per_walk"] > 4 * traffic["messages_per_walk"]
    assert read_traffic(walks, private=True) == {"expected_messages": traffic["expected_messages"]}


@pytest.mark.parametrize(
    ("change", "drawn"),
    [
        ({"eps_encoder": "1"}, {"walks", "lists", "list walks"}),
        ({"p": 0.1}, {"walks"}),
        ({"walks": 3}, {"walks", "list walks", "deepwalk"}),
        ({"eps_counts": "3"}, {"walks", "lists", "list walks"}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
def test_only_what_a_parameter_decides_is_made_again(
    protocol: Protocol, source: RawSource, change: dict, drawn: set[str]
) -> None:
    protocol(source)
    after = protocol(source, **change)
    assert {name for name in ("walks", "lists", "list walks", "deepwalk") if not after[name].cached} == drawn


def test_the_ledger_charges_a_list_once_and_claims_nothing_for_walks(protocol: Protocol, source: RawSource) -> None:
    points = protocol(source, seed=None)
    (walks,), (lists,) = ledger_lines(points["walks"]), ledger_lines(points["lists"])
    assert (walks.epsilon, walks.guarantee) == ("inf", False)
    assert "edges" in walks.not_protected
    assert lists.guarantee
    assert lists.spent == {"edge": "inf", "replacement": lists.epsilon, "relation": "inf"}  # lengths are in clear
    degrees = np.diff(EncodedListReport.load(points["lists"].file(REPORT)).indptr)
    assert np.array_equal(degrees, np.diff(source.load().adjacency.indptr))


def test_deepwalk_is_the_same_in_every_thread(store: PointStore, source: RawSource) -> None:
    def content(repeat: int) -> str:
        folder = store.root.parent / f"store {repeat}"
        point = walk_true_graph.plain(  # type: ignore[attr-defined]
            PointStore(folder), source, walks=3, length=9, repeat=0, seed=0
        )
        return point.content

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(content, range(6)))) == 1
