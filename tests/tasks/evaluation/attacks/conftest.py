from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph, undirected


def planted(nodes: int = 300, classes: int = 3, width: int = 40, seed: int = 3, *, private: bool = False) -> RawGraph:
    """Nodes of a class are linked and share features more often than others."""
    rng = np.random.default_rng(seed)
    labels = np.arange(nodes) % classes
    same = labels[:, None] == labels
    heads, tails = np.nonzero(np.triu(rng.random((nodes, nodes)) < np.where(same, 0.06, 0.004), 1))
    features = rng.random((nodes, width)) < np.where(np.arange(width) % classes == labels[:, None], 0.5, 0.1)
    return RawGraph(
        "planted",
        undirected(nodes, heads, tails)[0],
        csr_array(features.astype(np.float32)),
        labels.astype(np.int64),
        private=private,
    )


@pytest.fixture(scope="session")
def graph() -> RawGraph:
    return planted()


@pytest.fixture(scope="session")
def secret() -> RawGraph:
    return planted(60, private=True)
