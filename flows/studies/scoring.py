"""The loop that all studies end with: scores become rows, and a finished cell of the table is tracked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flows.context.coverage import TableCell
from flows.context.study import Study
from flows.execution.submission import Done
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.steps.download import RawSource
from tasks.steps.node_classification.prediction import Judged
from tasks.store import PointRef

Points = dict[tuple[Any, int], PointRef]
"""One point for each cell and repeat."""
Metrics = Callable[[Any, int, PointRef], Mapping[str, float]]
"""What is measured of a cell in one repeat, from the point of its scores."""


@dataclass
class Scores:
    """Rows and points, as they were scored."""

    rows: dict[Any, list[Row]] = field(default_factory=lambda: defaultdict(list))
    by_cell: dict[Any, dict[int, PointRef]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def all_rows(self) -> list[Row]:
        """Those of every cell."""
        return [row for rows in self.rows.values() for row in rows]

    @property
    def points(self) -> Points:
        """By cell and repeat."""
        return {(cell, repeat): point for cell, found in self.by_cell.items() for repeat, point in found.items()}


def score_and_track(
    study: Study,
    tracker: Tracker,
    scored: Iterable[Done | None],
    sources: Mapping[str, RawSource],
    rows_of: Callable[[Any, int, PointRef], Iterable[Row]],
    *,
    repeats: Mapping[Any, int] | None = None,
    prediction: Callable[[Any, int], Judged] | None = None,
) -> Scores:
    """Collect the rows of each scored (cell, repeat); a cell with all its repeats becomes runs in MLflow.

    Args:
        study, tracker: of this run.
        scored: finished calls whose keys are (cell, repeat), failed ones left out or None.
        sources: of the cells' data sets.
        rows_of: the rows of one repeat of a cell.
        repeats: of each cell; the profile's where it is not given.
        prediction: what a cell predicted in a repeat, for its confusion matrix.
    """
    scores = Scores()
    for done in scored:
        if done is None:
            continue
        cell, repeat = done.call.key
        scores.rows[cell] += rows_of(cell, repeat, done.result)
        scores.by_cell[cell][repeat] = done.result
        if len(scores.by_cell[cell]) == (repeats[cell] if repeats else study.profile.repeats):
            points = scores.by_cell[cell]
            made = {of: prediction(cell, of) for of in points} if prediction else None
            tracker.cell(cell, scores.rows[cell], points, sources[cell.dataset], made)
    return scores


def metric_rows(study: Study, cell: TableCell, repeat: int, metrics: Mapping[str, float]) -> list[Row]:
    """One row for each metric."""
    return [Row(study.name, cell.dataset, cell.method, cell.settings, repeat, *item) for item in metrics.items()]
