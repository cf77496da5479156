"""The servers that ``python -m flows.ui up`` keeps running, and their record in ``.prefect/ui.json``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from flows.system.processes import Process
from tasks.atomic_write import write_atomically
from tasks.health import answers

POOL = "local"


@dataclass(frozen=True)
class Page:
    """One web server: its address, the one that tells its health, and its process, which leads its group.

    The worker has no page: its address is its pool, and there is nothing to ask for its health.
    """

    address: str
    health: str
    process: Process

    def served(self) -> bool:
        """Whether its process lives and answers."""
        return self.process.alive() and (not self.health or answers(self.health))


def running_server(root: Path) -> str | None:
    """The API address of the Prefect server that ``up`` started, if it runs."""
    page = read_pages(root).get("prefect")
    return page.health if page and page.served() else None


def read_pages(root: Path) -> dict[str, Page]:
    """The recorded servers by name; none where the record is missing or damaged."""
    try:
        pages = json.loads((root / ".prefect/ui.json").read_text())
        return {name: Page(page["address"], page["health"], Process(**page["process"])) for name, page in pages.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def write_pages(root: Path, pages: dict[str, Page]) -> None:
    """Record them; no pages, no record."""
    record = root / ".prefect/ui.json"
    if pages:
        write_atomically(record, json.dumps({name: asdict(page) for name, page in pages.items()}))
    else:
        record.unlink(missing_ok=True)
