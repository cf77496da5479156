from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tasks.broadcasts.tree import ClusterTree
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.steps.download import RawSource
from tasks.steps.node_embedding.tree import BINS, TREE, bin_count, build_random_tree
from tasks.steps.report_point import REPORT, ledger_lines
from tasks.store import PointRef, PointStore

Protocol = Callable[..., dict[str, PointRef]]
CLIENTS = ("degrees", "counts", "matrices")
TREES = ("tree", "paper tree", "random tree")


def test_without_noise_the_reports_are_the_graph(protocol: Protocol, source: RawSource) -> None:
    points = protocol(source, eps_degree="inf", eps_counts="inf", bins=3)
    degrees = np.asarray(source.load().adjacency.sum(axis=1)).ravel()
    assert np.array_equal(DegreeReport.load(points["degrees"].file(REPORT)).degrees, degrees)
    counts = NeighbourCountReport.load(points["counts"].file(REPORT)).counts
    assert np.array_equal(counts.sum(axis=(1, 2)), degrees)
    bins = np.load(points["counts"].file(BINS))
    by_bin = source.load().adjacency.toarray() @ np.eye(3, dtype=int)[bins]
    assert np.array_equal(counts.sum(axis=1), by_bin)


def test_bins_are_public_and_of_near_equal_size(protocol: Protocol, source: RawSource) -> None:
    points = protocol(source, bins=4)
    bins = np.load(points["counts"].file(BINS))
    assert sorted(np.bincount(bins)) == [22, 22, 23, 23]
    assert np.array_equal(bins, np.load(points["matrices"].file(BINS)))
    assert bin_count(protocol(source)["counts"]) == math.floor(math.log(90))


@pytest.mark.parametrize(
    ("change", "drawn"),
    [
        ({"eps_degree": "2"}, {"degrees", "counts", "tree"}),
        ({"eps_counts": "2"}, {"counts", "matrices", "tree", "paper tree"}),
        ({"bins": 7}, {"counts", "matrices", "tree", "paper tree"}),
        ({"repeat": 1}, {*CLIENTS, *TREES}),
        ({"seed": 1}, {*CLIENTS, *TREES}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
def test_only_what_a_parameter_decides_is_made_again(
    protocol: Protocol, source: RawSource, change: dict, drawn: set[str]
) -> None:
    protocol(source)
    after = protocol(source, **change)
    assert {name for name in (*CLIENTS, *TREES) if not after[name].cached} == drawn


def test_the_same_seed_gives_the_same_bytes_in_another_store(
    protocol: Protocol, store: PointStore, source: RawSource, tmp_path: Path
) -> None:
    first = {name: point.content for name, point in protocol(source).items()}
    store.root.joinpath("points").rename(tmp_path / "old")
    store.root.joinpath("points").mkdir()
    again = protocol(source)
    assert not any(point.cached for point in again.values())
    assert {name: point.content for name, point in again.items()} == first


def test_trees_are_over_all_vertices_and_say_what_they_are_made_of(protocol: Protocol, source: RawSource) -> None:
    points = protocol(source)
    for name, made_of in zip(TREES, ("private", "paper", "random"), strict=True):
        tree = ClusterTree.load(points[name].file(TREE))
        assert (tree.leaves, tree.source, tree.linkage) == (90, made_of, "balanced")


def test_the_random_tree_takes_the_number_of_vertices_alone(
    store: PointStore, protocol: Protocol, source: RawSource, secret_source: RawSource
) -> None:
    tree = protocol(source)["random tree"]
    again = build_random_tree.plain(store, secret_source, repeat=0, seed=0)  # type: ignore[attr-defined]
    assert (again.digest, again.cached) == (tree.digest, True)
    assert json.loads(tree.file("meta.json").read_text())["key"]["vertices"] == 90


def test_the_ledger_charges_degrees_and_counts_and_claims_nothing_for_the_papers_uploads(
    protocol: Protocol, source: RawSource
) -> None:
    points = protocol(source, eps_degree="0.5", eps_counts="1.5")
    lines = {name: ledger_lines(points[name])[0] for name in CLIENTS}
    assert {name: (line.epsilon, line.relation_epsilon) for name, line in lines.items()} == {
        "degrees": ("0.5", "1"),
        "counts": ("1.5", "3"),
        "matrices": ("inf", "inf"),
    }
    assert not lines["matrices"].guarantee


@pytest.mark.parametrize("seed", [1, None], ids=["noise from a known seed", "noise kept nowhere"])
def test_a_private_graph_is_in_no_description(protocol: Protocol, secret_source: RawSource, seed: int | None) -> None:
    points = protocol(secret_source, seed=seed)
    texts = {name: point.file("meta.json").read_text() for name, point in points.items()}
    assert all(secret_source.content not in text for text in texts.values())
    assert {name for name, text in texts.items() if json.loads(text)["key"] is not None} == {"random tree"}
