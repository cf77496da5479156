from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from flows.system.processes import Process

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"


def test_a_process_is_known_by_pid_and_start_time() -> None:
    me = Process.current()
    assert me.alive()
    assert Process.parse(str(me)) == me
    assert not Process(me.pid, "1").alive()
    with pytest.raises(ValueError, match="not a process"):
        Process.parse("rubbish")


def test_a_zombie_is_not_alive(wait_until: Callable[..., None]) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = Process.of(child.pid)
    child.send_signal(signal.SIGKILL)
    wait_until(lambda: not process.alive())
    child.communicate()
    with pytest.raises(ProcessLookupError):
        Process.of(child.pid)


def test_stop_kills_what_does_not_end_when_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        Process.of(child.pid).stop(patience=0.1)
    assert child.returncode == -signal.SIGKILL


def test_stop_spares_a_recycled_pid() -> None:
    Process(os.getpid(), "1").stop()


def test_stop_ends_a_group_whose_leader_is_gone(wait_until: Callable[..., None]) -> None:
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]); input()"
    leader = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert leader.stdout
    leader.stdout.readline()
    group = Process.of(leader.pid)
    leader.send_signal(signal.SIGKILL)
    leader.wait()
    group.stop(patience=0.1, group=True)
    # End of file: the follower, which held the pipe open, is gone as well.
    assert leader.stdout.read() == b""
    leader.communicate()


def test_a_worker_is_stopped_with_the_runs_that_left_its_group(wait_until: Callable[..., None]) -> None:
    patient = (
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"run = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], start_new_session=True)\n"
        "run.wait()"
    )
    worker = subprocess.Popen([sys.executable, "-c", patient], stdout=subprocess.PIPE, start_new_session=True)
    assert worker.stdout
    worker.stdout.readline()
    process = Process.of(worker.pid)
    (run,) = process.children()
    assert run.leads_group()
    process.stop_with_children(patience=0.5)
    wait_until(lambda: not run.alive() and not process.alive())
    worker.communicate()
    assert worker.returncode == 0
