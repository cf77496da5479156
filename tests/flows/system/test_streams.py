"""Each with a program of its own: a test's streams are pytest's."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flows.system.environment import PACKAGE_ROOT

PROGRAM = """
import sys
from flows.system.streams import open_closed_streams
open_closed_streams()
from flows.system.exit_status import exit_status
def work():
    print("x" * {size})
raise SystemExit(exit_status(work))
"""


def shell(redirected: str, size: int) -> subprocess.CompletedProcess[str]:
    """The program below a shell that redirects it; with bash, whose PIPESTATUS tells its own status."""
    command = f'"$0" -c "$1" {redirected}; exit ${{PIPESTATUS[0]}}'
    return subprocess.run(
        ["bash", "-c", command, sys.executable, PROGRAM.format(size=size)],
        cwd=PACKAGE_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_reader_that_has_gone_ends_it_quietly() -> None:
    done = shell("| true", 1_000_000)  # more than a pipe holds
    assert (done.returncode, done.stdout, done.stderr) == (141, "", "")


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_full_disk_is_one_line(size: int) -> None:
    done = shell("> /dev/full", size)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2> /dev/full"])
def test_closed_streams_are_no_matter(closed: str) -> None:
    done = shell(closed, 10)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_number_of_a_closed_stream_is_not_lent_to_the_next_file() -> None:
    text = (
        "import os; from flows.system.streams import open_closed_streams as o; o(); print(os.open(os.devnull, 0) > 2)"
    )
    command = ["bash", "-c", '"$0" -c "$1" <&- 2>&-', sys.executable, text]
    done = subprocess.run(command, cwd=PACKAGE_ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n"
