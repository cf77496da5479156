"""A study conducted from the store alone, for the sake of its tracking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from flows.context.request import ResolvedRequest
from flows.context.study import Outcome, Study
from flows.execution.submission import Call, Done, PlainSubmitter
from flows.studies.conduct import open_study, study_function
from flows.tracking.mlflow_log import Tracker
from tasks.errors import UserError
from tasks.steps.node_classification.forecast import forecast
from tasks.store import PointStore


def relog(asked: ResolvedRequest) -> int:
    """Log a finished study anew; the number of cells that are in MLflow afterwards.

    Raises:
        UserError: when a point is missing, before anything is logged, and when MLflow cannot be used.
    """
    with ThreadPoolExecutor(1) as pool:
        study = open_study(asked, StoredSubmitter(pool))
        study.store = StoredPoints(study.store.root, study.store.exports)
        tracker = PatientTracker(study)
        outcome = study_function(asked)(study, tracker)
    if outcome.failures:
        raise UserError(f"{outcome.failures[0]}; nothing was logged")
    return tracker.log(outcome)


class StoredPoints(PointStore):
    """A store that computes nothing."""

    def permit(self, label: str) -> None:
        """See ``PointStore``."""
        raise UserError(f"not in the store: {label}; run the study first, nothing was logged")


class StoredSubmitter(PlainSubmitter):
    """Measures nothing: a forecast is asked for where a search is missing."""

    def run(self, calls: Iterable[Call]) -> Iterator[Done]:
        """See ``Submitter``.

        Raises:
            UserError: for a forecast.
        """
        wanted = list(calls)
        if missing := [call for call in wanted if call.step is forecast]:
            searched = missing[0].name.replace("forecast", "search", 1)
            raise UserError(f"not in the store: {searched}; run the study first, nothing was logged")
        return super().run(wanted)


class PatientTracker(Tracker):
    """Keeps what there is to log until the study is through."""

    def __init__(self, study: Study) -> None:
        super().__init__(study, "relog")
        self._cells: list[Callable[[], None]] = []

    def cell(self, *cell: Any, **more: Any) -> None:
        """See ``Tracker``."""
        self._cells.append(partial(super().cell, *cell, **more))

    def log(self, outcome: Outcome) -> int:
        """Everything now; the number of cells.

        Raises:
            UserError: when MLflow cannot be used.
        """
        for cell in self._cells:
            cell()
        self.finish(outcome)
        if self.problem:
            raise self.problem
        return len(self._cells)
