"""All studies and stages by name, and how one is conducted: with any submitter, tracked in MLflow."""

from __future__ import annotations

from collections.abc import Callable

from flows.context.request import StudyRequest
from flows.context.study import Outcome, Study
from flows.execution.dask_workers import dask_workers_watched
from flows.execution.submission import Submitter
from flows.tracking.mlflow_log import Tracker


def study_named(name: str) -> Callable[[Study, Tracker], Outcome]:
    """The study or stage; only its own libraries are imported, which take a second or more."""
    match name:
        case "download":
            from flows.studies.data_stages import download_data

            return download_data
        case "perturb":
            from flows.studies.data_stages import perturb_reports

            return perturb_reports
        case "node_classification":
            from flows.studies.node_classification.flow import node_classification

            return node_classification
        case "node_embedding":
            from flows.studies.node_embedding.flow import node_embedding

            return node_embedding
        case "graph_classification":
            from flows.studies.graph_classification.flow import graph_classification

            return graph_classification
        case "ego_clustering":
            from flows.studies.ego_clustering.flow import ego_clustering

            return ego_clustering
    raise ValueError(f"no study: {name}")


def conduct(name: str, request: StudyRequest, submitter: Submitter, flow_run_id: str) -> Outcome:
    """Run the study and track it; what MLflow could not take is one of the outcome's failures."""
    conducted = study_named(name)
    study = Study.open(name, request, submitter)
    tracker = Tracker(study, flow_run_id)
    submitter.meanwhile = tracker.prepare
    try:
        with dask_workers_watched(study.profile):
            outcome = conducted(study, tracker)
    except BaseException as reason:
        tracker.abandon(reason)
        raise
    tracker.finish(outcome)
    if tracker.problem:
        outcome.failures.append(str(tracker.problem))
    return outcome
