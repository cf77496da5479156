"""A bank of deliberately wrong mechanisms: the audit that clears the project's own catches every one of them.

Each is a mistake that was made somewhere, built from the project's mechanisms by using them wrongly.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.biased_coin import rare_side
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.client.fedwalk.structural_matrices import release_structural_matrices
from tasks.client.multibit import drawn_dimensions, drawn_signs, encode_features
from tasks.evaluation.audits import embeddings, feature_vectors, fedwalk_encoder, neighbour_lists
from tasks.evaluation.audits.case import AuditCase, gathered
from tasks.evaluation.audits.fedwalk_tree import coded, list_counts
from tasks.evaluation.audits.running import audited
from tasks.seeds import generator

DRAWS = 20_000
RNG = np.random.Generator
UNIT = (0.0, 1.0)


def budget_not_shared_among_signs(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """Two signs of four, each with the whole budget: claimed 1, spent 2."""
    values = np.full((draws, 2), float(changed))
    signs = drawn_signs(values, UNIT, rare_side("1", 64), rng)
    return (drawn_dimensions(draws, 4, 2, rng) * 2 + (signs == 1)) @ np.array([1, 8])


def bounds_from_the_data(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """One user's 100 instead of 1 becomes everybody's upper bound, and ten others' signs show it."""
    values = np.ones(11)
    values[0] = 100.0 if changed else 1.0
    everybody = csr_array(np.tile(values, draws)[:, None])
    bounds = (0.0, float(everybody.data.max()))
    report = encode_features(everybody, bounds, "1", rng, True, dataset="audit")
    return (report.signs.reshape(draws, 11)[:, 1:] == 1).sum(axis=1)


def gaussian_with_eps_as_sigma(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The released code's "eps" is a standard deviation; the sum of the first column, in halves, tells graphs apart."""
    rows = np.array([[1.0, 0.0], [1.0, 0.0]])
    report = embeddings.reported(rows[:, ::-1] if changed else rows, "gaussian_scale", "1", draws, rng)
    return np.floor(2 * report.values[:, 0].reshape(draws, 2).sum(axis=1)).astype(np.int64)


def row_sold_for_the_graph(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """One node's data reach both rows of H, and each row spends the whole budget."""
    rows = np.array([[1.0, 0.0], [1.0, 0.0]])
    report = embeddings.reported(rows[:, ::-1] if changed else rows, "row", "1", draws, rng)
    return embeddings.summarised(report, rows)


def pair_report_drawn_twice(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The lower id draws, the higher id draws again, and the curator keeps what either of them reports."""
    graph = neighbour_lists.stars(changed)

    def either() -> np.ndarray:
        once, again = (neighbour_lists.reported(graph, "1", "pair", rng) for _ in range(2))
        return neighbour_lists.summarised(neighbour_lists.dense_rows(once) | neighbour_lists.dense_rows(again))

    return gathered(either, draws)


def noise_from_a_known_seed(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The curator draws the noise again, over an empty graph, and takes it off."""
    graph, empty = neighbour_lists.stars(changed), neighbour_lists.stars(False)

    def taken_off() -> np.ndarray:
        seed = int(rng.integers(2**32))
        report, noise = (neighbour_lists.reported(g, "1", "directed", generator(seed)) for g in (graph, empty))
        return (neighbour_lists.dense_rows(report) != neighbour_lists.dense_rows(noise))[:-1, -1]

    return gathered(taken_off, draws)


def memoised_report(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The noise is a function of the list, so that a second report shows whether the list has changed since."""

    def again() -> np.ndarray:
        secret = int(rng.integers(2**32))
        first, second = (
            neighbour_lists.dense_rows(
                neighbour_lists.reported(neighbour_lists.stars(bit), "1", "directed", generator(2 * secret + bit))
            )
            for bit in (False, changed)
        )
        return (first == second).all(axis=1)[:-1]

    return gathered(again, draws)


def vectors_reused_as_fingerprints(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """FedWalk's structural matrices: vertex 0 of every three repeats the noisy vector of its neighbour, 1 or 2."""
    lists = NeighbourLists(
        np.arange(3 * draws + 1), np.add.outer(3 * np.arange(draws), [1 + changed, 2, 1]).ravel().astype(np.int32)
    )
    bins = (np.arange(3 * draws) % 2).astype(np.int32)
    report = release_structural_matrices(lists, bins, "1", rng, dataset="audit", simulated=True)
    vectors, rows = report.vectors.reshape(draws, 3, 2), report.rows.reshape(draws, 3, 2)
    return (rows[:, 0] == vectors[:, 1]).all(axis=1) + 2 * (rows[:, 0] == vectors[:, 2]).all(axis=1)


def replaced_at_sensitivity_one(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """A replaced neighbour moves two cells; noise for one cell is worth half of what is claimed."""
    return coded(list_counts([int(changed)], "1", 1, draws, rng))


def true_lengths_sold_for_an_added_neighbour(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The entries are encoded, their number is not."""
    return gathered(lambda: np.diff(fedwalk_encoder.reported([0] * changed, "0.1", False, rng).indptr), draws)


BANK = [
    AuditCase("list, eps off by a factor of two", "", "", 1, partial(neighbour_lists.bits, "2", "directed")),
    AuditCase("features, eps off by a factor of two", "", "", 1, partial(feature_vectors.vectors, "2", 4, UNIT)),
    AuditCase("features, budget not shared among the signs", "", "", 1, budget_not_shared_among_signs),
    AuditCase("features, bounds from the data", "", "", 1, bounds_from_the_data),
    AuditCase("embedding, Gaussian with eps as sigma", "", "", 1, gaussian_with_eps_as_sigma),
    AuditCase("embedding, budget of a row sold for the graph", "", "", 1, row_sold_for_the_graph),
    AuditCase("list, pair report drawn twice and OR-ed", "", "", 1, pair_report_drawn_twice),
    AuditCase("list, noise from a known seed", "", "", 1, noise_from_a_known_seed),
    AuditCase("list, report memoised by its input", "", "", 2, memoised_report),
    AuditCase("tree, noisy vectors reused as fingerprints", "", "", 1, vectors_reused_as_fingerprints),
    AuditCase("counts, neighbour replaced at sensitivity one", "", "", 1, replaced_at_sensitivity_one),
    AuditCase("encoded lists, true length and add/remove", "", "", 0.8, true_lengths_sold_for_an_added_neighbour),
    AuditCase(
        "encoder, eps a level sold for the vertex",
        "",
        "",
        1,
        partial(fedwalk_encoder.encodings, fedwalk_encoder.balanced_tree(3), "1"),
    ),
]


@pytest.mark.parametrize("case", BANK, ids=lambda case: case.mechanism)
def test_every_broken_mechanism_is_caught(case: AuditCase) -> None:
    (row,) = audited([case], seed=0, most_draws=DRAWS)
    assert row.refuted
    assert row.lower_bound > case.claim


def test_they_are_caught_together_as_well() -> None:
    assert all(row.refuted for row in audited(BANK, seed=1, most_draws=DRAWS))


def test_the_same_mechanisms_used_rightly_are_cleared() -> None:
    """What the wrong ones are built from is not refuted: it is the mistake that the audit sees."""
    right = [
        AuditCase("list", "", "", 2, partial(neighbour_lists.bits, "2", "directed")),
        AuditCase("features", "", "", 2, partial(feature_vectors.vectors, "2", 4, UNIT)),
        AuditCase("counts, sensitivity one", "", "", 2, replaced_at_sensitivity_one),
        AuditCase("embedding of two rows", "", "", 2, row_sold_for_the_graph),
    ]
    assert not any(row.refuted for row in audited(right, seed=0, most_draws=DRAWS))
