from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import cloudpickle
import pytest
from prefect.cache_policies import NO_CACHE
from prefect.states import Failed, State

from tasks.errors import Unavailable, UserError
from tasks.parameters.graphs import Solver
from tasks.point_folder import canonical_json
from tasks.steps.declaration import Draft
from tasks.steps.node_classification.perturb import perturb_features
from tasks.steps.point import CACHED, REFUSED, point, point_task
from tasks.steps.raw_source import RawSource
from tasks.steps.seeds import Seed, curator_seed
from tasks.store import PointRef, PointStore
from tests.tasks.steps.conftest import DECLARATIONS, MODULES, STEPS


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


@pytest.mark.parametrize("name", STEPS)
def test_prefect_caches_nothing_and_keeps_no_result_and_tries_again(name: str) -> None:
    """The point store is the only cache."""
    step = STEPS[name]
    assert step.persist_result is False
    assert step.cache_policy == NO_CACHE
    assert step.retries > 0


@pytest.mark.parametrize("name", STEPS)
def test_a_step_takes_the_store_first_and_what_it_needs_by_name(name: str) -> None:
    step = STEPS[name]
    first, *_ = inspect.signature(step.plain).parameters.values()
    assert (first.name, first.annotation) == ("store", "PointStore")
    assert inspect.signature(step.fn) == inspect.signature(step.plain)


def test_every_step_but_the_forecast_stores_a_point() -> None:
    assert set(STEPS) - set(DECLARATIONS) == {"forecast"}


def test_no_module_makes_a_point_of_a_key_of_its_own() -> None:
    stores = [module.__name__ for module in MODULES if "store.point(" in Path(str(module.__file__)).read_text()]
    assert stores == ["tasks.steps.declaration"]


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_declaration_names_arguments_that_there_are(name: str) -> None:
    declaration = DECLARATIONS[name]
    arguments = set(inspect.signature(declaration.compute).parameters)
    templates = [declaration.label] if isinstance(declaration.label, str) else []
    templates += [declaration.seed.point] if declaration.seed else []
    named = {field.split(".")[0] for text in templates for _, field, *_ in Formatter().parse(text) if field}
    assert named | set(declaration.ignore) <= arguments


@dataclass(frozen=True)
class Size:
    width: int
    height: int


@point(
    "toy step", label="toy {source.name} {count}", seed=Seed("toys", "{count}", "bench"), ignore=("hidden", "repeat")
)
def toy(
    draft: Draft,
    source: RawSource,
    report: PointRef,
    others: dict[float, PointRef | None],
    solver: Solver,
    size: Size,
    *,
    count: int,
    hidden: PointRef,
    repeat: int = 0,
    seed: int | None = None,
) -> None:
    """Writes its seed."""
    draft.file("seed").write_text(str(draft.seed))


def ref(content: str, raw: bool = False) -> PointRef:
    return PointRef("digest", Path(), content, cached=True, seconds=0.0, raw=raw)


def toy_arguments(source: RawSource, **changes: Any) -> dict[str, Any]:
    return {
        "source": source,
        "report": ref("the report"),
        "others": {0.5: ref("another"), 1.0: None},
        "solver": Solver(starts=3),
        "size": Size(2, 3),
        "count": 4,
        "hidden": ref("hidden"),
        **changes,
    }


def test_a_key_is_derived_from_the_signature(source: RawSource) -> None:
    key = toy.key(**toy_arguments(source))  # type: ignore[attr-defined]
    assert len(key.pop("code")) == 16
    assert key == {
        "step": "toy step",
        "raw": source.content,
        "report": "the report",
        "others": {"0.5": "another", "1.0": None},
        "solver": Solver(starts=3).model_dump(),
        "size": {"width": 2, "height": 3},
        "count": 4,
        "seed": curator_seed(None, study="toys", dataset=source.name, point="4", repeat=0, role="bench"),
    }


def test_the_key_that_is_shown_is_the_stored_one_and_its_seed_the_drafts(store: PointStore, source: RawSource) -> None:
    arguments = toy_arguments(source, repeat=2, seed=7)
    made = toy.plain(store, **arguments)  # type: ignore[attr-defined]
    meta = json.loads(made.file("meta.json").read_text())
    assert meta["key"] == json.loads(canonical_json(toy.key(**arguments)))  # type: ignore[attr-defined]
    assert meta["label"] == f"toy {source.name} 4"
    assert made.file("seed").read_text() == str(meta["key"]["seed"])


@pytest.mark.parametrize(
    ("changes", "private"),
    [
        ({}, False),
        ({"report": ref("r", raw=True)}, True),
        ({"others": {1.0: ref("r", raw=True)}}, True),
        ({"hidden": ref("r", raw=True)}, False),
    ],
)
def test_a_point_is_as_private_as_what_stands_in_its_key(
    store: PointStore, source: RawSource, changes: dict[str, Any], private: bool
) -> None:
    assert toy.plain(store, **toy_arguments(source, **changes)).raw == private  # type: ignore[attr-defined]


def test_what_is_made_of_private_raw_data_is_private(store: PointStore, secret_source: RawSource) -> None:
    assert toy.plain(store, **toy_arguments(secret_source)).raw  # type: ignore[attr-defined]


def test_a_step_sent_to_another_process_makes_the_same_point(store: PointStore, source: RawSource) -> None:
    """Its function goes by value, for its name is the task's."""
    arguments = {"eps_x": "1", "repeat": 0, "seed": 0}
    sent = cloudpickle.loads(cloudpickle.dumps(perturb_features.plain))  # type: ignore[attr-defined]
    first = sent(store, source, **arguments)
    assert perturb_features.plain(store, source, **arguments).digest == first.digest  # type: ignore[attr-defined]
