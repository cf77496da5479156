"""What a flow run shows in the Prefect UI beside its tasks: forecast, results and ledger as artifacts, its log lines.

Outside a flow run these do nothing; a server that cannot take them costs a line, never the run.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator

from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler

from flows.context.study import Outcome
from flows.system.log_lines import WithoutSecrets
from tasks.evaluation.tables.summary import cell, setting_names, summary
from tasks.redaction import without_secrets
from tasks.reports.ledgers.ledger_table import ledgers_markdown
from tasks.steps.progress import artifact_key

log = logging.getLogger("pipeline")


def show_forecast(study: str, line: str) -> None:
    """What the run is expected to take, before it starts."""
    _show(create_markdown_artifact, line, f"forecast {study}", f"What {study} will take")


def show_outcome(outcome: Outcome) -> None:
    """The table of results, the ledger, and what failed."""
    name = outcome.study
    if outcome.rows:
        what = f"{name}: mean ± standard deviation (repeats)"
        _show(create_table_artifact, result_lines(outcome), f"results {name}", what)
    failed = "".join(f"- {without_secrets(failure)}\n" for failure in outcome.failures)
    parts = [
        f"{outcome.computed} points computed, {outcome.cached} found in the store.",
        *([f"## Failed\n\n{failed}"] if failed else []),
        *([ledgers_markdown(outcome.ledgers)] if outcome.ledger.lines else []),
        *([outcome.accounts] if outcome.accounts else []),
    ]
    _show(create_markdown_artifact, "\n\n".join(parts), f"ledger {name}", f"{name}: what users paid")


def result_lines(outcome: Outcome) -> list[dict[str, str]]:
    """One line for each cell of the table: data set, method, settings, and every metric."""
    frame = summary(outcome.rows)
    keys = ["dataset", "method", *setting_names(frame)]
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for values in frame.to_dict("records"):
        line = lines.setdefault(tuple(values[key] for key in keys), {key: values[key] for key in keys})
        line[values["metric"]] = cell(values["mean"], values["sd"], values["repeats"])
    return list(lines.values())


@contextlib.contextmanager
def lines_in_the_ui() -> Iterator[None]:
    """The pipeline's own log lines become the flow run's and task runs', too."""
    handler = APILogHandler()
    handler.setFormatter(WithoutSecrets("%(message)s"))
    handler.addFilter(lambda record: bool(FlowRunContext.get() or TaskRunContext.get()))
    log.addHandler(handler)
    log.setLevel(logging.INFO)  # in a worker's process nobody else has
    try:
        yield
    finally:
        log.removeHandler(handler)


def _show(create: Callable[..., object], content: object, key: str, description: str) -> None:
    if FlowRunContext.get() is None:
        return
    try:
        create(content, artifact_key(key), description)
    except Exception as error:  # whatever the client raises, the results matter more
        log.warning("an artifact is missing in the Prefect UI: %s", error)
