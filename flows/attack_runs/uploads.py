"""Attacks on everything that FedWalk's devices upload, beside what noisy degrees alone tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.broadcasts.tree import ClusterTree
from tasks.errors import UserError
from tasks.evaluation.attacks.block_model import degree_factors
from tasks.evaluation.attacks.edge_evidence import edge_evidence
from tasks.evaluation.attacks.encoder_inversion import (
    WALK_ROUNDS,
    bigrams,
    degree_rates,
    encoder_law,
    list_step,
    most_likely,
    named,
    walk_step,
    with_closure,
)
from tasks.evaluation.attacks.pair_ranking import rank_pairs
from tasks.evaluation.attacks.pairs import sample_pairs
from tasks.evaluation.attacks.tree_uploads import count_scores, degree_scores, matrix_scores
from tasks.evaluation.tables.rows import Row
from tasks.parameters.embedding import NodeEmbedding
from tasks.reports.edge import EdgeReport
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.seeds import derive_seed, generator
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges
from tasks.steps.node_embedding.tree import (
    BINS,
    TREE,
    build_tree,
    count_neighbours,
    publish_degrees,
    send_structural_matrices,
)
from tasks.steps.node_embedding.walks import encode_lists, walk_devices
from tasks.steps.raw_source import one_graph
from tasks.steps.report_point import REPORT
from tasks.steps.seeds import EVALUATION
from tasks.store import PointRef, PointStore

STUDY = "node_embedding"
GRID = NodeEmbedding()
LARGEST = 5_000  # nodes; above, a law of every vertex and its rates would take gigabytes
SETTINGS: dict[str, Any] = GRID.model_dump(
    include={"eps_degree", "eps_counts", "p", "bins", "walks", "length", "linkage"}
)
"""What the rows do not say, for the record."""

Scores = NDArray[np.floating]
Reading = tuple[str, str, str, Scores]
"""Upload, what it is read by, the encoder's budget or nothing, and the score of every pair."""


def upload_rows(
    store: PointStore, source: RawSource, budgets: Sequence[str], repeats: int, seed: int
) -> Iterator[tuple[str, list[Row]]]:
    """AUC and precision among |E| guesses, for every upload and way to read it, of every repeat and budget.

    Raises:
        UserError: for a private data set, or one of too many nodes.
    """
    graph = one_graph(source, STUDY)
    if graph.nodes > LARGEST:
        raise UserError(f"{graph.name}: uploads of at most {LARGEST} nodes are attacked, and it has {graph.nodes}")
    for repeat in range(repeats):
        drawn = derive_seed(seed, study="attacks", dataset=source.name, point="pairs", repeat=repeat, role=EVALUATION)
        pairs = sample_pairs(graph, generator(drawn))
        uploads = _Uploads(store, source, repeat, seed)
        for part in (None, *budgets):
            rows = []
            for upload, reading, eps, scores in uploads.of_tree() if part is None else uploads.of_encoder(part):
                ranking = rank_pairs(graph, lambda block, of=scores: of[block], pairs)  # type: ignore[misc]
                settings = {"attack": "uploads", "upload": upload, "reading": reading}
                if eps:
                    settings["eps_encoder"] = eps
                rows += [
                    Row("attacks", source.name, "fedwalk", settings, repeat, metric, getattr(ranking, metric))
                    for metric in ("auc", "precision")
                ]
            yield f"{source.name} {part or 'tree'} repeat={repeat}", rows


class _Uploads:
    """What the devices send in one repeat, drawn by the study's own steps with its default settings."""

    def __init__(self, store: PointStore, source: RawSource, repeat: int, seed: int) -> None:
        self.given: dict[str, Any] = {"repeat": repeat, "seed": seed}
        self.store, self.source = store, source
        self.degrees = self._draw(publish_degrees, eps_degree=GRID.eps_degree)
        self.published = DegreeReport.load(self.degrees.file(REPORT))
        self.counts = self._draw(count_neighbours, self.degrees, bins=GRID.bins[0], eps_counts=GRID.eps_counts)
        self.tree = build_tree.plain(  # type: ignore[attr-defined]
            store, self.counts, kind="private", linkage=GRID.linkage, dataset=source.name, **self.given
        )

    def of_tree(self) -> Iterator[Reading]:
        """Those that trees are built from."""
        yield "degrees", "product", "", degree_scores(self.published.degrees)
        counts = NeighbourCountReport.load(self.counts.file(REPORT))
        yield "counts", "posterior", "", count_scores(counts, self.published, np.load(self.counts.file(BINS)))
        matrices = self._draw(send_structural_matrices, bins=GRID.bins[0], eps_counts=GRID.eps_counts)
        report = StructuralMatrixReport.load(matrices.file(REPORT))
        yield "structural matrices", "equal rows", "", matrix_scores(report)

    def of_encoder(self, eps: str) -> Iterator[Reading]:
        """Lists that are released once, of their own and of published length, walks, and randomised response."""
        law = encoder_law(ClusterTree.load(self.tree.file(TREE)), eps)
        for upload, degrees in (("encoded lists", None), ("encoded lists, padded", self.degrees)):
            point = self._draw(encode_lists, self.tree, eps_encoder=eps, degrees=degrees)
            lists = EncodedListReport.load(point.file(REPORT))
            yield upload, "named most", eps, named(lists)
            step, start = list_step(lists, law), degree_rates(np.diff(lists.indptr), float(len(lists.indices)))
            found = most_likely(step, start)
            yield upload, "em", eps, found
            yield upload, "em and common neighbours", eps, with_closure(step, start, found)
        point = self._draw(
            walk_devices, self.tree, eps_encoder=eps, p=GRID.p[0], walks=GRID.walks[0], length=GRID.length
        )
        seen = bigrams(WalkCorpus.open(point.folder))
        yield "walks", "named most", eps, seen
        start = degree_rates(self.published.degrees, float(seen.sum(dtype=np.float64)))
        yield "walks", "em", eps, most_likely(walk_step(seen, law), start, WALK_ROUNDS)
        noisy = self._draw(perturb_edges, mode="directed-no-diagonal", eps_a=eps, memory_limit_mb=GRID.memory_limit_mb)
        evidence = edge_evidence([EdgeReport.load(noisy.file(REPORT))])
        bits, factors = evidence.ratios[evidence.ones], np.log(degree_factors(evidence))
        yield "randomised response", "bits", eps, bits
        yield "randomised response", "bits and degrees", eps, bits + factors[:, None] + factors

    def _draw(self, step: Any, *points: PointRef, **settings: Any) -> PointRef:
        drawn: PointRef = step.plain(self.store, self.source, *points, **settings, **self.given)
        return drawn
