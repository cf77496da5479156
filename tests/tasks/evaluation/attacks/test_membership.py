from __future__ import annotations

import math

import numpy as np
import pytest

from tasks.client.embedding_encoder import encode_embeddings
from tasks.errors import UserError
from tasks.evaluation.attacks.membership import (
    likeliest_published,
    membership_auc,
    nearest_published,
    same_size_published,
)
from tasks.reports.embedding import EmbeddingReport
from tasks.seeds import generator

WIDTH = 6
MEMBERS = np.arange(10)


@pytest.fixture(scope="module")
def graphs() -> list[np.ndarray]:
    """Twenty embeddings of four to six nodes with values in [0, 1]; the first ten are published."""
    rng = np.random.default_rng(0)
    return [rng.random((4 + number % 3, WIDTH)) for number in range(20)]


def report(graphs: list[np.ndarray], eps: str, encoder: str = "per_row") -> EmbeddingReport:
    return encode_embeddings(graphs, encoder, eps, generator(1), simulated=True, dataset="twenty")


def auc(scores: np.ndarray) -> float:
    return membership_auc(scores, np.arange(20) < 10)


@pytest.mark.parametrize("score", [nearest_published, likeliest_published])
def test_exact_embeddings_give_members_away(graphs: list[np.ndarray], score: object) -> None:
    found = score(graphs, report(graphs, "inf"), MEMBERS)  # type: ignore[operator]
    assert found[MEMBERS] == pytest.approx(0.0, abs=1e-9)
    assert (found[10:] < -1e-6).all()
    assert auc(found) == 1.0


def test_the_kernel_sees_no_order_of_nodes_and_the_likelihood_does(graphs: list[np.ndarray]) -> None:
    exact = report(graphs, "inf")
    turned = [rows[::-1] for rows in graphs]
    assert nearest_published(turned, exact, MEMBERS) == pytest.approx(nearest_published(graphs, exact, MEMBERS))
    assert (likeliest_published(turned, exact, MEMBERS)[MEMBERS] < -1e-6).all()


def test_the_likelihood_is_that_of_the_coins(graphs: list[np.ndarray]) -> None:
    noisy = report(graphs, "40")
    average = np.concatenate(graphs).mean(axis=0)
    first_row = np.concatenate([[0], np.cumsum(noisy.node_counts)])

    def ratio(exact: np.ndarray, member: int) -> float:
        share = 40 / len(exact)
        spent = share / max(1, math.floor(share / 2.18))
        total = 0.0
        for row, cells in enumerate(exact):
            place = slice(*noisy.indptr[first_row[member] + row :][:2])
            for column, sign in zip(noisy.columns[place], noisy.signs[place], strict=True):
                odds = [1 / (math.exp(spent) + 1) + x * math.tanh(spent / 2) for x in (cells[column], average[column])]
                total += math.log(odds[0] if sign > 0 else 1 - odds[0]) - math.log(odds[1] if sign > 0 else 1 - odds[1])
        return total

    expected = [max(ratio(exact, m) for m in MEMBERS if len(graphs[m]) == len(exact)) for exact in graphs]
    assert likeliest_published(graphs, noisy, MEMBERS) == pytest.approx(expected)


def test_a_small_budget_hides_members_and_a_large_one_does_not() -> None:
    rng = np.random.default_rng(2)
    many = [(rng.random((5, 40)) > 0.5).astype(float) for _ in range(60)]
    member = np.arange(60) < 30
    aucs = {
        eps: membership_auc(likeliest_published(many, report(many, eps), np.arange(30)), member)
        for eps in ("0.01", "400")
    }
    assert aucs["400"] > 0.95
    assert abs(aucs["0.01"] - 0.5) < 0.25


def test_sizes_are_the_control(graphs: list[np.ndarray]) -> None:
    found = same_size_published(graphs, report(graphs, "1"), MEMBERS)
    sizes = [len(rows) for rows in graphs]
    assert found.tolist() == [sizes[:10].count(size) for size in sizes]


def test_a_size_that_nobody_published_is_no_member(graphs: list[np.ndarray]) -> None:
    alone = [*graphs, np.full((9, WIDTH), 0.5)]
    found = likeliest_published(alone, report(graphs, "1"), MEMBERS)
    assert found[-1] == -np.inf
    assert 0 <= membership_auc(found, np.arange(21) < 10) <= 1


def test_refusals(graphs: list[np.ndarray]) -> None:
    with pytest.raises(UserError, match="paper"):
        likeliest_published(graphs, report(graphs, "1", "paper"), MEMBERS)
    for member in (np.ones(3, dtype=bool), np.zeros(3, dtype=bool)):
        with pytest.raises(UserError):
            membership_auc(np.zeros(3), member)
