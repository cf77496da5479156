"""Sends results that a dead tracking server missed to MLflow: ``python -m flows.relog [--study S ...] ...``.

The studies are conducted once more with a store that only reads: every point must be there. What MLflow has already
is left as it is. Give the options of the run that was not logged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from flows.context.project import open_store
from flows.run.command_line import guarded
from flows.run.sweep_request import AXES, NAMES, add_grid_options, requested
from flows.studies.registry import STUDIES
from flows.studies.requests import check_request


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 2 where a point is missing or MLflow cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.relog", description="send finished results that MLflow missed, without duplicates"
    )
    parser.add_argument("--study", nargs="+", choices=NAMES, help="default: make run's; with an axis, a sweep's")
    parser.add_argument("--profile", default="demo", help="section of params.yaml: demo (default) or paper")
    parser.add_argument("--dataset", action="extend", default=[], metavar="D", nargs="+", help="not the profile's")
    parser.add_argument(
        "--set", action="extend", default=[], metavar="KEY=JSON", nargs="+", help="override a parameter"
    )
    add_grid_options(parser)
    chosen = parser.parse_args(arguments)

    def checked() -> Callable[[], int]:
        axes = any(getattr(chosen, name) for name in AXES)
        shared = {"profile": chosen.profile, "datasets": chosen.dataset, "overrides": chosen.set}
        studies = chosen.study or (NAMES[:1] if axes else [study.name for study in STUDIES if study.in_demo])
        requests = {study: requested(study, chosen, shared) for study in studies}
        asked = {study: check_request(study, request) for study, request in requests.items()}
        open_store()

        def work() -> int:
            from flows.run.relog import relog  # imports prefect

            for study, resolved in asked.items():
                cells = relog(resolved)
                print(f"{study}: {cells} cells are in MLflow")
            return 0

        return work

    return guarded(checked, plain=True)


if __name__ == "__main__":
    sys.exit(main())
