"""A few hundred of the fuzz run's inputs, and proof that it would notice."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import fuzz as run
from benchmarks.fuzz import fuzz, table
from benchmarks.fuzz_targets import Target, all_targets
from tasks.errors import UserError

INPUTS = 330
CANNOT_PASS = {"MATLAB", "lastfm csv, zip", "fetch from a mirror"}  # of a published size or digest, which no sample has


@pytest.fixture(scope="module")
def targets() -> list[Target]:
    return all_targets()


def test_sound_samples_pass(targets: list[Target], tmp_path: Path) -> None:
    for number, target in enumerate(targets):
        for place, files in enumerate(target.samples):
            folder = tmp_path / f"{number}.{place}" / "input"
            folder.mkdir(parents=True)
            for name, content in files.items():
                (folder / name).write_bytes(b"[]" if name == "set" else content)
            if target.name in CANNOT_PASS:
                with pytest.raises(UserError):
                    target.read(folder)
            else:
                target.read(folder)


def test_damaged_and_hostile_inputs_are_one_clear_line_each(targets: list[Target]) -> None:
    tallies = fuzz(targets, INPUTS, seed=5)
    failures = [words for tally in tallies.values() for words in tally.failures]
    assert not failures, "\n".join(failures)
    counts = [tally.counts for tally in tallies.values()]
    assert sum(count["inputs"] for count in counts) == INPUTS
    assert sum(count["accepted"] + count["refused"] for count in counts) == INPUTS


def _raises(_: Path) -> None:
    raise KeyError("x")


def _vague(_: Path) -> None:
    raise UserError("something is wrong; try again")


def _leaves(folder: Path) -> None:
    (folder / "part.tmp").touch()


def _runs(_: Path) -> None:
    os.close(os.open("ran", os.O_CREAT))


def _hangs(_: Path) -> None:
    while True:
        pass


def _hungry(_: Path) -> None:
    bytearray(4 * run.MEMORY)


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (_raises, "tracebacks"),
        (_vague, "unclear"),
        (_leaves, "leftovers"),
        (_runs, "leftovers"),
        (_hangs, "tracebacks"),
        (_hungry, "tracebacks"),
    ],
)
def test_a_bad_reader_is_noticed(read: Callable[[Path], None], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SECONDS", 1)
    tallies = fuzz([Target("bad", [{"a.csv": b"1,2\n"}], read)], 2, seed=0)
    assert tallies["bad"].counts[kind] == 2
    assert len(tallies["bad"].failures) == 2
    assert table(tallies).splitlines()[0].split() == ["target", *run.COLUMNS]
