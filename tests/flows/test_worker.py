from __future__ import annotations

from pathlib import Path

import pytest

from flows import worker


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("http://127.0.0.1:9/api", "error: PREFECT_API_URL=http://127.0.0.1:9/api does not answer: start that server"),
        ("", "error: no Prefect server: run make ui, or name one with PREFECT_API_URL"),
    ],
)
def test_a_worker_without_a_server_is_refused_in_one_line(
    url: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("flows.server.local_server.ANSWER_SECONDS", 0.1)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setenv("PREFECT_API_URL", url)
    monkeypatch.setattr("os.execv", lambda *_: pytest.fail("became a worker"))
    assert worker.main(["local"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(line)
