"""P from learned weights, and the gradient through it, against the dense formulas and autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from tasks.curator.engine.compiled.edges import LearnedEdges, Support
from tasks.models.propagation import propagation_matrix

NODES, HIDDEN, SLOTS = 12, 4, 2
RNG = np.random.default_rng(1)
LISTS = RNG.random((NODES, NODES)) < 0.3
LISTS[3] = False
LISTS[4, 4] = True
GRAPH = sparse.csr_array(LISTS * RNG.random((NODES, NODES)))
FORMS = [("gcn", "symmetric"), ("gcn", "mean"), ("sage", "mean")]
EVERYONE = np.arange(NODES)


def learned_of(backbone, normalization):
    symmetric = (backbone, normalization) == ("gcn", "symmetric")
    support = Support.of(GRAPH, loops=backbone == "gcn", symmetric=symmetric, dtype=np.float64)
    learned = LearnedEdges(support, EVERYONE[::2], HIDDEN, SLOTS, np.float64)
    learned.update()
    return learned


def matrix(csr, slot, columns=NODES):
    return sparse.csr_array((csr.values[:, slot], csr.columns, csr.starts), shape=(NODES, columns)).toarray()


@pytest.mark.parametrize(("backbone", "normalization"), FORMS)
def test_it_starts_as_the_propagation_matrix(backbone, normalization):
    learned = learned_of(backbone, normalization)
    expected = propagation_matrix(GRAPH, backbone, normalization).toarray()
    for slot in range(SLOTS):
        np.testing.assert_allclose(matrix(learned.edges.propagation, slot), expected, atol=1e-12)
        np.testing.assert_allclose(matrix(learned.edges.transposed, slot), expected.T, atol=1e-12)
        np.testing.assert_allclose(matrix(learned.edges.senders_transposed, slot, 6), expected[::2].T, atol=1e-12)


@pytest.mark.parametrize(("backbone", "normalization"), FORMS)
def test_a_step_follows_the_gradient_through_the_degrees(backbone, normalization):
    """The passes hand in gradients of the loss sum(before * (P projected)) + sum(message * (P active)[::2])."""
    learned = learned_of(backbone, normalization)
    before, projected, active = RNG.normal(size=(3, NODES, HIDDEN, SLOTS)) * 0.05
    message = RNG.normal(size=(NODES // 2, HIDDEN, SLOTS)) * 0.05
    row_of = np.where(EVERYONE % 2, -1, EVERYONE // 2).astype(np.int32)
    sizes = np.array([[0.1, 0.2], [0.3, 0.0], [0.01, 0.0]])
    learned.step(before, projected, row_of, message, active, sizes)
    for slot in range(SLOTS):
        weights = torch.from_numpy(GRAPH.toarray()).requires_grad_()
        used = weights * torch.from_numpy(LISTS.astype(float))
        if backbone == "gcn":
            used = used * (1 - torch.eye(NODES, dtype=torch.float64)) + torch.eye(NODES, dtype=torch.float64)
        degrees = used.sum(dim=1)
        alone = (degrees == 0).double()
        p = used / (degrees + alone)[:, None] + torch.diag(alone)
        if (backbone, normalization) == ("gcn", "symmetric"):
            p = used * degrees.rsqrt()[:, None] * degrees.rsqrt()[None, :]
        parts = [torch.from_numpy(array[..., slot]) for array in (before, projected, message, active)]
        loss = (parts[0] * (p @ parts[1])).sum() + (parts[2] * (p @ parts[3])[::2]).sum()
        loss.backward()
        start, slope = GRAPH.data, weights.grad.numpy()[LISTS]
        size, distance, sparsity = sizes[:, slot]
        expected = np.clip(start - size * (slope + 2 * distance * (start - start)) - size * sparsity, 0, 1)
        rows, columns = np.nonzero(LISTS)
        moves = (rows != columns) | (backbone == "sage")
        np.testing.assert_allclose(learned.copied(slot)[moves], expected[moves], atol=1e-12)


def test_weights_come_back_as_they_were_put():
    learned = learned_of("sage", "mean")
    weights = RNG.random(GRAPH.nnz)
    learned.put(1, weights)
    np.testing.assert_array_equal(learned.copied(1), weights)
    np.testing.assert_array_equal(learned.copied(0), GRAPH.data)
