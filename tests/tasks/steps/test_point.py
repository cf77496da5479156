from __future__ import annotations

import pytest
from prefect.states import Failed, State

from tasks.errors import Unavailable, UserError
from tasks.steps.download import RawSource, download
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.node_classification.score import score
from tasks.steps.node_classification.search import search
from tasks.steps.point import CACHED, REFUSED, point_task
from tasks.steps.split import split
from tasks.store import PointStore


def test_a_stored_point_is_shown_as_cached(store: PointStore, source: RawSource) -> None:
    arguments = {"eps_x": "1", "repeat": 0, "seed": 0}
    computed = perturb_features.fn(store, source, **arguments)
    assert not isinstance(computed, State)
    found = perturb_features.fn(store, source, **arguments)
    assert isinstance(found, State)
    assert found.name == CACHED
    assert found.is_completed()
    plain = perturb_features.plain(store, source, **arguments)  # type: ignore[attr-defined]
    assert plain.digest == computed.digest


def test_a_users_mistake_is_shown_as_refused_and_not_tried_again() -> None:
    @point_task(retries=3)
    def always_wrong() -> None:
        raise UserError("eps_a: 0 is refused")

    state = always_wrong.fn()
    assert (state.name, state.message) == (REFUSED, "eps_a: 0 is refused")
    assert state.is_failed()
    again = always_wrong.retry_condition_fn(always_wrong, None, state)  # type: ignore[misc, arg-type]
    assert not again
    with pytest.raises(UserError):
        always_wrong.plain()  # type: ignore[attr-defined]


def test_what_cannot_be_had_now_is_tried_again() -> None:
    @point_task()
    def offline() -> None:
        raise Unavailable("cora: not to be had")

    with pytest.raises(Unavailable, match="cora"):
        offline.fn()


def test_other_errors_stay_errors_so_that_retries_see_them() -> None:
    @point_task(retries=3)
    def flaky() -> None:
        raise OSError("network is down")

    with pytest.raises(OSError, match="network is down"):
        flaky.fn()
    assert flaky.retry_condition_fn(flaky, None, Failed(message="network is down"))  # type: ignore[misc, arg-type]


def test_prefect_caches_nothing_and_keeps_no_result() -> None:
    """The point store is the only cache."""
    for step in (download, split, perturb_edges, perturb_features, report_labels, search, score):
        assert step.persist_result is False
        assert step.cache_policy is not None
        assert type(step.cache_policy).__name__ == "_None"


def test_every_step_is_tried_again() -> None:
    for step in (download, split, perturb_edges, perturb_features, report_labels, search, score):
        assert step.retries > 0
