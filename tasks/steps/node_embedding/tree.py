"""Steps of FedWalk's tree: noisy degrees and neighbour-group counts on the devices, the tree at the server."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tasks.broadcasts.bins import default_bin_count, random_bins
from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.neighbour_counts import release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import neighbour_lists
from tasks.client.fedwalk.structural_matrices import release_structural_matrices
from tasks.client.noise_source import noise_generator
from tasks.code_version import code_version
from tasks.curator.fedwalk.cluster_tree import Linkage, paper_tree, private_tree, random_tree
from tasks.datasets.graph import RawGraph
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.reports.ledgers.ledger import LedgerLine
from tasks.seeds import generator
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import REPORT
from tasks.steps.point import point_task
from tasks.steps.report_point import client_point, one_graph
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore

STUDY = "node_embedding"
BINS = "bins.npy"
TREE = "tree.npz"


@point_task()
def publish_degrees(
    store: PointStore, source: RawSource, *, eps_degree: str, repeat: int, seed: int | None
) -> PointRef:
    """Every device publishes its degree once (discrete Laplace)."""

    def draw(graph: RawGraph, noise_seed: int | None, folder: Path) -> LedgerLine:
        report = release_degrees(
            neighbour_lists(graph.adjacency, dataset=graph.name),
            eps_degree,
            noise_generator(noise_seed),
            dataset=graph.name,
            simulated=noise_seed is not None,
            notes=graph.notes,
        )
        report.save(folder / REPORT)
        return report.ledger

    return client_point(
        store,
        source,
        draw,
        study=STUDY,
        module="tasks.client.fedwalk.degree",
        kind="degrees",
        point=f"eps_degree={eps_degree}",
        repeat=repeat,
        seed=seed,
    )


@point_task()
def count_neighbours(
    store: PointStore,
    source: RawSource,
    degrees: PointRef,
    *,
    bins: int | str,
    eps_counts: str,
    repeat: int,
    seed: int | None,
) -> PointRef:
    """Every device counts its neighbours by published degree and public bin (discrete Laplace)."""
    public_bins = _bin_seed(source.name, bins, repeat, seed)

    def draw(graph: RawGraph, noise_seed: int | None, folder: Path) -> LedgerLine:
        bin_of = _bins(graph.nodes, bins, public_bins)
        report = release_neighbour_counts(
            neighbour_lists(graph.adjacency, dataset=graph.name),
            DegreeReport.load(degrees.file(REPORT)).degrees,
            bin_of,
            eps_counts,
            noise_generator(noise_seed),
            dataset=graph.name,
            simulated=noise_seed is not None,
            notes=graph.notes,
        )
        report.save(folder / REPORT)
        np.save(folder / BINS, bin_of)
        return report.ledger

    return client_point(
        store,
        source,
        draw,
        study=STUDY,
        module="tasks.client.fedwalk.neighbour_counts",
        kind="counts",
        point=f"bins={bins} eps_counts={eps_counts}",
        repeat=repeat,
        seed=seed,
        inputs={"degrees": degrees.content, "bins": str(public_bins)},
    )


@point_task()
def send_structural_matrices(
    store: PointStore, source: RawSource, *, bins: int | str, eps_counts: str, repeat: int, seed: int | None
) -> PointRef:
    """The paper's uploads, which give every list away; a reference."""
    public_bins = _bin_seed(source.name, bins, repeat, seed)

    def draw(graph: RawGraph, noise_seed: int | None, folder: Path) -> LedgerLine:
        bin_of = _bins(graph.nodes, bins, public_bins)
        report = release_structural_matrices(
            neighbour_lists(graph.adjacency, dataset=graph.name),
            bin_of,
            eps_counts,
            noise_generator(noise_seed),
            dataset=graph.name,
            simulated=noise_seed is not None,
            notes=graph.notes,
        )
        report.save(folder / REPORT)
        np.save(folder / BINS, bin_of)
        return report.ledger

    return client_point(
        store,
        source,
        draw,
        study=STUDY,
        module="tasks.client.fedwalk.structural_matrices",
        kind="structural matrices",
        point=f"bins={bins} eps_counts={eps_counts}",
        repeat=repeat,
        seed=seed,
        inputs={"bins": str(public_bins)},
    )


@point_task()
def build_tree(
    store: PointStore, report: PointRef, *, kind: str, linkage: Linkage, dataset: str, repeat: int, seed: int | None
) -> PointRef:
    """The tree that the server broadcasts: from counts (``private``) or from structural matrices (``paper``)."""
    tree_seed = curator_seed(seed, study=STUDY, dataset=dataset, point=f"{kind} {linkage} tree", repeat=repeat)

    def compute(folder: Path) -> None:
        rng = generator(tree_seed)
        if kind == "private":
            tree = private_tree(NeighbourCountReport.load(report.file(REPORT)), rng, linkage=linkage)
        else:
            tree = paper_tree(StructuralMatrixReport.load(report.file(REPORT)), rng, linkage=linkage)
        tree.save(folder / TREE)

    key = {
        "step": "tree",
        "report": report.content,
        "kind": kind,
        "linkage": linkage,
        "seed": tree_seed,
        "code": code_version("tasks.curator.fedwalk.cluster_tree"),
    }
    return store.point(key, compute, label=f"{kind} tree {dataset} repeat={repeat}", private=report.raw)


@point_task()
def build_random_tree(store: PointStore, source: RawSource, *, repeat: int, seed: int | None) -> PointRef:
    """A tree that knows nothing: it takes no more than the number of ids, which the setting makes public."""
    tree_seed = curator_seed(seed, study=STUDY, dataset=source.name, point="random tree", repeat=repeat)
    vertices = one_graph(source, STUDY).nodes
    key = {
        "step": "random tree",
        "vertices": vertices,
        "seed": tree_seed,
        "code": code_version("tasks.curator.fedwalk.cluster_tree"),
    }

    def compute(folder: Path) -> None:
        random_tree(vertices, generator(tree_seed)).save(folder / TREE)

    return store.point(key, compute, label=f"random tree {source.name} repeat={repeat}")


def bin_count(point: PointRef) -> int:
    """How many public bins (k) a stored report was counted over."""
    return int(np.load(point.file(BINS)).max()) + 1


def _bin_seed(dataset: str, bins: int | str, repeat: int, seed: int | None) -> int:
    return curator_seed(seed, study=STUDY, dataset=dataset, point=f"bins={bins}", repeat=repeat)


def _bins(nodes: int, bins: int | str, seed: int) -> np.ndarray:
    return random_bins(nodes, default_bin_count(nodes) if bins == "auto" else int(bins), generator(seed))
