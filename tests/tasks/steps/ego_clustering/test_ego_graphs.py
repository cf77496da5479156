"""The steps on ego graphs, on a small graph of three groups."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from tasks.client.ego_graphs import OVERLAP
from tasks.curator.gromov.distances import gromov_distances
from tasks.errors import UserError
from tasks.parameters.graphs import Solver
from tasks.steps.download import RawSource
from tasks.steps.ego_clustering.cluster_graphs import INERTIA, cluster_node_counts, cluster_reports, read_clusters
from tasks.steps.ego_clustering.ego_graphs import CENTRES, EgoSource, draw_ego_centres, ego_source
from tasks.steps.ego_clustering.map_graphs import compare_five, map_distances, read_places, score_clusters
from tasks.steps.graph_classification.analyse_graphs import read_analysis
from tasks.steps.graph_classification.classify_graphs import classify_by_distances
from tasks.steps.graph_classification.embed_graphs import PREDICTIONS, encode_graphs, raw_embeddings, train_federation
from tasks.steps.graph_classification.graph_sets import report_graph_labels, split_graphs
from tasks.steps.graph_classification.gromov import compare_reports, read_distances, reported_structures
from tasks.steps.node_classification.score import read_metrics
from tasks.steps.report_point import ledger_lines
from tasks.store import PointRef, PointStore

GRAPHS = 24
AGAIN: dict[str, Any] = {"repeat": 0, "seed": 0}
NAMED: dict[str, Any] = {"dataset": "friends-1-hop", "label": "friends"} | AGAIN


def egos(store: PointStore, source: RawSource, hops: int = 1) -> EgoSource:
    return ego_source(source, draw_ego_centres.plain(store, source, graphs=GRAPHS, **AGAIN), hops)


def report(store: PointStore, source: EgoSource, eps: str = "inf") -> tuple[PointRef, PointRef]:
    """The training and the report."""
    split = split_graphs.plain(store, source, 0, 0)
    training = {"backbone": "gcn", "rounds": 3, "clients": 3, "device": "cpu", "level": "node"} | AGAIN
    trained = train_federation.plain(store, source, split, **training)
    return trained, encode_graphs.plain(store, source, trained, backbone="gcn", encoder="per_row", eps=eps, **AGAIN)


def compare(store: PointStore, sent: PointRef) -> PointRef:
    return compare_reports.plain(
        store, sent, metric="euclidean", rectify=False, solver=Solver(), dataset="friends-1-hop", label="x", seed=0
    )


def clustered(store: PointStore, sent: PointRef) -> PointRef:
    return cluster_reports.plain(
        store, sent, compare(store, sent), clusters=3, metric="euclidean", rectify=False, solver=Solver(), **NAMED
    )


def test_ego_graphs_are_a_source_around_centres_that_all_reaches_share(store: PointStore, source: RawSource) -> None:
    one, two = egos(store, source, 1), egos(store, source, 2)
    assert (one.name, two.name) == ("friends-1-hop", "friends-2-hop")
    assert one.point == two.point or one.point.content == two.point.content  # type: ignore[union-attr]
    assert one.content != two.content
    centres = np.load(one.folder / CENTRES)
    whole = source.load()
    np.testing.assert_array_equal(one.load().labels, whole.labels[centres])
    assert [ego.nodes for ego in one.load().graphs] == (whole.adjacency.sum(axis=1)[centres] + 1).tolist()
    assert two.load() is two.load()


def test_of_a_private_graph_everything_is_secret(store: PointStore, secret_source: RawSource) -> None:
    source = egos(store, secret_source)
    assert source.private
    assert source.load().private
    assert source.point is not None
    assert source.point.content not in source.content
    # Another store has another secret: the same centres, and no digest in common.
    elsewhere = PointStore(store.root.with_name("elsewhere"))
    other = draw_ego_centres.plain(elsewhere, secret_source, graphs=GRAPHS, **AGAIN)
    assert other.content == source.point.content
    assert ego_source(secret_source, other, 1).content != source.content


def test_in_how_many_reports_a_node_of_a_private_graph_is_stays_untold(
    store: PointStore, secret_source: RawSource
) -> None:
    ego = egos(store, secret_source)
    _, sent = report(store, ego)
    score = score_clusters.plain(store, ego, clustered(store, sent), label="friends")
    assert set(read_metrics(score)) == {"ari", "nmi", "accuracy"}


def test_whatever_is_made_of_private_embeddings_without_noise_is_its_owners(
    store: PointStore, secret_source: RawSource
) -> None:
    _, sent = report(store, egos(store, secret_source))
    distances = compare(store, sent)
    made = [distances, clustered(store, sent), cluster_node_counts.plain(store, sent, clusters=3, **NAMED)]
    made += [step.plain(store, distances, **NAMED) for step in (compare_five, map_distances)]
    labels = report_graph_labels.plain(
        store, egos(store, secret_source), split_graphs.plain(store, egos(store, secret_source), 0, 0), repeat=0
    )
    made.append(
        classify_by_distances.plain(store, labels, {1.0: distances}, gamma_unit="median", cure="none", label="x")
    )
    assert {point.folder.stat().st_mode & 0o777 for point in made} == {0o700}
    assert all(json.loads(point.file("meta.json").read_text())["key"] is None for point in made)


def test_a_set_of_graphs_has_no_ego_graphs(store: PointStore, source: RawSource) -> None:
    with pytest.raises(UserError, match=r"friends.*--dataset"):
        draw_ego_centres.plain(store, egos(store, source), graphs=2, **AGAIN)


def test_training_learns_classes_of_nodes_and_ledgers_say_what_is_not_protected(
    store: PointStore, source: RawSource
) -> None:
    ego = egos(store, source)
    trained, sent = report(store, ego, "1")
    assert len(raw_embeddings(trained)) == GRAPHS
    assert len(np.load(trained.file(PREDICTIONS))) == sum(graph.nodes for graph in ego.load().graphs)
    (training,), (embedding,) = ledger_lines(trained), ledger_lines(sent)
    assert not training.guarantee
    assert (training.epsilon, embedding.epsilon, embedding.unit) == ("inf", "1", "graph")
    assert OVERLAP in embedding.notes
    assert not train_federation.plain(
        store,
        ego,
        split_graphs.plain(store, ego, 0, 0),
        backbone="gcn",
        rounds=3,
        clients=3,
        device="cpu",
        **AGAIN,
    ).cached, "a training at graph level is another point"


def test_the_partition_is_that_of_its_lowest_inertia(store: PointStore, source: RawSource) -> None:
    _, sent = report(store, egos(store, source))
    found = clustered(store, sent)
    assignment = read_clusters(found)
    assert sorted(np.unique(assignment)) == [0, 1, 2]
    inertia = json.loads(found.file(INERTIA).read_text())
    assert min(inertia) <= inertia[0]
    structures = reported_structures(sent, "euclidean", rectify=False)
    np.testing.assert_allclose(
        read_distances(compare(store, sent)), gromov_distances(structures.distances, threads=1).values
    )


def test_scores_are_scikit_learns_and_count_the_reports_that_a_node_is_in(store: PointStore, source: RawSource) -> None:
    ego = egos(store, source)
    _, sent = report(store, ego)
    control = cluster_node_counts.plain(store, sent, clusters=3, **NAMED)
    for point in (clustered(store, sent), control):
        metrics = read_metrics(score_clusters.plain(store, ego, point, label="x"))
        labels, assignment = ego.load().labels, read_clusters(point)
        assert metrics["ari"] == pytest.approx(adjusted_rand_score(labels, assignment))
        assert metrics["nmi"] == pytest.approx(normalized_mutual_info_score(labels, assignment))
        near = source.load().adjacency.toarray() + np.eye(90, dtype=int)
        assert metrics["most_reports_of_a_node"] == near[np.load(ego.folder / CENTRES)].sum(axis=0).max()
        assert 1 / 3 <= metrics["accuracy"] <= 1


def test_node_counts_are_all_that_the_control_reads(store: PointStore, source: RawSource) -> None:
    ego = egos(store, source)
    found = [
        cluster_node_counts.plain(store, report(store, ego, eps)[1], clusters=3, **NAMED) for eps in ("inf", "0.1")
    ]
    assert not found[1].cached
    assert found[0].content == found[1].content


def test_five_graphs_are_the_same_five_for_every_report(store: PointStore, source: RawSource) -> None:
    ego = egos(store, source)
    subsets = np.array(list(combinations(range(GRAPHS), 5)))
    pairs = np.array(list(combinations(range(5), 2)))
    fits = np.ones(len(subsets), dtype=bool)
    for eps in ("inf", "1"):
        distances = compare(store, report(store, ego, eps)[1])
        figures = read_analysis(compare_five.plain(store, distances, **NAMED))
        assert set(figures) == {"five_gw_mean", "five_gw_sd"}
        of_pairs = read_distances(distances)[subsets[:, pairs[:, 0]], subsets[:, pairs[:, 1]]]
        fits &= np.isclose(of_pairs.mean(axis=1), figures["five_gw_mean"], rtol=1e-9, atol=0)
        fits &= np.isclose(of_pairs.std(axis=1), figures["five_gw_sd"], rtol=1e-9, atol=0)
    assert fits.sum() == 1


def test_maps_do_not_depend_on_threads(store: PointStore, source: RawSource, tmp_path: Path) -> None:
    distances = compare(store, report(store, egos(store, source))[1])
    places = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            point = map_distances.plain(PointStore(tmp_path / str(threads)), distances, **NAMED)
            places.append(point.content)
    assert places[0] == places[1]
    assert read_places(point).shape == (GRAPHS, 2)
