"""Samplers of neighbour lists that are wrong; each takes what ``randomise_neighbour_lists`` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from tasks.client.randomized_response import flip_probability, randomise_neighbour_lists
from tasks.evaluation.audits.lists.inputs import dense, reported_bits_of
from tasks.reports.edge import EdgeReport
from tasks.seeds import generator

RNG = np.random.Generator
Alter = Callable[[np.ndarray, np.ndarray, np.ndarray, float, RNG], np.ndarray]
WRONG: dict[str, Callable[..., EdgeReport]] = {}


def wrong(alter: Alter) -> Alter:
    """Registers a sampler: ``alter(lists, noise, reported, flip, rng)`` is the noise that it adds instead."""

    def sampler(adjacency, epsilon, mode, rng, memory, simulated, *, dataset):  # type: ignore[no-untyped-def]
        report = randomise_neighbour_lists(adjacency, epsilon, mode, rng, memory, simulated, dataset=dataset)
        reported = reported_bits_of(mode, report.nodes)
        lists = (adjacency.toarray() > 0) & reported
        noise = alter(lists, dense(report) ^ lists, reported, flip_probability(epsilon), rng)
        matrix = csr_array(lists ^ (noise & reported))
        return replace(report, indptr=matrix.indptr.astype(np.int64), indices=matrix.indices.astype(np.int32))

    WRONG[alter.__name__] = sampler
    return alter


@wrong
def diagonal_left_unflipped(lists, noise, reported, flip, rng):
    return noise & ~np.eye(len(noise), dtype=bool)


@wrong
def one_list_in_a_hundred_in_clear(lists, noise, reported, flip, rng):
    return noise & (rng.random(len(noise)) > 0.01)[:, None]


@wrong
def last_bit_never_flipped(lists, noise, reported, flip, rng):
    noise[:, -1] = False
    return noise


@wrong
def one_user_in_500_unprotected(lists, noise, reported, flip, rng):
    noise[499::500] = False
    return noise


@wrong
def budget_doubled_for_hubs(lists, noise, reported, flip, rng):
    doubled = flip**2 / (flip**2 + (1 - flip) ** 2)
    hub = lists.sum(axis=1) > 50
    return noise & (~hub[:, None] | (rng.random(noise.shape) < doubled / flip))


@wrong
def noise_of_one_user_used_for_another(lists, noise, reported, flip, rng):
    if len(noise) > 40:
        noise[40] = noise[5]
    return noise


@wrong
def seed_from_the_user_id(lists, noise, reported, flip, rng):
    return generator(1).random(noise.shape) < flip


@wrong
def both_ends_flipped_together(lists, noise, reported, flip, rng):
    return np.triu(noise) | np.triu(noise).T if reported[-1, 0] else np.roll(noise[0], 1) & noise


@wrong
def length_of_the_list_kept(lists, noise, reported, flip, rng):
    for row in np.flatnonzero(reported.any(axis=1)):
        ones, zeros = (np.flatnonzero(noise[row] & side) for side in (lists[row], reported[row] & ~lists[row]))
        noise[row, ones[min(len(ones), len(zeros)) :]] = False
        noise[row, zeros[min(len(ones), len(zeros)) :]] = False
    return noise


@wrong
def one_bit_of_one_list_unflipped(lists, noise, reported, flip, rng):
    if len(noise) > 40:
        noise[18, 37] = False
    return noise


@wrong
def noise_repeated_along_the_list(lists, noise, reported, flip, rng):
    return noise[:, np.arange(len(noise)) % 16]


@wrong
def one_coin_for_a_whole_list(lists, noise, reported, flip, rng):
    return np.broadcast_to(noise[:, -1:], noise.shape)


@wrong
def parity_kept(lists, noise, reported, flip, rng):
    noise[:, -1] ^= noise.sum(axis=1) % 2 == 1
    return noise


@wrong
def ones_flipped_less_than_zeros(lists, noise, reported, flip, rng):
    return noise & (~lists | (rng.random(noise.shape) < 0.3))


@wrong
def three_flips_at_most(lists, noise, reported, flip, rng):
    return noise & (noise.cumsum(axis=1) <= 3)


@wrong
def empty_lists_as_they_are(lists, noise, reported, flip, rng):
    return noise & lists.any(axis=1)[:, None]


@wrong
def noise_of_the_row_above_moved_by_one(lists, noise, reported, flip, rng):
    moved = np.roll(np.roll(noise, 1, axis=0), 1, axis=1)
    return np.where(np.arange(len(noise))[:, None] % 2 == 1, moved, noise)


@wrong
def every_seventh_bit_of_long_lists_unflipped(lists, noise, reported, flip, rng):
    noise[np.ix_(lists.sum(axis=1) > 20, np.arange(len(noise)) % 7 == 3)] = False
    return noise


@wrong
def true_neighbours_all_kept_now_and_then(lists, noise, reported, flip, rng):
    return noise & ~(lists & (rng.random(len(noise)) < 0.02)[:, None])


@wrong
def first_user_and_last_user_with_half_the_noise(lists, noise, reported, flip, rng):
    noise[[0, -1]] &= rng.random((2, len(noise))) < 0.3
    return noise
