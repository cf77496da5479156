from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flows.audit import main
from tasks.evaluation.audits import running
from tasks.evaluation.audits.features.vectors import feature_cases


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the cases: the others are run by the tests of the audits themselves."""
    monkeypatch.setattr(running, "all_cases", lambda: feature_cases()[:2])


def test_the_table_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = [tmp_path / "new" / name for name in ("audit.json", "audit.csv")]
    assert main(["--fast", "--json", str(written[0]), "--csv", str(written[1])]) == 0
    rows = json.loads(written[0].read_text())
    assert [row["claim"] for row in rows] == [0.5, 1.0]
    assert all(0 < row["lower_bound"] <= row["claim"] for row in rows)
    assert written[1].read_text().startswith("mechanism,claim,lower_bound,draws,confidence")
    out, err = capsys.readouterr()
    assert "multi-bit" in out
    assert err == ""
    assert sorted(path.name for path in written[0].parent.iterdir()) == ["audit.csv", "audit.json"]


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert main(["--fast", "--seed", seed, "--json", str(tmp_path / name)]) == 0
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_a_refuted_claim_ends_with_1_and_names_the_mechanism(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lying = replace(feature_cases()[2], claim=1.0, mechanism="half the truth")
    monkeypatch.setattr(running, "all_cases", lambda: [lying])
    assert main(["--fast"]) == 1
    out, err = capsys.readouterr()
    assert "MORE THAN CLAIMED" in out
    assert err.startswith("more than claimed is spent by half the truth")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seed", "-1"], "--seed -1 is negative"),
        (["--json", "FOLDER"], "is a folder; name a file"),
        (["--csv", "FOLDER/file/x"], "is a file, no folder"),
        (["--csv", "FOLDER/x", "--json", "FOLDER/x"], "another file"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main([argument.replace("FOLDER", str(tmp_path)) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--sede", "1"], ["--seed", "x"], ["extra"]])
def test_unknown_arguments_end_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
