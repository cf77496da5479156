from __future__ import annotations

import json
from pathlib import Path

import pytest

from tasks.errors import UserError
from tasks.evaluation.audits.running import AuditRow
from tasks.evaluation.audits.table import audit_frame, audit_json, audit_summary, audit_text, read_audit

ROWS = [
    AuditRow("one", "eps 1", "a bit", 1.0, 0.99999, 5_000, 0.999, 0.01, ""),
    AuditRow("one", "eps 2", "a bit", 2.0, 0.5, 20_000, 0.999, 0.0000001, "rare event"),
    AuditRow("two", "eps 1", "a list", 1.0, 1.5, 20_000, 0.999, 1.0, ""),
]


def test_bounds_are_rounded_down() -> None:
    assert audit_frame(ROWS)["lower_bound"].tolist() == [0.9999, 0.5, 1.5]


def test_shares_in_clear_are_rounded_up() -> None:
    assert audit_frame(ROWS)["share_in_clear"].tolist() == [0.01, 0.000001, 1.0]


def test_the_json_is_an_array_of_rows() -> None:
    rows = json.loads(audit_json(audit_frame(ROWS)))
    assert len(rows) == 3
    assert list(rows[0])[:5] == ["mechanism", "claim", "lower_bound", "draws", "confidence"]
    assert rows[0]["draws"] == 5_000


def test_the_text_names_every_row_and_the_refuted_one() -> None:
    lines = audit_text(audit_frame(ROWS)).splitlines()
    assert [line for line in lines if line and not line.startswith(" ")][:2] == ["one", "two"]
    assert [line.count("MORE THAN CLAIMED") for line in lines if "claim " in line] == [0, 0, 1]
    assert "25.0%" in lines[2]
    assert lines[2].endswith("[1]")
    assert "99.9%" in lines[-2]
    assert "5,000 to 20,000" in lines[-2]
    assert lines[-1] == "[1] rare event"


@pytest.mark.parametrize("claim", [1.0, 0.5])
def test_what_is_refuted_is_above_the_claim(claim: float) -> None:
    assert AuditRow("m", "s", "u", claim, 0.75, 10, 0.999, 1.0, "").refuted == (claim == 0.5)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    frame = audit_frame(ROWS)
    (tmp_path / "audit.json").write_text(audit_json(frame))
    again = read_audit(tmp_path / "audit.json")
    assert again.equals(frame)
    assert audit_text(again) == audit_text(frame)


@pytest.mark.parametrize("content", [None, "", "[]", "{}", "[1]", '[{"mechanism": "one"}]', "[" * 100_000])
def test_what_is_no_audit_is_one_line(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=r"audit\.json.*python -m flows\.audit"):
        read_audit(path)


def test_the_summary_has_a_line_for_each_mechanism() -> None:
    assert audit_summary(audit_frame(ROWS)) == [
        ("one", "2", "1 to 2", "25.0% to 100.0%", "1 in 1,000,000"),
        ("two", "1", "1 to 1", "150.0% to 150.0%, 1 MORE THAN CLAIMED", "-"),
    ]
