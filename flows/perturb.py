"""The perturb stage: every report of the node classification study below data/noisy."""

from __future__ import annotations

if __name__ == "__main__":
    from flows.command import main

    raise SystemExit(main("perturb"))

from flows.classification_reports import perturb
from flows.project import data_folder
from flows.study import Outcome, Study
from flows.tracking import Tracker


def perturb_reports(study: Study, _: Tracker) -> Outcome:
    """Draw the reports that the users send."""
    sources = study.sources()
    reports = perturb(study, sources)
    if study.request.export:
        for name in sources:
            folder = data_folder("noisy", study.request.profile, "node_classification", name)
            study.store.export(reports.points(name), folder)
    return study.outcome([], {"": reports.ledger()})
