"""The paper's reading of the tree's uploads, kept as a reference. **It leaks every neighbour list.**

Device v counts its neighbours in every bin and adds Laplace(1/epsilon) noise; it uploads the vector, and then the
vectors of its neighbours, sorted by degree, as its structural matrix (Pan and Zhu, KDD 2022, as far as the text
tells). The noise is the same in both places, so the server finds every row of a matrix among the vectors that it
already holds, and reads the list: the tests do it (``tree_leak``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.epsilon import INFINITE, canonical_epsilon, epsilon_value
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.reports.ledgers.ledger_line import Charge, LedgerLine, fresh_report_key, uncharged
from tasks.reports.ledgers.units import LISTS_IN_CLEAR


def release_structural_matrices(
    lists: NeighbourLists,
    bins: NDArray[np.int32],
    epsilon: str,
    rng: np.random.Generator,
    *,
    dataset: str,
    simulated: bool,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> StructuralMatrixReport:
    """Every device's noisy vector and its neighbours' vectors.

    Args:
        lists: every device's neighbours.
        bins: int32 (V,), the public bin of every vertex.
        epsilon: budget that the paper names for the vectors; it buys nothing here.
        rng: source of the noise.
        dataset, notes: for the ledger.
        charge: called with the ledger's line before anything is drawn.
        simulated: whether ``rng`` was seeded.
    """
    epsilon = canonical_epsilon(epsilon, name="eps_counts")
    line = charge(
        LedgerLine(
            mechanism=f"paper's structural matrices (Laplace, nominal epsilon {epsilon})",
            dataset=dataset,
            deployment_key="structural matrices",
            report_key=fresh_report_key(rng, "structural matrices", dataset, epsilon),
            epsilon=INFINITE,
            unit="neighbour list",
            statement="no guarantee: the server matches rows with the vectors it holds and reads every neighbour list",
            not_protected="every neighbour list, in clear",
            guarantee=False,
            simulated=simulated and epsilon != INFINITE,
            spends=tuple(LISTS_IN_CLEAR.items()),
            notes=notes,
        )
    )
    width = int(bins.max()) + 1
    owner = np.repeat(np.arange(lists.nodes), lists.degrees)
    counts = np.bincount(owner * width + bins[lists.indices], minlength=lists.nodes * width)
    vectors = counts.reshape(lists.nodes, width).astype(np.float64)
    if epsilon != INFINITE:
        vectors += rng.laplace(scale=1 / epsilon_value(epsilon), size=vectors.shape)
    sums = vectors.sum(axis=1)
    by_degree = lists.indices[np.lexsort((sums[lists.indices], owner))]
    published = vectors.astype(np.float32)
    return StructuralMatrixReport(epsilon, published, lists.indptr, published[by_degree], line)
