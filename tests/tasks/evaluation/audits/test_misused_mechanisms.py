"""Right mechanisms used wrongly: the audit that clears them as they are catches every mistake.

Each was made somewhere; ``test_broken_mechanisms`` has samplers that are wrong themselves.
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
from tasks.evaluation.audits import embeddings
from tasks.evaluation.audits.case import AuditCase, gathered, joined
from tasks.evaluation.audits.features import vectors as feature_vectors
from tasks.evaluation.audits.fedwalk import counts as fedwalk_counts
from tasks.evaluation.audits.fedwalk import encoder as fedwalk_encoder
from tasks.evaluation.audits.fedwalk import lists as fedwalk_lists
from tasks.evaluation.audits.fedwalk.count_inputs import count_inputs
from tasks.evaluation.audits.fedwalk.laws import balanced_tree
from tasks.evaluation.audits.lists.inputs import dense
from tasks.evaluation.audits.lists.neighbour_lists import list_outputs, reported
from tasks.evaluation.audits.running import audited
from tasks.seeds import generator

DRAWS = 20_000
RNG = np.random.Generator
UNIT = (0.0, 1.0)
USERS = 256


def stars(changed: bool) -> csr_array:
    """A path over all users but the last; ``changed`` connects everyone to the last: one bit more in every list."""
    lists = np.zeros((USERS, USERS), dtype=np.int8)
    path = np.arange(USERS - 2)
    lists[path, path + 1] = lists[path + 1, path] = 1
    lists[-1, :-1] = lists[:-1, -1] = changed
    return csr_array(lists)


def lists(epsilon: str, changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """Lists that differ in one bit, at another budget than is claimed."""
    return list_outputs(partial(reported, epsilon, "directed"), "directed", epsilon, 64, False, changed, draws, rng)


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
    embedding = np.tile(rows[:, ::-1] if changed else rows, (draws, 1, 1))
    report = embeddings.reported(embedding, "gaussian_scale", "1", rng)
    return np.clip(np.floor(2 * report.values[:, 0].reshape(draws, 2).sum(axis=1)) + 20, 0, 40).astype(np.int64)


def row_sold_for_the_graph(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """One node's data reach both rows of H, and each row spends the whole budget."""
    rows = np.array([[1.0, 0.0], [1.0, 0.0]])
    report = embeddings.reported(np.tile(rows[:, ::-1] if changed else rows, (draws, 1, 1)), "row", "1", rng)
    return (embeddings.sent_cells(report).reshape(draws, -1) + 1) @ 3 ** np.arange(rows.size)


def pair_report_drawn_twice(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The lower id draws, the higher id draws again, and the curator keeps what either of them reports."""
    graph = stars(changed)

    def either() -> np.ndarray:
        once, again = (dense(reported("1", "pair", graph, rng)) for _ in range(2))
        return (once | again)[:-1, -1]

    return gathered(either, draws)


def noise_from_a_known_seed(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The curator draws the noise again, over an empty graph, and takes it off."""
    graph, empty = stars(changed), stars(False)

    def taken_off() -> np.ndarray:
        seed = int(rng.integers(2**32))
        report, noise = (dense(reported("1", "directed", g, generator(seed))) for g in (graph, empty))
        return (report != noise)[:-1, -1]

    return gathered(taken_off, draws)


def memoised_report(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The noise is a function of the list, so that a second report shows whether the list has changed since."""

    def again() -> np.ndarray:
        secret = int(rng.integers(2**32))
        first, second = (
            dense(reported("1", "directed", stars(bit), generator(2 * secret + bit))) for bit in (False, changed)
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
    both = count_inputs(fedwalk_counts.BINS, True)

    def sent() -> np.ndarray:
        gain, lose = fedwalk_counts.sides(both, fedwalk_counts.drawn_tables(both, "1", 1, changed, rng))
        return joined((gain >= 1, 2), (lose >= 0, 2))

    return gathered(sent, draws)


def true_lengths_sold_for_an_added_neighbour(changed: bool, draws: int, rng: RNG) -> np.ndarray:
    """The entries are encoded, their number is not."""
    neighbours = fedwalk_lists.subjects_lists("added", changed)
    return gathered(lambda: np.diff(fedwalk_lists.reported(neighbours, "0.1", None, rng).indptr), draws)


BANK = [
    AuditCase("list, eps off by a factor of two", "", "", 1, partial(lists, "2")),
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
        partial(fedwalk_encoder.encodings, balanced_tree(3), "1"),
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
        AuditCase("list", "", "", 2, partial(lists, "2")),
        AuditCase("features", "", "", 2, partial(feature_vectors.vectors, "2", 4, UNIT)),
        AuditCase("counts, sensitivity one", "", "", 2, replaced_at_sensitivity_one),
        AuditCase("embedding of two rows", "", "", 2, row_sold_for_the_graph),
    ]
    assert not any(row.refuted for row in audited(right, seed=0, most_draws=DRAWS))
