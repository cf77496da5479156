"""Matrices out of a MATLAB file (format 5, little-endian), read with every length checked.

SciPy's reader crashes the interpreter on some damaged files, which no ``except`` catches, and Flickr's file comes
without a published digest that would keep such a file away. Source: "MAT-File Format", The MathWorks, chapter 1.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

HEADER_BYTES = 128
NUMBERS = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8", 13: "<u8"}
MATRIX, COMPRESSED = 14, 15
SPARSE, DENSE = 5, range(6, 16)
COMPLEX = 0x0800
EXPANDED_LIMIT = 1 << 30


class NotMatlab(Exception):
    """Bytes that are not such a file; the message says where it breaks the form."""


def matlab_matrices(content: bytes) -> dict[str, csr_array]:
    """The real two-dimensional matrices of a file by their names; variables of other kinds are passed over.

    Raises:
        NotMatlab: for a file that breaks the form, or expands to more than ``EXPANDED_LIMIT`` bytes.
    """
    if content[124:128] != b"\x00\x01IM":
        raise NotMatlab("no little-endian header of format 5")
    matrices: dict[str, csr_array] = {}
    for kind, body in _elements(memoryview(content)[HEADER_BYTES:]):
        if kind == COMPRESSED:
            [(kind, body)] = [*_elements(memoryview(_expanded(body)))][:1] or [(0, body)]
        if kind == MATRIX and (named := _matrix([*_elements(body)])):
            matrices[named[0]] = named[1]
    return matrices


def _elements(rest: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Type and data of each element; short ones keep their data inside the tag."""
    while len(rest) >= 8:
        kind, size = struct.unpack_from("<II", rest)
        start = 8
        if kind >> 16:
            kind, size, start = kind & 0xFFFF, kind >> 16, 4
        if start + size > (8 if start == 4 else len(rest)):
            raise NotMatlab("an element is longer than the file")
        yield kind, rest[start : start + size]
        end = start + size
        rest = rest[end if kind == COMPRESSED else -(-end // 8) * 8 :]


def _expanded(body: memoryview) -> bytes:
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(body, EXPANDED_LIMIT)
    except zlib.error:
        raise NotMatlab("an element is not readable as compressed data") from None
    if not stream.eof:
        raise NotMatlab("a compressed element is cut, or larger than allowed")
    return content


def _matrix(parts: list[tuple[int, memoryview]]) -> tuple[str, csr_array] | None:
    """Name and matrix of a matrix element's parts: flags, dimensions, name, then the data."""
    if len(parts) < 4:
        raise NotMatlab("a matrix lacks parts")
    flags, shape = _numbers(parts[0]), _numbers(parts[1])
    kind = int(flags[0]) & 0xFF if len(flags) == 2 else 0
    if len(shape) != 2 or int(flags[0]) & COMPLEX or (kind != SPARSE and kind not in DENSE):
        return None
    name = bytes(parts[2][1]).decode("latin1")
    rows, columns = (int(side) for side in shape)
    if min(rows, columns) < 0:
        raise NotMatlab("a matrix has a negative side")
    if kind != SPARSE:
        values = _numbers(parts[3])
        if len(values) != rows * columns:
            raise NotMatlab("a matrix does not have as many values as its sides say")
        return name, csr_array(values.reshape((rows, columns), order="F"))
    if len(parts) < 6:
        raise NotMatlab("a sparse matrix lacks parts")
    indices, starts, values = (_numbers(part) for part in parts[3:6])
    if len(starts) != columns + 1 or not 0 <= starts[-1] <= min(len(indices), len(values)):
        raise NotMatlab("a sparse matrix does not have as many entries as it says")
    count = int(starts[-1])
    try:
        table = csc_array((values[:count], indices[:count], starts), shape=(rows, columns))
        table.check_format(full_check=True)
    except ValueError:
        raise NotMatlab("the indices of a sparse matrix are not sound") from None
    return name, csr_array(table)


def _numbers(part: tuple[int, memoryview]) -> NDArray:
    kind, body = part
    if kind not in NUMBERS:
        raise NotMatlab("numbers are of an unknown type")
    dtype = np.dtype(NUMBERS[kind])
    if len(body) % dtype.itemsize:
        raise NotMatlab("numbers are cut")
    return np.frombuffer(body, dtype)
