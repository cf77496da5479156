from __future__ import annotations

import errno
import os

import pytest

from flows.system.exit_status import exit_status
from tasks.errors import Interrupted, UserError


def raising(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(("returned", "status"), [(None, 0), (0, 0), (1, 1)])
def test_the_status_is_the_works(returned: int | None, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(lambda: returned) == status
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (UserError("ftp://me:hunter2@place is no mirror"), 2, "error: ftp://***@place is no mirror"),
        (Interrupted("a worker was killed"), 1, "error: a worker was killed; all is kept"),
        (KeyboardInterrupt(), 130, "interrupted; all is kept"),
    ],
)
def test_a_mistake_and_what_ends_a_run_are_one_line_without_secrets(
    error: BaseException, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(lambda: raising(error), "all is kept") == status
    assert capsys.readouterr() == ("", f"{says}\n")


def test_a_defect_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        exit_status(lambda: raising(ZeroDivisionError()))


def test_a_pipe_that_broke_elsewhere_is_a_defect_and_not_a_reader_that_has_gone() -> None:
    with pytest.raises(BrokenPipeError):
        exit_status(lambda: raising(BrokenPipeError(errno.EPIPE, "Broken pipe")))


def test_a_full_disk_is_one_line_that_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/place/file")
    assert exit_status(lambda: raising(full), "all is kept") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: /place/file")
    assert line.endswith("all is kept")
