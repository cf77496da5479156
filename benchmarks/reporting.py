"""Measuring a piece of work against a baseline, and the file form that all benchmarks share.

Each side runs in a process of its own, so that memory one side leaves behind is not counted for the other. Set-up
(data, compilation) happens before the clock starts.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

Work = Callable[[], Any]


@dataclass(frozen=True)
class Measured:
    """One side of a comparison.

    Attributes:
        seconds: the least disturbed (shortest) of the repeats.
        peak_mb: resident memory that the first run added at its peak, in 10^6 bytes.
        value: what the work returned.
    """

    seconds: float
    peak_mb: float
    value: Any


def measured(prepare: Callable[..., Work], *arguments: Any, repeats: int = 5) -> Measured:
    """Runs ``prepare(*arguments)`` in a fresh process, then the work that it returns: once for memory, then for time.

    ``prepare`` is a function of a module (it crosses to the process by name). It compiles what needs compiling on small
    input; run at full size it would leave memory behind that hides what the work needs.

    Raises:
        RuntimeError: when the process fails; its traceback is on standard error.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(sender, prepare, arguments, repeats))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        raise RuntimeError(f"the process measuring {prepare.__name__} failed") from None
    finally:
        process.join()


def compared(case: str, baseline: Measured, ours: Measured, **more: Any) -> dict[str, Any]:
    """One case as the file holds it.

    ``more`` adds fields of the benchmark's own. Three of them decide whether it holds: ``required_ratio``,
    ``memory_limit_mb`` of ours, and ``checks``, a dict of what must be true.
    """
    return {
        "case": case,
        "ratio": baseline.seconds / ours.seconds,
        "baseline_s": baseline.seconds,
        "ours_s": ours.seconds,
        "peak_mb": ours.peak_mb,
        "baseline_peak_mb": baseline.peak_mb,
        **more,
    }


def json_argument(description: str | None, arguments: Sequence[str] | None = None) -> Path | None:
    """The command line of a benchmark: ``--json FILE`` and nothing else."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the cases there, as a JSON array")
    return parser.parse_args(arguments).json


def publish(cases: list[dict[str, Any]], file: Path | None) -> int:
    """Prints one line a case, and writes the array to ``file`` if there is one; 1 if a case misses its target."""
    for case in cases:
        print(
            f"{case['case']}: {case['ratio']:.1f} times faster "
            f"({case['baseline_s']:.4g} s -> {case['ours_s']:.4g} s), added at peak {case['peak_mb']:.1f} MB"
        )
        for miss in misses(case):
            print(f"  MISSED: {miss}")
    if file is not None:
        file.write_text(json.dumps(cases, indent=1) + "\n")
    missed = sum(bool(misses(case)) for case in cases)
    print(f"{len(cases) - missed} of {len(cases)} cases reach what is asked of them")
    return 1 if missed else 0


def misses(case: dict[str, Any]) -> list[str]:
    """What a case does not reach, in words."""
    required, limit = case.get("required_ratio"), case.get("memory_limit_mb")
    found = [name for name, holds in case.get("checks", {}).items() if not holds]
    if required is not None and case["ratio"] < required:
        found.append(f"{case['ratio']:.2f} times faster, {required} times are asked for")
    if limit is not None and case["peak_mb"] > limit:
        found.append(f"{case['peak_mb']:.0f} MB, at most {limit} are asked for")
    return found


def _measure(sender: Connection, prepare: Callable[..., Work], arguments: tuple[Any, ...], repeats: int) -> None:
    work = prepare(*arguments)
    gc.collect()
    before = _start_of_peak()
    value = work()
    peak_mb = max(0.0, _peak_mb() - before)
    seconds = [] if repeats else [float("nan")]
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    sender.send(Measured(min(seconds), peak_mb, value))


def _start_of_peak() -> float:
    """Forgets the peak of the past where the system can (Linux), and says what is resident now, in MB."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # elsewhere the peak of the set-up stays the floor
        return _peak_mb()
    return _status_mb("VmRSS")


def _peak_mb() -> float:
    try:
        return _status_mb("VmHWM")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _status_mb(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{field}:"))
