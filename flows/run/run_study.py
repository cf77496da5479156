"""Runs a study: hands the request to Prefect or to a plain pool, and prints what came of it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from prefect import State, tags
from prefect.results import ResultRecord

from flows.context.request import ResolvedRequest
from flows.context.study import Outcome
from flows.execution.submission import PlainSubmitter
from flows.execution.task_runners import plain_pool, prefect_task_runner
from flows.server.api_errors import api_errors
from flows.server.crashed_runs import mark_crashed_runs
from flows.studies.conduct import conduct
from tasks.errors import UserError
from tasks.evaluation.tables.rows import write_rows
from tasks.evaluation.tables.summary import console_table, summary
from tasks.reports.ledgers.ledger_table import ledgers_markdown
from tasks.steps.point import REFUSED

log = logging.getLogger("pipeline")


def run(asked: ResolvedRequest, plain: bool, rows: Path | None) -> int:
    """Run one study that was checked; its rows go to the file ``rows``. The exit status."""
    outcome = _plainly(asked) if plain else _with_prefect(asked)
    if rows:  # before what is printed, which nobody may read to its end
        write_rows(rows, outcome.rows)
    if outcome.rows:
        print(console_table(summary(outcome.rows), asked.declaration.headlines))
    if outcome.ledger.lines:
        print("\n" + ledgers_markdown(outcome.ledgers))
    if outcome.accounts:
        print("\n" + outcome.accounts)
    if outcome.failures:
        log.error("failed, everything else is finished:\n%s", "\n".join(f"- {failure}" for failure in outcome.failures))
    return 1 if outcome.failures else 0


def _plainly(asked: ResolvedRequest) -> Outcome:
    with plain_pool(asked.profile) as pool:
        return conduct(asked, PlainSubmitter(pool), "none")


def run_in_prefect(asked: ResolvedRequest) -> State[Any]:
    """Run a study as a flow run with the profile's task runner; within another flow, as a part of it.

    Raises:
        UserError: when the profile's runner cannot be reached, or the server asks for a password.
        ServerLost: when the server goes away under the run.
    """
    with api_errors():
        crashed_runs = mark_crashed_runs()
    for crashed in crashed_runs:
        log.warning("flow run %r was killed and is marked as crashed; its finished points are kept", crashed)
    declaration, request = asked.declaration, asked.request
    flow = declaration.flow().with_options(
        flow_run_name=request.title(declaration.name).replace("{", "{{").replace("}", "}}"),  # Prefect fills in fields
        task_runner=prefect_task_runner(asked.profile),
    )
    with api_errors(), tags(declaration.name, request.profile, *asked.datasets), asked.entered():
        state: State[Any] = flow(request, return_state=True)  # type: ignore[assignment]
    return state


def outcome_of(state: State[Any]) -> Outcome | None:
    """What a study's run found; None where it ended without."""
    found = state.data.result if isinstance(state.data, ResultRecord) else None
    return found if isinstance(found, Outcome) else None


def _with_prefect(asked: ResolvedRequest) -> Outcome:
    state = run_in_prefect(asked)
    if state.name == REFUSED:
        raise UserError(state.message or "refused")
    if outcome := outcome_of(state):
        return outcome
    state.result()  # raises what ended the flow
    raise RuntimeError(f"{asked.request.title(asked.declaration.name)} ended as {state.name} without an outcome")
