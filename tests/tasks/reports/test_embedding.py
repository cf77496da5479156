from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.client.embedding_encoder import encode_embeddings
from tasks.errors import UserError
from tasks.reports.archive import write_arrays
from tasks.reports.embedding import EmbeddingReport
from tasks.reports.encoders import encoder_setting
from tasks.seeds import generator

CASES = [("per_row", "10"), ("paper", "1/n"), ("row", "inf"), ("gaussian_scale", "0.1")]


def report(encoder: str = "per_row", epsilon: str = "10") -> EmbeddingReport:
    embeddings = [np.full((n, 4), 0.25) for n in (3, 1, 2)]
    return encode_embeddings(embeddings, encoder, epsilon, generator(0), True, dataset="toy")


@pytest.mark.parametrize("case", CASES)
def test_files_round_trip_byte_for_byte(case: tuple[str, str], tmp_path: Path) -> None:
    one = report(*case)
    one.save(tmp_path / "one")
    again = EmbeddingReport.load(tmp_path / "one")
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert again.digest() == one.digest()
    assert again.ledger == one.ledger


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(CASES), st.data())
def test_damaged_files_give_one_line(tmp_path: Path, case: tuple[str, str], data: st.DataObject) -> None:
    one, path = report(*case), tmp_path / "report"
    one.save(path)
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        again = EmbeddingReport.load(path)
    except UserError as error:
        assert "\n" not in str(error)
        assert str(path) in str(error)
    else:
        assert again.digest() == one.digest()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"encoder": np.frombuffer(b"rows", dtype=np.uint8)}, "unknown"),
        ({"epsilon": np.frombuffer(b"1.0", dtype=np.uint8)}, "canonical"),
        ({"epsilon": np.frombuffer(b"inf", dtype=np.uint8)}, "values"),
        ({"dimensions": np.array(0)}, "dimensions"),
        ({"dimensions": np.array(2**61)}, "dimensions"),
        ({"dimensions": np.array(3)}, "values"),
        ({"node_counts": np.array([3, 0, 3])}, "node counts"),
        ({"node_counts": np.array([3, 1, 3])}, "indptr"),
        ({"indptr": np.array([0, 3, 2, 4, 5, 7, 8])}, "indptr"),
        ({"columns": np.full(8, 4, dtype=np.int32)}, "cells"),
        ({"signs": np.zeros(8, dtype=np.int8)}, "signs"),
        ({"values": np.zeros((0, 5))}, "values"),
    ],
)
def test_wrong_files_are_refused(change: dict, named: str, tmp_path: Path) -> None:
    write_arrays(tmp_path / "report", {**report()._arrays(), **change})
    with pytest.raises(UserError, match=named):
        EmbeddingReport.load(tmp_path / "report")


def test_repeated_cells_and_wild_values_are_refused(tmp_path: Path) -> None:
    arrays = report("row", "9")._arrays()
    assert (np.diff(arrays["indptr"]) == 4).all()
    with pytest.raises(UserError, match="cells"):
        write_arrays(tmp_path / "report", {**arrays, "columns": np.zeros_like(arrays["columns"])})
        EmbeddingReport.load(tmp_path / "report")
    arrays = report("per_row", "inf")._arrays()
    with pytest.raises(UserError, match="a value"):
        write_arrays(tmp_path / "report", {**arrays, "values": np.full_like(arrays["values"], np.nan)})
        EmbeddingReport.load(tmp_path / "report")


def test_settings_have_one_spelling() -> None:
    assert encoder_setting("per_row", "1 / N") == "1/n"
    assert encoder_setting("row", 0.10) == "0.1"
    assert encoder_setting("paper", float("inf")) == "inf"
    assert encoder_setting("gaussian_scale", 0) == "inf"
    with pytest.raises(UserError, match="eps: 0 "):
        encoder_setting("per_row", 0)
