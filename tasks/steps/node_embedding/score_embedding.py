"""Steps of the evaluation: F1 of an embedding, and how many edges the uploads give away."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from scipy.sparse import csr_array

from tasks.errors import UserError
from tasks.evaluation.node_embedding.embedding_scores import embedding_scores
from tasks.evaluation.node_embedding.walk_recovery import (
    recovery_from_degrees,
    recovery_from_lists,
    recovery_from_walks,
)
from tasks.reports.edge import EdgeReport
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.seeds import generator
from tasks.steps.declaration import Draft
from tasks.steps.node_embedding.embed import EMBEDDING
from tasks.steps.node_embedding.tree import STUDY
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource, one_graph
from tasks.steps.report_point import REPORT
from tasks.steps.seeds import EVALUATION, Seed
from tasks.store import PointRef

SCORES = "scores.json"
RECOVERY = "recovery.json"
LEAST = 2
"""One node to learn from and one to score."""


@point(label="score {label} repeat={repeat}", seed=Seed(STUDY, "splits", EVALUATION), ignore=("label", "repeat"))
def score_embedding(
    draft: Draft,
    source: RawSource,
    embedding: PointRef,
    *,
    train_ratios: Sequence[float],
    splits: int,
    label: str,
    repeat: int,
    seed: int | None,
) -> None:
    """One-vs-rest logistic regression by training ratio; every embedding of a repeat meets the same splits."""
    sets = _label_sets(source)
    if np.count_nonzero(np.diff(sets.indptr)) < LEAST:
        raise UserError(
            f"{source.name}: fewer than {LEAST} nodes have a label, which leaves none to train or to test; add "
            "labels to its file"
        )
    vectors = np.load(embedding.file(EMBEDDING))
    try:
        scores = embedding_scores(vectors, sets, train_ratios, generator(draft.seed), splits=splits)
    except UserError as error:
        raise UserError(f"{source.name}: {error}") from None
    draft.file(SCORES).write_text(json.dumps([asdict(score) for score in scores], indent=1) + "\n")


@point(label="recover edges {label}", ignore=("label",))
def recover_edges(draft: Draft, source: RawSource, uploads: PointRef, *, form: str, label: str) -> None:
    """What an observer reads from ``walks``, ``encoded lists`` or ``noisy lists``; for public sets alone.

    From ``degrees`` it is what noisy degrees alone tell, the baseline of all others.
    """
    graph = one_graph(source, STUDY)
    if source.private:
        raise UserError(f"{source.name}: edge recovery compares with the truth and is for public graphs alone")
    if form == "walks":
        found = recovery_from_walks(WalkCorpus.open(uploads.folder), graph.adjacency)
    elif form == "degrees":
        found = recovery_from_degrees(DegreeReport.load(uploads.file(REPORT)).degrees, graph.adjacency)
    else:
        report = (EncodedListReport if form == "encoded lists" else EdgeReport).load(uploads.file(REPORT))
        found = recovery_from_lists(report, graph.adjacency)
    draft.file(RECOVERY).write_text(json.dumps(asdict(found), sort_keys=True) + "\n")


def read_scores(scored: PointRef) -> dict[tuple[float, str], dict[str, float]]:
    """Micro- and macro-F1 by training ratio and protocol, each the mean over the splits."""
    splits: defaultdict[tuple[float, str], list[dict[str, float]]] = defaultdict(list)
    for score in json.loads(scored.file(SCORES).read_text()):
        splits[score["train_ratio"], score["scoring"]].append(score)
    return {
        kind: {metric: float(np.mean([score[metric] for score in scores])) for metric in ("micro_f1", "macro_f1")}
        for kind, scores in splits.items()
    }


def read_recovery(recovered: PointRef) -> dict[str, float]:
    """Precision and recall of the |E| likeliest pairs, and the precision of a blind guess."""
    found = json.loads(recovered.file(RECOVERY).read_text())
    return {f"edge_{name}": float(found[name]) for name in ("precision", "recall", "base_rate")}


def _label_sets(source: RawSource) -> csr_array:
    graph = one_graph(source, STUDY)
    if graph.label_sets is not None:
        return graph.label_sets
    if graph.labels is None:
        raise UserError(f"{source.name} has no node labels to score an embedding against; add some to the data set")
    known = np.flatnonzero(graph.labels >= 0)
    ones = np.ones(len(known), dtype=np.uint8)
    return csr_array((ones, (known, graph.labels[known])), shape=(graph.nodes, graph.classes))
