"""Steps on the clients' side: federated training, and the report of every graph's embedding."""

from __future__ import annotations

import logging
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from tasks.client.embedding_encoder import encode_embeddings
from tasks.datasets.splits import Split
from tasks.models.graph_architecture import GraphBackbone, Level
from tasks.models.networks import Device, Form, resolve
from tasks.reports.ledgers.ledger import Ledger
from tasks.steps.declaration import Draft, Given
from tasks.steps.federate import FederationSettings, federate
from tasks.steps.graph_classification.graph_sets import STUDY, graph_set
from tasks.steps.point import point
from tasks.steps.progress import occasionally
from tasks.steps.raw_source import RawSource
from tasks.steps.report_point import LEDGER, ChargedDeclaration, Report, client_report, drawn
from tasks.steps.split import SPLIT
from tasks.store import CLIENTS, PointRef

log = logging.getLogger("pipeline")

WEIGHTS = "weights.npz"
HISTORY = "history.csv"
EMBEDDINGS = "embeddings.npz"
PREDICTIONS = "predictions.npy"
FORM: Form = "torch"
"""On batches of small graphs plain torch is the faster form on a CPU too."""


class FederationDeclaration(ChargedDeclaration):
    """A training: its updates cross, and what it leaves behind stays with the clients."""

    holder = CLIENTS


def _decided(of: Given) -> dict[str, object]:
    named = ("clients", "rounds", "concentration", "absence")
    where, form = resolve(of.device, FORM)
    return {
        "settings": asdict(FederationSettings(**{name: vars(of)[name] for name in named})),
        "device": [where.type, form],
        **({} if of.level == "graph" else {"level": of.level}),
    }


@point(
    "federate",
    label="federate {source.name} {backbone} repeat={repeat}",
    ignore=("clients", "rounds", "concentration", "absence", "device", "level"),
    also=_decided,
    declaration=FederationDeclaration,
)
def train_federation(
    draft: Draft,
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
) -> None:
    """FedAvg over the clients. The point is theirs: weights and history, but also raw embeddings and predictions.

    ``level`` says whose classes are learnt: the graphs', or at ``node`` their nodes'. The others are of
    ``FederationSettings``.
    """
    trained = federate(
        graph_set(source),
        Split.load(split.file(SPLIT)),
        backbone,
        settings=FederationSettings(clients=clients, rounds=rounds, concentration=concentration, absence=absence),
        seed=seed,
        repeat=repeat,
        level=level,
        device=device,
        form=FORM,
        progress=occasionally(draft.label, rounds, "rounds"),
        charge=draft.charge,
    )
    if trained.weights.round == 0:
        line = "%s: no round validated better than the untrained network, which is kept; raise rounds"
        log.warning(line, draft.label)
    trained.weights.save(draft.file(WEIGHTS))
    trained.history.to_csv(draft.file(HISTORY), index=False, lineterminator="\n")
    counts = np.array([len(rows) for rows in trained.embeddings], dtype=np.int64)
    with draft.file(EMBEDDINGS).open("wb") as file:
        np.savez(file, rows=np.concatenate(trained.embeddings), node_counts=counts)
    np.save(draft.file(PREDICTIONS), trained.log_probabilities.argmax(axis=1).astype(np.int64))
    draft.file(LEDGER).write_text(Ledger((trained.ledger,)).to_json())


@client_report("embedding", study=STUDY, point="{backbone} {encoder} eps={eps}")
def encode_graphs(
    draft: Draft,
    source: RawSource,
    federation: PointRef,
    *,
    backbone: GraphBackbone,
    encoder: str,
    eps: str,
    repeat: int,
    seed: int | None,
) -> Report:
    """One report of all embeddings; at ``eps`` inf the exact ones, whatever the encoder."""
    return encode_embeddings(raw_embeddings(federation), encoder, eps, **drawn(draft, graph_set(source)))


def raw_embeddings(federation: PointRef) -> list[NDArray[np.float64]]:
    """H of every graph, on the clients' side."""
    with np.load(federation.file(EMBEDDINGS), allow_pickle=False) as stored:
        return np.split(stored["rows"], np.cumsum(stored["node_counts"])[:-1])
