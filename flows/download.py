"""The download stage: upstream files below data/raw, checked against their published hashes."""

from __future__ import annotations

if __name__ == "__main__":
    from flows.command import main

    raise SystemExit(main("download"))

from flows.project import data_folder
from flows.study import Outcome, Study
from flows.tracking import Tracker


def download_data(study: Study, _: Tracker) -> Outcome:
    """Bring every data set of the profile in, whichever study it is for."""
    for name, source in study.sources().items():
        if study.request.export:
            # A user's own files stay where they are; DVC still expects the folder.
            study.store.export([source.point] if source.point else [], data_folder("raw", study.request.profile, name))
    return study.outcome([], {})
