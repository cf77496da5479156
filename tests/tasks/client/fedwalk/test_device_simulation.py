from __future__ import annotations

import numpy as np
import pytest

from tasks.client.fedwalk.encoder import encoder_for
from tasks.client.fedwalk.protocol import WalkMessage
from tasks.counter_draws import stream
from tests.tasks.client.fedwalk.device_simulation import Device


def draws(walk: int) -> np.uint64:
    return np.uint64(stream(np.uint64(1), walk))


def device(tree, vertex: int, neighbours: list[int], predictor: str = "triadic") -> Device:
    return Device(vertex, np.array(neighbours, dtype=np.int32), encoder_for(tree, "inf"), np.inf, predictor)


def test_a_device_that_receives_one_uploads(uneven_tree):
    message = WalkMessage(1, np.inf, 0.5, (4, 5))
    sent = device(uneven_tree, 3, [1, 2]).receive(message, draws(0))
    assert (sent.receiver, sent.message) == (None, message)


def test_without_prediction_it_sends_to_the_neighbour_whose_code_it_appends(uneven_tree):
    receivers = set()
    for walk in range(200):
        sent = device(uneven_tree, 3, [1, 2, 7]).receive(WalkMessage(5, np.inf, 0.0, (3,)), draws(walk))
        assert sent.message.remaining == 4
        assert sent.message.tokens == (3, sent.receiver)
        receivers.add(sent.receiver)
    assert receivers == {1, 2, 7}


def test_triadic_prediction_takes_another_neighbour_and_two_steps(uneven_tree):
    pairs = set()
    for walk in range(300):
        sent = device(uneven_tree, 3, [1, 2, 7]).receive(WalkMessage(5, np.inf, 1.0, (3,)), draws(walk))
        assert sent.message.remaining == 3
        assert sent.message.tokens[-1] == sent.receiver
        pairs.add(sent.message.tokens[1:])
    assert pairs == {(u, w) for u in (1, 2, 7) for w in (1, 2, 7) if u != w}


def test_sibling_prediction_takes_a_leaf_beside_the_neighbour(uneven_tree):
    """Leaf 3 hangs beside the subtree of 0, 1 and 2."""
    seconds = set()
    for walk in range(200):
        sent = device(uneven_tree, 9, [3], "sibling").receive(WalkMessage(5, np.inf, 1.0, (9,)), draws(walk))
        assert sent.message.tokens[:2] == (9, 3)
        seconds.add(sent.receiver)
    assert seconds == {0, 1, 2}


def test_no_prediction_without_a_second_neighbour_or_with_two_steps_left(uneven_tree):
    alone = device(uneven_tree, 3, [1]).receive(WalkMessage(5, np.inf, 1.0, (3,)), draws(0))
    assert (alone.receiver, alone.message.remaining) == (1, 4)
    late = device(uneven_tree, 3, [1, 2]).receive(WalkMessage(2, np.inf, 1.0, (3,)), draws(0))
    assert late.message.remaining == 1


def test_an_isolated_device_uploads_what_it_has(uneven_tree):
    message = WalkMessage(7, np.inf, 0.5, (2, 3))
    assert device(uneven_tree, 3, []).receive(message, draws(0)).receiver is None


def test_every_release_is_encoded(uneven_tree):
    noisy = Device(3, np.array([1], dtype=np.int32), encoder_for(uneven_tree, "0.05"), 0.05, "triadic")
    tokens = [noisy.start(2, 0.0, draws(walk)).message.tokens for walk in range(300)]
    assert {len(pair) for pair in tokens} == {2}
    assert min(len({pair[place] for pair in tokens}) for place in (0, 1)) == 10


@pytest.mark.parametrize("predictor", ["triadic", "sibling"])
def test_a_device_needs_its_own_list_only(uneven_tree, predictor):
    assert set(vars(device(uneven_tree, 3, [1], predictor))) == {
        "vertex",
        "neighbours",
        "encoder",
        "epsilon",
        "predictor",
    }
