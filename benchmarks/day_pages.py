"""What a user does in the pages of ``make ui``, and what each page must then show."""

from __future__ import annotations

import json
import statistics
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.browser import Browser, By, WebElement

ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
PATIENCE = 900.0
"""Seconds for a small sweep; a quiet machine needs one minute."""


def ask(address: str, body: Any = None, method: str | None = None) -> Any:
    """The JSON reply of an API."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read() or "null")


def fill_the_form(window: Browser, prefect: str, lists: dict[str, list[str]], repeats: int) -> str:
    """Start the deployment *nightly* from its form, with ``lists`` by their headings; the run's id.

    Raises:
        AssertionError: when the page cannot be filled, or what Prefect got is not what was typed.
    """
    window.open(f"{prefect}/deployments")
    window.read("sweep", "nightly", "paper", "ego-graphs")
    window.picture("prefect-deployments")
    window.press("//a[contains(@href, '/deployments/deployment/')][normalize-space(.)='nightly']", "link to nightly")
    window.click("Run")
    window.click("Custom run")
    window.read("study and grid; what is left empty is as in params.yaml")
    for heading, values in lists.items():
        for number, value in enumerate(values):
            window.press(f"{_asked(heading)}//button[normalize-space(.)='Add item']", heading)
            window.find(f"({_asked(heading)}//textarea)[{number + 1}]", heading).send_keys(value)
    window.press(f"{_asked('Repeats')}//button[normalize-space(.)='int']", "Repeats")
    window.find(f"{_asked('Repeats')}//input", "Repeats").send_keys(str(repeats))
    # The switch itself is drawn over its check box.
    window.press(f"{_asked('Export')}//input/..", "Export")
    window.scroll_to(window.find(_asked(next(iter(lists)))))
    window.picture("prefect-form")
    window.click("Submit")
    window.read("nightly", "Scheduled")
    deployment = ask(f"{prefect}/api/deployments/name/sweep/nightly")
    (run,) = window.until(lambda: runs_of(prefect, deployment["id"]), "no run was started")
    asked = run["parameters"]["request"]
    got = {heading: asked[heading.lower().replace(" ", "_")] for heading in lists}
    assert (got, asked["repeats"], asked["export"]) == (lists, repeats, True), asked
    return str(run["id"])


def _asked(heading: str) -> str:
    """The XPath of one field of the form."""
    label = f"//span[contains(@class, 'schema-form-property__label')][starts-with(normalize-space(.), '{heading} (')]"
    field = "contains(@class, 'schema-form-property') and contains(@class, 'p-label')"
    return f"({label}/ancestor::div[{field}])[last()]"


def runs_of(prefect: str, deployment: str) -> list[dict[str, Any]]:
    """The runs of a deployment that are not planned for later."""
    asked = {"deployments": {"id": {"any_": [deployment]}}, "sort": "START_TIME_ASC"}
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    asked["flow_runs"] = {"expected_start_time": {"before_": now}}
    return list(ask(f"{prefect}/api/flow_runs/filter", asked))


def until_ended(prefect: str, run: str) -> dict[str, Any]:
    """The run as it ended.

    Raises:
        AssertionError: when it does not end in time.
    """
    deadline = time.monotonic() + PATIENCE
    while (found := ask(f"{prefect}/api/flow_runs/{run}"))["state_type"] not in ENDED:
        assert time.monotonic() < deadline, f"{found['name']} is still {found['state_name']}"
        time.sleep(0.5)
    return dict(found)


def read_the_run(window: Browser, prefect: str, run: dict[str, Any], rows: Path) -> None:
    """Its page, its results, which must be those of the rows, and its ledger."""
    window.open(f"{prefect}/runs/flow-run/{run['id']}")
    window.read(run["name"])
    window.until(lambda: window.count("Completed"), "the run is not shown as completed")
    window.click("Artifacts")
    window.read("results-node-classification", "ledger-node-classification")
    window.picture("prefect-run")
    asked = {"artifacts": {"flow_run_id": {"any_": [run["id"]]}}}
    keys = {artifact["key"]: artifact["id"] for artifact in ask(f"{prefect}/api/artifacts/filter", asked)}
    window.open(f"{prefect}/artifacts/artifact/{keys['results-node-classification']}")
    window.read("mean ± standard deviation", "accuracy")
    shown = {(line["method"], line["eps_a"]): line["accuracy"] for line in table(window)}
    assert shown == accuracies(rows), shown
    window.picture("prefect-results")
    window.open(f"{prefect}/artifacts/artifact/{keys['ledger-node-classification']}")
    window.read("what users paid", "randomised response (directed)", "multi-bit", "no protection", "found in the store")
    spent = {line["epsilon"] for line in table(window) if line["mechanism"].startswith("randomised response")}
    assert spent == {budget for _, budget in shown}, spent
    window.picture("prefect-ledger")
    study = ask(f"{prefect}/api/flow_runs/filter", {"flow_runs": {"parent_flow_run_id": {"any_": [run["id"]]}}})
    window.open(f"{prefect}/runs/flow-run/{study[0]['id']}")
    window.read(study[0]["name"], "Task runs")
    window.click("Task Runs")
    window.read("score digits mutual gcn")
    window.configure_environment()
    window.picture("prefect-study")


def table(window: Browser) -> list[dict[str, str]]:
    """The lines of the page's only table, by its headings."""

    def texts(within: WebElement, tag: str) -> list[str]:
        return [str(cell.get_attribute("textContent")).strip() for cell in within.find_elements(By.TAG_NAME, tag)]

    shown = window.find("//table")
    heads = texts(shown, "th")
    lines = [texts(line, "td") for line in shown.find_elements(By.XPATH, ".//tbody/tr")]
    return [dict(zip(heads, line, strict=True)) for line in lines]


def accuracies(rows: Path) -> dict[tuple[str, str], str]:
    """What the results' table must show, from the rows themselves."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in json.loads(rows.read_text()):
        if row["metric"] == "accuracy":
            values.setdefault((row["method"], row["settings"]["eps_a"]), []).append(row["value"])
    return {
        cell: f"{statistics.mean(found):.3f} ± {statistics.stdev(found):.3f} ({len(found)})"
        for cell, found in values.items()
    }
