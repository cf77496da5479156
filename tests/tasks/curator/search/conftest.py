"""A small graph of two noisy communities as several repeats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from tasks.client.labels import reveal_labels
from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.curator.engine.problem import Problem
from tasks.curator.rectify import AffineSparse


@pytest.fixture(scope="session")
def repeats() -> Callable[[int], list[Problem]]:
    def build(count: int) -> list[Problem]:
        problems = []
        for seed in range(count):
            rng = np.random.default_rng(seed)
            classes = rng.integers(2, size=60)
            alike = classes[:, None] == classes[None, :]
            graph = sparse.csr_array((rng.random((60, 60)) < np.where(alike, 0.12, 0.06)).astype(np.int8))
            cells = sparse.csr_array(np.where(rng.random((60, 5)) < 0.3, np.eye(5)[classes] + 0.2, 0.0))
            roles = np.split(rng.permutation(60), [25, 45])
            labels = reveal_labels(classes, roles[0], roles[1], classes=2, dataset="communities")
            problems.append(Problem(graph, AffineSparse(0.5, cells), labels, seed, smoothing_matrix(graph)))
        return problems

    return build
