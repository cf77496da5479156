"""The attack on a published kernel over graphs: which of the candidates are in it?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flows.attack_runs.request import GRAPH_BUDGETS
from tasks.datasets.splits import Split
from tasks.evaluation.attacks.membership import (
    likeliest_published,
    membership_auc,
    nearest_published,
    same_size_published,
)
from tasks.evaluation.attacks.privacy import refuse_private
from tasks.evaluation.tables.rows import Row
from tasks.reports.embedding import EmbeddingReport
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.embed_graphs import encode_graphs, raw_embeddings, train_federation
from tasks.steps.graph_classification.graph_sets import graph_set, split_graphs
from tasks.steps.graph_classification.gromov import curator_seed_of
from tasks.steps.report_point import REPORT
from tasks.steps.split import SPLIT
from tasks.store import PointStore

BACKBONE = "gin"
ENCODER = "per_row"
ROUNDS = 40
CLIENTS = 10
SETTINGS = {"backbone": BACKBONE, "encoder": ENCODER, "rounds": ROUNDS, "clients": CLIENTS}
"""What the rows do not say, for the record."""


def membership_rows(store: PointStore, source: RawSource, repeats: int, seed: int) -> Iterator[tuple[str, list[Row]]]:
    """Training graphs are members, the others are not; one row per repeat, budget and way of comparing.

    Raises:
        UserError: for a private data set.
    """
    graphs = graph_set(source)
    refuse_private(graphs.name, graphs.private)
    for repeat in range(repeats):
        parts = split_graphs.plain(store, source, repeat, seed)  # type: ignore[attr-defined]
        federation = train_federation.plain(  # type: ignore[attr-defined]
            store,
            source,
            parts,
            backbone=BACKBONE,
            rounds=ROUNDS,
            clients=CLIENTS,
            repeat=repeat,
            seed=seed,
            device="cpu",
        )
        roles = Split.load(parts.file(SPLIT))
        candidates = np.concatenate([roles.train, roles.validation, roles.test])
        exact = raw_embeddings(federation)
        known = [exact[graph] for graph in candidates]
        for eps in GRAPH_BUDGETS:
            report = encode_graphs.plain(  # type: ignore[attr-defined]
                store, source, federation, backbone=BACKBONE, encoder=ENCODER, eps=eps, repeat=repeat, seed=seed
            )
            received = EmbeddingReport.load(report.file(REPORT))
            rows = []
            scores = {
                "kernel": nearest_published(known, received, roles.train, seed=curator_seed_of(source.name, seed)),
                "likelihood": likeliest_published(known, received, roles.train),
                "node count": same_size_published(known, received, roles.train),
            }
            for reading, score in scores.items():
                auc = membership_auc(score, np.isin(candidates, roles.train))
                settings = {"attack": "membership", "reading": reading, "eps": eps}
                rows.append(Row("attacks", graphs.name, f"svm-gw {BACKBONE}", settings, repeat, "auc", auc))
            yield f"{source.name} membership eps={eps} repeat={repeat}", rows
