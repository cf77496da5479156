"""Where the attacks' results go: a table, a figure, all rows, and what they were made with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flows.attack_runs.request import Places
from flows.results.provenance import provenance
from tasks.atomic_write import write_atomically
from tasks.errors import UserError
from tasks.evaluation.attacks.figure import draw_attacks
from tasks.evaluation.attacks.table import attack_table
from tasks.evaluation.tables.rows import Row, write_rows
from tasks.evaluation.tables.summary import summary, write_csv

DIGITS = 4
WALKS = "demo/node_embedding/digits/metrics.json"


@dataclass(frozen=True)
class Provenance:
    """What the rows were made with: digest of the public data, seed, settings and seconds."""

    data: str
    seed: int
    settings: dict[str, Any]
    seconds: float


def write(places: Places, rows: list[Row], made: Provenance) -> None:
    """The table to the console and as CSV with its provenance beside it, the figure, and all rows where asked for.

    Raises:
        UserError: for a place that cannot be written.
    """
    frame = summary(rows)
    write_csv(places.csv, frame.round(DIGITS))
    record = {
        **asdict(made),
        "seconds": round(made.seconds),
        **provenance(),
    }
    write_atomically(places.record, json.dumps(record, indent=1) + "\n")
    try:
        draw_attacks(frame, places.figure)
    except OSError as error:
        raise UserError(f"{places.figure}: cannot be written ({error.strerror}); choose another place") from None
    if places.json:
        write_rows(places.json, rows)
    print(attack_table(frame))


def walk_rows(results: Path) -> list[Row]:
    """What the node embedding study measured of FedWalk's uploads on digits, when its results are there."""
    try:
        measured = json.loads((results / WALKS).read_text())
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        raise UserError(f"{results / WALKS} is unreadable; restore it with git or run the study again") from None
    rows = {}
    for title, metrics in measured.items():
        words = dict(word.split("=", 1) for word in title.split() if "=" in word)
        if "edge_recall" in metrics:
            settings = {"attack": "walk recovery", "reading": words["mode"], "eps_encoder": words["eps_encoder"]}
            for metric in ("edge_recall", "edge_base_rate"):
                row = Row("attacks", "digits", "fedwalk", settings, 0, metric, metrics[metric])
                rows[words["mode"], words["eps_encoder"], metric] = row
    return list(rows.values())
