"""Steps that compare every pair of graphs: the curator on reports, and the baselines on raw graphs.

All pairs are solved in blocks, each a point of its own until the whole is stored: a killed run goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from tasks.client.shortest_paths import shortest_path_distances
from tasks.curator.embeddings import decoded
from tasks.curator.gromov.blocks import pair_blocks, solve_block
from tasks.curator.gromov.packing import pack
from tasks.curator.kernels.distances import Metric, embedding_distances, node_count_distances
from tasks.errors import UserError
from tasks.parameters.graphs import Solver
from tasks.reports.embedding import EmbeddingReport
from tasks.steps.declaration import Draft, Given
from tasks.steps.graph_classification.graph_sets import STUDY, graph_set
from tasks.steps.point import point
from tasks.steps.progress import occasionally
from tasks.steps.raw_source import RawSource
from tasks.steps.report_point import REPORT
from tasks.steps.seeds import Seed
from tasks.store import PointRef

DISTANCES = "distances.npy"
COUNTS = "counts.json"


@dataclass(frozen=True)
class Structures:
    """What is compared.

    Attributes:
        distances: a matrix (n, n) of distances between the nodes of each graph.
        features: perhaps a matrix (n, d) of features of the nodes of each graph.
        ties: whether equal distances are to be expected; without them other starts find nothing below the first.
    """

    distances: Sequence[NDArray[np.float64]]
    features: Sequence[NDArray[np.float64]] | None = None
    ties: bool = True


STARTS = Seed(STUDY, "starts")
"""Of the solver's random starts."""


def _solved(of: Given) -> dict[str, object]:
    return {"alpha": _weight(of.alpha) if "alpha" in vars(of) else None, "starts": of.solver.starts}


def _weight(alpha: float) -> float | None:
    return None if alpha == 1 else alpha


@point("gromov", label="gromov {label}", seed=STARTS, ignore=("solver", "dataset", "label"), also=_solved)
def compare_reports(
    draft: Draft,
    report: PointRef,
    *,
    metric: Metric,
    rectify: bool,
    solver: Solver,
    dataset: str,
    label: str,
    seed: int | None,
) -> None:
    """Gromov-Wasserstein discrepancies of what the clients reported (Jin & Chen 2022, eq. 1 to 3)."""
    _all_pairs(draft, reported_structures(report, metric, rectify=rectify), solver)


@point(
    "gromov",
    label=lambda of: f"gromov {of.source.name} shortest paths" + ("" if of.alpha == 1 else f" alpha={of.alpha:g}"),
    seed=STARTS,
    ignore=("solver",),
    also=_solved,
)
def compare_raw_graphs(draft: Draft, source: RawSource, *, alpha: float, solver: Solver, seed: int | None) -> None:
    """The baselines without privacy: shortest paths, fused with the nodes' features by their own weight ``alpha``.

    At 1 features weigh nothing: they are left out, and there is one point for the plain and the fused discrepancy.
    """
    graphs = graph_set(source).graphs
    paths = [shortest_path_distances(graph.adjacency) for graph in graphs]
    features = None
    if (weight := _weight(alpha)) is not None:
        features = [graph.features.toarray() for graph in graphs if graph.features is not None]
        if len(features) < len(graphs):
            raise UserError(f"{source.name} has no node features to fuse with; leave svm-fgw out of baselines")
    _all_pairs(draft, Structures(paths, features), solver, weight)


@point("node counts", label="node counts {source.name}")
def compare_node_counts(draft: Draft, source: RawSource) -> None:
    """The control that knows nothing but the node counts, which are public under every encoder."""
    counts = np.array([graph.nodes for graph in graph_set(source).graphs], dtype=np.int64)
    np.save(draft.file(DISTANCES), squareform(node_count_distances(counts)))


def reported_structures(report: PointRef, metric: Metric, *, rectify: bool) -> Structures:
    """C_H of every reported graph (Jin & Chen 2022, eq. 3)."""
    received = EmbeddingReport.load(report.file(REPORT))
    distances = [embedding_distances(rows, metric) for rows in decoded(received, rectify=rectify)]
    return Structures(distances, ties=received.coins or metric != "euclidean")


def read_distances(point: PointRef) -> NDArray[np.float64]:
    """(G, G), symmetric with a zero diagonal."""
    return squareform(np.load(point.file(DISTANCES)))


def curator_seed_of(dataset: str, seed: int | None) -> int:
    """Seed of the solver's random starts."""
    return int(STARTS.of(dataset=dataset, seed=seed))


def _all_pairs(draft: Draft, given: Structures, solver: Solver, alpha: float | None = None) -> None:
    """The upper triangle row by row; its bytes depend on neither the blocks nor the threads, so the key leaves them."""
    packed, graphs = pack(given.distances, given.features), len(given.distances)
    starts = solver.starts if given.ties else 1
    total = graphs * (graphs - 1) // 2
    progress, done, found = occasionally(draft.label, total, "pairs"), 0, 0

    def solve(pairs: NDArray[np.int64], part: Path) -> None:
        solved = solve_block(packed, pairs, alpha=alpha, starts=starts, seed=draft.seed, threads=solver.threads)
        np.save(part / DISTANCES, solved.values)
        (part / COUNTS).write_text(json.dumps({"clipped": solved.clipped}) + "\n")

    for pairs in pair_blocks(graphs, solver.block):
        block = draft.part(partial(solve, pairs), f"{draft.label} {done}", first=done, pairs=len(pairs))
        done += len(pairs)
        found += len(pairs) if block.cached else 0
        progress(done, found)
    values = [np.load(block.file(DISTANCES)) for block in draft.parts]
    np.save(draft.file(DISTANCES), np.concatenate([np.empty(0), *values]))
    clipped = sum(json.loads(block.file(COUNTS).read_text())["clipped"] for block in draft.parts)
    draft.file(COUNTS).write_text(json.dumps({"clipped": clipped, "pairs": total}) + "\n")
