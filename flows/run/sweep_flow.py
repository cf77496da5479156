"""Any study, any part of its grid: from the command line, and as a flow with a form in the Prefect UI.

``prefect.yaml`` deploys the flow: nightly, on a GPU, and for the reproduction of a paper.
"""

from __future__ import annotations

from typing import Any

from prefect import State, flow
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from flows.context.artifacts import show_outcome
from flows.run.run_study import outcome_of, run_in_prefect
from flows.run.sweep_request import SweepRequest
from flows.server.crashed_runs import claim_run
from flows.studies.requests import check_request
from tasks.errors import UserError
from tasks.steps.point import REFUSED

AS_IN_PARAMS = SweepRequest()


def run_name() -> str:
    """The flow run reads as the experiment."""
    return f"sweep {SweepRequest.model_validate(flow_run.parameters['request']).experiment}"


@flow(name="sweep", flow_run_name=run_name, persist_result=False, on_running=[claim_run])
def sweep(request: SweepRequest = AS_IN_PARAMS) -> State[Any]:
    """One study over a part of its grid, with the task runner that its profile or the request names.

    Args:
        request: study and grid; what is left empty is as in params.yaml
    """
    try:
        state = run_in_prefect(check_request(request.study, request.study_request()))
    except UserError as mistake:
        return Failed(name=REFUSED, message=str(mistake))
    if outcome := outcome_of(state):
        show_outcome(outcome)  # on this run, too: it is the one that the deployment lists
    if state.is_completed():
        return Completed(message=f"{request.experiment}: see the artifacts")
    # A state of its own: Prefect would sum up a returned one as "1/1 states failed".
    return State(type=state.type, name=state.name, message=state.message)
