"""A study as a Prefect flow.

Every task carries its flow to the worker, by the name of this module: it imports no study, which would cost each worker
seconds.
"""

from __future__ import annotations

from typing import Any

from prefect import State, flow
from prefect.context import TagsContext
from prefect.runtime import flow_run
from prefect.states import Failed

from flows.context.request import StudyRequest
from flows.context.study import Outcome
from flows.server.crashed_runs import claim_run
from tasks.errors import UserError
from tasks.redaction import without_secrets
from tasks.steps.point import REFUSED


@flow(persist_result=False, on_running=[claim_run])
def study_flow(name: str, request: StudyRequest) -> Outcome | State[Any]:
    """One study as a flow run; a user's mistake ends it as "Refused", without a traceback."""
    from flows.context.artifacts import lines_in_the_ui, show_outcome
    from flows.execution.submission import PrefectSubmitter
    from flows.run.conduct import conduct

    # The tags of the run name all its data sets, those of a task its own.
    with TagsContext(current_tags=set()), lines_in_the_ui():
        try:
            outcome = conduct(name, request, PrefectSubmitter(name), str(flow_run.get_id()))
        except UserError as mistake:
            return Failed(name=REFUSED, message=without_secrets(str(mistake)))
        show_outcome(outcome)
    if outcome.failures:
        return Failed(message="; ".join(outcome.failures), data=outcome)
    return outcome
