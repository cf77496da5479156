"""All studies and stages by name, and how one is conducted: with any submitter, tracked in MLflow."""

from __future__ import annotations

from collections.abc import Callable

from flows.dask_workers import dask_workers_watched
from flows.download import download_data
from flows.ego_clustering import ego_clustering
from flows.graph_classification import graph_classification
from flows.node_classification import node_classification
from flows.node_embedding import node_embedding
from flows.perturb import perturb_reports
from flows.request import StudyRequest
from flows.study import Outcome, Study
from flows.submission import Submitter
from flows.tracking import Tracker

STUDIES: dict[str, Callable[[Study, Tracker], Outcome]] = {
    "download": download_data,
    "perturb": perturb_reports,
    "node_classification": node_classification,
    "node_embedding": node_embedding,
    "graph_classification": graph_classification,
    "ego_clustering": ego_clustering,
}


def conduct(name: str, request: StudyRequest, submitter: Submitter, flow_run_id: str) -> Outcome:
    """Run the study and track it; what MLflow could not take is one of the outcome's failures."""
    study = Study.open(name, request, submitter)
    tracker = Tracker(study, flow_run_id)
    submitter.meanwhile = tracker.prepare
    try:
        with dask_workers_watched(study.profile):
            outcome = STUDIES[name](study, tracker)
    except BaseException as reason:
        tracker.abandon(reason)
        raise
    tracker.finish(outcome)
    if tracker.problem:
        outcome.failures.append(str(tracker.problem))
    return outcome
