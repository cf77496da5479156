"""The detached process that owns the local Prefect server: ``python -m flows.server.supervisor ROOT IDLE_SECONDS``.

It starts the server, watches the leases, and stops the server once none has been live for the idle time. It leaves when
the server dies, when the project's folder disappears, and on SIGTERM; if it is killed, the tether ends the server.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from flows.server.leases import LeaseFolder, ServerRecord
from flows.server.server_environment import server_environment
from flows.system.processes import Process, spawn

HOST = "127.0.0.1"
TICK_SECONDS = 0.5
# Services for deployments, schedules and automations: nothing that a run started by hand needs.
UNUSED_SERVICES = ("SCHEDULER", "LATE_RUNS", "PAUSE_EXPIRATIONS", "FOREMAN", "TRIGGERS")


def main(root: Path, idle_seconds: float) -> int:
    """Serve until idle; returns at once where another supervisor is at work. Status 1: the server ended by itself."""
    # The signal ends the main loop as an exception, so that the server is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    folder = LeaseFolder(root)
    with folder.locked("supervisor", wait=False) as alone:
        return _supervise(folder, idle_seconds) if alone else 0


def _supervise(folder: LeaseFolder, idle_seconds: float) -> int:
    os.truncate(folder.log, 0)
    url, server = _start_server(folder)
    process = Process.of(server.pid)
    try:
        folder.write_record(ServerRecord(url, process, Process.current()))
        last_used = time.monotonic()
        while server.poll() is None and folder.folder.is_dir():
            time.sleep(TICK_SECONDS)
            if folder.live_leases():
                last_used = time.monotonic()
            elif time.monotonic() - last_used >= idle_seconds and _stop_unless_wanted(folder, process):
                return 0
        return 1
    finally:
        process.stop()
        server.wait()
        folder.clear_record()


def _stop_unless_wanted(folder: LeaseFolder, process: Process) -> bool:
    with folder.locked(wait=False) as free:
        # A run that is joining right now holds the lock or has just written its lease.
        if not free or folder.live_leases():
            return False
        folder.clear_record()
        process.stop()
        return True


def _start_server(folder: LeaseFolder) -> tuple[str, subprocess.Popen[bytes]]:
    port = _free_port()
    command = ["-m", "flows.system.exit_with_stdin", "flows.system.prefect_patches"]
    command += ["server", "start", "--host", HOST, "--port", str(port)]
    environment = server_environment(HOST, port)
    environment |= {f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false" for name in UNUSED_SERVICES}
    server = spawn(folder.log, *command, environment=environment, stdin=subprocess.PIPE)
    return f"http://{HOST}:{port}/api", server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2])))
