import functools
import json
import operator
import re
import time
from pathlib import Path

import pytest

from benchmarks.reporting import Measured, Work, compared, json_argument, measured, misses, publish


def slow_to_prepare() -> Work:
    time.sleep(0.5)
    return functools.partial(time.sleep, 0.05)


def test_memory_and_time_belong_to_the_work_alone() -> None:
    ballast = b"x" * 40_000_000
    side = measured(functools.partial, operator.mul, b"x", 20_000_000, repeats=2)
    assert len(side.value) == 20_000_000 < len(ballast)
    assert 19 < side.peak_mb < 30
    assert 0.05 <= measured(slow_to_prepare).seconds < 0.5  # the shortest of five


def test_a_failing_side_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="partial"):
        measured(functools.partial, operator.truediv, 1, 0)


def test_cases_are_written_as_an_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = json_argument("text", ["--json", str(tmp_path / "cases.json")])
    assert publish([compared("toy", Measured(2.0, 7.0, 0), Measured(0.5, 3.0, 0), extra=1)], file) == 0
    assert json.loads((tmp_path / "cases.json").read_text()) == [
        {
            "case": "toy",
            "ratio": 4.0,
            "baseline_s": 2.0,
            "ours_s": 0.5,
            "peak_mb": 3.0,
            "baseline_peak_mb": 7.0,
            "extra": 1,
        }
    ]
    assert "4.0" in capsys.readouterr().out
    assert json_argument("text", []) is None


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"required_ratio": 4, "memory_limit_mb": 3, "checks": {"equal": True}}, []),
        ({"required_ratio": 5}, ["4.00 .* 5 "]),
        ({"memory_limit_mb": 2}, ["3 MB.* 2 "]),
        ({"checks": {"equal": False, "sorted": True}}, ["equal"]),
    ],
)
def test_a_case_that_misses_its_target_is_told_and_fails(
    asked: dict[str, object], named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    case = compared("toy", Measured(2.0, 7.0, 0), Measured(0.5, 3.0, 0), **asked)
    missed = misses(case)
    assert [bool(re.match(pattern, text)) for pattern, text in zip(named, missed, strict=True)] == [True] * len(named)
    assert publish([case], None) == bool(named)
    told = capsys.readouterr().out
    assert all(text in told for text in missed)
