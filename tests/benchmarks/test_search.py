"""Which comparisons the command line of ``benchmarks.search`` asks for."""

from __future__ import annotations

import pytest

from benchmarks.search import DATA_SETS, SIDES, parser


def test_all_data_sets_and_sides_are_measured_unless_some_are_named() -> None:
    request = parser().parse_args([])
    assert set(request.dataset) == set(DATA_SETS) and set(request.sides) == set(SIDES)
    request = parser().parse_args(["--dataset", "cora", "--sides", "torch", "--points", "4"])
    assert (request.dataset, request.sides, request.points) == (["cora"], ["torch"], 4)


@pytest.mark.parametrize("option", ["--dataset", "--sides"])
def test_an_unknown_name_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_status:
        parser().parse_args([option, "unheard-of"])
    assert exit_status.value.code == 2 and option in capsys.readouterr().err
