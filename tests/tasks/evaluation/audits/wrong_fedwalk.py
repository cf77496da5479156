"""Wrong samplers of FedWalk's degrees, counts, encodings and encoded lists; each takes what the right one takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.encoder import encoder_for
from tasks.client.fedwalk.neighbour_counts import neighbour_counts, release_neighbour_counts
from tasks.evaluation.audits.fedwalk.encoder import encoded
from tasks.seeds import generator

DEGREES: dict[str, Callable] = {}
COUNTS: dict[str, Callable] = {}
ENCODERS: dict[str, Callable] = {}
LISTS: dict[str, Callable] = {}


def wrong_degrees(alter: Callable) -> Callable:
    """Registers a mechanism: ``alter(degrees, noise, rng)`` is the noise that it adds instead."""

    def mechanism(lists, epsilon, rng, *, dataset, simulated):  # type: ignore[no-untyped-def]
        report = release_degrees(lists, epsilon, rng, dataset=dataset, simulated=simulated)
        noise = alter(lists.degrees, report.degrees - lists.degrees, rng)
        return replace(report, degrees=lists.degrees + noise)

    DEGREES[alter.__name__] = mechanism
    return alter


@wrong_degrees
def hubs_with_half_the_noise(degrees, noise, rng):
    return np.where(degrees > 50, noise // 2, noise)


@wrong_degrees
def even_noise(degrees, noise, rng):
    return noise // 2 * 2


@wrong_degrees
def noise_upwards_only(degrees, noise, rng):
    return np.abs(noise)


@wrong_degrees
def noise_for_two_devices(degrees, noise, rng):
    return noise[np.arange(len(noise)) // 2 * 2]


@wrong_degrees
def no_noise_without_neighbours(degrees, noise, rng):
    return np.where(degrees == 0, 0, noise)


@wrong_degrees
def seed_from_the_device_id(degrees, noise, rng):
    return np.rint(generator(5).laplace(scale=2, size=len(noise))).astype(np.int64)


@wrong_degrees
def limited_to_twice_the_degree(degrees, noise, rng):
    return np.clip(degrees + noise, 0, 2 * degrees) - degrees


@wrong_degrees
def one_degree_in_twenty_in_clear(degrees, noise, rng):
    return np.where(rng.random(len(noise)) < 0.05, 0, noise)


def wrong_counts(alter: Callable) -> Callable:
    """Registers a mechanism: ``alter(exact, noise, rng)`` is the noise that it adds instead, tables (V, cells)."""

    def mechanism(lists, published, bins, epsilon, rng, *, dataset, simulated, sensitivity):  # type: ignore[no-untyped-def]
        report = release_neighbour_counts(
            lists, published, bins, epsilon, rng, dataset=dataset, simulated=simulated, sensitivity=sensitivity
        )
        exact = neighbour_counts(lists, published, bins)
        tables = exact.reshape(len(exact), -1)
        noise = alter(tables, report.counts.reshape(tables.shape) - tables, rng)
        return replace(report, counts=(tables + noise).reshape(exact.shape).astype(np.int32))

    COUNTS[alter.__name__] = mechanism
    return alter


@wrong_counts
def cells_above_five_with_a_quarter_of_the_noise(exact, noise, rng):
    return np.where(exact > 5, noise // 4, noise)


@wrong_counts
def empty_cells_without_noise(exact, noise, rng):
    return np.where(exact == 0, 0, noise)


@wrong_counts
def one_noise_for_a_whole_table(exact, noise, rng):
    return np.repeat(noise[:, :1], noise.shape[1], axis=1)


@wrong_counts
def second_half_of_the_cells_without_noise(exact, noise, rng):
    noise[:, noise.shape[1] // 2 :] = 0
    return noise


@wrong_counts
def sum_of_the_table_kept(exact, noise, rng):
    noise[:, -1] -= noise.sum(axis=1)
    return noise


@wrong_counts
def large_cells_rounded_towards_the_data(exact, noise, rng):
    return np.where(exact > 50, np.trunc(noise / 2).astype(np.int64), noise)


@wrong_counts
def one_table_in_two_hundred_in_clear(exact, noise, rng):
    return noise * (rng.random(len(noise)) > 0.005)[:, None]


@wrong_counts
def never_below_half_of_the_cell(exact, noise, rng):
    return np.maximum(exact + noise, exact // 2) - exact


@wrong_counts
def noise_of_the_device_before(exact, noise, rng):
    return noise[np.arange(len(noise)) // 2 * 2]


def wrong_encoder(alter: Callable) -> Callable:
    """Registers an encoder of vertices, which takes what ``fedwalk_encoder.encoded`` takes."""
    ENCODERS[alter.__name__] = alter
    return alter


@wrong_encoder
def twice_the_budget_a_level(tree, epsilon, vertices, rng):
    return encoded(tree, str(2 * float(epsilon)), vertices, rng)


@wrong_encoder
def kept_more_often(tree, epsilon, vertices, rng):
    return np.where(rng.random(len(vertices)) < 0.2, vertices, encoded(tree, epsilon, vertices, rng))


@wrong_encoder
def never_beyond_the_root(tree, epsilon, vertices, rng):
    side = np.zeros(tree.leaves, dtype=bool)
    side[tree.layout.order[: tree.layout.size[tree.children[-1][0]]]] = True
    sent = encoded(tree, epsilon, vertices, rng)
    return np.where(side[sent] == side[vertices], sent, vertices)


@wrong_encoder
def first_leaf_of_a_subtree_always(tree, epsilon, vertices, rng):
    layout, sent = tree.layout, encoded(tree, epsilon, vertices, rng)
    return np.where(sent == vertices, sent, (sent ^ vertices) % tree.leaves) + 0 * layout.size[0]


@wrong_encoder
def normaliser_of_another_vertex(tree, epsilon, vertices, rng):
    kept = 1 / encoder_for(tree, epsilon).normaliser
    again = (vertices == tree.leaves - 1) & (rng.random(len(vertices)) < kept.max())
    return np.where(again, vertices, encoded(tree, epsilon, vertices, rng))


def wrong_lists(alter: Callable) -> Callable:
    """Registers a release: ``alter(rows, lists, rng)`` are the encoded rows that it sends instead."""

    def release(lists, tree, epsilon, rng, *, dataset, simulated, published_degrees=None):  # type: ignore[no-untyped-def]
        report = release_lists(
            lists, tree, epsilon, rng, dataset=dataset, simulated=simulated, published_degrees=published_degrees
        )
        rows = np.split(report.indices, report.indptr[1:-1])
        rows = [np.sort(row) for row in alter(rows, [lists.of(v) for v in range(lists.nodes)], rng)]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        return replace(report, indptr=indptr, indices=np.concatenate(rows).astype(np.int32))

    LISTS[alter.__name__] = release
    return alter


def pasted(row, part):  # type: ignore[no-untyped-def]
    """The row with its last entries replaced by these."""
    return np.concatenate([row[: max(0, len(row) - len(part))], part[: len(row)]])


@wrong_lists
def only_the_first_entry_encoded(rows, lists, rng):
    return [pasted(row, own[1:]) for row, own in zip(rows, lists, strict=True)]


@wrong_lists
def true_length_in_place_of_the_published_one(rows, lists, rng):
    return [np.resize(row, len(own)) if len(row) else own for row, own in zip(rows, lists, strict=True)]


@wrong_lists
def last_entry_in_clear(rows, lists, rng):
    return [pasted(row, own[-1:]) for row, own in zip(rows, lists, strict=True)]


@wrong_lists
def hubs_in_clear(rows, lists, rng):
    return [pasted(row, own) if len(own) > 30 else row for row, own in zip(rows, lists, strict=True)]


@wrong_lists
def one_list_in_fifty_in_clear(rows, lists, rng):
    chosen = rng.random(len(rows)) < 0.02
    return [own if one else row for one, row, own in zip(chosen, rows, lists, strict=True)]


@wrong_lists
def own_entries_as_fillers(rows, lists, rng):
    return [np.resize(row[: len(own)], len(row)) if len(own) else row for row, own in zip(rows, lists, strict=True)]


@wrong_lists
def entries_near_the_true_ones_only(rows, lists, rng):
    return [
        pasted(row, own ^ rng.integers(0, 16, len(own)).astype(own.dtype)) for row, own in zip(rows, lists, strict=True)
    ]
