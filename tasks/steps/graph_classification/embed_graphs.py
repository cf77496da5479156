"""Steps on the clients' side: federated training, and the report of every graph's embedding."""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.client.embedding_encoder import encode_embeddings
from tasks.client.noise_source import noise_generator
from tasks.code_version import code_version
from tasks.datasets.splits import Split
from tasks.models.graph_architecture import GraphBackbone, Level
from tasks.models.networks import Device, Form, resolve
from tasks.reports.ledgers.ledger import Ledger, LedgerLine
from tasks.steps.download import RawSource
from tasks.steps.federate import FederationSettings, federate
from tasks.steps.graph_classification.graph_sets import STUDY, graph_set
from tasks.steps.node_classification.perturb import REPORT
from tasks.steps.point import point_task
from tasks.steps.progress import occasionally
from tasks.steps.report_point import LEDGER, report_point
from tasks.steps.split import SPLIT
from tasks.store import PointRef, PointStore

log = logging.getLogger("pipeline")

WEIGHTS = "weights.npz"
HISTORY = "history.csv"
EMBEDDINGS = "embeddings.npz"
PREDICTIONS = "predictions.npy"
FORM: Form = "torch"
"""On batches of small graphs plain torch is the faster form on a CPU too."""


@point_task()
def train_federation(
    store: PointStore,
    source: RawSource,
    split: PointRef,
    *,
    backbone: GraphBackbone,
    rounds: int,
    clients: int,
    concentration: float = 1.0,
    absence: float = 0.0,
    repeat: int,
    seed: int | None,
    device: Device,
    level: Level = "graph",
) -> PointRef:
    """FedAvg over the clients. The point is theirs: weights and history, but also raw embeddings and predictions.

    ``level`` says whose classes are learnt: the graphs', or at ``node`` their nodes'. The others are of
    ``FederationSettings``.
    """
    settings = FederationSettings(clients=clients, rounds=rounds, concentration=concentration, absence=absence)
    where, form = resolve(device, FORM)
    label = f"federate {source.name} {backbone} repeat={repeat}"

    def compute(folder: Path) -> None:
        trained = federate(
            graph_set(source),
            Split.load(split.file(SPLIT)),
            backbone,
            settings=settings,
            seed=seed,
            repeat=repeat,
            level=level,
            device=device,
            form=form,
            progress=occasionally(label, rounds, "rounds"),
        )
        if trained.weights.round == 0:
            log.warning("%s: no round validated better than the untrained network, which is kept; raise rounds", label)
        trained.weights.save(folder / WEIGHTS)
        trained.history.to_csv(folder / HISTORY, index=False, lineterminator="\n")
        counts = np.array([len(rows) for rows in trained.embeddings], dtype=np.int64)
        with (folder / EMBEDDINGS).open("wb") as file:
            np.savez(file, rows=np.concatenate(trained.embeddings), node_counts=counts)
        np.save(folder / PREDICTIONS, trained.log_probabilities.argmax(axis=1).astype(np.int64))
        (folder / LEDGER).write_text(Ledger((trained.ledger,)).to_json())

    key = {
        "step": "federate",
        "raw": source.content,
        "split": split.content,
        "backbone": backbone,
        "settings": asdict(settings),
        "repeat": repeat,
        "seed": seed,
        "device": [where.type, form],
        "code": code_version("tasks.steps.federate"),
        **({} if level == "graph" else {"level": level}),
    }
    return store.point(key, compute, label=label, private=source.private)


@point_task()
def encode_graphs(
    store: PointStore,
    source: RawSource,
    federation: PointRef,
    *,
    backbone: GraphBackbone,
    encoder: str,
    eps: str,
    repeat: int,
    seed: int | None,
) -> PointRef:
    """One report of all embeddings; at ``eps`` inf the exact ones, whatever the encoder."""

    def send(noise_seed: int | None, folder: Path) -> LedgerLine:
        report = encode_embeddings(
            raw_embeddings(federation),
            encoder,
            eps,
            noise_generator(noise_seed),
            simulated=noise_seed is not None,
            dataset=source.name,
            notes=graph_set(source).notes,
        )
        report.save(folder / REPORT)
        return report.ledger

    return report_point(
        store,
        source,
        send,
        study=STUDY,
        module="tasks.client.embedding_encoder",
        kind="embedding",
        point=f"{backbone} {encoder} eps={eps}",
        repeat=repeat,
        seed=seed,
        inputs={"federation": federation.content},
    )


def raw_embeddings(federation: PointRef) -> list[NDArray[np.float64]]:
    """H of every graph, on the clients' side."""
    with np.load(federation.file(EMBEDDINGS), allow_pickle=False) as stored:
        return np.split(stored["rows"], np.cumsum(stored["node_counts"])[:-1])
