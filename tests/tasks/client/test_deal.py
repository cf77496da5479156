import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.client.deal import deal_graphs
from tasks.errors import UserError


@settings(max_examples=50)
@given(seed=st.integers(0, 2**31), clients=st.integers(1, 12), concentration=st.floats(0.05, 50))
def test_every_labelled_graph_with_a_role_has_one_holder(seed: int, clients: int, concentration: float) -> None:
    labels = np.random.default_rng(seed).integers(-1, 3, size=60)
    labels[0] = 2  # the number of classes stays
    roles = [np.arange(40), np.arange(40, 50)]
    holder = deal_graphs(labels, roles, clients, concentration, np.random.default_rng(seed))
    assert ((holder == -1) == ((labels == -1) | (np.arange(60) >= 50))).all()
    assert holder.max(initial=-1) < clients
    assert (holder == deal_graphs(labels, roles, clients, concentration, np.random.default_rng(seed))).all()
    labels[40:] = np.maximum(1 - labels[40:], 0)
    again = deal_graphs(labels, roles, clients, concentration, np.random.default_rng(seed))
    assert (holder[:40] == again[:40]).all()


def test_shares_of_a_class_follow_the_dirichlet_law() -> None:
    """A share of Dirichlet(c, ..., c) over k clients has mean 1/k and variance (k-1) / (k^2 (k c + 1))."""
    labels, k, draws = np.zeros(400, dtype=np.int64), 5, 2000
    for c in (0.3, 1.0, 20.0):
        rng = np.random.default_rng(1)
        first = np.array([(deal_graphs(labels, [np.arange(400)], k, c, rng) == 0).mean() for _ in range(draws)])
        variance = (k - 1) / (k**2 * (k * c + 1))
        assert abs(first.mean() - 1 / k) < 5 * np.sqrt(variance / draws)
        assert first.var() == pytest.approx(variance, rel=0.2)


def test_classes_are_dealt_apart() -> None:
    labels = np.repeat([0, 1], 500)
    rng = np.random.default_rng(0)
    shares = [
        [(deal_graphs(labels, [np.arange(1000)], 4, 1.0, rng)[labels == c] == 0).mean() for c in (0, 1)]
        for _ in range(500)
    ]
    holder = deal_graphs(labels, [np.arange(1000)], 4, 1.0, rng)
    assert (holder[:500] == 0).mean() != (holder[500:] == 0).mean()
    assert np.array(shares).std() > 0.1


def test_wrong_numbers_are_refused() -> None:
    for clients, concentration in ((0, 1.0), (3, 0.0), (3, float("inf"))):
        with pytest.raises(UserError, match=f"clients {clients}, concentration {concentration}"):
            deal_graphs(np.zeros(3, dtype=np.int64), [], clients, concentration, np.random.default_rng(0))
