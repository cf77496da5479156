"""The options that a sweep adds to the shared command line: the fields of ``SweepRequest``, which imports too much."""

from __future__ import annotations

import argparse

STUDIES = ("node_classification", "graph_classification", "node_embedding", "ego_clustering")
LISTS = {
    "methods": "methods; of graph_classification its baselines, of node_embedding its modes",
    "backbones": "gcn, sage or gin; of node_classification and graph_classification",
    "eps_x": "node_classification: budgets of a user's features, inf: no noise",
    "eps_a": "node_classification: budgets of a user's neighbour list",
    "eps": "budgets of graph_classification's and ego_clustering's embeddings or of node_embedding's encoder",
}


def add_sweep_options(parser: argparse.ArgumentParser) -> None:
    """Study, axes and where to run."""
    parser.add_argument("--study", default=STUDIES[0], choices=STUDIES, help=f"study to run (default: {STUDIES[0]})")
    add_grid_options(parser)


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """The axes, and where to run."""
    for name, text in LISTS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", nargs="+", default=[], metavar="V", help=text)
    parser.add_argument("--repeats", type=int, help="independent repeats of every point")
    parser.add_argument("--runner", choices=("threads", "processes", "dask"), help="where steps run")
    parser.add_argument("--dask-address", metavar="URL", help="of runner dask: its scheduler, else a local cluster")
    parser.add_argument("--workers", type=int, help="steps at a time")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), help="where networks are trained")
