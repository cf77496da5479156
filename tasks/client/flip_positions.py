"""Which bits of a long bit string flip: exact geometric skips, compiled, merged with the ones of the string.

Law. Given the flips before it, every bit flips with a probability in [p, p + 2^-120], p = K/2^128. A table holds,
as 128-bit integers, C_j = 2^128 (1 - (1-p)^(j+1)), rounded up at each step, for a block of j < B positions. A uniform
128-bit V picks the first j with V < C_j: the next flip; none means that the block has no flip. Only integers
are compared, so there is no logarithm, no rounding of a uniform float and no dependence on the platform's libm.
The second 64-bit word of V is drawn only when the first ties with a table entry, once in about 2^64/B draws.

Cost: one word per flip and per empty block, so O(E + p * positions + positions / B).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

LARGEST_BLOCK = 2048
_WIDTH = 128
_START_BITS = 13
_START_SHIFT = np.uint64(64 - _START_BITS)


@lru_cache(maxsize=64)
def skip_table(flip: int) -> tuple[NDArray[np.int16], NDArray[np.uint64], NDArray[np.uint64]]:
    """High and low words of C_0 < C_1 < ... < C_{B-1} for p = flip / 2^128, B about 2/p but at most 2048.

    The first array says where a search may start, by the leading 13 bits of the word that is looked up.
    """
    one = 1 << _WIDTH
    block = max(1, min(LARGEST_BLOCK, 2 * one // flip))
    keep, survival = one - flip, one
    cumulative = []
    for _ in range(block):
        survival = survival * keep >> _WIDTH
        cumulative.append(one - survival)
    mask = (1 << 64) - 1
    high = np.array([c >> 64 for c in cumulative], dtype=np.uint64)
    low = np.array([c & mask for c in cumulative], dtype=np.uint64)
    leading = np.arange(1 << _START_BITS, dtype=np.uint64) << _START_SHIFT
    table = (np.searchsorted(high, leading).astype(np.int16), high, low)
    for array in table:
        array.setflags(write=False)
    return table


@njit(cache=True)
def row_length(mode: int, nodes: int, row: int) -> int:
    """Number of bits in a row: N (mode 0), N-1 (mode 1, no diagonal) or N-1-row (mode 2, pairs)."""
    if mode == 0:
        return nodes
    if mode == 1:
        return nodes - 1
    return nodes - 1 - row


@njit(cache=True)
def toggle(words, start, high, low, mode, nodes, indptr, indices, state, out_indptr, out):  # type: ignore[no-untyped-def]
    """Consumes ``words``, appending rows with flipped bits to ``out``; returns when they run out or all is done.

    Args:
        words: uint64, uniform.
        start, high, low: the skip table.
        mode: 0, 1 or 2, see ``row_length``.
        nodes: N.
        indptr, indices: the ones among the bits, sorted rows.
        state: int64 (4,), updated: row, offset of the next bit in it, next one of the input, and by how many entries
            the output is longer than the part of the input that it stands for.
        out_indptr: int64 (N+1,), filled.
        out: int32, with room for all ones of the input, ``state[3]`` and one entry per word.
    """
    row, offset, edge, shift = state[0], state[1], state[2], state[3]
    block = len(high)
    used = 0
    length = row_length(mode, nodes, row) if row < nodes else 0
    while row < nodes and used + 1 < len(words):
        word = words[used]
        used += 1
        skip = start[word >> _START_SHIFT]
        while skip < block and high[skip] < word:  # to the first entry whose high word is at least `word`
            skip += 1
        if skip < block and high[skip] == word:
            tail = words[used]
            used += 1
            while skip < block and high[skip] == word and tail >= low[skip]:
                skip += 1
        offset += skip
        while row < nodes and offset >= length:
            offset -= length
            row += 1
            out_indptr[row] = indptr[row] + shift
            length = row_length(mode, nodes, row)
        if skip == block or row == nodes:
            continue
        column = offset
        if mode == 2:
            column += row + 1
        elif mode == 1 and column >= row:
            column += 1
        offset += 1
        end = indptr[row + 1]
        insertion = max(edge, indptr[row])
        while insertion < end and indices[insertion] < column:
            insertion += 1
        for entry in range(edge, insertion):
            out[entry + shift] = indices[entry]
        edge = insertion
        if insertion < end and indices[insertion] == column:
            edge += 1
            shift -= 1
        else:
            out[insertion + shift] = column
            shift += 1
    if row == nodes:
        for entry in range(edge, len(indices)):
            out[entry + shift] = indices[entry]
        edge = len(indices)
    state[0], state[1], state[2], state[3] = row, offset, edge, shift
