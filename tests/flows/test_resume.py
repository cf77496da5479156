from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from flows.system.environment import PACKAGE_ROOT

GRID = (
    "repeats=2",
    "workers=1",
    'node_classification.methods=["lpgnn", "solitude"]',
    'node_classification.backbones=["gcn"]',
    "node_classification.eps_a=[7]",
    'node_classification.search={"l_x": [0, 2], "l_y": [0, 2], "dropout": [0.2, 0.5], "epochs": 200}',
)


def started(place: Path, database: Path) -> subprocess.Popen[str]:
    """The study on digits as a process group of its own, its store below ``place``."""
    place.mkdir(exist_ok=True)
    environment = os.environ | {
        "POINT_STORE": str(place / "store"),
        "MLFLOW_TRACKING_URI": f"sqlite:///{database / 'mlflow.db'}",
    }
    grid = [f"--set={change}" for change in GRID]
    command = [sys.executable, "-m", "flows.node_classification", "--plain", "--dataset=digits", *grid]
    command += [f"--json={place / 'rows.json'}"]
    log = (place / "log.txt").open("a")
    return subprocess.Popen(
        command, cwd=PACKAGE_ROOT, env=environment, stdout=log, stderr=log, text=True, start_new_session=True
    )


def results(place: Path) -> dict[str, bytes]:
    """Bytes of the rows, and of every search table and model by its point."""
    files = [path for name in ("search.parquet", "trained.npz") for path in (place / "store").rglob(name)]
    return {"rows": (place / "rows.json").read_bytes()} | {
        str(path.relative_to(place / "store")): path.read_bytes() for path in files
    }


def test_a_run_killed_in_the_middle_of_a_search_ends_with_the_same_bytes(
    tmp_path: Path, _mlflow_folder: Path, wait_until: Callable[..., None]
) -> None:
    killed, sound = tmp_path / "killed", tmp_path / "sound"
    process = started(killed, _mlflow_folder)
    unfinished = killed / "store" / "temporary"

    def searches() -> int:
        return len(list((killed / "store").glob("points/*/search.parquet")))

    def caught() -> bool:
        """One search is done and the next one is under way: its draft is there, its point is not."""
        assert process.poll() is None, (killed / "log.txt").read_text()
        return searches() > 0 and bool(list(unfinished.glob("*/")))

    def stopped() -> bool:
        """Still so when the run has been stopped: it may have gone on since it was looked at."""
        if caught():
            os.killpg(process.pid, signal.SIGSTOP)
            if caught():
                return True
            os.killpg(process.pid, signal.SIGCONT)
        return False

    wait_until(stopped)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert searches() < 4
    assert list(unfinished.glob("*/"))
    assert not (killed / "rows.json").exists()

    again, undisturbed = started(killed, _mlflow_folder), started(sound, _mlflow_folder)
    assert (again.wait(), undisturbed.wait()) == (0, 0)
    log = (killed / "log.txt").read_text()
    assert log.count("s: search ") <= 4 + 1  # the point may be stored and its line unwritten when the signal comes
    assert results(killed) == results(sound)
    assert len(results(sound)) == 1 + 2 * 4
    assert list(unfinished.iterdir()) == []
