from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat, savemat
from scipy.sparse import csc_array, csr_array, random_array

from tasks.datasets.catalogue.fetch import fetch_files
from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.matlab import NotMatlab, matlab_matrices
from tasks.datasets.multilabel import FILES

NETWORK = random_array((7, 5), density=0.4, rng=np.random.default_rng(0), format="csc")
GROUP = np.arange(12.0).reshape(4, 3)


def written(compressed: bool, **variables: object) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, variables, do_compression=compressed)
    return buffer.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "matrix",
    [
        NETWORK,
        csc_array((3, 4)),
        csc_array(GROUP > 5),
        GROUP,
        GROUP.astype(np.uint8),
        GROUP.astype(np.int16),
        GROUP.astype(np.float32),
        np.zeros((0, 3)),
    ],
    ids=["sparse", "empty sparse", "logical", "dense", "uint8", "int16", "single", "no rows"],
)
def test_matrices_come_back(compressed: bool, matrix: np.ndarray | csc_array) -> None:
    content = written(compressed, network=matrix, title="a text", parts={"a": 1}, longer_name_than_eight=GROUP)
    found = matlab_matrices(content)
    assert set(found) >= {"network", "longer_name_than_eight"}
    dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    np.testing.assert_array_equal(found["network"].toarray(), dense)
    np.testing.assert_array_equal(found["longer_name_than_eight"].toarray(), GROUP)


@pytest.mark.parametrize("name", ["blogcatalog", "ppi"])
def test_published_files_are_read_as_scipy_reads_them(name: str, mirror: str, tmp_path: Path) -> None:
    fetch_files([manifest()[FILES[name]]], tmp_path, mirror)
    path = tmp_path / Path(FILES[name]).name
    ours, theirs = matlab_matrices(path.read_bytes()), loadmat(path)
    for variable in ("network", "group"):
        assert (ours[variable] != csr_array(theirs[variable])).nnz == 0


@settings(max_examples=600)
@given(st.data(), st.booleans())
def test_damage_is_refused_or_harmless(data: st.DataObject, compressed: bool) -> None:
    content = bytearray(written(compressed, network=NETWORK, group=GROUP))
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] ^= data.draw(st.integers(1, 255))
    content = content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))]
    try:
        found = matlab_matrices(bytes(content))
    except NotMatlab as refusal:
        assert str(refusal)
    else:
        for matrix in found.values():
            matrix.check_format(full_check=True)


def test_other_forms_are_refused() -> None:
    for content in (b"", b"MATLAB 5.0", b"\x00" * 200, written(False, a=GROUP).replace(b"\x00\x01IM", b"\x01\x00MI")):
        with pytest.raises(NotMatlab, match="little-endian"):
            matlab_matrices(content)


def test_an_element_that_expands_beyond_measure_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.datasets.matlab.EXPANDED_LIMIT", 10_000)
    with pytest.raises(NotMatlab):
        matlab_matrices(written(True, network=np.zeros((100, 100))))
