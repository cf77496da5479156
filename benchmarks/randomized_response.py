"""Randomised response on neighbour lists: exact sparse sampling against dense sampling with numpy.

Both sides start from the true graph and end with the same content: the ones of the noisy matrix. The dense side draws
N x N uniform numbers at once on Cora; on Facebook, where that would take 4 GB, row by row. Compilation is done on a toy
graph before the clock starts; the table of a budget (``table_s``, once per budget and process) is kept between draws.

Run: ``python -m benchmarks.randomized_response [--json FILE]``. Needs the data sets (network, or GRAPH_DATA_MIRROR).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from benchmarks.reporting import Work, compared, json_argument, measured, publish
from tasks.client.biased_coin import rare_side
from tasks.client.flip_positions import skip_table
from tasks.client.randomized_response import flip_probability, randomise_neighbour_lists
from tasks.datasets.catalogue.readers import fetch_dataset, load_dataset
from tasks.datasets.graph import RawGraph
from tasks.seeds import generator

RAW = Path(__file__).resolve().parents[1] / ".cache" / "benchmarks"
MEMORY_LIMIT_MB = 1000


def true_graph(dataset: str) -> csr_array:
    """The adjacency matrix of a public set, downloaded once."""
    fetch_dataset(dataset, RAW)
    graph = load_dataset(dataset, RAW)
    assert isinstance(graph, RawGraph)
    return graph.adjacency


def sparse_sampling(dataset: str, epsilon: str) -> Work:
    """Ours: the mechanism as the pipeline runs it, report, checks and ledger line included."""
    graph, rng = true_graph(dataset), generator(0)
    toy = csr_array((10, 10), dtype=np.int8)
    randomise_neighbour_lists(toy, epsilon, "directed", rng, MEMORY_LIMIT_MB, True, dataset="toy")

    def work() -> int:
        report = randomise_neighbour_lists(graph, epsilon, "directed", rng, MEMORY_LIMIT_MB, True, dataset=dataset)
        return len(report.indices)

    return work


def dense_sampling(dataset: str, epsilon: str) -> Work:
    """The baseline: one uniform number for each of the N x N bits."""
    dense, rng, p = true_graph(dataset).toarray().astype(bool), generator(0), flip_probability(epsilon)
    return lambda: len(np.nonzero((rng.random(dense.shape) < p) ^ dense)[0])


def dense_sampling_by_rows(dataset: str, epsilon: str) -> Work:
    """The baseline where N x N numbers do not fit: N uniform numbers at a time."""
    graph, rng, p = true_graph(dataset), generator(0), flip_probability(epsilon)
    nodes = graph.shape[0]

    def work() -> int:
        ones = 0
        for row in range(nodes):
            flipped = rng.random(nodes) < p
            flipped[graph.indices[graph.indptr[row] : graph.indptr[row + 1]]] ^= True
            ones += len(np.nonzero(flipped)[0])
        return ones

    return work


def table_seconds(epsilon: str) -> float:
    """Time to make the table of a budget from nothing."""
    skip_table.cache_clear()
    start = time.perf_counter()
    skip_table(rare_side(epsilon, 128))
    return time.perf_counter() - start


def main() -> int:
    """Runs all cases."""
    file, cases = json_argument(__doc__), []
    for dataset, epsilon, baseline in (
        ("cora", "7", dense_sampling),
        ("cora", "8", dense_sampling),
        ("facebook", "8", dense_sampling_by_rows),
    ):
        dense = measured(baseline, dataset, epsilon, repeats=9 if baseline is dense_sampling else 1)
        ours = measured(sparse_sampling, dataset, epsilon, repeats=201 if dataset == "cora" else 15)
        cases.append(
            compared(
                f"{dataset} eps_a={epsilon}",
                dense,
                ours,
                table_s=table_seconds(epsilon),
                ones=ours.value,
                baseline_ones=dense.value,
            )
        )
    return publish(cases, file)


if __name__ == "__main__":
    sys.exit(main())
