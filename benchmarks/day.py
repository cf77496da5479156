"""A new user's day, in a browser where it is a page.

A fresh clone of this checkout gets ``make ui``'s pages and worker on free ports. Then, as the README says:

- *Deployments*, *nightly*, *Custom run*: the form is filled on the page, started, and the run read when it has ended:
  its results must be those of the rows on disk, its ledger must name every budget;
- MLflow: the experiment, the sweep with its points, three of them compared;
- ``python -m flows.report``, read without a network;
- a schedule of one minute (``prefect deployment schedule create``) completes two runs, and is deleted;
- ``down`` in the middle of a sweep ends exactly what ``up`` started, and no run is left shown as running.

Every page is pictured; a page that lacks what it must show, or that complains, ends the day with status 1.

Run: ``python -m benchmarks.day --pictures FOLDER [--json FILE]``. Needs the extra ``browser``. What is not committed is
not tried.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.browser import Browser, browser
from benchmarks.day_home import Home, home
from benchmarks.day_pages import (
    accuracies,
    ask,
    fill_the_form,
    read_the_run,
    runs_of,
    until_ended,
)
from benchmarks.mlflow_pages import compare_runs
from benchmarks.sweeping import until

FORM = {
    "Methods": ["base", "mutual"],
    "Backbones": ["gcn"],
    "Eps A": ["7", "8"],
    "Overrides": ['node_classification.search={"epochs": 60}'],
}
REPEATS = 2
TINY = {"methods": ["label-propagation"], "eps_a": ["8"], "repeats": 1}
LONG = {"eps_a": ["6.5"], "overrides": ['node_classification.search={"epochs": 500, "dropout": [0.1, 0.2, 0.3]}']}
RUNNING = ("RUNNING", "PENDING", "CANCELLING")
EVERY = 60
SCHEDULED = 2
"""Runs to wait for."""
PATIENCE = 900.0


def read_the_report(window: Browser, place: Home, rows: Path) -> None:
    """One file, without a network: it asks for nothing, and all its figures are drawn."""
    place.run("-m", "flows.report")
    window.requests()
    with window.offline():
        window.open((place.root / "data/results/demo/report/report.html").as_uri())
        window.read(*accuracies(rows).values(), "randomised response (directed)")
        drawn = "return [...document.images].map(image => image.complete && image.naturalWidth > 0)"
        images = window.driver.execute_script(drawn)
        assert images and all(images), images
        window.picture("report")
        window.scroll_to(window.find("//h2[contains(., 'Figures')]"))
        window.picture("report-figures")
    assert not (asked := window.requests()), asked


def watch_the_schedule(window: Browser, place: Home) -> list[str]:
    """A schedule of one minute on *nightly*, with a tiny grid, until two runs are completed; their names."""
    deployment = ask(f"{place.prefect}/api/deployments/name/sweep/nightly")
    page, before = f"{place.prefect}/api/deployments/{deployment['id']}", len(runs_of(place.prefect, deployment["id"]))
    ask(page, {"parameters": {"request": TINY}}, "PATCH")
    command = ["-m", "prefect", "deployment", "schedule"]
    place.run(*command, "create", "sweep/nightly", "--interval", str(EVERY))

    def completed() -> list[str]:
        runs = runs_of(place.prefect, deployment["id"])[before:]
        return [run["name"] for run in runs if run["state_type"] == "COMPLETED"]

    assert until(lambda: len(completed()) >= SCHEDULED, PATIENCE), completed()
    window.open(f"{place.prefect}/deployments/deployment/{deployment['id']}")
    window.read("Every minute")
    window.until(lambda: window.count("Completed") >= SCHEDULED, "the scheduled runs are not shown as completed")
    window.configure_environment()
    window.picture("prefect-schedule")
    (schedule,) = (one for one in ask(page)["schedules"] if "interval" in one["schedule"])
    place.run(*command, "delete", "sweep/nightly", schedule["id"], "--accept-yes")
    assert all("cron" in one["schedule"] for one in ask(page)["schedules"])
    return completed()


def stop_in_the_middle(window: Browser, place: Home) -> dict[str, str]:
    """``down`` during a sweep; then the states of its runs, as the next ``up`` shows them."""
    deployment = ask(f"{place.prefect}/api/deployments/name/sweep/nightly")["id"]
    ask(f"{place.prefect}/api/deployments/{deployment}/create_flow_run", {"parameters": {"request": LONG}})
    everything = f"{place.prefect}/api/flow_runs/filter"

    def running() -> list[str]:
        return [run["name"] for run in ask(everything, {}) if run["state_type"] == "RUNNING"]

    assert until(lambda: len(running()) == 2, PATIENCE), running()
    time.sleep(3)  # well into it
    names, ours = running(), place.started()
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    try:
        said = place.run("-m", "flows.ui", "down")
        assert not (left := [process for process in ours if process.alive()]), left
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
    assert all(f"ended, its finished points are kept: {name}" in said for name in names), said
    place.up()
    assert not [run["name"] for run in ask(everything, {}) if run["state_type"] in RUNNING]
    found = {run["name"]: run["state_name"] for run in ask(everything, {}) if run["name"] in names}
    window.open(f"{place.prefect}/runs")
    window.read(*names)
    window.until(lambda: window.count("Crashed") >= len(names), "the runs are not shown as crashed")
    window.configure_environment()
    window.picture("prefect-after-down")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 where something was not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.day", description="a new user's day, in a browser")
    parser.add_argument("--pictures", type=Path, required=True, help="folder for a picture of each page")
    parser.add_argument("--json", type=Path, help="write the seconds of each part")
    chosen = parser.parse_args(arguments)
    chosen.pictures.mkdir(parents=True, exist_ok=True)
    seconds: dict[str, float] = {}

    @contextmanager
    def timed(part: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        seconds[part] = round(time.perf_counter() - started, 1)
        print(f"{part}: {seconds[part]} s", flush=True)

    os.environ["TZ"] = "UTC"  # the browser's clock is not this machine's concern
    begun = time.perf_counter()
    with home() as place, browser(chosen.pictures) as window:
        seconds["up"] = round(time.perf_counter() - begun, 1)
        rows = place.root / "data/results/demo/node_classification/digits/rows.json"
        with timed("form filled and started"):
            run = fill_the_form(window, place.prefect, FORM, REPEATS)
        with timed("sweep"):
            ended = until_ended(place.prefect, run)
        assert ended["state_type"] == "COMPLETED", ended["state"]
        with timed("run, results and ledger read"):
            read_the_run(window, place.prefect, ended, rows)
        with timed("compared in MLflow"):
            compare_runs(window, place.mlflow, accuracies(rows))
        with timed("report made and read"):
            read_the_report(window, place, rows)
        with timed("schedule"):
            print(f"completed by schedule: {watch_the_schedule(window, place)}")
        with timed("down and up in the middle"):
            print(f"after down: {stop_in_the_middle(window, place)}")
        ours = place.started()
    assert ours and not (left := [process for process in ours if process.alive()]), left
    for picture in window.taken:
        print(f"{picture}: {picture.stat().st_size // 1024} kB")
    if chosen.json:
        chosen.json.write_text(json.dumps(seconds, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as complaint:
        sys.exit(f"failed: {complaint}")
