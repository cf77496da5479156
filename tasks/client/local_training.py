"""A client's part of federated training (FedAvg, McMahan et al. 2017): Adam on its own raw graphs, a few batches.

The weights that come out are functions of raw graphs and cross in clear, as in Jin & Chen 2022: no guarantee.
A client keeps nothing between rounds but its random state: every round starts a fresh optimiser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from tasks.broadcasts.weights import ModelWeights
from tasks.epsilon import INFINITE
from tasks.errors import UserError
from tasks.models.graph_network import GraphBatch, GraphNetwork
from tasks.models.graph_stack import GraphStack
from tasks.reports.ledgers.ledger_line import LedgerLine, fresh_report_key
from tasks.reports.ledgers.units import UNITS, in_clear
from tasks.reports.model_update import ModelUpdate, ValidationCounts


@dataclass(frozen=True)
class LocalSettings:
    """Training between two broadcasts.

    Raises:
        UserError: for a value out of range.
    """

    epochs: int = 1
    learning_rate: float = 0.01
    batch_size: int = 32

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch_size < 1 or not 0 < self.learning_rate < np.inf:
            raise UserError("local training: epochs, batch_size and learning_rate must be positive")


@dataclass(frozen=True, eq=False)
class Examples:
    """Graphs of one role.

    Attributes:
        graphs: the graphs.
        labels: int64 (G,), or (N,) for a network at node level; -1 where unknown, which training leaves out.
    """

    graphs: GraphStack
    labels: NDArray[np.int64]


class GraphClient:
    """One client with its training and validation graphs; it is never given a test graph."""

    def __init__(
        self,
        number: int,
        train: Examples,
        validation: Examples,
        *,
        network: GraphNetwork,
        device: torch.device,
        settings: LocalSettings,
        rng: np.random.Generator,
        ledger: LedgerLine,
    ) -> None:
        """``network`` is a workspace: its weights are overwritten on every call, so clients may share one."""
        self.number = number
        self._train, self._validation = train, validation
        self._network, self._device, self._settings = network, device, settings
        self._rng, self._ledger = rng, ledger
        self._masks = torch.Generator(device).manual_seed(int(rng.integers(2**63)))
        self._validation_batch = self._placed(validation) if validation.graphs.graphs else None
        whole = 0 < train.graphs.graphs <= settings.batch_size
        self._only_batch = self._placed(train) if whole else None

    def train(self, weights: ModelWeights) -> ModelUpdate:
        """Validates the broadcast, then trains from it for the local epochs."""
        validation = self.validate(weights)
        examples = int((self._train.labels >= 0).sum())
        if examples:
            self._network.load(weights.values)
            optimizer = torch.optim.Adam(self._network.parameters(), lr=self._settings.learning_rate, fused=True)
            for _ in range(self._settings.epochs):
                for batch, labels in self._batches():
                    # Batch norm has no variance in a single row: it then uses the running statistics.
                    self._network.train(len(batch.features) > 1)
                    optimizer.zero_grad()
                    logits = self._network.logits(batch, self._masks)
                    functional.cross_entropy(logits, labels, ignore_index=-1).backward()
                    optimizer.step()
        return ModelUpdate(
            client=self.number,
            round=weights.round,
            examples=examples,
            values=self._network.vector() if examples else weights.values,
            validation=validation,
            ledger=self._ledger,
        )

    def validate(self, weights: ModelWeights) -> ValidationCounts:
        """How given weights do on the client's validation graphs."""
        if self._validation_batch is None:
            return ValidationCounts()
        batch, labels = self._validation_batch
        self._network.load(weights.values)
        self._network.eval()
        with torch.no_grad():
            logits = self._network.logits(batch)
            loss = functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")
            hits = (logits.argmax(dim=1) == labels).sum()
        return ValidationCounts(int((labels >= 0).sum()), int(hits), float(loss))

    def _batches(self) -> Iterator[tuple[GraphBatch, Tensor]]:
        """One epoch: batches of nearly equal size, reshuffled; without a labelled example a batch is left out."""
        if self._only_batch is not None:
            yield self._only_batch
            return
        graphs = self._train.graphs
        parts = -(-graphs.graphs // self._settings.batch_size)
        for part in np.array_split(self._rng.permutation(graphs.graphs), parts):
            at_node_level = self._network.architecture.level == "node"
            labels = self._train.labels[graphs.nodes_of(part) if at_node_level else part]
            if (labels >= 0).any():
                yield self._placed(Examples(graphs.subset(part), labels))

    def _placed(self, examples: Examples) -> tuple[GraphBatch, Tensor]:
        return self._network.to_batch(examples.graphs), torch.from_numpy(examples.labels).to(self._device)


def update_line(dataset: str, rng: np.random.Generator, notes: tuple[str, ...] = ()) -> LedgerLine:
    """The ledger line shared by all updates of one training."""
    return LedgerLine(
        mechanism="model updates in clear",
        dataset=dataset,
        deployment_key="training",
        report_key=fresh_report_key(rng, "model update", dataset),
        epsilon=INFINITE,
        unit="client",
        statement="no guarantee: weights trained on raw graphs cross in clear",
        not_protected="everything about the training and validation graphs that weights and counts reveal",
        guarantee=False,
        simulated=False,
        spends=tuple(in_clear(*UNITS).items()),
        notes=notes,
    )
