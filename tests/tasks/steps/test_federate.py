"""The whole simulation on small rings and stars."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.local_training import LocalSettings
from tasks.datasets.graph import RawGraph, RawGraphSet, undirected
from tasks.datasets.splits import Split, random_split
from tasks.errors import UserError
from tasks.steps.federate import FederationSettings, federate

SETTINGS = FederationSettings(clients=4, rounds=12, local=LocalSettings(batch_size=8))


def ring(n: int) -> RawGraph:
    adjacency = undirected(n, np.arange(n), (np.arange(n) + 1) % n)[0]
    return RawGraph("ring", adjacency, labels=np.zeros(n, dtype=np.int64), private=False)


def star(n: int) -> RawGraph:
    adjacency = undirected(n, np.zeros(n - 1, dtype=int), np.arange(1, n))[0]
    return RawGraph("star", adjacency, labels=np.r_[1, np.zeros(n - 1, dtype=np.int64)], private=False)


def toys() -> tuple[RawGraphSet, Split]:
    sizes = np.random.default_rng(0).integers(4, 10, size=30).tolist()
    graphs = tuple(ring(n) if i % 2 else star(n) for i, n in enumerate(sizes))
    labels = np.arange(30) % 2
    return RawGraphSet("toys", graphs, labels), random_split(labels, np.random.default_rng(1), (0.7, 0.2, 0.1))


def run(graphs: RawGraphSet, split: Split, **options):
    options = {"settings": SETTINGS, "seed": 0, "repeat": 0} | options
    return federate(graphs, split, options.pop("backbone", "gin"), **options)


@pytest.mark.parametrize("backbone", ["gcn", "gin"])
def test_it_learns_and_is_a_function_of_the_seed(backbone: str) -> None:
    graphs, split = toys()
    rounds: list[int] = []
    one = run(graphs, split, backbone=backbone, progress=rounds.append)
    two, other = run(graphs, split, backbone=backbone), run(graphs, split, backbone=backbone, repeat=1)
    assert one.weights.digest() == two.weights.digest() != other.weights.digest()
    assert rounds == list(range(1, 13))
    assert len(one.history) == 13
    assert one.history["validation_accuracy"].max() == 1.0
    assert [len(h) for h in one.embeddings] == [graph.nodes for graph in graphs.graphs]
    np.testing.assert_allclose(np.concatenate(one.embeddings).sum(axis=1), 1.0)
    assert one.log_probabilities.shape == (30, 2)
    assert (one.ledger.epsilon, one.ledger.guarantee) == ("inf", False)


def test_no_test_graph_and_no_test_label_reaches_the_training() -> None:
    """Other graphs with other labels in the test role give the same weights, bit by bit."""
    graphs, split = toys()
    others = list(graphs.graphs)
    for number in split.test:
        others[number] = ring(25)
    labels = graphs.labels.copy()
    labels[split.test] = 1 - labels[split.test]
    changed = replace(graphs, graphs=tuple(others), labels=labels)
    before, after = run(graphs, split), run(changed, split)
    assert before.weights.digest() == after.weights.digest()
    assert (before.history == after.history).all(axis=None)
    assert before.embeddings[split.test[0]].shape != after.embeddings[split.test[0]].shape


def test_absent_clients_change_the_rounds_but_not_the_result_s_form() -> None:
    graphs, split = toys()
    outcome = run(graphs, split, settings=replace(SETTINGS, absence=0.6))
    answers = outcome.history["clients"].to_numpy()[:-1]
    assert answers.min() < 4
    assert 0 < answers.mean() / 4 < 0.7


def test_node_level_tells_nodes_of_stars_from_nodes_of_rings() -> None:
    graphs, split = toys()
    labelled = [
        replace(graph, labels=np.full(graph.nodes, label))
        for graph, label in zip(graphs.graphs, graphs.labels, strict=True)
    ]
    graphs = replace(graphs, graphs=tuple(labelled))
    outcome = run(graphs, split, backbone="gcn", level="node", settings=replace(SETTINGS, rounds=30))
    assert outcome.log_probabilities.shape == (sum(graph.nodes for graph in graphs.graphs), 2)
    assert outcome.history["validation_accuracy"].max() == 1.0


def test_both_forms_train_alike() -> None:
    graphs, split = toys()
    short = replace(SETTINGS, rounds=2)
    ours, theirs = (run(graphs, split, backbone="gcn", settings=short, form=form) for form in ("torch", "dgl"))
    np.testing.assert_allclose(ours.log_probabilities, theirs.log_probabilities, atol=1e-4)


def test_odd_sets_are_refused_in_one_line() -> None:
    graphs, split = toys()
    empty = RawGraph("empty", csr_array((0, 0), dtype=np.int8))
    with pytest.raises(UserError, match="graph 0 "):
        run(replace(graphs, graphs=(empty, *graphs.graphs[1:])), split)
    bare = replace(graphs, graphs=tuple(replace(graph, labels=None) for graph in graphs.graphs))
    with pytest.raises(UserError, match=r"toys.*labels"):
        run(bare, split, level="node")
    for wrong in ({"rounds": 0}, {"absence": 1.0}):
        with pytest.raises(UserError, match=next(iter(wrong))):
            FederationSettings(**wrong)
