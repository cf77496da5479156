from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tasks.models.dgl_walks import dgl_random_walks, walk_graph


def test_walks_on_a_directed_path_end_where_it_ends():
    graph = walk_graph(np.array([0, 1, 2, 2], dtype=np.int64), np.array([1, 2], dtype=np.int32))
    walks = dgl_random_walks(graph, np.array([0, 1, 2]), 4, seed=1)
    assert walks.dtype == np.int32
    assert walks.tolist() == [[0, 1, 2, -1], [1, 2, -1, -1], [2, -1, -1, -1]]


def test_walks_are_a_function_of_the_seed_in_every_thread():
    complete = walk_graph(
        np.arange(0, 31, 5, dtype=np.int64), np.array([v for u in range(6) for v in range(6) if v != u])
    )

    def walks(seed: int) -> list[list[int]]:
        return dgl_random_walks(complete, np.arange(6), 20, seed).tolist()

    expected = [walks(7), walks(8)]
    assert expected[0] != expected[1]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(walks, [7, 8] * 10)) == expected * 10
