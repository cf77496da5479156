"""The attacks on one public data set: every report and model is drawn by the pipeline's own steps, then attacked."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from flows.attack_runs import graphs as attack_graphs
from flows.attack_runs import nodes as attack_nodes
from flows.attack_runs import uploads as attack_uploads
from flows.attack_runs.outputs import Provenance, walk_rows
from flows.attack_runs.request import AttackRequest
from flows.context.project import workspace
from tasks.evaluation.tables.rows import Row
from tasks.steps.download import RawSource, download
from tasks.store import PointStore

SEED = 0


def measure(request: AttackRequest, store: PointStore) -> tuple[list[Row], Provenance]:
    """Every attack that is for the request: on FedWalk's uploads, on nodes of a graph, or membership for graphs."""
    started, repeats = time.monotonic(), request.repeats
    source: RawSource = download.plain(store, request.dataset, request.own)  # type: ignore[attr-defined]
    settings: dict[str, Any] = {"repeats": repeats}
    if request.encoder is not None:
        settings |= {"eps_encoder": request.encoder, **attack_uploads.SETTINGS}
        attacks = attack_uploads.upload_rows(store, source, request.encoder, repeats, SEED)
        return _record(attacks, source, settings, started)
    if request.budgets is None:
        settings |= attack_graphs.SETTINGS
        return _record(attack_graphs.membership_rows(store, source, repeats, SEED), source, settings, started)
    settings |= {"eps_a": request.budgets, **attack_nodes.SETTINGS}
    attacks = attack_nodes.node_rows(store, source, request.budgets, repeats, SEED)
    rows, provenance = _record(attacks, source, settings, started)
    return rows + walk_rows(workspace() / "data" / "results"), provenance


def _record(
    attacks: Iterator[tuple[str, list[Row]]], source: RawSource, settings: dict[str, Any], started: float
) -> tuple[list[Row], Provenance]:
    rows = list(_reported(attacks, started))
    return rows, Provenance(source.content, SEED, settings, time.monotonic() - started)


def _reported(parts: Iterator[tuple[str, list[Row]]], started: float) -> Iterator[Row]:
    for name, rows in parts:
        print(f"attacked after {time.monotonic() - started:.0f} s: {name}", file=sys.stderr)
        yield from rows
