"""Bad input: every reader of files and parameters against damaged and hostile ones.

    python -m benchmarks.fuzz [--inputs 10000] [--seed 0] [--only TARGET] [--json FILE]

A refusal is clean when it is a ``UserError`` of one line that names the file or the parameter. An input counts as a
traceback when anything else is raised, when it takes more than ``SECONDS`` of processor time or asks for more than
``MEMORY`` bytes above the start without being refused; as a leftover when a file is there afterwards that was not
before (hostile inputs try to write one). The exit status is 1 if there is any of these.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.fuzz_targets import Target, all_targets
from tasks.errors import UserError

SECONDS = 20
MEMORY = 4 << 30
LONGEST_LINE = 600
COLUMNS = ("inputs", "accepted", "refused", "tracebacks", "unclear", "leftovers")


class TooSlow(BaseException):
    """An input that takes too long; no handler of the readers catches it."""


@dataclass
class Tally:
    """Counts of one target, and its failures in words."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def fail(self, kind: str, words: str) -> None:
        """One failure."""
        self.counts[kind] += 1
        self.failures.append(words)


def fuzz(targets: Sequence[Target], inputs: int, seed: int) -> dict[str, Tally]:
    """Gives ``inputs`` damaged inputs to the targets in turn; input number i depends on the seed and i alone."""
    tallies = {target.name: Tally() for target in targets}
    with tempfile.TemporaryDirectory() as scratch, _limited_memory():
        empty = Path(scratch) / "cwd"
        empty.mkdir()
        with contextlib.chdir(empty):
            for number in range(inputs):
                target = targets[number % len(targets)]
                _try(target, tallies[target.name], Path(scratch) / f"case{number}", number, seed)
    return tallies


def _try(target: Target, tally: Tally, place: Path, number: int, seed: int) -> None:
    rng = np.random.default_rng([seed, number])
    sample = target.samples[rng.integers(len(target.samples))]
    files = target.damage(sample, rng)
    folder = place / "input"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    where = f"{target.name}, input {number}"
    tally.counts["inputs"] += 1
    try:
        with warnings.catch_warnings(), _limited_time():
            warnings.simplefilter("ignore")
            target.read(folder)
        tally.counts["accepted"] += 1
    except UserError as refusal:
        line = str(refusal)
        named = any(name in line for name in (*sample, *target.named, str(folder)))
        if not named or "\n" in line or not 10 < len(line) < LONGEST_LINE:
            tally.fail("unclear", f"{where}: {line[:LONGEST_LINE]}")
        else:
            tally.counts["refused"] += 1
    except (Exception, TooSlow):
        tally.fail("tracebacks", f"{where}:\n{traceback.format_exc()}")
    left = _left(place, set(files))
    if left:
        tally.fail("leftovers", f"{where}: {', '.join(left)}")
    _clear(place)


def _left(place: Path, given: set[str]) -> list[str]:
    found = [path for path in place.rglob("*") if not path.is_dir()] + list(Path.cwd().iterdir())
    ran = [path for path in (place.parent / "ran", Path("/tmp/ran")) if path.exists()]
    return [str(path) for path in found + ran if path.parent != place / "input" or path.name not in given]


def _clear(place: Path) -> None:
    for folder in (place, Path.cwd()):
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    place.rmdir()


@contextlib.contextmanager
def _limited_memory() -> Iterator[None]:
    """An input that asks for much more than it holds is told that there is none."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def _limited_time() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def table(tallies: dict[str, Tally]) -> str:
    """One row a target, and the sums."""
    rows = [(name, *(tally.counts[column] for column in COLUMNS)) for name, tally in tallies.items()]
    rows.append(("all", *(sum(tally.counts[column] for tally in tallies.values()) for column in COLUMNS)))
    width = max(len(str(row[0])) for row in rows)
    lines = [
        " ".join([f"{row[0]:<{width}}", *(f"{cell:>10}" for cell in row[1:])]) for row in (("target", *COLUMNS), *rows)
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 after any failure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description="damaged and hostile input")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="TARGET", help="targets whose name contains this")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    targets = [target for target in all_targets() if (options.only or "") in target.name]
    if not targets:
        parser.error(f"--only {options.only}: no target's name contains it")
    tallies = fuzz(targets, options.inputs, options.seed)
    for tally in tallies.values():
        for words in tally.failures:
            print(words, file=sys.stderr)
    print(table(tallies))
    failed = any(tally.failures for tally in tallies.values())
    if options.json:
        rows = [{"target": name, **{c: tally.counts[c] for c in COLUMNS}} for name, tally in tallies.items()]
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
