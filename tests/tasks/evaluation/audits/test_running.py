"""What the project's mechanisms are seen to spend: never more than they claim, and near it where they promise it."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from tasks.evaluation.audits.features.vectors import feature_cases
from tasks.evaluation.audits.lists.neighbour_lists import list_cases
from tasks.evaluation.audits.running import CONFIDENCE, FAST_DRAWS, AuditRow, all_cases, audited

ROOT = Path(__file__).resolve().parents[4]
EVERYONE = {
    "randomised response (directed)",
    "randomised response (directed-no-diagonal)",
    "randomised response (pair)",
    "multi-bit",
    "multi-bit + randomised response (directed)",
    "embedding (per_row)",
    "embedding (row)",
    "embedding (paper)",
    "noisy degree (discrete Laplace)",
    "neighbour-group counts (discrete Laplace)",
    "noisy degree + neighbour-group counts",
    "tree-path encoder",
    "encoded lists, released once",
    "noisy degree + encoded list of that length",
}


@pytest.fixture(scope="module")
def rows() -> list[AuditRow]:
    return list(audited(all_cases(), seed=3, most_draws=FAST_DRAWS))


def test_no_mechanism_spends_more_than_it_claims(rows: list[AuditRow]) -> None:
    assert {row.mechanism for row in rows} == EVERYONE
    assert [row for row in rows if row.refuted] == []
    assert all(0 < row.claim < math.inf and row.confidence == CONFIDENCE for row in rows)


def test_every_mechanism_is_seen_to_spend_something(rows: list[AuditRow]) -> None:
    """A bound of nothing would come from inputs that are no neighbours, or from outputs that say nothing."""
    for mechanism in EVERYONE:
        assert max(row.seen for row in rows if row.mechanism == mechanism) > 0.2, mechanism


def test_few_rows_lack_a_near_bound_without_a_word(rows: list[AuditRow]) -> None:
    assert all(bool(row.remark) == (row.seen < 0.85) for row in rows)


@pytest.mark.parametrize(
    "case",
    [case for case in (*list_cases(), *feature_cases()) if 0.5 <= case.claim <= 2],
    ids=lambda case: f"{case.mechanism} {case.setting}",
)
def test_randomised_response_and_multi_bit_come_within_15_percent(case) -> None:  # type: ignore[no-untyped-def]
    (row,) = audited([case], seed=0, most_draws=100_000)
    assert 0.85 <= row.seen <= 1


def test_equal_seeds_give_equal_rows_and_others_do_not() -> None:
    cases = feature_cases()[:2]
    once, again, other = (list(audited(cases, seed, 2_000)) for seed in (1, 1, 2))
    assert once == again != other


def test_a_row_does_not_depend_on_the_rows_before_it() -> None:
    cases = feature_cases()[:2]
    forwards, backwards = list(audited(cases, 1, 2_000)), list(audited(cases[::-1], 1, 2_000))
    assert forwards == backwards[::-1]


def test_every_module_that_promises_local_privacy_is_audited() -> None:
    """A mechanism's module is one that makes ``local_privacy_line``; the audits must import each of them."""
    imported = set()
    for path in (ROOT / "tasks/evaluation/audits").rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    promising = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "tasks/client").rglob("*.py")
        if "local_privacy_line(" in path.read_text()
    }
    assert len(promising) >= 6
    assert promising <= imported
