"""A study's results as MLflow runs: one parent for the sweep, one child for each finished cell of the table."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from flows.context.coverage import TableCell
from flows.context.declaration import printed_settings
from flows.context.study import Outcome, Study
from flows.results.provenance import git_revision, versions
from flows.system.environment import PACKAGE_ROOT, project_root
from flows.system.processes import is_dead, this_process
from tasks.code_version import code_version
from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.catalogue.readers import READERS
from tasks.errors import UserError
from tasks.evaluation.node_classification.confusion import confusion_csv
from tasks.evaluation.tables.reference import beside
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import console_table, summary, write_csv
from tasks.point_folder import canonical_json, file_sha256
from tasks.reports.ledgers.ledger_table import ledgers_json, ledgers_markdown
from tasks.steps.download import RawSource
from tasks.steps.node_classification.prediction import Judged, best_model, confusion_of
from tasks.steps.tracking.address import default_tracking_uri
from tasks.steps.tracking.track import (
    OWNER,
    Artifacts,
    ParentRun,
    PublicData,
    RunStatus,
    close_parent,
    end_dead_runs,
    import_mlflow,
    log_child,
    log_parent_artifact,
    open_parent,
)
from tasks.store import PointRef

CONFUSION = "confusion.csv"
MODEL = "model"

log = logging.getLogger("pipeline")


class Tracker:
    """Logs cells as they finish. A tracking store that cannot be used is noted once; the results are on disk anyway."""

    def __init__(self, study: Study, flow_run: str) -> None:
        self.study = study
        self.problem: UserError | None = None
        self._parent: ParentRun | None = None
        self._flow_run = flow_run
        self._added = False

    def prepare(self) -> None:
        """What takes seconds, and can be done before there is a cell."""
        import_mlflow()
        self._code_version()

    def cell(
        self,
        cell: TableCell,
        rows: list[Row],
        points: Mapping[int, PointRef],
        source: RawSource,
        predictions: Mapping[int, Judged] | None = None,
    ) -> None:
        """One child for each line of the table: settings and repeats as params; means and deviations as metrics.

        Digests are tags. Of a public data set the child also names the set and, given its repeats' ``predictions``,
        holds their confusion matrix and the model of the best.
        """
        lines: defaultdict[str, list[Row]] = defaultdict(list)
        columns = [column for column in self.study.declaration.point if column.rstrip("=") not in cell.settings]
        for row in rows:
            lines[" ".join([str(cell), *printed_settings(columns, row.settings)])].append(row)
        for name, line in lines.items():
            self._line(name, line, points, source, predictions)

    def _line(
        self,
        name: str,
        rows: list[Row],
        points: Mapping[int, PointRef],
        source: RawSource,
        predictions: Mapping[int, Judged] | None,
    ) -> None:
        if self.problem:
            return
        first = rows[0]
        metrics: dict[str, float] = {}
        for line in summary(rows).itertuples():
            metrics |= {str(line.metric): float(line.mean), f"{line.metric}_sd": float(line.sd)}  # type: ignore[arg-type]
        tags = {"mechanism_version": code_version(*self.study.declaration.mechanisms)}
        if not source.private:
            tags["data_digest"] = source.content
        # The content of a private point's metrics is a function of raw data; its keyed digest is not.
        digests = [point.digest if source.private else point.content for _, point in sorted(points.items())]
        identity = canonical_json({"cell": name, "points": digests})
        try:
            self._added |= log_child(
                self._open(),
                point_digest=hashlib.sha256(identity.encode()).hexdigest()[:24],
                name=name,
                params={
                    "dataset": first.dataset,
                    "method": first.method,
                    "repeats": str(len(points)),
                    **first.settings,
                },
                tags=tags | self._revisions(),
                metrics=metrics,
                data=None if source.private else _public_data(source),
                artifacts=None if source.private else partial(_artifacts, source, predictions or {}),
            )
        except UserError as problem:
            self._give_up(problem)

    def finish(self, outcome: Outcome) -> None:
        """The table and the ledger as artifacts of the parent, which ends; one that was finished before has them."""
        if self.problem or not outcome.rows:
            return
        try:
            parent = self._open()
            if parent.finished and not self._added and not outcome.failures:
                return
            table = summary(outcome.rows)
            texts = {
                "table.txt": console_table(table, self.study.declaration.headlines) + "\n",
                "params.json": self.study.parameters() + "\n",
                "environment.json": json.dumps(versions(), indent=1) + "\n",
                "ledger.md": ledgers_markdown(outcome.ledgers),
                "ledger.json": ledgers_json(outcome.ledgers),
                **({"account.txt": outcome.accounts + "\n"} if outcome.accounts else {}),
            }
            with TemporaryDirectory() as place:
                log_parent_artifact(parent, texts | _tables_and_figures(self.study, table, Path(place)))
            close_parent(parent, "FAILED" if outcome.failures else "FINISHED")
        except UserError as problem:
            self._give_up(problem)

    def abandon(self, reason: BaseException) -> None:
        """End the parent of a run that could not finish."""
        status: RunStatus = "FAILED" if isinstance(reason, Exception) else "KILLED"  # as by an interrupt
        if self._parent and not self.problem:
            with contextlib.suppress(UserError):  # what ended the run matters more
                close_parent(self._parent, status)

    def _open(self) -> ParentRun:
        if self._parent is None:
            study, tracking_uri = self.study, default_tracking_uri(project_root())
            described = study.parameters()
            sweep = canonical_json([study.name, study.datasets, described, self._code_version()])
            self._parent = open_parent(
                tracking_uri,
                study.name,
                hashlib.sha256(sweep.encode()).hexdigest()[:24],
                study.request.title(study.name),
                tags={"flow_run": self._flow_run, **self._revisions()},
                params={
                    "profile": study.request.profile,
                    "datasets": " ".join(study.datasets),
                    "parameters": described,
                },
            )
            log_dead_runs(tracking_uri)
        return self._parent

    def _code_version(self) -> str:
        return code_version(self.study.declaration.flow().fn.__module__)

    def _give_up(self, problem: UserError) -> None:
        log.error("%s", problem)
        self.problem = problem

    def _revisions(self) -> dict[str, str]:
        lock = PACKAGE_ROOT / "dvc.lock"
        return {
            OWNER: this_process(),
            "git_revision": git_revision(),
            "dvc_revision": os.environ.get("DVC_EXP_NAME") or (file_sha256(lock)[:16] if lock.exists() else "none"),
        }


def log_dead_runs(tracking_uri: str) -> None:
    """Mark and name the runs that a killed process of this machine left running.

    Raises UserError if the store cannot be used.
    """
    for name in end_dead_runs(tracking_uri, is_dead):
        log.warning("MLflow run %r was killed and is marked so", name)


def _public_data(source: RawSource) -> PublicData:
    files = READERS[source.name].files if source.name in READERS else ()
    return PublicData(source.name, source.content, manifest()[files[0]].sources[0].url if files else "")


def _artifacts(source: RawSource, predictions: Mapping[int, Judged]) -> Artifacts:
    if not predictions:
        return {}
    repeats = [predictions[repeat] for repeat in sorted(predictions)]
    model = best_model(repeats)
    return {
        CONFUSION: confusion_csv(confusion_of(source, repeats)),
        **({f"{MODEL}/{model.name}": model} if model else {}),
    }


def _tables_and_figures(study: Study, table: pd.DataFrame, place: Path) -> dict[str, Path | str]:
    assert study.declaration.outputs is not None  # a study with rows has some
    outputs = study.declaration.outputs()
    compared = beside(table, outputs.published())
    write_csv(place / "table.csv", compared)
    outputs.write_tables(compared, place / "tables")
    outputs.draw(compared, place / "figures", None, ())
    return {path.name: path for path in place.iterdir()}
