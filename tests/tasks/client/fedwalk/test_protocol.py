from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.client.fedwalk.protocol import (
    HEADER_BYTES,
    TOKEN_BYTES,
    WalkMessage,
    check_walk_settings,
    expected_messages,
)
from tasks.errors import UserError


@given(
    st.integers(1, 2**16 - 1),
    st.floats(0.01, 100),
    st.floats(0, 1),
    st.lists(st.integers(0, 2**31 - 1), max_size=60),
)
def test_messages_survive_the_wire(remaining: int, epsilon: float, skip: float, tokens: list[int]):
    message = WalkMessage(remaining, epsilon, skip, tuple(tokens))
    wire = message.to_bytes()
    assert WalkMessage.from_bytes(wire) == message
    assert len(wire) == HEADER_BYTES + TOKEN_BYTES * len(tokens)


@given(st.integers(2, 80), st.floats(0, 1))
def test_the_formula_solves_the_protocols_recursion(length: int, skip: float):
    counts = [0.0, 0.0, 1.0]
    for steps in range(3, length + 1):
        counts.append(1 + (1 - skip) * counts[steps - 1] + skip * counts[steps - 2])
    assert expected_messages(length, skip) == pytest.approx(counts[length], rel=1e-9)


def test_the_papers_settings():
    assert expected_messages(40, 0.2) == pytest.approx(32.64, abs=0.005)
    assert expected_messages(40, 0.0) == 39


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ((1, 80, 0.2, "triadic"), "length"),
        ((70_000, 80, 0.2, "triadic"), "length"),
        ((40, 0, 0.2, "triadic"), "walks"),
        ((40, 80, 1.2, "triadic"), "p:"),
        ((40, 80, 0.2, "cleverest"), "predictor"),
    ],
)
def test_settings_out_of_range_are_named(settings: tuple, name: str):
    with pytest.raises(UserError, match=name):
        check_walk_settings(*settings)
