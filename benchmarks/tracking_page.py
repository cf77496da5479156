"""MLflow's page of a large sweep, in a browser: how long until it shows its points, and until it has sorted them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.browser import Browser, browser
from benchmarks.mlflow_pages import open_runs, switch_columns

HEADING = "//*[contains(@class, 'ag-header-cell')][@col-id='metrics.`accuracy`']//*[normalize-space(.)='accuracy']"
CELLS = """
return [...document.querySelectorAll(".ag-center-cols-container .ag-row")]
    .sort((a, b) => a.getAttribute("row-index") - b.getAttribute("row-index"))
    .map(row => row.querySelector("[col-id='metrics.`accuracy`']")?.innerText).filter(text => /\\d/.test(text || ""))
"""
SHOWN = 10
"""Lines that fit into the window at the least."""


def read_page(server: str, accuracies: Sequence[float], pictures: Path) -> dict[str, float]:
    """Seconds of each step: the page with its sweep unfolded, and a click on the heading of a metric, once each way.

    Raises:
        AssertionError: when the page does not show the points, or not the best or the worst ones in order.
    """
    pictures.mkdir(parents=True, exist_ok=True)
    found: dict[str, float] = {}
    ordered = sorted(accuracies)
    with browser(pictures) as window:
        started = time.perf_counter()
        open_runs(window, server, "node_classification")
        window.read("a large sweep")
        found["page open, sweep unfolded_s"] = time.perf_counter() - started
        switch_columns(window, "Source", "Models", "accuracy", "eps_a", "method")
        window.until(lambda: len(shown(window)) >= SHOWN, "no accuracies")
        for name in ("first", "second"):
            before, started = shown(window), time.perf_counter()
            window.press(HEADING, "heading of accuracy")
            await_end(window, before, ordered)
            found[f"page sorted, {name} click_s"] = time.perf_counter() - started
        window.configure_environment()
        window.picture("mlflow-large-sweep")
    return found


def await_end(window: Browser, before: Sequence[float], ordered: Sequence[float]) -> None:
    """Wait for another end of the ascending ``ordered`` than ``before``, which the page showed."""
    window.until(
        lambda: (now := shown(window)) != before and is_end(now, ordered), "neither the best nor the worst stand first"
    )


def shown(window: Browser) -> list[float]:
    """The accuracies on the page, from above."""
    return [float(text) for text in window.driver.execute_script(CELLS)]


def is_end(values: Sequence[float], ordered: Sequence[float]) -> bool:
    """Whether they are the first of the ascending ``ordered``, or the last from behind; the page shows six digits."""
    ends = (ordered, ordered[::-1])
    return len(values) >= SHOWN and any(
        all(abs(value - right) < 1e-5 for value, right in zip(values, end, strict=False)) for end in ends
    )
