from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.client.labels import reveal_labels
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.reports.edge import EdgeReport
from tasks.reports.label import LabelReport
from tasks.seeds import generator


@pytest.fixture(scope="session")
def edge_report() -> Callable[..., EdgeReport]:
    """Reports of a symmetric 0/1 matrix."""

    def build(dense: NDArray, epsilon: str, mode: str = "directed", seed: int = 0) -> EdgeReport:
        adjacency = csr_array(dense.astype(np.int8))
        return randomise_neighbour_lists(adjacency, epsilon, mode, generator(seed), 200, True, dataset="toy")  # type: ignore[arg-type]

    return build


@pytest.fixture(scope="session")
def label_report() -> Callable[..., LabelReport]:
    """Labels of the first ``train`` nodes for training and of the next ``validation`` for validation."""

    def build(classes: NDArray, train: int, validation: int, count: int) -> LabelReport:
        nodes = np.arange(train + validation)
        return reveal_labels(classes, nodes[:train], nodes[train:], classes=count, dataset="toy")

    return build
