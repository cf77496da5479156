"""The matrix P of one message-passing step, out_i = sum_j P_ij h_j, from the graph in use.

Row i is node i's own reported list, so a directed report is read as it was sent; degrees are row sums.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse

from tasks.errors import UserError
from tasks.models.architecture import Backbone

Normalization = Literal["symmetric", "mean"]
NORMALIZATIONS: tuple[Normalization, ...] = ("symmetric", "mean")


def propagation_matrix(
    adjacency: sparse.csr_array, backbone: Backbone, normalization: Normalization = "symmetric"
) -> sparse.csr_array:
    """P (N, N) float64 with sorted indices, for a graph (N, N) of bits or of weights in [0, 1].

    * ``gcn``: the diagonal is set to one (a reported self-loop is absorbed, not doubled), then
      D^-1/2 A D^-1/2 for ``symmetric`` (Kipf & Welling 2017) or D^-1 A for ``mean`` (Solitude eq. 1).
    * ``sage``: D^-1 A, the mean over the list, a reported self-loop included (Hamilton et al. 2017).
      A node with an empty list takes its own value as the mean.

    Raises:
        UserError: for a normalisation that is not offered.
    """
    if normalization not in NORMALIZATIONS:
        raise UserError(f"normalization {normalization!r} is unknown; use one of {', '.join(NORMALIZATIONS)}")
    graph = sparse.csr_array(adjacency, dtype=np.float64)
    loops = 1.0 - graph.diagonal() if backbone == "gcn" else (graph.sum(axis=1) == 0).astype(np.float64)
    graph = sparse.csr_array(graph + sparse.diags_array(loops))
    graph.eliminate_zeros()
    graph.sort_indices()
    degrees = graph.sum(axis=1)
    if backbone == "gcn" and normalization == "symmetric":
        scale = sparse.diags_array(degrees**-0.5)
        graph = scale @ graph @ scale
    else:
        graph = sparse.diags_array(1.0 / degrees) @ graph
    graph = sparse.csr_array(graph)
    graph.sort_indices()
    return graph
