from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tasks.client.labels import reveal_labels
from tasks.client.multibit import encode_features
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.errors import UserError
from tasks.reports.archive import write_arrays
from tasks.reports.edge import EdgeReport
from tasks.reports.feature import FeatureReport
from tasks.reports.label import LabelReport
from tasks.seeds import generator

Report = EdgeReport | FeatureReport | LabelReport
RING = np.roll(np.eye(12, dtype=np.int8), 1, axis=1)
GRAPH = csr_array(RING | RING.T)


def edges(epsilon: str = "1", mode: str = "directed") -> EdgeReport:
    return randomise_neighbour_lists(GRAPH, epsilon, mode, generator(0), 10, True, dataset="toy", notes=("ünïcode",))  # type: ignore[arg-type]


def features(epsilon: str = "5") -> FeatureReport:
    return encode_features(csr_array(RING.astype(float)), (0, 1), epsilon, generator(0), True, dataset="toy")


def labels() -> LabelReport:
    return reveal_labels(np.arange(12) % 3, np.arange(6), np.arange(6, 9), classes=3, dataset="toy")


MAKERS: list[Callable[[], Report]] = [
    edges,
    lambda: edges("inf"),
    lambda: edges("1", "pair"),
    features,
    lambda: features("inf"),
    labels,
]


@pytest.mark.parametrize("make", MAKERS)
def test_files_round_trip_byte_for_byte(make: Callable[[], Report], tmp_path: Path) -> None:
    report = make()
    report.save(tmp_path / "one")
    make().save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again = type(report).load(tmp_path / "one")
    assert again.digest() == report.digest()
    assert again.ledger == report.ledger
    again.save(tmp_path / "three")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "three").read_bytes()


def test_digest_covers_content_and_not_the_ledger() -> None:
    report = edges()
    assert replace(report, ledger=replace(report.ledger, dataset="other")).digest() == report.digest()
    assert edges("2").digest() != report.digest() != edges("1", "directed-no-diagonal").digest()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(MAKERS), st.data())
def test_damaged_files_give_one_line(tmp_path: Path, make: Callable[[], Report], data: st.DataObject) -> None:
    report, path = make(), tmp_path / "report"
    report.save(path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
            content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        again = type(report).load(path)
    except UserError as error:
        assert "\n" not in str(error)
        assert str(path) in str(error)
    else:  # the change fell on bytes that carry nothing, such as a time stamp
        assert again.digest() == report.digest()
        assert again.ledger == report.ledger


def rewritten(report: Report, path: Path, **changes: np.ndarray) -> Path:
    write_arrays(path, {**report._arrays(), **changes})
    return path


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"indices": np.full(3, 12, dtype=np.int32), "indptr": np.r_[0, [3] * 12]}, "neighbour id"),
        ({"indices": np.array([12], dtype=np.int32), "indptr": np.r_[0, [1] * 12]}, "neighbour id"),
        ({"indices": np.array([-1], dtype=np.int32), "indptr": np.r_[0, [1] * 12]}, "neighbour id"),
        ({"indices": np.array([4, 3], dtype=np.int32), "indptr": np.r_[0, [2] * 12]}, "a row .*increasing"),
        ({"indices": np.array([1, 2], dtype=np.int32), "indptr": np.r_[0, 2, 1, [2] * 10]}, "indptr decreases"),
        ({"indptr": np.r_[0, [10**12] * 12]}, "indptr .*node count"),
        ({"indptr": np.zeros(0, dtype=np.int64)}, "indptr .*node count"),
        ({"indices": np.zeros(3, dtype=np.int64)}, "indices .*int32"),
        ({"mode": np.frombuffer(b"pear", dtype=np.uint8)}, "'pear'"),
        ({"mode": np.frombuffer(b"\xff", dtype=np.uint8)}, "UTF-8"),
        ({"mode": np.frombuffer(b"pair", dtype=np.uint8)}, "pair"),
        ({"epsilon": np.frombuffer(b"1.0", dtype=np.uint8)}, "budget"),
        ({"epsilon": np.frombuffer(b"2", dtype=np.uint8)}, "budget"),
        ({"ledger": np.frombuffer(b"{}", dtype=np.uint8)}, "ledger line"),
        ({"extra": np.zeros(1)}, "ValueError"),
    ],
)
def test_wrong_edge_files_are_refused(change: dict, named: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=named):
        EdgeReport.load(rewritten(edges(), tmp_path / "report", **change))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"dims": np.full((12, 2), 3, dtype=np.int32)}, "dimensions .*increasing"),
        ({"dims": np.tile(np.array([3, 12], dtype=np.int32), (12, 1))}, "a dimension "),
        ({"dims": np.zeros((12, 3), dtype=np.int32)}, "dims"),
        ({"signs": np.zeros((12, 2), dtype=np.int8)}, "a sign"),
        ({"signs": np.full((12, 2), -128, dtype=np.int8)}, "a sign"),
        ({"shape": np.array([-12, 12, 2])}, "node count"),
        ({"shape": np.array([12, 12])}, "shape"),
        ({"bounds": np.array([1.0, np.nan])}, "bounds"),
    ],
)
def test_wrong_feature_files_are_refused(change: dict, named: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=named):
        FeatureReport.load(rewritten(features(), tmp_path / "report", **change))


@pytest.mark.parametrize(
    "change",
    [
        {"exact_values": np.full(12, np.nan)},
        {"exact_values": np.full(12, 7.0)},
        {"exact_values": np.ones(11)},
        {"exact_indices": np.full(12, 40, dtype=np.int32)},
        {"exact_indices": np.full(12, -1, dtype=np.int32)},
        {"exact_indptr": np.arange(14)},
        {"exact_indptr": np.arange(13)[::-1].copy()},
    ],
)
def test_wrong_exact_values_are_refused(change: dict, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        FeatureReport.load(rewritten(features("inf"), tmp_path / "report", **change))


@pytest.mark.parametrize(
    "change",
    [
        {"train_labels": np.full(6, 3)},
        {"train_labels": np.full(6, -1)},
        {"train_labels": np.zeros(5, dtype=np.int64)},
        {"train_nodes": np.zeros(6, dtype=np.int64)},
        {"validation_nodes": np.arange(5, 8)},
        {"classes": np.array(0)},
    ],
)
def test_wrong_label_files_are_refused(change: dict, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        LabelReport.load(rewritten(labels(), tmp_path / "report", **change))


def test_pickles_bombs_and_missing_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with pytest.raises(UserError, match=str(path)):
        EdgeReport.load(path)
    with path.open("wb") as file:
        np.savez(file, **{**edges()._arrays(), "indices": np.array([{}], dtype=object)})  # type: ignore[arg-type]
    with pytest.raises(UserError, match="ValueError"):
        EdgeReport.load(path)
    with path.open("wb") as file:
        np.savez_compressed(file, **edges()._arrays())  # type: ignore[arg-type]
    with pytest.raises(UserError, match="ValueError"):
        EdgeReport.load(path)
    edges().save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../escape.npy", b"")
    with pytest.raises(UserError, match="ValueError"):
        EdgeReport.load(path)


def test_a_member_that_is_no_array_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "report"
    edges().save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, b"text" if name == "indices.npy" else content)
    with pytest.raises(UserError, match="ValueError"):
        EdgeReport.load(path)


def test_a_refusal_quotes_little_of_the_file(tmp_path: Path) -> None:
    edges().save(tmp_path / "report")
    arrays = dict(np.load(tmp_path / "report"))
    write_arrays(tmp_path / "report", {**arrays, "epsilon": np.full(5000, ord("x"), dtype=np.uint8)})
    with pytest.raises(UserError, match="epsilon") as refusal:
        EdgeReport.load(tmp_path / "report")
    assert len(str(refusal.value)) < 500
