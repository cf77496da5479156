"""The attacks on one public data set: every report and model is drawn by the pipeline's own steps, then attacked."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from flows import attack_graphs, attack_nodes
from flows.attack_outputs import Provenance, walk_rows
from flows.study import PARAMETERS, open_store, own_datasets, workspace
from tasks.datasets.graph import RawGraph
from tasks.datasets.registry import public_dataset, user_dataset
from tasks.errors import UserError
from tasks.evaluation.attacks.pairs import refuse_private
from tasks.evaluation.rows import Row
from tasks.parameters.loading import load_parameters
from tasks.parameters.values import study_budget
from tasks.steps.download import RawSource, download
from tasks.store import PointStore

SEED = 0
BUDGETS = ("1", "2", "3", "4", "5", "6", "7", "8", "inf")


def measure(dataset: str, eps_a: Sequence[str] | None, repeats: int) -> tuple[list[Row], Provenance]:
    """Every attack that is for the data set: those on nodes for one graph, membership for a set of graphs.

    Raises:
        UserError: for an unknown or private data set, a bad budget or number of repeats, or ``eps_a`` with a set of
            graphs.
    """
    budgets = [study_budget(value, name="eps_a") for value in eps_a or BUDGETS]
    if len(set(budgets)) < len(budgets):
        raise UserError("--eps-a names a budget twice; name each once")
    if repeats < 1:
        raise UserError(f"--repeats {repeats}: use at least 1")
    started = time.monotonic()
    source, store = _source(dataset)
    single = isinstance(source.load(), RawGraph)
    if eps_a and not single:
        raise UserError(
            f"--eps-a is the budget of a neighbour list, and {dataset} is a set of graphs, which is attacked at eps"
            f" {', '.join(attack_graphs.BUDGETS)}; leave it out"
        )
    if single:
        attacks = attack_nodes.node_rows(store, source, budgets, repeats, SEED)
    else:
        attacks = attack_graphs.membership_rows(store, source, repeats, SEED)
    rows = list(_reported(attacks, started))
    if single:
        rows += walk_rows(workspace() / "data" / "results")
    settings: dict[str, Any] = {"repeats": repeats}
    settings |= {"eps_a": budgets, **attack_nodes.SETTINGS} if single else attack_graphs.SETTINGS
    return rows, Provenance(source.content, SEED, settings, time.monotonic() - started)


def _source(dataset: str) -> tuple[RawSource, PointStore]:
    own = own_datasets(load_parameters(workspace() / PARAMETERS))
    declared = user_dataset(dataset, own)
    if declared is None:
        public_dataset(dataset, own)
    else:
        refuse_private(dataset, declared.private)
    store = open_store()
    return download.plain(store, dataset, declared), store  # type: ignore[attr-defined]


def _reported(parts: Iterator[tuple[str, list[Row]]], started: float) -> Iterator[Row]:
    for name, rows in parts:
        print(f"attacked after {time.monotonic() - started:.0f} s: {name}", file=sys.stderr)
        yield from rows
