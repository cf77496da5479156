"""The files by which runs of one project share one local Prefect server, all below ``.prefect/``.

``server.lock`` is held while anybody starts, joins or stops the server; ``supervisor.lock`` is held by the supervisor
for as long as it lives; ``server.json`` names the running server; ``leases/`` holds one file per run that uses it,
named by the process, so that the lease of a killed run is worth nothing. How long the server outlives its last lease is
set in ``flows.server.local_server``.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from flows.system.processes import Process
from tasks.atomic_write import write_atomically
from tasks.errors import UserError


@dataclass(frozen=True)
class ServerRecord:
    """A running server: its API address and the processes behind it."""

    url: str
    server: Process
    supervisor: Process


class LeaseFolder:
    """The shared files of one project.

    Raises:
        UserError: where they cannot be written.
    """

    def __init__(self, root: Path) -> None:
        self.folder = root / ".prefect"
        self.leases = self.folder / "leases"
        self.log = self.folder / "server.log"
        self._record = self.folder / "server.json"
        try:
            self.leases.mkdir(parents=True, exist_ok=True)
            for name in ("server", "supervisor"):
                os.close(os.open(self._lock_file(name), os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise UserError(
                f"the local Prefect server needs {error.filename}: {error.strerror}; or run with --plain"
            ) from None

    def _lock_file(self, name: str) -> Path:
        return self.folder / f"{name}.lock"

    @contextlib.contextmanager
    def locked(self, name: str = "server", wait: bool = True) -> Iterator[bool]:
        """Hold the named lock; yields False if it is taken and ``wait`` is false."""
        lock = FileLock(self._lock_file(name))
        with contextlib.suppress(Timeout):
            lock.acquire(blocking=wait)
        try:
            yield lock.is_locked
        finally:
            lock.release()

    def add_lease(self) -> Path:
        """Register this process as a user of the server; delete the file to end the lease."""
        lease = self.leases / f"{Process.current()}-{uuid.uuid4().hex[:8]}"
        lease.touch()
        return lease

    def live_leases(self) -> list[Path]:
        """The leases whose process runs; the others are removed."""
        live = []
        for lease in self.leases.iterdir():
            with contextlib.suppress(ValueError):
                if Process.parse(lease.name.rpartition("-")[0]).alive():
                    live.append(lease)
                    continue
            lease.unlink(missing_ok=True)
        return live

    def read_record(self) -> ServerRecord | None:
        """The recorded server, running or not; None if there is no record or it is not readable."""
        try:
            fields = json.loads(self._record.read_text())
            return ServerRecord(fields["url"], Process(**fields["server"]), Process(**fields["supervisor"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def write_record(self, record: ServerRecord) -> None:
        """Replace the record in one step."""
        write_atomically(self._record, json.dumps(asdict(record)))

    def clear_record(self) -> None:
        """Forget the server."""
        self._record.unlink(missing_ok=True)
