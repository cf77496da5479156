"""What an adversary learns: attacks on reports and on published models, beside the accuracy of the same models.

python -m flows.attacks [--dataset D] [--eps-a E ...] [--repeats N] [--json FILE] [--csv FILE] [--figure FILE]
python -m flows.attacks --study node_embedding [--dataset D] [--eps-encoder E ...] ...

Plain, without any server. Judged by the truth, and so for public data sets alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from flows.attack_runs.request import STUDIES, Places, check_attacks
from flows.context.project import open_store
from flows.context.request import StudyRequest
from flows.studies.requests import own_datasets, read_request
from flows.system.environment import configure_environment
from flows.system.exit_status import exit_status
from flows.system.output_paths import HELP


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 for a mistake, which is one line."""
    chosen = _parser().parse_args(arguments)

    def work() -> None:
        configure_environment()
        of_uploads = chosen.study == "node_embedding"
        places = Places.chosen(
            f"{chosen.dataset}-uploads" if of_uploads else chosen.dataset, chosen.csv, chosen.figure, chosen.json
        )
        own = own_datasets(read_request(StudyRequest()))
        request = check_attacks(
            chosen.dataset, chosen.eps_a, chosen.repeats, own, study=chosen.study, eps_encoder=chosen.eps_encoder
        )
        store = open_store()
        # Imported now: torch, prefect and matplotlib read their environment once, when they are first imported.
        from flows.attack_runs.outputs import write
        from flows.attack_runs.table import measure

        rows, provenance = measure(request, store)
        write(places, rows, provenance)

    return exit_status(work, "trained models are kept, the same command goes on from here")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m flows.attacks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--dataset", default="cora", metavar="D", help="a public graph with classes, or a set of graphs (default: cora)"
    )
    parser.add_argument(
        "--eps-a", nargs="+", metavar="E", help="budgets of a neighbour list, for one graph (default: 1 to 8 and inf)"
    )
    parser.add_argument(
        "--study",
        choices=STUDIES,
        default=STUDIES[0],
        help="whose reports: node_classification (default) or FedWalk's uploads, node_embedding",
    )
    parser.add_argument(
        "--eps-encoder", nargs="+", metavar="E", help="budgets of FedWalk's encoder (default: 0.25 to 2 and inf)"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, metavar="N", help="how often everything is drawn (default: 3)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write all rows as one JSON array; {HELP}")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="instead of data/results/attacks/<D>.csv")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="instead of data/results/attacks/<D>.png")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
