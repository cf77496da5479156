"""What a user does in MLflow's pages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from selenium.webdriver.common.keys import Keys

from benchmarks.browser import Browser

CLOSE_ASSISTANT = "//button[@data-component-id='mlflow.assistant.chat_panel.close']"
UNFOLD = "//*[@col-id='attributes.`Run Name`']//button"
CHILD = re.compile(r"digits (\S+) gcn eps_x=1 eps_a=(\S+)")
COMPARED = 3


def open_runs(window: Browser, mlflow: str, experiment: str) -> None:
    """From the first page to the runs of an experiment, with its latest sweep unfolded."""
    window.open(mlflow)
    window.click("Model training")
    window.click("Experiments")
    window.click(experiment)
    window.read("matching runs")
    window.press(CLOSE_ASSISTANT, "the assistant's close button")
    window.press(UNFOLD, "the sweep's plus sign")


def switch_columns(window: Browser, *names: str) -> None:
    """Show the columns that are hidden, and hide those that are shown."""
    window.click("Columns")
    for name in names:
        line = f"//*[contains(@class, 'tree-treenode')][normalize-space(.)='{name}']"
        window.press(f"({line}//*[contains(@class, 'tree-checkbox')])[1]", f"column {name}")
    window.driver.switch_to.active_element.send_keys(Keys.ESCAPE)


def compare_runs(window: Browser, mlflow: str, expected: Mapping[tuple[str, str], str]) -> None:
    """Three points of a sweep side by side; ``expected`` are accuracies by method and eps_a.

    Raises:
        AssertionError: when a page does not show the points, or other accuracies.
    """
    open_runs(window, mlflow, "node_classification")
    window.read("node_classification digits", *(f"digits {method} gcn eps_x=1 eps_a={eps}" for method, eps in expected))
    switch_columns(window, "Source", "Models", "accuracy", "eps_a", "method")
    window.configure_environment()
    window.picture("mlflow-runs")
    boxes = "//*[@col-id='1']//*[contains(@class, 'ag-selection-checkbox')]"
    for number in range(COMPARED):
        window.press(f"({boxes})[{number + 2}]", "a run's check box")  # the first is the sweep's
    window.click("Compare")
    words = window.read(f"Comparing {COMPARED} Runs from 1 Experiment", "Run details", "accuracy_sd")
    compared = CHILD.findall(words)
    shown = {float(word) for word in words.partition("accuracy_sd")[2].split() if re.fullmatch(r"[01]\.\d+", word)}
    means = {float(expected[point].split(" ")[0]) for point in compared}
    assert len(compared) == COMPARED and means <= shown, (compared, means, shown)
    window.configure_environment()
    window.picture("mlflow-compare")
