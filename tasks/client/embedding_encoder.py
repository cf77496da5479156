"""Encoders of node embeddings (Jin & Chen, IJCAI 2022, algorithm 1, and readings of it that keep a promise).

Input. H (n, h), softmaxed by rows, so that every cell lies in [alpha, beta] = [0, 1] whatever the graph is.

Law. A vector x of cells draws m of them uniformly without replacement and sends one sign for each, +1 with probability

    1/(e^a + 1) + x (e^a - 1)/(e^a + 1),        a = b/m,    m = max(1, min(h, floor(b/2.18))),

else -1; the other cells are sent as 0. The encoders differ in what a vector is and in its budget b:

* ``per_row`` (default): every row of H, b = eps/n.
* ``row``: every row of H, b = eps.
* ``paper``: all of H as one vector of n h cells, b = eps/n. The algorithm as printed.
* ``gaussian_scale``: no coins; H plus Gaussian noise of standard deviation "eps", as in the authors' code.

Proof sketch. A sign has a probability in [1/(e^a+1), e^a/(e^a+1)] whatever the cell holds, which cells are sent does
not depend on H, and m signs compose to m a = b: a vector is b-LDP. One edge or feature of a graph reaches every row of
H within as many hops as the network has layers, so all rows must be taken to change at once. ``per_row`` then spends
n eps/n = eps on the graph as a whole, and ``paper`` eps/n (one cell in n h: nearly nothing is sent). ``row`` spends n
eps: its eps holds for one row of H, which is *not* the data of one node. ``gaussian_scale`` has no proof: its
parameter is no budget, and larger means more noise.

All of this is for a graph's own embedding under given weights; that the weights were trained on the graph is a matter
of the updates' ledger line. The node count n is public. Asking twice costs twice.

Exactness. Coins are those of ``tasks.client.multibit``, thresholds on integers; eps/n is rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.client.biased_coin import rare_side
from tasks.client.multibit import drawn_dimensions, drawn_signs
from tasks.epsilon import INFINITE, PER_NODE, epsilon_value
from tasks.errors import UserError
from tasks.reports.embedding import EmbeddingReport
from tasks.reports.embedding_budget import largest_budget, sampled_cells, vector_budget
from tasks.reports.encoders import Encoder, checked_encoder, encoder_setting
from tasks.reports.ledgers.ledger_line import (
    NO_PRIVACY,
    Charge,
    LedgerLine,
    fresh_report_key,
    local_privacy_line,
    uncharged,
)
from tasks.reports.ledgers.units import in_clear, several


def row_softmax(embedding: NDArray) -> NDArray[np.float64]:
    """Softmax of every row, (n, h)."""
    shifted = np.exp(embedding.astype(np.float64) - embedding.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def encode_embeddings(
    embeddings: Sequence[NDArray[np.float64]] | NDArray[np.float64],
    encoder: str,
    epsilon: str,
    rng: np.random.Generator,
    simulated: bool,
    *,
    dataset: str,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> EmbeddingReport:
    """One noisy report of every graph's embedding, or the exact values at ``"inf"``.

    Args:
        embeddings: G arrays (n, h) with cells in [0, 1], see ``row_softmax``, or one of (G, n, h).
        encoder: ``per_row``, ``row``, ``paper`` or ``gaussian_scale``.
        epsilon: budget, ``"1/n"`` for one over each graph's own node count; a standard deviation (or ``"1/n"``) for
            ``gaussian_scale``; ``"inf"`` for no noise with any encoder.
        rng: source of the noise; the report is a function of it and of the arguments.
        simulated: whether ``rng`` was made from a known seed, for the ledger.
        dataset: name for the ledger.
        notes: the data set's remarks for the ledger.
        charge: called with the ledger's line before anything is drawn.

    Raises:
        UserError: for an unknown encoder, a bad budget, an empty graph, or cells that are not finite or not in [0, 1].
    """
    encoder = checked_encoder(encoder)
    epsilon = encoder_setting(encoder, epsilon)
    rows, counts = _stacked(embeddings, dataset)
    line = charge(_ledger_line(encoder, epsilon, counts, rng, simulated, dataset, notes))
    total, dimensions = rows.shape
    if epsilon == INFINITE or encoder == "gaussian_scale":
        cells, signs = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
        values = rows if epsilon == INFINITE else rows + _gaussian(epsilon, counts, dimensions, rng)
    else:
        cells, signs = _coins(rows, counts, encoder, epsilon, rng)
        values = np.empty((0, dimensions))
    indptr = np.zeros(total + 1, dtype=np.int64)
    np.cumsum(np.bincount(cells // dimensions, minlength=total), out=indptr[1:])
    return EmbeddingReport(
        encoder=encoder,
        epsilon=epsilon,
        dimensions=dimensions,
        node_counts=counts,
        indptr=indptr,
        columns=(cells % dimensions).astype(np.int32),
        signs=signs,
        values=values,
        ledger=line,
    )


def _stacked(
    embeddings: Sequence[NDArray[np.float64]] | NDArray[np.float64], dataset: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """All rows, (R, h), and how many each graph has. Messages name a graph's position, never a value."""
    if not len(embeddings):
        raise UserError(f"{dataset}: there are no embeddings to report")
    for position, embedding in enumerate(embeddings[:1] if isinstance(embeddings, np.ndarray) else embeddings):
        if embedding.ndim != 2 or embedding.shape[1] != embeddings[0].shape[1] or min(embedding.shape) < 1:
            raise UserError(f"{dataset}: graph {position} has no nodes, or embeddings of another width; remove it")
    if isinstance(embeddings, np.ndarray):  # concatenating many small parts takes long
        rows, counts = embeddings.reshape(-1, embeddings.shape[2]), np.full(len(embeddings), embeddings.shape[1])
    else:
        rows = np.concatenate(embeddings)
        counts = np.array([len(embedding) for embedding in embeddings], dtype=np.int64)
    rows = rows.astype(np.float64)
    if not ((rows >= 0) & (rows <= 1)).all():  # NaN compares false
        raise UserError(f"{dataset}: an embedding is NaN or outside [0, 1]; apply the row-wise softmax first")
    return rows, counts


def _coins(
    rows: NDArray[np.float64], counts: NDArray[np.int64], encoder: Encoder, epsilon: str, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Sampled cells, numbered row by row and ascending, and their signs. Graphs of one size are drawn together."""
    dimensions, flat = rows.shape[1], rows.ravel()
    starts = np.cumsum(counts) - counts
    cells, signs = [], []
    for nodes in np.unique(counts).tolist():
        budget = vector_budget(encoder, epsilon, nodes)
        sampled = sampled_cells(budget, dimensions)
        first = starts[counts == nodes]
        if encoder != "paper":
            first = (first[:, None] + np.arange(nodes)).ravel()
        length = nodes * dimensions if encoder == "paper" else dimensions
        drawn = first[:, None] * dimensions + drawn_dimensions(len(first), length, sampled, rng)
        cells.append(drawn.ravel())
        signs.append(drawn_signs(flat[drawn], (0.0, 1.0), rare_side(budget, 64, sampled), rng).ravel())
    numbers = np.concatenate(cells)
    order = np.argsort(numbers, kind="stable")
    return numbers[order], np.concatenate(signs)[order]


def _gaussian(
    epsilon: str, counts: NDArray[np.int64], dimensions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    scales = np.array([epsilon_value(epsilon, nodes=nodes) for nodes in counts.tolist()])
    return np.repeat(scales, counts)[:, None] * rng.standard_normal((int(counts.sum()), dimensions))


def _ledger_line(
    encoder: Encoder,
    epsilon: str,
    counts: NDArray[np.int64],
    rng: np.random.Generator,
    simulated: bool,
    dataset: str,
    notes: tuple[str, ...],
) -> LedgerLine:
    key = fresh_report_key(rng, "embedding", dataset, encoder, epsilon)
    public = "the node count, and the graph's part in the shared weights"
    if encoder == "gaussian_scale":
        noise = f"no guarantee: Gaussian noise of standard deviation {epsilon}, which the released code calls eps"
        return LedgerLine(
            mechanism="embedding (gaussian_scale)",
            dataset=dataset,
            deployment_key="embedding",
            report_key=key,
            epsilon=INFINITE,
            unit="graph",
            statement=NO_PRIVACY if epsilon == INFINITE else noise,
            not_protected=f"the embedding, {public}",
            guarantee=False,
            simulated=simulated and epsilon != INFINITE,
            spends=tuple(in_clear("graph", "row").items()),
            notes=notes,
        )
    if epsilon == PER_NODE:
        notes = (*notes, "eps is 1/n, n a graph's own node count; the line shows the smallest graph's")
    budget = largest_budget(epsilon, counts.tolist())
    worst = int(counts.max())
    claim, unit, gaps = {
        "per_row": (f"{epsilon}-LDP for the graph as a whole, among graphs of its node count", "graph", public),
        "paper": (
            f"LDP for the graph as a whole, among graphs of its node count, at {epsilon} divided by n",
            "graph",
            public,
        ),
        "row": (
            f"{epsilon}-LDP for one row of H; a graph of {worst} nodes as a whole has {several(budget, worst)}",
            "row of H",
            f"one node's data, which reaches every row within the network's depth (up to {worst} times the budget); "
            + public,
        ),
    }[encoder]
    return local_privacy_line(
        mechanism=f"embedding ({encoder})",
        dataset=dataset,
        deployment_key="embedding",
        report_key=key,
        epsilon=budget,
        unit=unit,
        claim=claim,
        not_protected=gaps,
        simulated=simulated,
        spends={"graph": several(budget, worst), "row": budget} if encoder == "row" else {"graph": budget},
        notes=notes,
    )
