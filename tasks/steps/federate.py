"""Federated training as a simulation: passes broadcasts and updates between the curator and all clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tasks.broadcasts.weights import ModelWeights
from tasks.client.deal import deal_graphs
from tasks.client.graph_embedding import embed_graphs, predict_graphs
from tasks.client.local_training import Examples, GraphClient, LocalSettings, update_line
from tasks.client.node_features import stacked
from tasks.curator.federation import Federation, initial_weights
from tasks.datasets.graph import RawGraphSet
from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.models.graph_architecture import GraphArchitecture, GraphBackbone, Level
from tasks.models.graph_backbones import build_graph_network
from tasks.models.networks import Device, Form, resolve, set_threads
from tasks.reports.ledgers.ledger_line import Charge, LedgerLine, uncharged
from tasks.seeds import derive_seed, generator


@dataclass(frozen=True)
class FederationSettings:
    """Clients, rounds and local training.

    Raises:
        UserError: for a value out of range.
    """

    clients: int = 10
    concentration: float = 1.0
    rounds: int = 200
    absence: float = 0.0
    local: LocalSettings = field(default_factory=LocalSettings)

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise UserError(f"rounds: {self.rounds} is out of range; use 1 or more")
        if not 0 <= self.absence < 1:
            raise UserError(f"absence: {self.absence} is no share of clients; use at least 0 and less than 1")


@dataclass(frozen=True, eq=False)
class FederationOutcome:
    """What a training leaves behind.

    Attributes:
        weights: the broadcast that validated best.
        history: one row per broadcast, see ``Federation.history``.
        holder: int64 (G,), the client of each graph.
        ledger: the line of the updates.
        embeddings: H of every graph, (n, h), softmaxed: raw, on the clients' side.
        log_probabilities: float32 (G, C), or (N, C) at node level: on the clients' side, for the evaluation.
    """

    weights: ModelWeights
    history: pd.DataFrame
    holder: NDArray[np.int64]
    ledger: LedgerLine
    embeddings: list[NDArray[np.float64]]
    log_probabilities: NDArray[np.float32]


def federate(
    graphs: RawGraphSet,
    split: Split,
    backbone: GraphBackbone,
    *,
    settings: FederationSettings,
    seed: int | None,
    repeat: int,
    level: Level = "graph",
    device: Device = "auto",
    form: Form = "torch",
    progress: Callable[[int], None] | None = None,
    charge: Charge = uncharged,
) -> FederationOutcome:
    """Trains one network over all clients.

    Args:
        graphs: the data set.
        split: roles of the graphs; test graphs reach no client's training.
        backbone: ``gcn`` or ``gin``.
        settings: clients and rounds.
        seed: root of all draws, None for the operating system's entropy.
        repeat: number of the repeat, for the seeds.
        level: ``graph`` for classes of graphs, ``node`` for classes of their nodes.
        device, form: see ``networks.resolve``; on small graphs the torch form is the faster one on a CPU too.
        progress: called after every round with its number.
        charge: called with the ledger's line before the training.
    """
    where, how = resolve(device, form)
    set_threads(1, how)

    def draws(role: str) -> int | None:
        return derive_seed(
            seed, study="graph_classification", dataset=graphs.name, point=backbone, repeat=repeat, role=role
        )

    stack = stacked(graphs.graphs)
    labels = graphs.labels if level == "graph" else _node_labels(graphs)
    architecture = GraphArchitecture(backbone, stack.features.shape[1], int(labels.max(initial=0)) + 1, level)
    network = build_graph_network(architecture, device=where, form=how)
    holder = deal_graphs(
        graphs.labels,
        (split.train, split.validation, split.test),
        settings.clients,
        settings.concentration,
        generator(draws("client/deal")),
    )
    line = charge(update_line(graphs.name, generator(draws("client/ledger")), graphs.notes))

    def examples(role: NDArray[np.int64], number: int) -> Examples:
        own = role[holder[role] == number]
        return Examples(stack.subset(own), labels[own if level == "graph" else stack.nodes_of(own)])

    clients = [
        GraphClient(
            number,
            examples(split.train, number),
            examples(split.validation, number),
            network=network,
            device=where,
            settings=settings.local,
            rng=generator(draws(f"client/{number}/training")),
            ledger=line,
        )
        for number in range(settings.clients)
    ]
    presence = generator(draws("client/presence"))
    federation = Federation(initial_weights(architecture, draws("curator/initialisation")))
    for number in range(settings.rounds):
        answering = [client for client in clients if presence.random() >= settings.absence]
        federation.receive([client.train(federation.weights) for client in answering])
        if progress is not None:
            progress(number + 1)
    federation.close([client.validate(federation.weights) for client in clients])
    return FederationOutcome(
        weights=federation.best_model,
        history=federation.history,
        holder=holder,
        ledger=line,
        embeddings=embed_graphs(stack, federation.best_model, network),
        log_probabilities=predict_graphs(stack, federation.best_model, network),
    )


def _node_labels(graphs: RawGraphSet) -> NDArray[np.int64]:
    if any(graph.labels is None for graph in graphs.graphs):
        raise UserError(f"{graphs.name}: nodes have no labels; train on the graphs' classes instead")
    return np.concatenate([graph.labels for graph in graphs.graphs if graph.labels is not None])
