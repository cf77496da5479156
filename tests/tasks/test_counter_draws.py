from __future__ import annotations

import numpy as np
from scipy.stats import kstest

from tasks.counter_draws import below, draw_key, mixed, stream, uniform
from tasks.seeds import generator

MASK = 2**64 - 1


def splitmix64(seed: int, count: int) -> list[int]:
    """The published generator: a counter in steps of the golden ratio, finalised."""
    words = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        words.append(z ^ (z >> 31))
    return words


def test_slots_are_the_outputs_of_splitmix64():
    # The first output for seed 0 is published with the algorithm.
    assert splitmix64(0, 1) == [0xE220A8397B1DCDAF]
    state = np.uint64(stream(np.uint64(12345), 7))
    expected = [(word >> 11) / 2**53 for word in splitmix64(int(state), 20)]
    assert [uniform(state, slot) for slot in range(20)] == expected


def test_the_finaliser_has_no_collision_on_a_range():
    assert len({int(mixed(np.uint64(word))) for word in range(5000)}) == 5000


def test_draws_are_uniform_across_streams_and_slots():
    key = draw_key(generator(1))
    across = [uniform(np.uint64(stream(key, walk)), 3) for walk in range(4000)]
    along = [uniform(np.uint64(stream(key, 3)), slot) for slot in range(4000)]
    assert kstest(across, "uniform").pvalue > 1e-4
    assert kstest(along, "uniform").pvalue > 1e-4


def test_below_stays_below():
    state = np.uint64(stream(np.uint64(5), 1))
    assert {below(state, slot, 3) for slot in range(200)} == {0, 1, 2}
    assert all(below(state, slot, 1) == 0 for slot in range(50))
