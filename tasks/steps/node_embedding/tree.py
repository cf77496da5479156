"""Steps of FedWalk's tree: noisy degrees and neighbour-group counts on the devices, the tree at the server."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.broadcasts.bins import default_bin_count, random_bins
from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.neighbour_counts import release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import neighbour_lists
from tasks.client.fedwalk.structural_matrices import release_structural_matrices
from tasks.curator.fedwalk.cluster_tree import Linkage, paper_tree, private_tree, random_tree
from tasks.datasets.graph import RawGraph
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.seeds import generator
from tasks.steps.declaration import Draft, Given
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource, one_graph
from tasks.steps.report_point import REPORT, Report, client_report, drawn
from tasks.steps.seeds import Seed
from tasks.steps.sides import call_apart
from tasks.store import PointRef

STUDY = "node_embedding"
BINS = "bins.npy"
TREE = "tree.npz"
BINNING = Seed(STUDY, "bins={bins}")
"""Of the public bins."""


@client_report("degrees", study=STUDY, point="eps_degree={eps_degree}")
def publish_degrees(draft: Draft, source: RawSource, *, eps_degree: str, repeat: int, seed: int | None) -> Report:
    """Every device publishes its degree once (discrete Laplace)."""
    graph = one_graph(source, STUDY)
    return release_degrees(neighbour_lists(graph.adjacency, dataset=graph.name), eps_degree, **drawn(draft, graph))


def _bin_seed(of: Given) -> dict[str, str]:
    return {"bins": str(BINNING.of(dataset=of.source.name, bins=of.bins, repeat=of.repeat, seed=of.seed))}


@client_report("counts", study=STUDY, point="bins={bins} eps_counts={eps_counts}", inputs=_bin_seed)
def count_neighbours(
    draft: Draft,
    source: RawSource,
    degrees: PointRef,
    *,
    bins: int | str,
    eps_counts: str,
    repeat: int,
    seed: int | None,
) -> Report:
    """Every device counts its neighbours by published degree and public bin (discrete Laplace)."""
    graph = one_graph(source, STUDY)
    bin_of = _bins(draft, graph, bins, repeat, seed)
    return release_neighbour_counts(
        neighbour_lists(graph.adjacency, dataset=graph.name),
        DegreeReport.load(degrees.file(REPORT)).degrees,
        bin_of,
        eps_counts,
        **drawn(draft, graph),
    )


@client_report("structural matrices", study=STUDY, point="bins={bins} eps_counts={eps_counts}", inputs=_bin_seed)
def send_structural_matrices(
    draft: Draft, source: RawSource, *, bins: int | str, eps_counts: str, repeat: int, seed: int | None
) -> Report:
    """The paper's uploads, which give every list away; a reference."""
    graph = one_graph(source, STUDY)
    return release_structural_matrices(
        neighbour_lists(graph.adjacency, dataset=graph.name),
        _bins(draft, graph, bins, repeat, seed),
        eps_counts,
        **drawn(draft, graph),
    )


@point(
    "tree",
    label="{kind} tree {dataset} repeat={repeat}",
    seed=Seed(STUDY, "{kind} {linkage} tree"),
    ignore=("dataset", "repeat"),
)
def build_tree(
    draft: Draft, report: PointRef, *, kind: str, linkage: Linkage, dataset: str, repeat: int, seed: int | None
) -> None:
    """The tree that the server broadcasts: from counts (``private``) or from structural matrices (``paper``)."""
    rng = generator(draft.seed)
    if kind == "private":
        tree = private_tree(NeighbourCountReport.load(report.file(REPORT)), rng, linkage=linkage)
    else:
        tree = paper_tree(StructuralMatrixReport.load(report.file(REPORT)), rng, linkage=linkage)
    tree.save(draft.file(TREE))


def vertices(source: RawSource) -> int:
    """The number of ids, which the setting makes public."""
    return one_graph(source, STUDY).nodes


@point(
    "random tree",
    label="random tree {source.name} repeat={repeat}",
    seed=Seed(STUDY, "random tree"),
    ignore=("source", "repeat"),
    also=lambda of: {"vertices": call_apart(vertices, f"vertices {of.source.name}", source=of.source)},
)
def build_random_tree(draft: Draft, source: RawSource, *, repeat: int, seed: int | None) -> None:
    """A tree that knows nothing: it takes no more than the number of ids."""
    random_tree(one_graph(source, STUDY).nodes, generator(draft.seed)).save(draft.file(TREE))


def bin_count(counted: PointRef) -> int:
    """How many public bins (k) a stored report was counted over."""
    return int(np.load(counted.file(BINS)).max()) + 1


def _bins(draft: Draft, graph: RawGraph, bins: int | str, repeat: int, seed: int | None) -> NDArray[np.int32]:
    """int32 (V,), the public bin of every vertex, which is saved with the report."""
    public = generator(BINNING.of(dataset=graph.name, bins=bins, repeat=repeat, seed=seed))
    found = random_bins(graph.nodes, default_bin_count(graph.nodes) if bins == "auto" else int(bins), public)
    np.save(draft.file(BINS), found)
    return found
