"""Networks whose nodes carry sets of labels: BlogCatalog, Flickr, PPI, in one MATLAB form.

Sources: Tang & Liu, "Relational Learning via Latent Social Dimensions", KDD 2009 (BlogCatalog, Flickr); Grover &
Leskovec, "node2vec", KDD 2016 (PPI, Homo sapiens).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph, undirected
from tasks.datasets.matlab import NotMatlab, matlab_matrices
from tasks.errors import UserError

FILES = {"blogcatalog": "blogcatalog/blogcatalog.mat", "flickr": "flickr/flickr.mat", "ppi": "ppi/Homo_sapiens.mat"}
SIZES = {"blogcatalog": (10312, 333983, 39), "flickr": (80513, 5899882, 195), "ppi": (3890, 37845, 50)}


def parse(name: str, folder: Path) -> RawGraph:
    """Matrix ``network`` (N, N) becomes the adjacency, ``group`` (N, L) the label sets.

    Raises:
        UserError: when the file is not of the published size, the only check there is for Flickr.
    """
    path = folder / Path(FILES[name]).name
    try:
        stored = matlab_matrices(path.read_bytes())
        network, group = stored["network"], stored["group"]
    except (NotMatlab, KeyError, OSError) as error:
        raise UserError(f"{path}: not the published MATLAB file; delete it and download it again") from error
    heads, tails = network.nonzero()
    adjacency, _, _ = undirected(network.shape[0], heads, tails)
    label_sets = csr_array((group != 0).astype(np.uint8))
    label_sets.sort_indices()
    graph = RawGraph(name, adjacency, label_sets=label_sets, private=False)
    if (graph.nodes, graph.edges, graph.classes) != SIZES[name]:
        raise UserError(f"{path}: nodes, edges or labels differ from the published {SIZES[name]}; download it again")
    return graph
