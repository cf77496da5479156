"""k-means in Gromov-Wasserstein space: graphs join the nearest centre, centres are barycentres of their members.

Peyre, Cuturi & Solomon, "Gromov-Wasserstein averaging of kernel and distance matrices", ICML 2016, whose barycentre
is POT's; k-means++ (Arthur & Vassilvitskii 2007) chooses the first centres among the graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import ot
from numpy.typing import NDArray

from tasks.curator.gromov.distances import gromov_distances
from tasks.errors import UserError

ROUNDS = 10
"""At most so many rounds of k-means; the study's points are keyed by it."""


@dataclass(frozen=True)
class Clustering:
    """A partition of G graphs.

    Attributes:
        assignment: int64 (G,), the cluster of each graph.
        centres: distance matrices of the k centres.
        inertia: mean discrepancy to the own centre after every round; it may rise, because neither the barycentre nor
            the discrepancy is a global minimum. The partition is that of the lowest value.
    """

    assignment: NDArray[np.int64]
    centres: list[NDArray[np.float64]]
    inertia: tuple[float, ...]


def gromov_k_means(
    matrices: Sequence[NDArray[np.float64]],
    distances: NDArray[np.float64],
    clusters: int,
    rng: np.random.Generator,
    *,
    rounds: int = ROUNDS,
    barycentre_rounds: int = 5,
    starts: int = 1,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Clustering:
    """Clusters graphs given by distance matrices.

    Args:
        matrices: G symmetric (n, n) distances between the nodes of a graph.
        distances: (G, G) discrepancies between the graphs, for the first centres.
        clusters: k.
        rng: source of the first centres and of the barycentres' first matrices.
        rounds: at most this many; fewer when the partition repeats.
        barycentre_rounds: of POT's block coordinate descent.
        starts, threads: of the solver, see ``gromov_distances``.
        progress: called after every round with its number.

    Raises:
        UserError: for k out of range or distances that do not fit.
    """
    graphs = len(matrices)
    if not 1 <= clusters <= graphs:
        raise UserError(f"clusters: {clusters} is out of range; use 1 to {graphs}, the number of graphs")
    if distances.shape != (graphs, graphs):
        raise UserError(f"distances of shape {distances.shape} do not fit {graphs} graphs")
    first = _first_centres(distances, clusters, rng)
    centres = [np.asarray(matrices[graph], dtype=np.float64) for graph in first]
    to_centres = distances[:, first]
    assignment = _nearest(to_centres)
    best = Clustering(assignment, centres, ())
    inertia = [float(to_centres[np.arange(graphs), assignment].mean())]
    for number in range(rounds):
        members = [np.flatnonzero(assignment == cluster) for cluster in range(clusters)]
        centres = [_barycentre(matrices, graphs_of, barycentre_rounds, rng) for graphs_of in members]
        to_centres = gromov_distances(matrices, centres, starts=starts, threads=threads).values
        previous, assignment = assignment, _nearest(to_centres)
        inertia.append(float(to_centres[np.arange(graphs), assignment].mean()))
        if inertia[-1] == min(inertia):
            best = Clustering(assignment, centres, ())
        if progress is not None:
            progress(number + 1)
        if (assignment == previous).all():
            break
    return Clustering(best.assignment, best.centres, tuple(inertia))


def _first_centres(distances: NDArray[np.float64], clusters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """k-means++: the next centre with probability proportional to the discrepancy, which is a squared distance."""
    chosen = [int(rng.integers(len(distances)))]
    while len(chosen) < clusters:
        weights = distances[:, chosen].min(axis=1)
        weights[chosen] = 0.0
        if not weights.any():  # all others are copies of a centre
            weights[:] = 1.0
            weights[chosen] = 0.0
        chosen.append(int(rng.choice(len(distances), p=weights / weights.sum())))
    return np.array(chosen, dtype=np.int64)


def _nearest(to_centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest centre of every graph; a centre that nobody chose takes the graph that is worst off."""
    assignment = to_centres.argmin(axis=1).astype(np.int64)
    for centre in range(to_centres.shape[1]):
        if not (assignment == centre).any():
            own = to_centres[np.arange(len(assignment)), assignment]
            alone = np.bincount(assignment, minlength=to_centres.shape[1])[assignment] == 1
            assignment[int(np.where(alone, -1.0, own).argmax())] = centre
    return assignment


def _barycentre(
    matrices: Sequence[NDArray[np.float64]], members: NDArray[np.int64], rounds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The barycentre of the members, with as many nodes as they have on average."""
    own = [np.asarray(matrices[graph], dtype=np.float64) for graph in members]  # POT fails silently on integers
    size = max(1, round(float(np.mean([len(matrix) for matrix in own]))))
    if size == 1:  # POT's first matrix would be 0/0; a single node has a closed form
        return np.array([[np.mean([matrix.mean() for matrix in own])]])
    centre = ot.gromov.gromov_barycenters(
        size, own, max_iter=rounds, warmstartT=True, random_state=int(rng.integers(2**31))
    )
    symmetric: NDArray[np.float64] = (centre + centre.T) / 2
    return symmetric
