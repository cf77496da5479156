"""A point that the users' side makes: raw data and noise in, a report and its ledger out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tasks.code_version import code_version
from tasks.datasets.catalogue.public import require_kind
from tasks.datasets.graph import RawGraph
from tasks.reports.ledgers.ledger import Ledger, LedgerLine
from tasks.seeds import derive_seed
from tasks.steps.download import RawSource
from tasks.store import PointRef, PointStore

LEDGER = "ledger.json"

Draw = Callable[[RawGraph, int | None, Path], LedgerLine]
"""Draws a report from the raw graph and a seed, saves it into the folder and returns its ledger line."""

Send = Callable[[int | None, Path], LedgerLine]
"""The same for a draw that knows where its raw data are."""


def client_point(
    store: PointStore,
    source: RawSource,
    draw: Draw,
    *,
    study: str,
    module: str,
    kind: str,
    point: str,
    repeat: int,
    seed: int | None,
    inputs: dict[str, str] | None = None,
) -> PointRef:
    """The stored report of one draw.

    Args:
        store, source: where points lie, and whose raw data.
        draw: the mechanism.
        study, kind, point, repeat: what the noise is for; its seed is derived from them.
        module: dotted name of the mechanism's module, for the code's version.
        seed: the study's root seed; None draws from the operating system's entropy.
        inputs: digests of other points that the draw reads (a split, a broadcast tree).

    Raises:
        UserError: when the data set is not one graph.
    """

    def send(noise_seed: int | None, folder: Path) -> LedgerLine:
        return draw(one_graph(source, study), noise_seed, folder)

    return report_point(
        store,
        source,
        send,
        study=study,
        module=module,
        kind=kind,
        point=point,
        repeat=repeat,
        seed=seed,
        inputs=inputs,
    )


def report_point(
    store: PointStore,
    source: RawSource,
    send: Send,
    *,
    study: str,
    module: str,
    kind: str,
    point: str,
    repeat: int,
    seed: int | None,
    inputs: dict[str, str] | None = None,
) -> PointRef:
    """``client_point`` for raw data of any form, which ``send`` knows.

    A private report is raw unless its ledger holds a guarantee: without noise, or under noise that a known seed makes
    again, its digest would let anyone test a guess of the data.
    """
    noise_seed = derive_seed(seed, study=study, dataset=source.name, point=point, repeat=repeat, role=f"client/{kind}")

    def compute(folder: Path) -> None:
        line = send(noise_seed, folder)
        (folder / LEDGER).write_text(Ledger((line,)).to_json())

    key = {
        "step": f"perturb {kind}",
        "raw": source.content,
        "point": point,
        "inputs": inputs or {},
        "repeat": repeat,
        "seed": noise_seed,
        "code": code_version(module),
    }
    label = f"{kind} {source.name} {point} repeat={repeat}"
    report = store.point(key, compute, label=label, private=source.private)
    if not report.raw:
        return report
    promised = all(line.guarantee or line.declared_public for line in ledger_lines(report))
    return replace(report, raw=not promised)


def one_graph(source: RawSource, study: str) -> RawGraph:
    """The raw graph; UserError when the data set is not one graph of the kind that the study needs."""
    graph = source.load()
    require_kind(study, source.name, graph.kind)
    assert isinstance(graph, RawGraph)
    return graph


def ledger_lines(report: PointRef) -> tuple[LedgerLine, ...]:
    """The ledger of a stored report."""
    return Ledger.from_json(report.file(LEDGER).read_text()).lines
