"""A point that the users' side makes: raw data and noise in, a report and its ledger out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Protocol

from prefect import Task

from tasks.account.archive import ReportArchive
from tasks.client.noise_source import noise_generator
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.reports.ledgers.ledger import Ledger, LedgerLine
from tasks.reports.ledgers.ledger_line import Charge
from tasks.seeds import derive_seed
from tasks.steps.declaration import Declaration, Draft, Given
from tasks.steps.point import declared
from tasks.steps.raw_source import RawSource
from tasks.steps.seeds import Seed
from tasks.steps.sides import compute_apart
from tasks.store import CLIENTS, CURATOR, PointRef, PointStore

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

    A report on private data is drawn once and charged to their account; see ``ChargedDeclaration``.

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
            ChargedDeclaration(
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
    return {
        "rng": noise,
        "simulated": draft.seed is not None,
        "dataset": data.name,
        "notes": data.notes,
        "charge": draft.charge,
    }


class ChargedDeclaration(Declaration):
    """A step whose point is a report, or holds one: of a private data set it is drawn once and charged to its account.

    It is then kept with the account, and found again whatever version of the code drew it.
    """

    shared = True
    holder: ClassVar[str] = CURATOR
    """Whose the point is, ``CLIENTS`` where it also holds what no curator gets."""

    def __call__(self, store: PointStore, *args: Any, **kwargs: Any) -> PointRef:
        """See ``Declaration``."""
        of = self._given(*args, **kwargs)
        source: RawSource = of.source
        if source.own is None or not source.private:
            return super().__call__(store, *args, **kwargs)
        label, key = self._label(of), {**self._key(of), "raw": source.data, "dataset": source.name}
        code = str(key.pop("code"))

        def draw(folder: Path, charge: Charge) -> None:
            store.permit(label)
            charged: list[LedgerLine] = []

            def noted(line: LedgerLine) -> LedgerLine:
                charged.append(charge(line))
                return line

            compute_apart(self, Draft(store, key, label, True, folder, charge=noted), vars(of), CLIENTS)
            if not set(read_lines(folder)) <= set(charged):
                raise AssertionError("a report was drawn without its charge")

        report = ReportArchive(source.own).report(key, draw, label=label, code=code)
        return replace(report, side=self.holder)


def read_lines(folder: Path) -> tuple[LedgerLine, ...]:
    """The ledger in a point's folder."""
    return Ledger.from_json((folder / LEDGER).read_text()).lines


def ledger_lines(report: PointRef) -> tuple[LedgerLine, ...]:
    """The ledger of a stored report."""
    return read_lines(report.folder)
