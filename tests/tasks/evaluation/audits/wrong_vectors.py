"""Samplers of feature vectors and of embeddings that are wrong; each takes what the right one takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tasks.client.embedding_encoder import encode_embeddings
from tasks.client.multibit import encode_features
from tasks.reports.embedding_budget import vector_budget
from tasks.seeds import generator

RNG = np.random.Generator
FEATURES: dict[str, Callable] = {}
EMBEDDINGS: dict[str, Callable] = {}


def wrong_features(alter: Callable) -> Callable:
    """Registers a sampler: ``alter(places, dims, signs, epsilon, rng)`` are the dimensions and signs that it sends."""

    def sampler(features, bounds, epsilon, rng, simulated, *, dataset):  # type: ignore[no-untyped-def]
        report = encode_features(features, bounds, epsilon, rng, simulated, dataset=dataset)
        places = (features.toarray() - bounds[0]) / (bounds[1] - bounds[0])
        dims, signs = alter(places, report.dims.copy(), report.signs.copy(), float(epsilon), rng)
        order = np.argsort(dims, axis=1, kind="stable")
        dims, signs = (np.take_along_axis(array, order, axis=1) for array in (dims, signs))
        return replace(report, dims=dims.astype(np.int32), signs=signs.astype(np.int8))

    FEATURES[alter.__name__] = sampler
    return alter


def drawn(places, dims, share, rng):  # type: ignore[no-untyped-def]
    """Signs by the right law for chosen dimensions."""
    up = (1 + np.take_along_axis(places, dims, axis=1) * np.expm1(share)) / (np.exp(share) + 1)
    return np.where(rng.random(dims.shape) < up, 1, -1)


def clear(places, dims):  # type: ignore[no-untyped-def]
    return np.where(np.take_along_axis(places, dims, axis=1) > 0.5, 1, -1)


@wrong_features
def dimensions_from_the_support(places, dims, signs, epsilon, rng):
    if dims.shape[1] == 1:
        weights = (places > 0) + 1e-9
        dims = (weights.cumsum(axis=1) / weights.sum(axis=1, keepdims=True) < rng.random((len(places), 1))).sum(axis=1)
        dims = np.minimum(dims, places.shape[1] - 1)[:, None]
    return dims, drawn(places, dims, epsilon / dims.shape[1], rng)


@wrong_features
def largest_value_sampled_more_often(places, dims, signs, epsilon, rng):
    largest = places.argmax(axis=1)
    often = (rng.random(len(places)) < 0.5) & (dims.shape[1] == 1)
    dims[often, 0] = largest[often]
    return dims, drawn(places, dims, epsilon / dims.shape[1], rng)


@wrong_features
def no_noise_at_zero(places, dims, signs, epsilon, rng):
    return dims, np.where(np.take_along_axis(places, dims, axis=1) == 0, -1, signs)


@wrong_features
def no_noise_at_inner_values(places, dims, signs, epsilon, rng):
    values = np.take_along_axis(places, dims, axis=1)
    return dims, np.where((values > 0) & (values < 1), clear(places, dims), signs)


@wrong_features
def budget_not_shared_among_the_signs(places, dims, signs, epsilon, rng):
    return dims, drawn(places, dims, epsilon, rng)


@wrong_features
def words_used_for_two_users(places, dims, signs, epsilon, rng):
    share = epsilon / dims.shape[1]
    up = (1 + np.take_along_axis(places, dims, axis=1) * np.expm1(share)) / (np.exp(share) + 1)
    words = rng.random(dims.shape)
    words[1::2] = words[: len(words) // 2 * 2 : 2]
    return dims, np.where(words < up, 1, -1)


@wrong_features
def seed_from_the_user_id(places, dims, signs, epsilon, rng):
    return dims, drawn(places, dims, epsilon / dims.shape[1], generator(3))


@wrong_features
def bounds_from_the_data(places, dims, signs, epsilon, rng):
    return dims, drawn(places / max(places.max(), 1e-9), dims, epsilon / dims.shape[1], rng)


@wrong_features
def one_user_in_fifty_in_clear(places, dims, signs, epsilon, rng):
    signs[49::50] = clear(places, dims)[49::50]
    return dims, signs


@wrong_features
def last_dimension_without_noise(places, dims, signs, epsilon, rng):
    return dims, np.where(dims == places.shape[1] - 1, clear(places, dims), signs)


@wrong_features
def values_above_nine_tenths_with_half_the_noise(places, dims, signs, epsilon, rng):
    large = (np.take_along_axis(places, dims, axis=1) > 0.9) & (rng.random(dims.shape) < 0.5)
    return dims, np.where(large, 1, signs)


@wrong_features
def only_the_first_sign_drawn(places, dims, signs, epsilon, rng):
    signs[:, 1:] = clear(places, dims)[:, 1:]
    return dims, signs


def wrong_embeddings(alter: Callable) -> Callable:
    """Registers an encoder: ``alter(embeddings, epsilon, sent, rng)`` are the signs that it sends at the same cells."""

    def encoder(embeddings, encoder, epsilon, rng, simulated, *, dataset):  # type: ignore[no-untyped-def]
        report = encode_embeddings(embeddings, encoder, epsilon, rng, simulated, dataset=dataset)
        rows = np.repeat(np.arange(len(report.indptr) - 1), np.diff(report.indptr))
        graph = np.repeat(np.arange(len(embeddings)), report.node_counts)[rows]
        cells = np.concatenate(embeddings)[rows, report.columns]
        signs = alter(cells, report.signs.copy(), graph, report, rows, rng)
        return replace(report, signs=signs.astype(np.int8))

    EMBEDDINGS[alter.__name__] = encoder
    return alter


@wrong_embeddings
def last_row_without_noise(cells, signs, graph, report, rows, rng):
    last = np.isin(rows, np.cumsum(report.node_counts) - 1)
    return np.where(last, np.where(cells > 0.5, 1, -1), signs)


@wrong_embeddings
def one_graph_in_a_hundred_in_clear(cells, signs, graph, report, rows, rng):
    chosen = (rng.random(len(report.node_counts)) < 0.01)[graph]
    return np.where(chosen, np.where(cells > 0.5, 1, -1), signs)


@wrong_embeddings
def single_nodes_without_noise(cells, signs, graph, report, rows, rng):
    return np.where(report.node_counts[graph] == 1, np.where(cells > 0.5, 1, -1), signs)


@wrong_embeddings
def half_of_the_flips_of_large_cells_undone(cells, signs, graph, report, rows, rng):
    return np.where((cells > 0.9) & (rng.random(len(cells)) < 0.5), 1, signs)


@wrong_embeddings
def inner_cells_without_noise(cells, signs, graph, report, rows, rng):
    return np.where((cells > 0) & (cells < 1), np.where(cells > 0.5, 1, -1), signs)


@wrong_embeddings
def words_used_for_two_graphs(cells, signs, graph, report, rows, rng):
    sizes = report.node_counts[graph]
    words = rng.random(len(cells))
    words = np.where(graph % 2 == 1, words[np.searchsorted(graph, graph - graph % 2)], words)
    budget = np.array([float(vector_budget(report.encoder, report.epsilon, int(n))) for n in sizes])
    return np.where(words < (1 + cells * np.expm1(budget)) / (np.exp(budget) + 1), 1, -1)
