"""Steps with an attack planted in them: a module that the processes of both sides can import."""

# ruff: noqa: PTH123, PTH208, SIM115

from __future__ import annotations

import builtins
import ctypes
import gc
import json
import os
import pickle
import runpy
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tasks.reports.label import LabelReport
from tasks.steps.declaration import Draft
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource, one_graph
from tasks.steps.report_point import REPORT
from tasks.store import PointRef, PointStore

FOUND = "found.json"


@point(label="raw {source.name}")
def keep_raw(draft: Draft, source: RawSource) -> None:
    """The clients' own point, with what they know; and in their process the graph."""
    labels = one_graph(source, "node_classification").labels
    assert labels is not None
    np.save(draft.file("labels.npy"), labels)
    draft.file("process").write_text(str(os.getpid()))


@point(label="steal by {attack}")
def steal(draft: Draft, report: PointRef, *, attack: str, target: dict[str, str]) -> None:
    """The curator's: reads its report, as it may, and then what it may not."""
    LabelReport.load(report.file(REPORT))
    found = ATTACKS[attack]({**target, "draft": str(draft.folder)})
    draft.file(FOUND).write_text(json.dumps(repr(found)))


@point(label="parts of {count}")
def add_up(draft: Draft, report: PointRef, *, count: int) -> None:
    """The curator's, in parts that are points of their own."""
    values = []
    for number in range(count):
        part = draft.part(lambda place, n=number: np.save(place / "square.npy", n * n), f"part {number}", number=number)  # type: ignore[misc]
        values.append(int(np.load(part.file("square.npy"))))
    draft.file(FOUND).write_text(json.dumps(values))


@point(label="end by {signal}")
def die(draft: Draft, report: PointRef, *, signal: int) -> None:
    """The curator's, killed."""
    os.kill(os.getpid(), signal)


def raw_objects(_: dict[str, str]) -> Any:
    kinds = ("RawGraph", "RawGraphSet", "csr_array")
    return [vars(found) for found in gc.get_objects() if type(found).__name__ in kinds]


def referrers(_: dict[str, str]) -> Any:
    return gc.get_referrers(sys.modules["tasks.datasets.graph"].RawGraph)


def loaded_modules(_: dict[str, str]) -> Any:
    held = [vars(module) for name, module in sys.modules.items() if name.startswith(("tasks.", "tests."))]
    cached = sys.modules["tasks.steps.raw_source"]._load.cache_info()
    assert cached.currsize == 0
    return [value for names in held for value in names.values() if type(value).__name__ == "RawGraph"]


def frames(_: dict[str, str]) -> Any:
    frame, found = sys._getframe(), []
    while frame := frame.f_back:  # type: ignore[assignment]
        found.append(repr(frame.f_locals))
    return found


def reader(name: str) -> Callable[[dict[str, str]], Any]:
    """The pipeline's own reader, imported by name."""

    def read(target: dict[str, str]) -> Any:
        declared = __import__("tasks.datasets.user.declaration", fromlist=["x"]).UserDataset
        own = declared(name, Path(target["edges"]), None, Path(target["labels"]))
        source = __import__("tasks.steps.raw_source", fromlist=["x"]).RawSource(name, Path(), "", own=own)
        return source.load().labels

    return read


def svmlight(target: dict[str, str]) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(target["edges"])


def load_files(target: dict[str, str]) -> Any:
    from sklearn.datasets import load_files as load

    return load(str(Path(target["folder"]).parent))


def run_path(target: dict[str, str]) -> Any:
    return runpy.run_path(target["script"])


def run_module(target: dict[str, str]) -> Any:
    read = runpy.run_module("tasks.datasets.user.user_files", run_name="again")
    return read["read_labels"](Path(target["labels"]))


def unpickled(target: dict[str, str]) -> Any:
    return pickle.loads(b"cbuiltins\nopen\n(V" + target["edges"].encode() + b"\ntR.").read()


def linked(how: Callable[..., None]) -> Callable[[dict[str, str]], Any]:
    def read(target: dict[str, str]) -> Any:
        place = Path(target["draft"]) / "mine"
        how(target["edges"], place)
        return place.read_text()

    return read


def by_program(target: dict[str, str]) -> Any:
    return subprocess.run(["/usr/bin/cat", target["edges"]], capture_output=True, check=True).stdout


def by_forking(target: dict[str, str]) -> Any:
    if os.fork() == 0:
        Path(target["draft"], "copy").write_bytes(Path(target["edges"]).read_bytes())
        os._exit(0)


def by_c(target: dict[str, str]) -> Any:
    return ctypes.CDLL(None).fopen(target["edges"].encode(), b"r")


def by_c_past_the_hook(target: dict[str, str]) -> Any:
    """An address by arithmetic, as no hook can see."""
    libc = ctypes.CDLL(None)
    handle = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int)(("__open_2", libc))(
        target["edges"].encode(), 0
    )
    return os.read(handle, 1000)


def by_torch(target: dict[str, str]) -> Any:
    import torch

    return bytes(torch.UntypedStorage.from_file(target["edges"], shared=False, nbytes=100))


def by_arrow(target: dict[str, str]) -> Any:
    import pyarrow.csv

    return pyarrow.csv.read_csv(target["edges"]).to_pydict()


def by_database(target: dict[str, str]) -> Any:
    return sqlite3.connect(f"file:{target['edges']}?mode=ro", uri=True)


def memory_of_others(target: dict[str, str]) -> Any:
    return [Path(f"/proc/{process}/mem").open("rb") for process in (os.getppid(), target["client"])]


def descriptors_of_others(target: dict[str, str]) -> Any:
    return os.listdir(f"/proc/{target['client']}/fd")


def past_the_root(target: dict[str, str]) -> Any:
    return Path(f"/proc/self/root{target['edges']}").read_text()


def replaced_functions(target: dict[str, str]) -> Any:
    os.path.realpath = os.path.abspath = lambda *_: "/usr"  # type: ignore[assignment]
    os.readlink = os.fspath = os.fsdecode = lambda *_: "/usr"  # type: ignore[assignment]
    builtins.isinstance = lambda *_: False  # type: ignore[assignment]
    builtins.any = lambda *_: True
    return open(target["edges"]).read()


class TwoFaced:
    """A path that is another one when it is asked again."""

    def __init__(self, *paths: str) -> None:
        self.paths = list(paths)

    def __fspath__(self) -> str:
        return self.paths.pop(0) if len(self.paths) > 1 else self.paths[0]


def two_faced(target: dict[str, str]) -> Any:
    handle = os.open(TwoFaced("/usr/bin/env", target["edges"]), os.O_RDONLY)
    return os.read(handle, 1000)


def relative(target: dict[str, str]) -> Any:
    above = os.open(target["draft"], os.O_RDONLY)
    return os.open(os.path.relpath(target["edges"], target["draft"]), os.O_RDONLY, dir_fd=above)


def sent_away(target: dict[str, str]) -> Any:
    return socket.create_connection(("127.0.0.1", int(target["port"])))


def swallowed(target: dict[str, str]) -> Any:
    found = []
    for name in ("edges", "labels", "secret", "points"):
        try:
            found.append(open(target[name]).read())
        except PermissionError:
            continue
    return found


ATTACKS: dict[str, Callable[[dict[str, str]], Any]] = {
    "gc": raw_objects,
    "gc referrers": referrers,
    "sys.modules": loaded_modules,
    "frames": frames,
    "open": lambda target: open(target["edges"]).read(),
    "os.open": lambda target: os.open(target["labels"], os.O_RDONLY),
    "os.listdir": lambda target: os.listdir(target["folder"]),
    "numpy": lambda target: np.genfromtxt(target["edges"]),
    "a link": lambda target: Path(target["link"]).read_text(),
    "its own link": linked(os.symlink),
    "its own name": linked(os.link),
    "renaming": linked(os.rename),
    "__import__": reader("friends"),
    "sklearn.datasets, one file": svmlight,
    "sklearn.datasets, a folder": load_files,
    "runpy, a file": run_path,
    "runpy, a module": run_module,
    "pickle": unpickled,
    "the secret": lambda target: Path(target["secret"]).read_bytes(),
    "the store": lambda target: PointStore(Path(target["store"])).secret(),
    "the clients' points": lambda target: os.listdir(target["points"]),
    "a client's point": lambda target: np.load(Path(target["own point"]) / "labels.npy"),
    "another program": by_program,
    "the shell": lambda target: os.system(f"cp {target['edges']} {target['draft']}/copy"),
    "a fork": by_forking,
    "ctypes": by_c,
    "sqlite3": by_database,
    "memory": memory_of_others,
    "descriptors": descriptors_of_others,
    "the root's other name": past_the_root,
    "replaced functions": replaced_functions,
    "a path of two faces": two_faced,
    "a relative path": relative,
    "the network": sent_away,
    "swallowed errors": swallowed,
    "poisoned code": lambda target: Path(target["code"]).write_text("raise SystemExit"),
}
SILENT = {"sys.modules", "frames", "swallowed errors", "a path of two faces"}
"""Nothing is refused, or the refusal is caught, or what is opened is allowed: nothing raw is found."""
NATIVE: dict[str, Callable[[dict[str, str]], Any]] = {
    "an address": by_c_past_the_hook,
    "torch": by_torch,
    "pyarrow": by_arrow,
}
"""What no audit hook sees."""
ATTACKS |= NATIVE
