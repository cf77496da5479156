from __future__ import annotations

import numpy as np

from tasks.models.dgl_walks import dgl_random_walks, seed_dgl_walks, walk_graph


def test_walks_on_a_directed_path_end_where_it_ends():
    graph = walk_graph(np.array([0, 1, 2, 2], dtype=np.int64), np.array([1, 2], dtype=np.int32))
    seed_dgl_walks(1)
    walks = dgl_random_walks(graph, np.array([0, 1, 2]), 4)
    assert walks.dtype == np.int32
    assert walks.tolist() == [[0, 1, 2, -1], [1, 2, -1, -1], [2, -1, -1, -1]]
