"""The flows of the stages before the studies."""

from __future__ import annotations

from prefect import flow

from flows.context.project import data_folder
from flows.context.study import Outcome, Study
from flows.studies.conduct import FLOW, conducted
from flows.studies.node_classification.reports import perturb as draw_reports
from flows.tracking.mlflow_log import Tracker


@flow(name="download", **FLOW)
@conducted("download")
def download(study: Study, _: Tracker) -> Outcome:
    """Bring every data set of the profile in, whichever study it is for."""
    for name, source in study.sources().items():
        if study.request.export:
            # A user's own files stay where they are; DVC still expects the folder.
            study.store.export([source.point] if source.point else [], data_folder("raw", study.request.profile, name))
    return study.outcome([], {})


@flow(name="perturb", **FLOW)
@conducted("perturb")
def perturb(study: Study, _: Tracker) -> Outcome:
    """Draw the reports that the users send to node classification."""
    sources = study.sources()
    reports = draw_reports(study, sources)
    if study.request.export:
        for name in sources:
            folder = data_folder("noisy", study.request.profile, "node_classification", name)
            study.store.export(reports.points(name), folder)
    return study.outcome([], {"": reports.ledger()})
