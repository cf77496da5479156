"""What every study shares: its resolved parameters, the store, progress, and the outcome."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from prefect import Task

from flows.context.declaration import StudyDeclaration
from flows.context.request import StudyRequest
from flows.execution.submission import Call, Done, Submitter
from tasks.account.account import accounts_text
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row
from tasks.parameters.profiles import Profile
from tasks.parameters.values import Section
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_line import score_line
from tasks.steps.download import RawSource, download
from tasks.steps.seeds import PUBLIC_ROOT
from tasks.store import PointStore

log = logging.getLogger("pipeline")


@dataclass(frozen=True)
class Outcome:
    """What a study found: rows, the ledger, the points that failed in spite of their retries, and, of private data
    sets, what was ever released.
    """

    study: str
    rows: list[Row]
    ledgers: dict[str, Ledger]
    failures: list[str]
    computed: int
    cached: int
    accounts: str = ""

    @property
    def ledger(self) -> Ledger:
        """Every distinct report of the study; ``ledgers`` has one for each alternative that a user might deploy."""
        return Ledger(tuple(line for ledger in self.ledgers.values() for line in ledger.lines))


@dataclass
class Study:
    """One run of a study: its parameters and what its steps share."""

    declaration: StudyDeclaration
    request: StudyRequest
    profile: Profile
    datasets: list[str]
    own: dict[str, UserDataset]
    store: PointStore
    submitter: Submitter
    computed: int = 0
    cached: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of the study or stage."""
        return self.declaration.name

    @property
    def grid(self) -> Section:
        """The study's own section of the profile."""
        section: Section = getattr(self.profile, self.declaration.sections[0])
        return section

    @property
    def public_seed(self) -> int:
        """The seed of public draws, such as splits; with ``seed: null``, which hides the users' noise, it is 0."""
        return PUBLIC_ROOT if self.profile.seed is None else self.profile.seed

    def call(
        self,
        step: Task[..., Any],
        verb: str,
        of: object,
        repeat: int | None = None,
        *,
        key: Any = None,
        **given: Any,
    ) -> Call:
        """A call of a step, named as the experiment reads: ``<verb> <of> repeat=<repeat>``.

        Parameters of the step that are not given come, by their names, from what the call is about (``repeat``, its
        ``label``, the ``dataset`` of a cell), from the run (``store``, ``seed``, ``device``) and from the grid, which
        is ``study`` as a whole.

        Args:
            step: the step.
            verb: what it does.
            of: what it is about: a cell of the table, or words.
            repeat: the repeat, for what is drawn anew in each.
            key: what the result is found by in ``collect``; (of, repeat) unless it is given.
            given: the step's other arguments.
        """
        label = str(of) if repeat is None else f"{of} repeat={repeat}"
        key = (of, repeat) if key is None else key
        if repeat is not None and getattr(step, "shared", False):
            repeat = self.noise_repeat(given["source"].name, repeat)
        known: dict[str, Any] = {"label": label, "repeat": repeat, "store": self.store, "study": self.grid}
        known |= {"seed": self.profile.seed, "device": self.profile.device, "dataset": getattr(of, "dataset", None)}
        arguments = {
            name: given.pop(name) if name in given else known[name] if name in known else getattr(self.grid, name)
            for name, parameter in signature(step.fn).parameters.items()
            if name in given or name in known or (parameter.default is parameter.empty or hasattr(self.grid, name))
        }
        assert not given, f"{step.name} has no {', '.join(given)}"
        return Call(step, f"{verb} {label}", arguments, key)

    def noise_repeat(self, dataset: str, repeat: int) -> int:
        """The repeat whose reports a repeat uses: on a private data set all share one draw, or each would be paid."""
        own = self.own.get(dataset)
        return repeat if own is None or not own.private or own.fresh_noise else 0

    def run(self, calls: Iterable[Call]) -> Iterator[Done]:
        """Successful calls as they finish; computed points are logged, failed ones noted."""
        for done in self.submitter.run(calls):
            if self._noted(done):
                yield done

    def run_inline(self, call: Call) -> Done | None:
        """A short call done at once, by the flow itself; None when it failed, which is noted."""
        done = self.submitter.run_inline(call)
        return done if self._noted(done) else None

    def collect(self, calls: Iterable[Call]) -> dict[Any, Any]:
        """Results by the keys of their calls."""
        return {done.call.key: done.result for done in self.run(calls)}

    def sources(self) -> dict[str, RawSource]:
        """The data sets' raw files; the study goes on without a set that cannot be had.

        Raises:
            UserError: when none can be had.
        """
        found = self.collect(
            self.call(download, "download", name, key=name, name=name, own=self.own.get(name)) for name in self.datasets
        )
        if not found:
            raise UserError("; ".join(self.failures))
        self.datasets = [name for name in self.datasets if name in found]
        return {name: found[name] for name in self.datasets}

    def outcome(self, rows: list[Row], ledgers: Mapping[str, Ledger]) -> Outcome:
        """The result, with a last line on what was computed and what was found."""
        log.info("%s: %d points computed, %d found in the store", self.name, self.computed, self.cached)
        own = [self.own[name] for name in self.datasets if name in self.own]
        scored = {f"Scores of {of.name}": Ledger((score_line(of.name),)) for of in own if of.private and of.scores}
        ledgers = {**ledgers, **(scored if rows else {})}
        return Outcome(self.name, rows, ledgers, self.failures, self.computed, self.cached, accounts_text(own))

    def parameters(self) -> str:
        """The parameters that decide the results, as canonical JSON."""
        chosen = self.profile.model_dump(include={"seed", "repeats", *self.declaration.sections})
        return json.dumps(chosen, sort_keys=True)

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
