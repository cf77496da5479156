"""What every study shares: the request, the resolved parameters, the store, progress, and the outcome."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from flows.startup import PACKAGE_ROOT, project_root
from flows.submission import Call, Done, Submitter
from tasks.datasets.registry import public_dataset, user_dataset
from tasks.datasets.user_graph import UserDataset
from tasks.errors import UserError
from tasks.evaluation.rows import Row
from tasks.parameters.loading import load_parameters
from tasks.parameters.profiles import Parameters, Profile
from tasks.reports.ledger import Ledger
from tasks.steps.download import RawSource, download
from tasks.store import PointStore

PARAMETERS = "params.yaml"
SHORT = 60
SECTIONS = {
    "download": ("node_classification", "node_embedding", "graph_classification", "ego_clustering"),
    "perturb": ("node_classification",),
}
"""The sections of a profile that a stage is for; a study has its own."""

log = logging.getLogger("pipeline")


class StudyRequest(BaseModel):
    """What a user asks of a study; the grid itself is params.yaml's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    profile: str = Field(default="demo", description="section of params.yaml: demo or paper")
    datasets: list[str] = Field(default=[], description="data sets to run instead of the profile's")
    overrides: list[str] = Field(default=[], description="dotted.key=json, relative to the profile")
    export: bool = Field(default=False, description="lay points and tables below data/, for DVC")

    def title(self, name: str) -> str:
        """What is asked of a study, in one short line."""
        parts = [override.partition("=") for override in self.overrides]
        changes = [f"{key.rpartition('.')[2]}={value}".replace('"', "") for key, _, value in parts if value != "[]"]
        shown = [change for change in changes if len(change) <= SHORT]
        return " ".join([name.replace("_", " "), self.profile, *self.datasets, *shown])


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


def workspace() -> Path:
    """The folder with params.yaml and data/: the checkout, or DVC's copy of it in an experiment."""
    return PACKAGE_ROOT


def check_request(name: str, request: StudyRequest) -> Profile:
    """The profile of a request, after checking everything that can be checked before anything starts.

    Raises:
        UserError: for any mistake in the request or in params.yaml, or an unusable store.
    """
    parameters = read_request(request)
    own = own_datasets(parameters)
    profile: Profile = getattr(parameters, request.profile)
    for dataset in chosen_datasets(name, request, profile):
        if user_dataset(dataset, own) is None:
            public_dataset(dataset, own)
        elif own[dataset].private and request.export:
            raise UserError(f"data set {dataset!r} is private and is never laid below data/; run without --export")
    return profile


def chosen_datasets(name: str, request: StudyRequest, profile: Profile) -> list[str]:
    """The request's data sets, else those of the profile's sections that the study or stage is for; each once."""
    named = [getattr(profile, section).datasets for section in SECTIONS.get(name, (name,))]
    return list(dict.fromkeys(request.datasets or chain(*named)))


def read_request(request: StudyRequest) -> Parameters:
    """The validated parameters of a request."""
    return load_parameters(workspace() / PARAMETERS, request.profile, request.overrides)


def own_datasets(parameters: Parameters) -> dict[str, UserDataset]:
    """The graphs that the user declared, with their paths below the checkout."""
    return {
        name: UserDataset(
            name=name,
            edges=workspace() / declared.edges,
            features=workspace() / declared.features if declared.features else None,
            labels=workspace() / declared.labels if declared.labels else None,
            nodes=declared.nodes,
            feature_bounds=declared.feature_bounds,
            private=declared.private,
        )
        for name, declared in parameters.datasets.items()
    }


def open_store() -> PointStore:
    """The project's point store (or the one that POINT_STORE names), cleared of what killed runs left."""
    place = os.environ.get("POINT_STORE")
    store = PointStore(Path(place) if place else project_root() / ".cache", exports=(workspace() / "data",))
    removed = store.sweep_leftovers()
    if removed:
        log.warning("removed %d unfinished points that killed runs left", removed)
    return store


def describe(profile: Profile, section: str) -> str:
    """The parameters that decide a study's results, as canonical JSON."""
    chosen = profile.model_dump(include={"seed", "repeats", *SECTIONS.get(section, (section,))})
    return json.dumps(chosen, sort_keys=True)
