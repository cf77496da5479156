"""Runs a study: checks the request, then hands it to Prefect or to a plain pool, and prints what came of it."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from typing import Any

from prefect import State, flow
from prefect.results import ResultRecord
from prefect.runtime import flow_run
from prefect.states import Failed

from flows.crashes import claim_run, mark_crashed_runs
from flows.download import download_data
from flows.graph_classification import graph_classification
from flows.node_classification import node_classification
from flows.node_embedding import node_embedding
from flows.perturb import perturb_reports
from flows.runners import plain_pool, prefect_task_runner
from flows.study import Outcome, Study, StudyRequest, check_request, open_store
from flows.submission import PlainSubmitter, PrefectSubmitter, Submitter
from flows.tracking import Tracker
from tasks.errors import UserError
from tasks.evaluation.rows import write_rows
from tasks.evaluation.tables import console_table, summary
from tasks.params import Profile
from tasks.reports.ledger_table import ledgers_markdown
from tasks.steps.point_task import REFUSED

log = logging.getLogger("pipeline")

STUDIES: dict[str, Callable[[Study, Tracker], Outcome]] = {
    "download": download_data,
    "perturb": perturb_reports,
    "node_classification": node_classification,
    "node_embedding": node_embedding,
    "graph_classification": graph_classification,
}


def run(name: str, chosen: argparse.Namespace) -> int:
    """Run one study as the command line asked; the exit status."""
    datasets = [dataset for group in chosen.dataset for dataset in group]
    request = StudyRequest(profile=chosen.profile, datasets=datasets, overrides=chosen.set, export=chosen.export)
    profile = check_request(name, request)
    if chosen.json and chosen.json.is_dir():
        raise UserError(f"--json {chosen.json} is a folder; name a file")
    open_store()  # an unusable store shows before anything starts
    outcome = _plainly(name, request, profile) if chosen.plain else _with_prefect(name, request, profile)
    if outcome.rows:
        print(console_table(summary(outcome.rows)))
    if outcome.ledger.lines:
        print("\n" + ledgers_markdown(outcome.ledgers))
    if chosen.json:
        write_rows(chosen.json, outcome.rows)
    return 1 if outcome.failures else 0


@flow(persist_result=False, on_running=[claim_run])
def study_flow(name: str, request: StudyRequest) -> Outcome | State[Any]:
    """One study as a flow run; a user's mistake ends it as "Refused", without a traceback."""
    try:
        outcome = conduct(name, request, PrefectSubmitter(), str(flow_run.get_id()))
    except UserError as mistake:
        return Failed(name=REFUSED, message=str(mistake))
    if outcome.failures:
        return Failed(message="; ".join(outcome.failures), data=outcome)
    return outcome


def conduct(name: str, request: StudyRequest, submitter: Submitter, flow_run_id: str) -> Outcome:
    """Run the study and track it; what MLflow could not take is one of the outcome's failures."""
    study = Study.open(name, request, submitter)
    tracker = Tracker(study, flow_run_id)
    try:
        outcome = STUDIES[name](study, tracker)
    except BaseException:
        tracker.abandon()
        raise
    tracker.finish(outcome)
    if tracker.problem:
        outcome.failures.append(str(tracker.problem))
    return outcome


def _plainly(name: str, request: StudyRequest, profile: Profile) -> Outcome:
    with plain_pool(profile) as pool:
        return conduct(name, request, PlainSubmitter(pool), "none")


def _with_prefect(name: str, request: StudyRequest, profile: Profile) -> Outcome:
    for crashed in mark_crashed_runs():
        log.warning("flow run %r was killed and is marked as crashed; its finished points are kept", crashed)
    title = name.replace("_", " ")
    run_name = " ".join([title, request.profile, *request.datasets])
    named = study_flow.with_options(name=title, flow_run_name=run_name, task_runner=prefect_task_runner(profile))
    state: State[Any] = named(name, request, return_state=True)
    if state.name == REFUSED:
        raise UserError(state.message or "refused")
    found = state.data.result if isinstance(state.data, ResultRecord) else None
    if isinstance(found, Outcome):
        return found
    state.result()  # raises what ended the flow
    raise RuntimeError(f"{run_name} ended as {state.name} without an outcome")
