"""The compiled path against the device-by-device simulation, and both against the protocol."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoder import encoder_for
from tasks.client.fedwalk.neighbour_lists import NeighbourLists, neighbour_lists
from tasks.client.fedwalk.protocol import expected_messages
from tasks.client.fedwalk.walks import release_walks, walk_round
from tasks.errors import UserError
from tasks.reports.fedwalk.walks import WalkReport
from tasks.seeds import generator
from tests.tasks.client.fedwalk.device_simulation import devices_for, simulated_round

KEY = np.uint64(0xFEDC_BA98_7654_3210)


def comb(leaves: int) -> ClusterTree:
    children = [(leaves + row - 1 if row else 0, row + 1) for row in range(leaves - 1)]
    return ClusterTree("random", "balanced", np.array(children, dtype=np.int32))


@pytest.mark.parametrize("predictor", ["triadic", "sibling"])
@pytest.mark.parametrize("skip", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("epsilon", ["0.5", "inf"])
def test_both_paths_give_the_same_bytes_and_traffic(small_lists, uneven_tree, predictor, skip, epsilon):
    encoder, starts = encoder_for(uneven_tree, epsilon), np.array([3, 0, 9, 6, 1, 2, 8])
    shared = {"walk": 30, "length": 9, "skip": skip, "key": KEY}
    devices = devices_for(small_lists, encoder, epsilon=float(epsilon), predictor=predictor)
    slow = simulated_round(devices, starts, **shared)
    for threads in (1, 3):
        fast = walk_round(small_lists, encoder, starts, predictor=predictor, threads=threads, **shared)
        assert fast[0].tobytes() == slow[0].tobytes()
        assert fast[1] == slow[1]


def test_without_noise_walks_follow_edges_and_fill_their_length(small_lists, uneven_tree):
    tokens, _ = walk_round(
        small_lists,
        encoder_for(uneven_tree, "inf"),
        np.arange(9),
        walk=0,
        length=30,
        skip=0.0,
        predictor="triadic",
        key=KEY,
    )
    assert np.array_equal(tokens[:, 0], np.arange(9))
    for walk in tokens:
        assert all(after in small_lists.of(before) for before, after in pairwise(walk))


@pytest.mark.parametrize("skip", [0.0, 0.1, 0.2, 0.4])
def test_messages_per_walk_are_within_half_a_percent_of_the_formula(tmp_path: Path, skip: float):
    half = random_array((300, 300), density=0.05, rng=generator(1)) > 0
    lists = neighbour_lists(csr_array((half + half.T).astype(np.int8)), dataset="x")
    report = release_walks(
        lists, comb(300), "2", tmp_path, generator(2), dataset="x", simulated=True, walks=20, skip=skip
    )
    assert lists.degrees.min() > 1
    assert report.traffic.uploads == 20 * 300
    assert report.traffic.messages_per_walk == pytest.approx(expected_messages(40, skip), rel=0.005)


def test_a_seed_gives_the_same_files_with_any_number_of_threads(tmp_path: Path, small_lists, uneven_tree):
    folders = [tmp_path / "one", tmp_path / "three"]
    for folder, threads in zip(folders, (1, 3), strict=True):
        release_walks(
            small_lists,
            uneven_tree,
            "1",
            folder,
            generator(4),
            dataset="x",
            simulated=True,
            walks=3,
            length=7,
            threads=threads,
        )
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == ["report.json", "round-0000.npy", "round-0001.npy", "round-0002.npy", "walks.json"]
    assert all((folders[0] / name).read_bytes() == (folders[1] / name).read_bytes() for name in names)


def test_rounds_start_once_at_every_vertex_with_a_neighbour(tmp_path: Path, small_lists, uneven_tree):
    report = release_walks(
        small_lists, uneven_tree, "inf", tmp_path, generator(4), dataset="x", simulated=True, walks=4, length=5
    )
    orders = [tuple(walks[:, 0].tolist()) for walks in report.corpus]
    assert all(sorted(order) == list(range(9)) for order in orders)
    assert len(set(orders)) > 1
    back = WalkReport.load(tmp_path)
    assert (back.traffic, back.ledger, back.corpus) == (report.traffic, report.ledger, report.corpus)


def test_nothing_is_claimed_for_a_walk(tmp_path: Path, small_lists, uneven_tree):
    report = release_walks(
        small_lists, uneven_tree, "2", tmp_path, generator(None), dataset="x", simulated=False, walks=1, length=5
    )
    assert not report.ledger.guarantee
    assert report.ledger.epsilon == "inf"
    assert "edges" in report.ledger.not_protected


ODD = {
    "star": [(0, leaf) for leaf in range(1, 12)],
    "path": [(v, v + 1) for v in range(11)],
    "two components": [(0, 1), (1, 2), (2, 0), (5, 6), (6, 7)],
    "one edge": [(3, 8)],
}


@pytest.mark.parametrize("pairs", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("predictor", ["triadic", "sibling"])
def test_odd_graphs_walk(tmp_path: Path, pairs, predictor):
    dense = np.zeros((12, 12), dtype=np.int8)
    for head, tail in pairs:
        dense[head, tail] = dense[tail, head] = 1
    lists = neighbour_lists(csr_array(dense), dataset="x")
    report = release_walks(
        lists,
        comb(12),
        "1",
        tmp_path,
        generator(1),
        dataset="x",
        simulated=True,
        walks=2,
        length=9,
        predictor=predictor,
    )
    assert report.traffic.uploads == 2 * int((lists.degrees > 0).sum())
    assert report.traffic.messages >= report.traffic.uploads * 4


def test_a_hub_as_large_as_blogcatalogs(tmp_path: Path):
    hub = NeighbourLists(
        np.concatenate([[0], 3992 + np.arange(3993)]),
        np.concatenate([np.arange(1, 3993), np.zeros(3992)]).astype(np.int32),
    )
    report = release_walks(hub, comb(3993), "1", tmp_path, generator(1), dataset="x", simulated=True, walks=1)
    assert report.corpus.tokens == 3993 * 40


def test_a_tree_over_other_vertices_is_refused(tmp_path: Path, small_lists):
    with pytest.raises(UserError, match=r" 5 .* 10 "):
        release_walks(small_lists, comb(5), "1", tmp_path, generator(1), dataset="x", simulated=True)
