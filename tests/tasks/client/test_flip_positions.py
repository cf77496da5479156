from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tasks.client.biased_coin import rare_side
from tasks.client.flip_positions import skip_table, toggle


def entries(flip: int) -> list[int]:
    _, high, low = skip_table(flip)
    return [(int(h) << 64) + int(w) for h, w in zip(high, low, strict=True)]


@pytest.mark.parametrize("epsilon", ["0.01", "1", "4", "7", "8", "20"])
def test_table_holds_the_geometric_law(epsilon: str) -> None:
    flip = rare_side(epsilon, 128)
    p = Fraction(flip, 2**128)
    kept = 2**128
    for j, entry in enumerate(entries(flip)):
        if j < 40:
            assert abs(Fraction(entry, 2**128) - (1 - (1 - p) ** (j + 1))) < Fraction(1, 2**120)
        hazard = Fraction(kept - (2**128 - entry), kept)
        assert p <= hazard < p + Fraction(1, 2**120)
        kept = 2**128 - entry


def test_search_starts_never_overshoot() -> None:
    start, high, _ = skip_table(rare_side("3", 128))
    for leading, first in enumerate(start):
        assert (high[:first] < np.uint64(leading << 51)).all()


def dense_positions(mode: int, nodes: int) -> list[tuple[int, int]]:
    pairs = [(i, j) for i in range(nodes) for j in range(nodes)]
    return [p for p in pairs if mode == 0 or (mode == 1 and p[0] != p[1]) or (mode == 2 and p[0] < p[1])]


def reference(chunks: list[list[int]], table: list[int], mode: int, nodes: int, ones: set[tuple[int, int]]) -> set:
    """The law in a few lines of Python: 128-bit draws, whole blocks, a set for the bits."""
    positions, bits, at = dense_positions(mode, nodes), set(ones), 0
    for words in chunks:
        i = 0
        while at < len(positions) and i + 1 < len(words):
            word, i = words[i], i + 1
            value = word << 64
            if any(entry >> 64 == word for entry in table):
                value, i = value + words[i], i + 1
            skip = next((j for j, entry in enumerate(table) if value < entry), None)
            at += len(table) if skip is None else skip
            if skip is not None and at < len(positions):
                bits ^= {positions[at]}
                at += 1
    assert at >= len(positions)
    return bits


@settings(max_examples=300)
@given(st.data(), st.integers(0, 2), st.integers(1, 6), st.sampled_from(["0.3", "1", "3"]), st.sampled_from([2, 5, 99]))
def test_agrees_with_a_plain_reference_ties_and_refills_included(
    data: st.DataObject, mode: int, nodes: int, epsilon: str, chunk: int
) -> None:
    flip = rare_side(epsilon, 128)
    table, arrays = entries(flip), skip_table(flip)
    word = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([e >> 64 for e in table]), st.just(2**64 - 1))
    count = 2 * nodes * nodes + 6  # a draw takes at most two words and settles at least one bit
    words = data.draw(st.lists(word, min_size=count, max_size=count))
    chunks = [words[i : i + chunk] for i in range(0, count, chunk)]
    positions = dense_positions(mode, nodes)
    ones = data.draw(st.sets(st.sampled_from(positions))) if positions else set()
    dense = np.zeros((nodes, nodes), dtype=np.int8)
    for position in ones:
        dense[position] = 1
    lists = csr_array(dense)
    state, out_indptr = np.zeros(4, dtype=np.int64), np.zeros(nodes + 1, dtype=np.int64)
    out = np.empty(len(ones) + count, dtype=np.int32)
    indptr, indices = lists.indptr.astype(np.int64), lists.indices.astype(np.int32)
    for part in chunks:
        toggle(np.array(part, dtype=np.uint64), *arrays, mode, nodes, indptr, indices, state, out_indptr, out)
    assert state[0] == nodes
    size = len(ones) + int(state[3])
    result = csr_array((np.ones(size), out[:size], out_indptr), shape=(nodes, nodes))
    rows, columns = result.toarray().nonzero()
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == reference(chunks, table, mode, nodes, ones)
