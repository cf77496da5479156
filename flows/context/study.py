"""What every study shares: its resolved parameters, the store, progress, and the outcome."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from flows.context.project import open_store
from flows.context.request import SECTIONS, StudyRequest, check_request, chosen_datasets, own_datasets, read_request
from flows.execution.submission import Call, Done, Submitter
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row
from tasks.parameters.profiles import Profile
from tasks.reports.ledgers.ledger import Ledger
from tasks.steps.download import RawSource, download
from tasks.store import PointStore

log = logging.getLogger("pipeline")


@dataclass(frozen=True)
class Outcome:
    """What a study found: rows, the ledger, and the points that failed in spite of their retries."""

    study: str
    rows: list[Row]
    ledgers: dict[str, Ledger]
    failures: list[str]
    computed: int
    cached: int

    @property
    def ledger(self) -> Ledger:
        """Every distinct report of the study; ``ledgers`` has one for each alternative that a user might deploy."""
        return Ledger(tuple(line for ledger in self.ledgers.values() for line in ledger.lines))


@dataclass
class Study:
    """One run of a study: its parameters and what its steps share."""

    name: str
    request: StudyRequest
    profile: Profile
    datasets: list[str]
    own: dict[str, UserDataset]
    store: PointStore
    submitter: Submitter
    computed: int = 0
    cached: int = 0
    failures: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, name: str, request: StudyRequest, submitter: Submitter) -> Study:
        """Resolve a request against params.yaml and open the store."""
        profile = check_request(name, request)
        own, store = own_datasets(read_request(request)), open_store()
        return cls(name, request, profile, chosen_datasets(name, request, profile), own, store, submitter)

    def run(self, calls: Iterable[Call]) -> Iterator[Done]:
        """Successful calls as they finish; computed points are logged, failed ones noted."""
        for done in self.submitter.run(calls):
            if self._noted(done):
                yield done

    def here(self, call: Call) -> Done | None:
        """A short call done at once, by the flow itself; None when it failed, which is noted."""
        done = self.submitter.here(call)
        return done if self._noted(done) else None

    def collect(self, calls: Iterable[Call]) -> dict[Any, Any]:
        """Results by what their calls are about."""
        return {done.call.about: done.result for done in self.run(calls)}

    def sources(self) -> dict[str, RawSource]:
        """The data sets' raw files; the study goes on without a set that cannot be had.

        Raises:
            UserError: when none can be had.
        """
        calls = [
            Call(download, f"download {name}", {"store": self.store, "name": name, "own": self.own.get(name)}, name)
            for name in self.datasets
        ]
        found = self.collect(calls)
        if not found:
            raise UserError("; ".join(self.failures))
        self.datasets = [name for name in self.datasets if name in found]
        return {name: found[name] for name in self.datasets}

    def outcome(self, rows: list[Row], ledgers: dict[str, Ledger]) -> Outcome:
        """The result, with a last line on what was computed and what was found."""
        log.info("%s: %d points computed, %d found in the store", self.name, self.computed, self.cached)
        return Outcome(self.name, rows, ledgers, self.failures, self.computed, self.cached)

    def _noted(self, done: Done) -> bool:
        if done.error is not None:
            self.failures.append(f"{done.call.name}: {type(done.error).__name__}: {done.error}")
            log.error("failed: %s", self.failures[-1])
            return False
        self._count(done.call.name, done.result)
        return True

    def _count(self, name: str, result: Any) -> None:
        point = result.point if isinstance(result, RawSource) else result
        if point is None:
            return
        if point.remark:
            log.warning("%s; %s", point.remark, name if point.cached else f"computed again: {name}")
        if point.cached:
            self.cached += 1
        else:
            self.computed += 1
            log.info("computed in %.1f s: %s", point.seconds, name)


def describe(profile: Profile, section: str) -> str:
    """The parameters that decide a study's results, as canonical JSON."""
    chosen = profile.model_dump(include={"seed", "repeats", *SECTIONS.get(section, (section,))})
    return json.dumps(chosen, sort_keys=True)
