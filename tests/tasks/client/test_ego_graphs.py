from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from tasks.client.ego_graphs import OVERLAP, draw_centres, ego_graphs, graphs_of_nodes
from tasks.datasets.catalogue.readers import fetch_dataset, load_dataset
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError


def graph(seed: int = 0, nodes: int = 40) -> RawGraph:
    rng = np.random.default_rng(seed)
    bits = np.triu(rng.random((nodes, nodes)) < 0.05, 1)
    features = csr_array(np.arange(nodes, dtype=np.float32)[:, None] / nodes)
    return RawGraph("toy", csr_array(bits | bits.T, dtype=np.int8), features, rng.integers(-1, 3, size=nodes))


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_ego_graphs_are_induced_by_the_nodes_within_reach(hops: int) -> None:
    whole = graph()
    centres = np.array([0, 7, 31])
    steps = shortest_path(whole.adjacency, unweighted=True)
    egos = ego_graphs(whole, centres, hops)
    assert egos.name == f"toy-{hops}-hop"
    assert (egos.labels == whole.labels[centres]).all()
    for centre, ego in zip(centres, egos.graphs, strict=True):
        nodes = np.flatnonzero(steps[centre] <= hops)
        assert (ego.adjacency.toarray() == whole.adjacency.toarray()[np.ix_(nodes, nodes)]).all()
        assert (ego.features.toarray() == whole.features.toarray()[nodes]).all()
        assert (ego.labels == whole.labels[nodes]).all()


def test_centres_are_distinct_labelled_and_connected() -> None:
    whole = graph()
    fit = (whole.labels >= 0) & (whole.adjacency.sum(axis=1) > 0)
    assert (draw_centres(whole, int(fit.sum()), np.random.default_rng(0)) == np.flatnonzero(fit)).all()
    drawn = draw_centres(whole, 5, np.random.default_rng(0))
    assert len(np.unique(drawn)) == 5
    assert (drawn == draw_centres(whole, 5, np.random.default_rng(0))).all()


def test_privacy_flag_and_notes_are_inherited() -> None:
    whole = replace(graph(), private=True, notes=("illustration",))
    egos = ego_graphs(whole, np.array([3]), 1)
    assert egos.private
    assert egos.graphs[0].private
    assert egos.notes == ("illustration", OVERLAP)


@pytest.mark.parametrize("hops", [1, 2])
def test_a_node_is_in_the_ego_graphs_of_all_centres_within_reach(hops: int) -> None:
    whole = graph()
    centres = np.array([0, 7, 31, 32])
    steps = shortest_path(whole.adjacency, unweighted=True)
    counts = graphs_of_nodes(whole, centres, hops)
    np.testing.assert_array_equal(counts, (steps[centres] <= hops).sum(axis=0))
    assert counts.sum() == sum(ego.nodes for ego in ego_graphs(whole, centres, hops).graphs)


def test_wrong_requests_are_refused() -> None:
    whole = graph()
    for count in (0, 41):
        with pytest.raises(UserError, match=f"toy: .*graphs={count} .* 28"):
            draw_centres(replace(whole, private=False), count, np.random.default_rng(0))
        with pytest.raises(UserError, match=f"graphs={count} ") as untold:
            draw_centres(whole, count, np.random.default_rng(0))
        assert "28" not in str(untold.value)
    with pytest.raises(UserError, match="hops"):
        ego_graphs(whole, np.array([0]), 0)
    bare = replace(whole, labels=None)
    for call in (lambda: draw_centres(bare, 3, np.random.default_rng(0)), lambda: ego_graphs(bare, np.array([0]), 1)):
        with pytest.raises(UserError, match=r"toy.*class"):
            call()


@pytest.mark.mirror
@pytest.mark.usefixtures("mirror")
def test_citeseer_gives_five_hundred(tmp_path) -> None:
    fetch_dataset("citeseer", tmp_path)
    citeseer = load_dataset("citeseer", tmp_path)
    centres = draw_centres(citeseer, 500, np.random.default_rng(0))
    one, two = (ego_graphs(citeseer, centres, hops) for hops in (1, 2))
    assert len(one.graphs) == len(two.graphs) == 500
    assert one.classes == 6
    assert all(a.nodes <= b.nodes for a, b in zip(one.graphs, two.graphs, strict=True))
    assert min(ego.nodes for ego in one.graphs) >= 2
