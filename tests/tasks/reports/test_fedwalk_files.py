"""File forms of FedWalk's array reports: bytes, return, refusal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.errors import UserError
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.reports.ledgers.ledger_line import LedgerLine


def line(slot: str, epsilon: str = "inf") -> LedgerLine:
    return LedgerLine("m", "d", slot, "r", epsilon, "u", "s", "n", False, False)


LISTS, MATRICES = line("encoded lists"), line("structural matrices")
ROWS = np.array([[1.5, 2], [3, 4]], dtype=np.float32)
REPORTS = [
    DegreeReport("1", np.array([3, -1, 0]), line("degree", "1")),
    NeighbourCountReport("0.5", 2, np.arange(12, dtype=np.int32).reshape(3, 2, 2), line("counts", "0.5")),
    EncodedListReport("2", True, np.array([0, 2, 2, 3]), np.array([0, 2, 2], dtype=np.int32), LISTS),
    StructuralMatrixReport("1", ROWS, np.array([0, 1, 2]), ROWS, MATRICES),
]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: type(report).__name__)
def test_reports_come_back_and_have_the_same_bytes_every_time(tmp_path: Path, report):
    for name in ("a.npz", "b.npz"):
        report.save(tmp_path / name)
    back = type(report).load(tmp_path / "a.npz")
    back.save(tmp_path / "c.npz")
    assert len({(tmp_path / name).read_bytes() for name in ("a.npz", "b.npz", "c.npz")}) == 1
    assert back.ledger == report.ledger


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: type(report).__name__)
def test_a_truncated_file_is_one_line(tmp_path: Path, report):
    report.save(tmp_path / "a.npz")
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-40])
    with pytest.raises(UserError, match=r"a\.npz"):
        type(report).load(tmp_path / "a.npz")


@pytest.mark.parametrize("report", REPORTS[:3], ids=lambda report: type(report).__name__)
def test_the_digest_is_of_the_content_and_not_of_the_ledger(report):
    same = replace(report, ledger=replace(report.ledger, mechanism="other"))
    changed = replace(report, epsilon="9", ledger=replace(report.ledger, epsilon="9"))
    assert report.digest() == same.digest() != changed.digest()


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: DegreeReport("1", np.zeros(2, dtype=np.int32), line("degree", "1")), "degrees"),
        (lambda: DegreeReport("1", np.zeros(0, dtype=np.int64), line("degree", "1")), "degrees"),
        (lambda: NeighbourCountReport("1", 1, np.zeros((2, 2), dtype=np.int32), line("counts", "1")), "counts"),
        (lambda: NeighbourCountReport("1", 3, np.zeros((2, 2, 1), dtype=np.int32), line("counts", "1")), "sensitivity"),
        (lambda: EncodedListReport("1", False, np.array([0, 2]), np.zeros(1, dtype=np.int32), LISTS), "indptr"),
        (lambda: EncodedListReport("1", False, np.array([0, 1]), np.ones(1, dtype=np.int32), LISTS), "entry"),
        (lambda: StructuralMatrixReport("1", ROWS, np.array([0, 2]), ROWS, MATRICES), "vectors, rows and indptr"),
        (lambda: StructuralMatrixReport("1", ROWS, np.array([0, 3, 2]), ROWS, MATRICES), "indptr .*0"),
    ],
)
def test_what_is_no_report_is_refused(make, named: str):
    with pytest.raises(UserError, match=named):
        make()


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: type(report).__name__)
def test_a_refusal_names_the_file(tmp_path: Path, report):
    report.save(tmp_path / "a.npz")
    arrays = dict(np.load(tmp_path / "a.npz"))
    np.savez(tmp_path / "a.npz", **{**arrays, "ledger": np.frombuffer(b"[" * 5000, dtype=np.uint8)})
    with pytest.raises(UserError, match=r"a\.npz: .*ledger"):
        type(report).load(tmp_path / "a.npz")
