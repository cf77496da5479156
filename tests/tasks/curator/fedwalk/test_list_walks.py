from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from tasks.curator.fedwalk.list_walks import walk_lists
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.seeds import generator

LINE = LedgerLine("m", "d", "encoded lists", "r", "1", "u", "s", "n", False, False)


def encoded() -> EncodedListReport:
    """0 names 1 twice and 2 once, 1 names 0, 2 names nobody."""
    return EncodedListReport("1", False, np.array([0, 3, 4, 4]), np.array([1, 1, 2, 0], dtype=np.int32), LINE)


def test_walks_follow_the_lists_by_multiplicity_and_end_at_empty_ones(tmp_path: Path):
    corpus = walk_lists(encoded(), tmp_path, generator(1), walks=600, length=6)
    after_zero = np.zeros(3)
    for walks in corpus:
        assert sorted(walks[:, 0].tolist()) == [0, 1, 2]
        for walk in walks:
            for before, after in pairwise(walk.tolist()):
                assert (before, after) in {(0, 1), (0, 2), (1, 0), (2, -1), (-1, -1)}
                if before == 0:
                    after_zero[after] += 1
    assert after_zero[0] == 0
    assert chisquare(after_zero[1:], after_zero.sum() * np.array([2, 1]) / 3).pvalue > 1e-4


def test_lists_under_randomised_response_walk_too_and_pairs_are_mirrored(tmp_path: Path):
    line = replace(LINE, deployment_key="edges")
    report = EdgeReport(3, "pair", "1", np.array([0, 1, 1, 1]), np.array([2], dtype=np.int32), line)
    corpus = walk_lists(report, tmp_path, generator(1), walks=1, length=4)
    rows = {tuple(walk) for walk in next(iter(corpus)).tolist()}
    assert rows == {(0, 2, 0, 2), (2, 0, 2, 0), (1, -1, -1, -1)}


def test_a_seed_gives_the_same_files(tmp_path: Path):
    for name in ("a", "b"):
        walk_lists(encoded(), tmp_path / name, generator(5), walks=2, length=5)
    for file in ("round-0000.npy", "round-0001.npy", "walks.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_nothing_to_walk_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="walks: 0 "):
        walk_lists(encoded(), tmp_path, generator(1), walks=0)
