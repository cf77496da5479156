from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tasks.errors import UserError
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.reports.fedwalk.walks import Traffic, WalkReport
from tasks.reports.ledgers.ledger_line import LedgerLine

LINE = LedgerLine("m", "d", "walks", "r", "inf", "u", "s", "n", False, False)
ROUNDS = [np.array([[0, 1, 2], [3, -1, -1]], dtype=np.int32), np.array([[2, 2, -1]], dtype=np.int32)]


def test_walks_come_back_and_are_counted(tmp_path: Path):
    written = WalkCorpus.write(tmp_path / "w", ROUNDS, nodes=5, length=3)
    corpus = WalkCorpus.open(tmp_path / "w")
    assert corpus == written
    assert (corpus.rounds, corpus.tokens) == (2, 6)
    assert all(np.array_equal(read, put) for read, put in zip(corpus, ROUNDS, strict=True))
    assert corpus.frequencies().tolist() == [1, 1, 3, 1, 0]


@pytest.mark.parametrize(("nodes", "size"), [(65_535, 2), (65_536, 4)])
def test_a_token_takes_two_bytes_where_ids_and_the_end_fit(tmp_path: Path, nodes: int, size: int):
    walks = np.array([[0, nodes - 1], [nodes - 1, -1]], dtype=np.int32)
    WalkCorpus.write(tmp_path, [walks], nodes=nodes, length=2)
    (read,) = WalkCorpus.open(tmp_path)
    assert read.dtype == np.int32
    assert np.array_equal(read, walks)
    assert np.load(tmp_path / "round-0000.npy").itemsize == size


@pytest.mark.parametrize("damage", ["index", "token", "type", "round", "length"])
def test_damage_is_one_line(tmp_path: Path, damage: str):
    WalkCorpus.write(tmp_path, ROUNDS, nodes=5, length=3)
    if damage == "index":
        (tmp_path / "walks.json").write_text("{}")
    elif damage == "token":
        np.save(tmp_path / "round-0000.npy", np.array([[0, 1, 5]], dtype=np.uint16))
    elif damage == "type":
        np.save(tmp_path / "round-0000.npy", np.array([[0, 1, 2]], dtype=np.int32))
    elif damage == "round":
        (tmp_path / "round-0001.npy").unlink()
    else:
        index = json.loads((tmp_path / "walks.json").read_text())
        (tmp_path / "walks.json").write_text(json.dumps({**index, "length": 4}))
    with pytest.raises(UserError, match=str(tmp_path)):
        WalkCorpus.open(tmp_path)


def test_a_report_comes_back_whole_or_not_at_all(tmp_path: Path):
    corpus = WalkCorpus.write(tmp_path, ROUNDS, nodes=5, length=3)
    report = WalkReport(corpus, "2", 0.2, "triadic", Traffic(4, 100, 3, 60), LINE)
    report.save()
    assert WalkReport.load(tmp_path) == report
    assert report.traffic.messages_per_walk == pytest.approx(4 / 3)
    assert report.traffic.bytes_per_walk == pytest.approx(100 / 3)
    (tmp_path / "report.json").write_text('{"epsilon": "2"}')
    with pytest.raises(UserError, match=str(tmp_path)):
        WalkReport.load(tmp_path)


def test_traffic_adds_up():
    assert Traffic(1, 2, 3, 4) + Traffic(10, 20, 30, 40) == Traffic(11, 22, 33, 44)


@pytest.mark.parametrize("content", ["[" * 5000, '{"nodes": 1e999, "length": 3, "rounds": 2, "tokens": 6}', "\x00"])
def test_a_hostile_index_is_one_line(tmp_path: Path, content: str):
    WalkCorpus.write(tmp_path, ROUNDS, nodes=5, length=3)
    (tmp_path / "walks.json").write_text(content)
    with pytest.raises(UserError, match=str(tmp_path)):
        WalkCorpus.open(tmp_path)


def test_an_empty_round_is_one_line(tmp_path: Path):
    WalkCorpus.write(tmp_path, ROUNDS, nodes=5, length=3)
    (tmp_path / "round-0000.npy").write_bytes(b"")
    with pytest.raises(UserError, match=str(tmp_path)):
        WalkCorpus.open(tmp_path)


def test_no_walks_need_no_messages():
    assert (Traffic().messages_per_walk, Traffic().bytes_per_walk) == (0, 0)
