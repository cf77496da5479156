"""How a study is run: its function under a Prefect flow or plainly, over an open store, tracked in MLflow.

Every task carries its flow to the worker. What travels is the function made here, which imports nothing until it is
called: the study's own libraries would cost each worker seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prefect import State

from flows.context.request import StudyRequest
from flows.server.crashed_runs import claim_run

if TYPE_CHECKING:
    from flows.context.request import ResolvedRequest
    from flows.context.study import Outcome, Study
    from flows.execution.submission import Submitter
    from flows.tracking.mlflow_log import Tracker

    StudyFunction = Callable[[Study, Tracker], Outcome]

FLOW: dict[str, Any] = {"persist_result": False, "on_running": [claim_run]}
"""What the flows of all studies have in common."""
_FUNCTIONS: dict[str, StudyFunction] = {}


def conducted(name: str) -> Callable[[StudyFunction], Callable[[StudyRequest], Outcome | State[Any]]]:
    """Make a study's function one of a request, for Prefect's ``@flow``.

    In the flow, a user's mistake ends it as "Refused", without a traceback; what could not be computed fails it.
    """

    def decorate(function: StudyFunction) -> Callable[[StudyRequest], Outcome | State[Any]]:
        _FUNCTIONS[name] = function

        def run(request: StudyRequest) -> Outcome | State[Any]:
            from flows.studies.conduct import conduct_in_flow

            return conduct_in_flow(name)

        run.__doc__, run.__module__ = function.__doc__, function.__module__
        run.__name__ = run.__qualname__ = function.__name__
        return run

    return decorate


def conduct_in_flow(name: str) -> Outcome | State[Any]:
    """One study in a flow run, with its lines and results in the Prefect UI."""
    from prefect.context import TagsContext
    from prefect.runtime import flow_run
    from prefect.states import Failed

    from flows.context.artifacts import lines_in_the_ui, show_outcome
    from flows.context.request import entered_request
    from flows.execution.submission import PrefectSubmitter
    from tasks.errors import UserError
    from tasks.redaction import without_secrets
    from tasks.steps.point import REFUSED

    # The tags of the run name all its data sets, those of a task its own.
    with TagsContext(current_tags=set()), lines_in_the_ui():
        try:
            outcome = conduct(entered_request(name), PrefectSubmitter(name), str(flow_run.get_id()))
        except UserError as mistake:
            return Failed(name=REFUSED, message=without_secrets(str(mistake)))
        show_outcome(outcome)
    if outcome.failures:
        return Failed(message="; ".join(outcome.failures), data=outcome)
    return outcome


def conduct(asked: ResolvedRequest, submitter: Submitter, flow_run_id: str) -> Outcome:
    """Run the study and track it; what MLflow could not take is one of the outcome's failures."""
    from flows.execution.dask_workers import dask_workers_watched
    from flows.tracking.mlflow_log import Tracker

    function, study = study_function(asked), open_study(asked, submitter)
    tracker = Tracker(study, flow_run_id)
    submitter.warm_up = tracker.prepare
    try:
        with dask_workers_watched(study.profile):
            outcome = function(study, tracker)
    except BaseException as reason:
        tracker.abandon(reason)
        raise
    tracker.finish(outcome)
    if tracker.problem:
        outcome.failures.append(str(tracker.problem))
    return outcome


def study_function(asked: ResolvedRequest) -> StudyFunction:
    """The function of a study or stage, without Prefect."""
    asked.declaration.flow()
    return _FUNCTIONS[asked.declaration.name]


def open_study(asked: ResolvedRequest, submitter: Submitter) -> Study:
    """Open the store for it."""
    from flows.context.project import open_store, private_places
    from flows.context.study import Study
    from flows.system.owner_only import keep_to_owner

    if any(asked.own[name].private for name in asked.datasets if name in asked.own):
        keep_to_owner(private_places())
    return Study(asked.declaration, asked.request, asked.profile, asked.datasets, asked.own, open_store(), submitter)
