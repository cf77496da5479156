"""The steps of the graph study on rings and stars."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score

from tasks.curator.gromov.distances import gromov_distances
from tasks.datasets.graph import RawGraph, RawGraphSet, undirected
from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.parameters.graphs import Solver
from tasks.reports.embedding import EmbeddingReport
from tasks.reports.label import LabelReport
from tasks.steps.download import RawSource
from tasks.steps.graph_classification import gromov
from tasks.steps.graph_classification.analyse_graphs import analyse_distances, read_analysis
from tasks.steps.graph_classification.classify_graphs import (
    classify_by_distances,
    classify_by_shortest_paths,
    read_spectrum,
)
from tasks.steps.graph_classification.embed_graphs import (
    HISTORY,
    PREDICTIONS,
    encode_graphs,
    raw_embeddings,
    train_federation,
)
from tasks.steps.graph_classification.graph_sets import report_graph_labels, split_graphs
from tasks.steps.graph_classification.gromov import (
    compare_node_counts,
    compare_raw_graphs,
    compare_reports,
    read_distances,
)
from tasks.steps.graph_classification.score_graphs import score_graphs
from tasks.steps.node_classification.score import read_metrics
from tasks.steps.report_point import REPORT, ledger_lines
from tasks.steps.split import SPLIT
from tasks.store import PointRef, PointStore

GRAPHS = 30


@dataclass(frozen=True)
class Held(RawSource):
    """A source whose graphs are at hand."""

    graphs: RawGraphSet | RawGraph | None = field(default=None, compare=False)

    def load(self) -> RawGraphSet | RawGraph:
        assert self.graphs is not None
        return self.graphs


def toys(features: bool = True) -> RawGraphSet:
    sizes = np.random.default_rng(0).integers(4, 10, size=GRAPHS).tolist()
    graphs = []
    for i, n in enumerate(sizes):
        ends = (np.arange(n), (np.arange(n) + 1) % n) if i % 2 else (np.zeros(n - 1, dtype=int), np.arange(1, n))
        kinds = csr_array(np.eye(2, dtype=np.float32)[np.arange(n) % 2]) if features else None
        graphs.append(RawGraph("toy", undirected(n, *ends)[0], features=kinds, private=False))
    return RawGraphSet("toys", tuple(graphs), np.arange(GRAPHS) % 2, private=False)


@pytest.fixture
def source() -> Held:
    return Held("toys", Path(), "toys' digest", graphs=toys())


def federation(store: PointStore, source: RawSource, split: PointRef, rounds: int = 2) -> PointRef:
    return train_federation.plain(
        store, source, split, backbone="gin", rounds=rounds, clients=3, repeat=0, seed=0, device="cpu"
    )


def report(store: PointStore, source: RawSource, trained: PointRef, encoder: str = "per_row", eps: str = "inf"):
    return encode_graphs.plain(store, source, trained, backbone="gin", encoder=encoder, eps=eps, repeat=0, seed=0)


def compare(store: PointStore, sent: PointRef, **solver: int) -> PointRef:
    return compare_reports.plain(
        store,
        sent,
        metric="euclidean",
        rectify=False,
        solver=Solver(**solver),
        dataset="toys",
        label="toys",
        seed=0,
    )


def predict(store: PointStore, labels: PointRef, distances: PointRef) -> PointRef:
    return classify_by_distances.plain(store, labels, {1.0: distances}, gamma_unit="median", cure="none", label="toys")


def everything(store: PointStore, source: RawSource) -> dict[str, PointRef]:
    """One repeat of the study from the split to the score."""
    split = split_graphs.plain(store, source, 0, 0)
    labels = report_graph_labels.plain(store, source, split, repeat=0)
    trained = federation(store, source, split)
    sent = report(store, source, trained, eps="100")
    distances = compare(store, sent)
    predicted = predict(store, labels, distances)
    scored = score_graphs.plain(store, source, split, predicted, label="toys")
    return {
        "split": split, "labels": labels, "trained": trained, "report": sent,
        "distances": distances, "predicted": predicted, "scored": scored,
    }  # fmt: skip


def test_classes_of_test_graphs_change_nothing_but_scores(store: PointStore, source: Held) -> None:
    before = everything(store, source)
    test = Split.load(before["split"].file(SPLIT)).test
    graphs = toys()
    labels = graphs.labels.copy()
    labels[test] = 1 - labels[test]
    other = replace(source, content="another digest", graphs=replace(graphs, labels=labels))
    after = everything(store, other)
    assert not after["trained"].cached
    same = {name for name in before if before[name].content == after[name].content}
    assert same == set(before) - {"scored"}
    assert after["distances"].cached
    assert after["predicted"].cached
    flipped, straight = read_metrics(after["scored"])["accuracy"], read_metrics(before["scored"])["accuracy"]
    assert flipped == pytest.approx(1 - straight)
    predictions = np.load(before["predicted"].file(PREDICTIONS))
    assert straight == accuracy_score(source.load().labels[test], predictions[test])


def test_the_split_is_7_2_1_and_labels_of_test_graphs_stay_away(store: PointStore, source: Held) -> None:
    made = everything(store, source)
    split = Split.load(made["split"].file(SPLIT))
    assert [len(split.train), len(split.validation), len(split.test)] == [21, 6, 3]
    known = LabelReport.load(made["labels"].file(REPORT))
    assert known.ledger.not_protected == "labels of training and validation graphs"
    np.testing.assert_array_equal(known.train_nodes, split.train)
    np.testing.assert_array_equal(known.validation_nodes, split.validation)
    assert all(everything(store, source)[name].cached for name in made)


def test_ledgers_have_the_budget_of_the_embedding_and_none_for_training(store: PointStore, source: Held) -> None:
    made = everything(store, source)
    (training,) = ledger_lines(made["trained"])
    assert not training.guarantee
    assert training.epsilon == "inf"
    (embedding,) = ledger_lines(made["report"])
    assert (embedding.epsilon, embedding.unit) == ("100", "graph")
    (noise,) = ledger_lines(report(store, source, made["trained"], "gaussian_scale", "1"))
    assert not noise.guarantee
    assert not noise.guarantee


def test_without_noise_the_curator_gets_the_clients_embeddings(store: PointStore, source: Held) -> None:
    trained = federation(store, source, split_graphs.plain(store, source, 0, 0))
    held = raw_embeddings(trained)
    assert [len(rows) for rows in held] == [graph.nodes for graph in source.load().graphs]
    sent = EmbeddingReport.load(report(store, source, trained).file(REPORT))
    np.testing.assert_array_equal(sent.values, np.concatenate(held))


def test_distances_are_the_solvers_whatever_the_blocks_and_threads(store: PointStore, tmp_path: Path) -> None:
    graphs = toys()
    source = Held("toys", Path(), "digest", graphs=graphs)
    solver = Solver(starts=2, threads=1, block=100)
    found = compare_raw_graphs.plain(store, source, alpha=0.5, solver=solver, seed=0)
    paths = [gromov.shortest_path_distances(graph.adjacency) for graph in graphs.graphs]
    features = [graph.features.toarray() for graph in graphs.graphs]
    seed = gromov.curator_seed_of("toys", 0)
    expected = gromov_distances(paths, first_features=features, alpha=0.5, starts=2, seed=seed, threads=1).values
    np.testing.assert_array_equal(read_distances(found), expected)

    elsewhere = PointStore(tmp_path / "elsewhere")
    coarse = Solver(starts=2, threads=2, block=1000)
    again = compare_raw_graphs.plain(elsewhere, source, alpha=0.5, solver=coarse, seed=0)
    assert (again.digest, again.content) == (found.digest, found.content)
    assert compare_raw_graphs.plain(store, source, alpha=0.5, solver=coarse, seed=0).cached
    assert not compare_raw_graphs.plain(store, source, alpha=1, solver=coarse, seed=0).cached


def test_features_of_no_weight_are_left_out(store: PointStore, source: Held) -> None:
    """Fused with features that all nodes share, so that nothing but their weight of nought tells the two apart."""
    found = read_distances(compare_raw_graphs.plain(store, source, alpha=1.0, solver=Solver(), seed=0))
    paths = [gromov.shortest_path_distances(graph.adjacency) for graph in source.load().graphs]
    alike = [np.ones((len(matrix), 1)) for matrix in paths]
    seed = gromov.curator_seed_of("toys", 0)
    fused = gromov_distances(paths, first_features=alike, alpha=1.0, starts=2, seed=seed, threads=1).values
    np.testing.assert_allclose(found, fused, atol=1e-12)


def test_a_killed_run_goes_on_from_its_last_block(
    store: PointStore, source: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = GRAPHS * (GRAPHS - 1) // 2
    solver = Solver(block=100)
    solved: list[int] = []
    solve = gromov.solve_block

    def counting(packed, pairs, **options):
        if len(solved) == kill_at:
            raise KeyboardInterrupt
        solved.append(len(pairs))
        return solve(packed, pairs, **options)

    monkeypatch.setattr(gromov, "solve_block", counting)
    kill_at = 2
    with pytest.raises(KeyboardInterrupt):
        compare_raw_graphs.plain(store, source, alpha=1, solver=solver, seed=0)
    assert solved == [100, 100]
    solved.clear()
    kill_at = -1
    point = compare_raw_graphs.plain(store, source, alpha=1, solver=solver, seed=0)
    assert solved == [100, 100, pairs - 400]
    assert json.loads(point.file("counts.json").read_text())["pairs"] == pairs
    # The blocks were means to an end.
    assert [folder.name for folder in (store.root / "points").iterdir()] == [point.digest]

    fresh = PointStore(store.root.parent / "fresh")
    whole = compare_raw_graphs.plain(fresh, source, alpha=1, solver=Solver(), seed=0)
    assert whole.content == point.content


def test_only_ties_are_worth_more_than_one_start(
    store: PointStore, source: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []
    solve = gromov.solve_block

    def noting(packed, pairs, **options):
        starts.append(options["starts"])
        return solve(packed, pairs, **options)

    monkeypatch.setattr(gromov, "solve_block", noting)
    trained = federation(store, source, split_graphs.plain(store, source, 0, 0))
    for encoder, eps in (("per_row", "inf"), ("gaussian_scale", "1"), ("per_row", "1/n")):
        compare(store, report(store, source, trained, encoder, eps), starts=3)
    assert starts == [1, 1, 3]


def test_baselines_and_control(store: PointStore, source: Held) -> None:
    split = split_graphs.plain(store, source, 0, 0)
    labels = report_graph_labels.plain(store, source, split, repeat=0)
    nodes = np.array([graph.nodes for graph in source.load().graphs])
    counts = compare_node_counts.plain(store, source)
    np.testing.assert_array_equal(read_distances(counts), np.abs(nodes[:, None] - nodes))
    spk = classify_by_shortest_paths.plain(store, source, labels, cure="none", label="toys")
    for machine in (spk, predict(store, labels, counts)):
        assert np.load(machine.file(PREDICTIONS)).shape == (GRAPHS,)
        spectrum = read_spectrum(machine)
        assert 0 <= spectrum["negative_mass"] < 0.5
        assert 0.5 < spectrum["validation_accuracy"] <= 1


def test_analysis_of_distances(store: PointStore, source: Held) -> None:
    counts = compare_node_counts.plain(store, source)
    found = read_analysis(analyse_distances.plain(store, source, counts, label="toys", repeat=0, seed=0))
    nodes = np.array([graph.nodes for graph in source.load().graphs])
    apart = [abs(a - b) for a, b in combinations(nodes.tolist(), 2)]
    assert found["gw_mean"] == pytest.approx(np.mean(apart))
    assert found["gw_sd"] == pytest.approx(np.std(apart))
    assert 0 <= found["knn_5_accuracy"] <= 1

    # Distances that tell the classes apart: every neighbour is of the own class.
    labels = source.load().labels
    apart_by_class = tuple(replace(g, name="g") for g in (toys().graphs[0], toys().graphs[1]))
    assert apart_by_class[0].nodes != apart_by_class[1].nodes
    pure = replace(source, content="pure", graphs=RawGraphSet("toys", tuple(apart_by_class[c] for c in labels), labels))
    told = compare_node_counts.plain(store, pure)
    assert read_analysis(analyse_distances.plain(store, pure, told, label="pure", repeat=0, seed=0))[
        "knn_5_accuracy"
    ] == pytest.approx(1.0)


def test_few_graphs_are_asked_for_no_more_neighbours_than_there_are(store: PointStore) -> None:
    for count, labels, found in ((12, [0, 1] * 6, {"knn_5_accuracy"}), (5, [0, 1, 0, 1, 2], set())):
        graphs = RawGraphSet("few", toys().graphs[:count], np.array(labels), private=False)
        source = Held("few", Path(), f"{count} graphs", graphs=graphs)
        told = compare_node_counts.plain(store, source)
        analysis = read_analysis(analyse_distances.plain(store, source, told, label="few", repeat=0, seed=0))
        assert set(analysis) == {"gw_mean", "gw_sd"} | found


def test_absence_and_concentration_reach_the_clients(store: PointStore, source: Held) -> None:
    split = split_graphs.plain(store, source, 0, 0)
    common = {"backbone": "gcn", "rounds": 6, "clients": 4, "repeat": 0, "seed": 0, "device": "cpu"}
    usual = train_federation.plain(store, source, split, **common)
    same = train_federation.plain(store, source, split, **common, concentration=1.0, absence=0.0)
    assert same.digest == usual.digest
    absent = train_federation.plain(store, source, split, **common, absence=0.5)
    assert pd.read_csv(usual.file(HISTORY))["clients"].nunique() == 1
    assert pd.read_csv(absent.file(HISTORY))["clients"][:-1].min() < 4
    even = train_federation.plain(store, source, split, **common, concentration=1000.0)
    assert even.content != usual.content


def test_an_untrained_network_that_wins_is_told(
    store: PointStore, source: Held, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("pipeline"), "propagate", True)
    split = split_graphs.plain(store, source, 0, 0)
    for seed in range(8):
        caplog.clear()
        made = train_federation.plain(
            store, source, split, backbone="gin", rounds=1, clients=3, repeat=0, seed=seed, device="cpu"
        )
        history = pd.read_csv(made.file(HISTORY))
        first = (history["validation_accuracy"].iloc[0], -history["validation_loss"].iloc[0])
        last = (history["validation_accuracy"].iloc[1], -history["validation_loss"].iloc[1])
        assert bool(caplog.records) == (first >= last)


def test_mistakes_are_one_line(store: PointStore) -> None:
    bare = Held("toys", Path(), "bare", graphs=toys(features=False))
    with pytest.raises(UserError, match=r"toys.*svm-fgw"):
        compare_raw_graphs.plain(store, bare, alpha=0.5, solver=Solver(), seed=0)
    one = Held("friends", Path(), "one", graphs=toys().graphs[0])
    with pytest.raises(UserError, match="friends"):
        split_graphs.plain(store, one, 0, 0)
