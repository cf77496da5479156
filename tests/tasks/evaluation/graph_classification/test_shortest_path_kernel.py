from collections import Counter
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from tasks.client.shortest_paths import shortest_path_distances
from tasks.datasets.graph import RawGraph
from tasks.evaluation.graph_classification.shortest_path_kernel import shortest_path_kernel


def graphs(labelled: bool) -> list[RawGraph]:
    rng, made = np.random.default_rng(0), []
    for n in (5, 8, 1, 9, 6, 4):
        bits = np.triu(rng.random((n, n)) < (0.0 if n == 4 else 0.35), 1)
        kinds = csr_array(np.eye(3, dtype=np.float32)[rng.integers(3, size=n)]) if labelled else None
        made.append(RawGraph("toy", csr_array(bits | bits.T, dtype=np.int8), kinds))
    return made


def counted(graph: RawGraph) -> Counter:
    """Ordered pairs with a path: length, and the kinds of the two ends."""
    steps, n = shortest_path_distances(graph.adjacency), graph.nodes
    kinds = np.zeros(n, int) if graph.features is None else graph.features.toarray().argmax(axis=1)
    found: Counter = Counter()
    for i, j in combinations(range(n), 2):
        if steps[i, j] < n:
            found[steps[i, j], kinds[i], kinds[j]] += 1
            found[steps[i, j], kinds[j], kinds[i]] += 1
    return found


def dot(a: Counter, b: Counter) -> float:
    return sum(count * b[key] for key, count in a.items())


def check(labelled: bool) -> None:
    made, train = graphs(labelled), np.array([0, 1, 2, 4])
    ours = shortest_path_kernel(made, train)
    paths = [counted(graph) for graph in made]
    for i, one in enumerate(paths):
        for column, j in enumerate(train):
            norm = np.sqrt(dot(one, one) * dot(paths[j], paths[j]))
            expected = dot(one, paths[j]) / norm if norm else float(i == j)
            assert abs(ours[i, column] - expected) < 1e-12


def test_kernel_counts_labelled_paths() -> None:
    check(labelled=True)


def test_kernel_counts_lengths_without_labels() -> None:
    check(labelled=False)
