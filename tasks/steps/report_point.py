"""A point that the users' side makes: raw data and noise in, a report and its ledger out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Protocol

from prefect import Task

from tasks.client.noise_source import noise_generator
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.reports.ledgers.ledger import Ledger, LedgerLine
from tasks.seeds import derive_seed
from tasks.steps.declaration import Declaration, Draft, Given
from tasks.steps.point import declared
from tasks.steps.seeds import Seed
from tasks.store import PointRef, PointStore

REPORT = "report.npz"
LEDGER = "ledger.json"


class Report(Protocol):
    """What all reports have."""

    @property
    def ledger(self) -> LedgerLine:
        """What the report says of its protection."""

    def save(self, path: Path) -> None:
        """Writes the report."""


def client_report(
    kind: str, *, study: str, point: str, inputs: Callable[[Given], Mapping[str, str]] | None = None
) -> Callable[[Callable[..., Report | LedgerLine]], Task[..., Any]]:
    """Decorate a function that draws a report, or draws and saves one and returns its ledger line.

    See ``tasks.steps.point.point`` for what becomes of the function.

    The key holds the raw data, the ``inputs`` (points that are given beside them, and what ``inputs`` adds), the point
    and the noise's seed, which is derived for the kind of report and the point.

    A private report is raw unless its ledger holds a guarantee: without noise, or under noise that a known seed makes
    again, its digest would let anyone test a guess of the data.

    Args:
        kind: what is reported.
        study: what the noise is for.
        point: mechanism and budget, with arguments in braces.
        inputs: further inputs, such as public draws.
    """

    def decorate(draw: Callable[..., Report | LedgerLine]) -> Task[..., Any]:
        def entries(of: Given) -> dict[str, object]:
            given = {name: value.content for name, value in vars(of).items() if isinstance(value, PointRef)}
            return {"point": point.format(**vars(of)), "inputs": given | dict(inputs(of) if inputs else {})}

        @wraps(draw)
        def compute(draft: Draft, **arguments: Any) -> None:
            sent = draw(draft, **arguments)
            if isinstance(sent, LedgerLine):
                line = sent
            else:
                sent.save(draft.file(REPORT))
                line = sent.ledger
            draft.file(LEDGER).write_text(Ledger((line,)).to_json())

        return declared(
            _Report(
                compute,
                f"perturb {kind}",
                f"{kind} {{source.name}} {point} repeat={{repeat}}",
                Seed(study, point, f"client/{kind}", derive_seed),
                inspect.signature(draw).parameters.keys() - {"source", "repeat"},
                entries,
            )
        )

    return decorate


def drawn(draft: Draft, data: RawGraph | RawGraphSet) -> dict[str, Any]:
    """What every mechanism is told: its noise, whether a seed makes it again, and what the ledger says of the data."""
    noise = noise_generator(draft.seed)
    return {"rng": noise, "simulated": draft.seed is not None, "dataset": data.name, "notes": data.notes}


class _Report(Declaration):
    def __call__(self, store: PointStore, *args: Any, **kwargs: Any) -> PointRef:
        report = super().__call__(store, *args, **kwargs)
        if not report.raw:
            return report
        promised = all(line.guarantee or line.declared_public for line in ledger_lines(report))
        return replace(report, raw=not promised)


def ledger_lines(report: PointRef) -> tuple[LedgerLine, ...]:
    """The ledger of a stored report."""
    return Ledger.from_json(report.file(LEDGER).read_text()).lines
