"""The two web pages and a worker, kept until told otherwise: ``python -m flows.ui up|down|status``.

``up`` starts a Prefect server with all its services and the MLflow UI, on loopback unless ``--host`` says otherwise,
deploys ``prefect.yaml`` and starts a worker for its pool ``local``; it records these processes in ``.prefect/ui.json``,
and ``down`` stops exactly those; the worker's runs end as crashed. Runs started meanwhile use this Prefect server.
"""

from __future__ import annotations

import argparse
import ipaddress
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from flows.server.leases import LeaseFolder
from flows.server.pages import POOL, Page, read_pages, running_server, write_pages
from flows.server.server_environment import server_environment
from flows.system.environment import PACKAGE_ROOT, configure_environment
from flows.system.exit_status import exit_status
from flows.system.processes import Process, spawn
from tasks.errors import UserError
from tasks.redaction import without_secrets
from tasks.steps.tracking.address import default_tracking_uri

HOST = "127.0.0.1"
PREFECT_PORT = 4200
MLFLOW_PORT = 5000
START_SECONDS = 120.0
HINTS = {"mlflow": " (choose Model training at its top left)"}
"""MLflow opens experiments at their traces, of which there are none here, until it has been told once in a browser."""


def up(root: Path, prefect_port: int, mlflow_port: int, host: str = HOST) -> None:
    """Start what does not run yet and print the addresses.

    Raises UserError for a taken port and for a server that does not start; what this call started is then stopped.
    """
    folder = LeaseFolder(root)
    with folder.locked():
        leased = folder.read_record()
        if leased and leased.supervisor.alive():
            if folder.live_leases():
                address = leased.url.removesuffix("/api")
                raise UserError(f"a run has its own Prefect server, watch it at {address}; try again when it ends")
            leased.supervisor.stop()
        wanted = {"prefect": _prefect_command(prefect_port, host), "mlflow": _mlflow_command(root, mlflow_port, host)}
        ports = {"prefect": prefect_port, "mlflow": mlflow_port}
        pages = {name: page for name, page in read_pages(root).items() if page.process.alive()}
        missing = [name for name, command in wanted.items() if command and name not in pages]
        for name in missing:
            _refuse_taken(name, ports[name], host)
        started = {name: _start(root, name, wanted[name], ports[name], host) for name in missing}
        write_pages(root, pages | started)
        try:
            for name, page in started.items():
                _await(root, name, page)
            api = (pages | started)["prefect"].health
            _deploy(root, api)
            if "worker" not in pages:
                started["worker"] = _start_worker(root, api)
                write_pages(root, pages | started)
        except BaseException:
            _stop(started)
            write_pages(root, pages)
            raise
    status(root)


def down(root: Path) -> None:
    """Stop the recorded processes, if any."""
    folder = LeaseFolder(root)
    with folder.locked():
        pages = read_pages(root)
        if "prefect" in pages and (leases := folder.live_leases()):
            print(f"runs in progress that lose their Prefect server: {len(leases)}", file=sys.stderr)
        worker = {name: page for name, page in pages.items() if name == "worker"}
        runs = [child for page in worker.values() for child in page.process.children()]
        stopped = _stop(worker)
        if stopped and (api := running_server(root)):
            _mark_ended_runs(root, api, runs)
        for name in stopped + _stop({name: page for name, page in pages.items() if name not in worker}):
            print(f"{name}: stopped")
        write_pages(root, {})
    if not pages:
        print("nothing to stop")


def status(root: Path) -> None:
    """Print one line for each server."""
    pages = read_pages(root)
    for name in ("prefect", "mlflow", "worker"):
        page = pages.get(name)
        if page:
            place = page.address + HINTS.get(name, "") if page.served() else "not answering"
            print(f"{name}: {place} (pid {page.process.pid})")
        elif name == "mlflow" and (remote := _remote_tracking()):
            print(f"mlflow: {without_secrets(remote)} (MLFLOW_TRACKING_URI)")
        else:
            print(f"{name}: not running")
    leased = LeaseFolder(root).read_record()
    if leased and leased.server.alive():
        print(f"prefect, for the runs in progress: {leased.url.removesuffix('/api')}")


def _stop(pages: dict[str, Page]) -> list[str]:
    """Stop them, the worker and its runs before the server, to which they report."""
    names = sorted(pages, key=("worker", "mlflow", "prefect").index)
    for name in names:
        if name == "worker":
            pages[name].process.stop_with_children()
        else:
            pages[name].process.stop(group=True)
    return names


def _prefect_command(port: int, host: str) -> list[str]:
    return ["-m", "flows.system.prefect_patches", "server", "start", "--host", host, "--port", str(port)]


def _mlflow_command(root: Path, port: int, host: str) -> list[str]:
    """Empty where MLFLOW_TRACKING_URI names a server, which has its own page."""
    if _remote_tracking():
        return []
    (root / ".mlflow").mkdir(exist_ok=True)
    store = ["--default-artifact-root", str(root / ".mlflow/artifacts")]
    return ["-m", "mlflow", "ui", *store, "--host", host, "--port", str(port), "--workers", "1"]


def _remote_tracking() -> str | None:
    uri = os.environ.get("MLFLOW_TRACKING_URI", "")
    return uri if uri.startswith(("http:", "https:")) else None


def _start(root: Path, name: str, arguments: list[str], port: int, host: str) -> Page:
    environment = server_environment(host, port)
    environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    # Not on the command line, which every user of the machine may read: it may hold a database's password.
    environment["MLFLOW_BACKEND_STORE_URI"] = default_tracking_uri(root)
    process = _spawn(root, name, arguments, environment)
    address = f"http://{HOST if ipaddress.IPv4Address(host).is_unspecified else host}:{port}"
    return Page(address, f"{address}/api" if name == "prefect" else address, process)


def _deploy(root: Path, api: str) -> None:
    done = _run(api, "flows.deployments")
    if done.returncode:
        log = _log(root, "deploy")
        log.write_text(done.stdout + done.stderr)
        lines = done.stderr.splitlines() or ["no reason given"]
        raise UserError(f"{lines[-1].removeprefix('error: ')}, see {log}")


def _mark_ended_runs(root: Path, api: str, runs: list[Process]) -> None:
    """Runs that ended with the worker must not be shown as running; what is missed here, the next start finds."""
    done = _run(api, "flows.server.crashed_runs", *(str(run.pid) for run in runs))
    _log(root, "crashes").write_text(done.stderr)
    for name in done.stdout.splitlines():
        print(f"ended, its finished points are kept: {name}")


def _run(api: str, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    environment = os.environ | {"PREFECT_API_URL": api}
    return subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True, check=False)


def _start_worker(root: Path, api: str) -> Page:
    process = _spawn(root, "worker", ["-m", "flows.worker", POOL], os.environ | {"PREFECT_API_URL": api})
    return Page(f"pool {POOL}", "", process)


def _spawn(root: Path, name: str, arguments: list[str], environment: dict[str, str]) -> Process:
    """A process that leads a session of its own and writes to its own log."""
    log = _log(root, name)
    log.unlink(missing_ok=True)
    return Process.of(spawn(log, *arguments, environment=environment).pid)


def _await(root: Path, name: str, page: Page) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not page.served():
        if not page.process.alive() or time.monotonic() > deadline:
            raise UserError(f"{name} did not start on {page.address}, see {_log(root, name)}")
        time.sleep(0.1)


def _refuse_taken(name: str, port: int, host: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UserError(
                f"port {port} for {name}: {error.strerror}; choose another: python -m flows.ui up --{name}-port N"
            ) from None


def _warn_if_open(host: str) -> None:
    """UserError for what is no IPv4 address; a warning for one that others reach."""
    try:
        local = ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        raise UserError(f"--host {host}: give an IPv4 address, such as {HOST}") from None
    if not local:
        print(
            f"warning: on {host} everyone who reaches this machine can read and change runs, neither page asks for a"
            f" password; an SSH tunnel to {HOST} is safer",
            file=sys.stderr,
        )


def _log(root: Path, name: str) -> Path:
    return root / ".prefect" / f"ui-{name}.log"


def main(arguments: list[str] | None = None) -> int:
    """The command line; 2 after a mistake of the user."""
    parser = argparse.ArgumentParser(prog="python -m flows.ui", description="the Prefect and MLflow pages and a worker")
    parser.add_argument("action", choices=["up", "down", "status"])
    parser.add_argument("--prefect-port", type=int, default=PREFECT_PORT)
    parser.add_argument("--mlflow-port", type=int, default=MLFLOW_PORT)
    parser.add_argument("--host", default=HOST, help="address to listen on (default: this machine alone)")
    options = parser.parse_args(arguments)
    root = configure_environment()

    def work() -> None:
        if options.action == "up":
            _warn_if_open(options.host)
            up(root, options.prefect_port, options.mlflow_port, options.host)
        elif options.action == "down":
            down(root)
        else:
            status(root)

    return exit_status(work, "make down stops what was started")


if __name__ == "__main__":
    sys.exit(main())
