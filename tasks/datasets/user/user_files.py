"""Reading the files of a user's own graph.

Every error names the file, the line and the rule, never what stands there: the file may be private, and an
error text ends up in logs. For the same reason no error is chained to one that quotes the content.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.datasets.user.declaration import TABLES
from tasks.errors import UserError

WHOLE = re.compile(r"-?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
# Half of the memory: a compressed file may claim any size, and reading it needs a copy.
EXPANDED_LIMIT = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
SPARSE_KEYS = {"data", "indices", "indptr", "shape"}


def read_edges(path: Path) -> NDArray[np.int64]:
    """(E, 2) int64 pairs of node ids, as listed: csv or tsv of two columns, or npz with an array ``edges``."""
    if path.suffix == ".npz":
        return whole_array(path, npz_arrays(path), "edges", dimensions=2)
    return np.array([whole_pair(path, line, fields) for line, fields in table_rows(path)], dtype=np.int64).reshape(
        -1, 2
    )


def read_labels(path: Path) -> tuple[NDArray[np.int64], list[str]]:
    """Node ids and the class name of each: csv or tsv of two columns, or npz with a vector ``labels``.

    An empty class or -1 means unknown and becomes the empty name.
    """
    if path.suffix == ".npz":
        numbers = whole_array(path, npz_arrays(path), "labels", dimensions=1)
        return np.arange(len(numbers)), ["" if number == -1 else str(number) for number in numbers]
    nodes, names = [], []
    for line, fields in table_rows(path):
        if len(fields) != 2:
            raise broken(path, line, "two columns, node and class")
        nodes.append(node_id(path, line, fields[0]))
        names.append("" if fields[1] == "-1" else fields[1])
    return np.array(nodes, dtype=np.int64), names


def read_features(path: Path) -> csr_array:
    """(N, d) float64 sparse features, row i for node i: csv, tsv, npy, npz (``features`` or SciPy's own form)."""
    if path.suffix == ".npz":
        stored = npz_arrays(path)
        if stored.keys() >= SPARSE_KEYS:
            return stored_sparse(path, stored)
        if "features" not in stored:
            raise UserError(f"{path}: holds no array 'features'; save it under that name or with scipy.sparse.save_npz")
        return dense_rows(path, stored["features"])
    if path.suffix == ".npy":
        return dense_rows(path, npy_array(path))
    rows = [[number(path, line, field) for field in fields] for line, fields in table_rows(path)]
    if len({len(row) for row in rows}) != 1:
        raise UserError(f"{path}: rows differ in length; give every node the same features")
    return dense_rows(path, np.array(rows))


def table_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and stripped fields of each line that is not blank; a heading on the first line is passed over."""
    reader = csv.reader(io.StringIO(text(path), newline=""), delimiter=TABLES[path.suffix])
    empty = True
    try:
        for row in reader:
            fields = [field.strip() for field in row]
            if not any(fields) or (reader.line_num == 1 and not any(map(is_number, fields))):
                continue
            empty = False
            yield reader.line_num, fields
    except csv.Error:
        raise UserError(f"{path}: line {reader.line_num} is not readable as a table") from None
    if empty:
        raise UserError(f"{path}: is empty; list at least one row")


def is_number(field: str) -> bool:
    """True for the spelling of a number, finite or not."""
    return bool(NUMBER.fullmatch(field) or NOT_FINITE.fullmatch(field))


def text(path: Path) -> str:
    """The file as UTF-8 text, with or without a byte order mark."""
    content = file_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass  # that error quotes the content: raised anew below, unchained
    raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8")


def file_bytes(path: Path) -> bytes:
    """The file's content."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path in params.yaml") from None


def whole_pair(path: Path, line: int, fields: list[str]) -> tuple[int, int]:
    """The two node ids of an edge."""
    if len(fields) != 2:
        raise broken(path, line, "two columns, one node id in each")
    return node_id(path, line, fields[0]), node_id(path, line, fields[1])


def node_id(path: Path, line: int, field: str) -> int:
    """A whole number, zero or more."""
    if not WHOLE.fullmatch(field):
        raise broken(path, line, "node ids are whole numbers of at most 18 digits")
    if field.startswith("-"):
        raise broken(path, line, "node ids are not negative")
    return int(field)


def number(path: Path, line: int, field: str) -> float:
    """A finite number."""
    if NOT_FINITE.fullmatch(field):
        raise broken(path, line, "features are finite: no NaN, no infinity")
    if not NUMBER.fullmatch(field):
        raise broken(path, line, "features are numbers")
    return float(field)


def broken(path: Path, line: int, rule: str) -> UserError:
    """The error for a line that breaks a rule."""
    return UserError(f"{path}: line {line} breaks the rule: {rule}")


def npz_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """The arrays of an npz file; nothing in it is unpickled, and nothing read that the memory cannot hold."""
    content = file_bytes(path)
    if path.suffix == ".npz" and content[:2] == b"PK":
        try:
            with ZipFile(io.BytesIO(content)) as archive:
                expanded = sum(member.file_size for member in archive.infolist())
            if expanded <= EXPANDED_LIMIT:
                with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                    arrays = {key: stored[key] for key in stored.files}
                if all(isinstance(array, np.ndarray) for array in arrays.values()):
                    return arrays
        except Exception:  # foreign bytes raise nearly anything, and what they raise may quote the content
            pass
    raise UserError(f"{path}: not a readable npz file of plain arrays; write it with numpy.savez")


def npy_array(path: Path) -> NDArray[np.generic]:
    """The array of an npy file."""
    content = file_bytes(path)
    if content[:6] == b"\x93NUMPY":
        try:
            return np.load(io.BytesIO(content), allow_pickle=False)
        except Exception:  # as above
            pass
    raise UserError(f"{path}: not a readable npy file of a plain array; write it with numpy.save")


def whole_array(path: Path, stored: dict[str, NDArray[np.generic]], key: str, *, dimensions: int) -> NDArray[np.int64]:
    """The named array as int64."""
    if key not in stored:
        raise UserError(f"{path}: holds no array {key!r}; save it under that name")
    array = stored[key]
    if array.dtype.kind not in "iu":
        raise UserError(f"{path}: {key} must be whole numbers; convert the array to int64")
    if array.ndim != dimensions or (dimensions == 2 and array.shape[1] != 2):
        raise UserError(f"{path}: {key} has the wrong shape; edges are (E, 2), labels (N,)")
    if len(array) == 0:
        raise UserError(f"{path}: is empty; list at least one row")
    if not np.can_cast(array.dtype, np.int64):
        raise UserError(f"{path}: {key} may exceed int64; convert the array to int64")
    return array.astype(np.int64)


def dense_rows(path: Path, array: NDArray[np.generic]) -> csr_array:
    """A dense table as a sparse array."""
    if array.dtype.kind not in "biuf" or array.ndim != 2:
        raise UserError(f"{path}: features must be a table of numbers, one row per node")
    return csr_array(array.astype(np.float64))


def stored_sparse(path: Path, stored: dict[str, NDArray[np.generic]]) -> csr_array:
    """A table in the CSR form of ``scipy.sparse.save_npz``, with every index checked."""
    kind = str(np.asarray(stored.get("format", "csr")).astype(str))
    if kind == "csr" and stored["data"].dtype.kind in "biuf":
        try:
            parts = (stored["data"].astype(np.float64), stored["indices"], stored["indptr"])
            matrix = csr_array(parts, shape=tuple(int(side) for side in stored["shape"]))
            matrix.check_format(full_check=True)
            matrix.sum_duplicates()
            return matrix
        except (ValueError, TypeError, IndexError):
            pass  # may quote the content
    raise UserError(f"{path}: not a sparse table of numbers in CSR form; write it with scipy.sparse.save_npz")
