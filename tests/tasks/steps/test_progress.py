from __future__ import annotations

import logging
import re

import pytest
from prefect.context import TaskRunContext

from tasks.steps import progress
from tasks.steps.progress import adding_up, artifact_key, occasionally, progress_bar


def test_lines_and_the_bar_tell_how_much_is_done(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shown: list[float] = []
    monkeypatch.setattr("tasks.steps.progress.progress_bar", lambda name: shown.append)
    monkeypatch.setattr(logging.getLogger("pipeline"), "propagate", True)
    monkeypatch.setattr(logging.getLogger("pipeline"), "handlers", [])  # another test's run may have left its own
    add = adding_up(occasionally("search", 8, "models", seconds=0))
    with caplog.at_level(logging.INFO):
        add(2)
        add(4)
    assert shown == [25, 75]
    assert all(line.startswith("search") for line in caplog.messages)
    assert [re.findall(r"\d+", line)[:2] for line in caplog.messages] == [["2", "8"], ["6", "8"]]


def test_outside_a_task_run_there_is_no_bar_and_a_dead_server_only_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def refuse(percent: float, key: str, name: str) -> None:
        asked.append(percent)
        raise OSError("no server")

    monkeypatch.setattr(progress, "create_progress_artifact", refuse)
    progress_bar("search")(10)
    assert asked == []
    monkeypatch.setattr(TaskRunContext, "get", lambda: object())
    show = progress_bar("search cora eps_a=7.3")
    show(10)
    show(20)
    assert asked == [10]


def test_keys_of_artifacts() -> None:
    assert artifact_key("search cora mutual + drop eps_a=7.3 ") == "search-cora-mutual-drop-eps-a-7-3"
