"""Steps that compare every pair of graphs: the curator on reports, and the baselines on raw graphs.

All pairs are solved in blocks, each a point of its own until the whole is stored: a killed run goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from tasks.client.shortest_paths import shortest_path_distances
from tasks.code_version import code_version
from tasks.curator.embeddings import decoded
from tasks.curator.gromov.blocks import pair_blocks, solve_block
from tasks.curator.gromov.packing import pack
from tasks.curator.kernels.distances import Metric, embedding_distances, node_count_distances
from tasks.errors import UserError
from tasks.parameters.graphs import Solver
from tasks.point_folder import canonical_json
from tasks.reports.embedding import EmbeddingReport
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.graph_sets import STUDY, graph_set
from tasks.steps.node_classification.perturb import REPORT
from tasks.steps.point import point_task
from tasks.steps.progress import occasionally
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore

DISTANCES = "distances.npy"
COUNTS = "counts.json"
SOLVER = "tasks.curator.gromov.distances"


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


@point_task()
def compare_reports(
    store: PointStore,
    report: PointRef,
    *,
    metric: Metric,
    rectify: bool,
    solver: Solver,
    dataset: str,
    label: str,
    seed: int | None,
) -> PointRef:
    """Gromov-Wasserstein discrepancies of what the clients reported (Jin & Chen 2022, eq. 1 to 3)."""

    def structures() -> Structures:
        return reported_structures(report, metric, rectify=rectify)

    key = {
        "report": report.content,
        "metric": metric,
        "rectify": rectify,
        "code": code_version(SOLVER, "tasks.curator.kernels.distances", "tasks.curator.embeddings"),
    }
    return _all_pairs(store, key, structures, solver, curator_seed_of(dataset, seed), label, private=report.raw)


@point_task()
def compare_raw_graphs(
    store: PointStore, source: RawSource, *, alpha: float, solver: Solver, seed: int | None
) -> PointRef:
    """The baselines without privacy: shortest paths, fused with the nodes' features by their own weight ``alpha``.

    At 1 features weigh nothing: they are left out, and there is one point for the plain and the fused discrepancy.
    """
    weight = None if alpha == 1 else alpha

    def structures() -> Structures:
        graphs = graph_set(source).graphs
        paths = [shortest_path_distances(graph.adjacency) for graph in graphs]
        if weight is None:
            return Structures(paths)
        features = [graph.features.toarray() for graph in graphs if graph.features is not None]
        if len(features) < len(graphs):
            raise UserError(f"{source.name} has no node features to fuse with; leave svm-fgw out of baselines")
        return Structures(paths, features)

    key = {"raw": source.content, "code": code_version(SOLVER, "tasks.client.shortest_paths")}
    label = f"{source.name} shortest paths" + ("" if weight is None else f" alpha={weight:g}")
    return _all_pairs(
        store,
        key,
        structures,
        solver,
        curator_seed_of(source.name, seed),
        label,
        alpha=weight,
        private=source.private,
    )


@point_task()
def compare_node_counts(store: PointStore, source: RawSource) -> PointRef:
    """The control that knows nothing but the node counts, which are public under every encoder."""

    def compute(folder: Path) -> None:
        counts = np.array([graph.nodes for graph in graph_set(source).graphs], dtype=np.int64)
        np.save(folder / DISTANCES, squareform(node_count_distances(counts)))

    key = {
        "step": "node counts",
        "raw": source.content,
        "code": code_version("tasks.curator.kernels.distances"),
    }
    return store.point(key, compute, label=f"node counts {source.name}", private=source.private)


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
    return curator_seed(seed, study=STUDY, dataset=dataset, point="starts", repeat=0)


def _all_pairs(
    store: PointStore,
    of: Mapping[str, object],
    structures: Callable[[], Structures],
    solver: Solver,
    seed: int,
    label: str,
    *,
    alpha: float | None = None,
    private: bool,
) -> PointRef:
    """The upper triangle row by row; its bytes depend on neither the blocks nor the threads, so the key leaves them."""
    key = {"step": "gromov", **of, "alpha": alpha, "starts": solver.starts, "seed": seed}
    name = f"gromov {label}"
    blocks: list[PointRef] = []

    def compute(folder: Path) -> None:
        given = structures()
        packed, graphs = pack(given.distances, given.features), len(given.distances)
        starts = solver.starts if given.ties else 1
        total = graphs * (graphs - 1) // 2
        progress, done, found = occasionally(name, total, "pairs"), 0, 0

        def solve(pairs: NDArray[np.int64], part: Path) -> None:
            solved = solve_block(packed, pairs, alpha=alpha, starts=starts, seed=seed, threads=solver.threads)
            np.save(part / DISTANCES, solved.values)
            (part / COUNTS).write_text(json.dumps({"clipped": solved.clipped}) + "\n")

        for pairs in pair_blocks(graphs, solver.block):
            block_key = {"step": "gromov block", "of": canonical_json(key), "first": done, "pairs": len(pairs)}
            block = store.point(block_key, partial(solve, pairs), label=f"{name} {done}", private=private)
            blocks.append(block)
            done += len(pairs)
            found += len(pairs) if block.cached else 0
            progress(done, found)
        np.save(folder / DISTANCES, np.concatenate([np.empty(0), *(np.load(b.file(DISTANCES)) for b in blocks)]))
        clipped = sum(json.loads(block.file(COUNTS).read_text())["clipped"] for block in blocks)
        (folder / COUNTS).write_text(json.dumps({"clipped": clipped, "pairs": total}) + "\n")

    point = store.point(key, compute, label=name, private=private)
    for block in blocks:
        store.discard(block)
    return point
