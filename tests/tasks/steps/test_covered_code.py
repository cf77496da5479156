"""The version of a step's point covers what the step computes with, and nothing that hands steps out."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import pytest

from tasks import code_version
from tasks.curator.methods import METHODS
from tasks.parameters.classification import NodeClassification
from tasks.steps import covered_code as subject
from tasks.steps.covered_code import covered, is_apart
from tests.tasks.steps.conftest import DECLARATIONS

STUDY = NodeClassification(datasets=["cora"], eps_x=["1"], eps_a=["1"])
LOOPED = NodeClassification(datasets=["cora"], eps_x=["1"], eps_a=["1"], search={"engine": "dgl"})  # type: ignore[arg-type]
CALLS = [SimpleNamespace(method=name, study=STUDY, dataset="digits") for name in METHODS]
CALLS.append(SimpleNamespace(method="base", study=LOOPED, dataset="mutag"))


def named_modules(function: Callable[..., Any]) -> set[str]:
    """Modules of ``tasks`` whose functions and classes a function of ``tasks.steps`` names, and those it calls there.

    Read from what Python compiled, not from the source.
    """
    found: set[str] = set()
    pending, done = [inspect.unwrap(function)], set()
    while pending:
        current = pending.pop()
        if current in done:
            continue
        done.add(current)
        for opcode, name in operations(current.__code__):
            value = current.__globals__.get(name)
            if opcode == "IMPORT_NAME":
                found.add(name)
            elif inspect.isclass(value) or inspect.isroutine(value):
                found.add(value.__module__)
                if value.__module__.startswith("tasks.steps.") and not is_apart(value.__module__):
                    members = vars(value).values() if inspect.isclass(value) else [value]
                    plain = [inspect.unwrap(getattr(part, "__func__", getattr(part, "fget", part))) for part in members]
                    pending += [part for part in plain if isinstance(part, FunctionType)]
    return {name for name in found if name.startswith("tasks.") and not name.startswith("tasks.steps.")}


def operations(code: CodeType) -> Iterator[tuple[str, str]]:
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "IMPORT_NAME"):
            yield step.opname, step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from operations(constant)


def covered_modules(name: str) -> set[str]:
    """Of all kinds of calls together."""
    declaration = DECLARATIONS[name]
    _, modules = covered(declaration.compute.__module__, declaration.compute.__name__)
    return set().union(*(declaration.code(of, modules) for of in CALLS)) if declaration.code else set(modules)


def closure(modules: set[str]) -> set[str]:
    found: set[str] = set()
    pending = list(modules)
    while pending:
        if (module := pending.pop()) not in found:
            found.add(module)
            pending += [name for name in code_version._read(module)[1] if name.split(".")[0] in ("tasks", "flows")]
    return found


@pytest.mark.parametrize("name", DECLARATIONS)
def test_all_that_a_step_computes_with_is_covered(name: str) -> None:
    used = {module for module in named_modules(DECLARATIONS[name].compute) if not is_apart(module)}
    assert used <= covered_modules(name)


COMPUTING = ("tasks.broadcasts", "tasks.client", "tasks.curator", "tasks.datasets", "tasks.models", "tasks.reports")
DECLARED = "a declaration decides nothing that the digest of raw data does not hold"
TABLE = "a table of names: of a method's row the module that it names is covered"
SEARCHES = "the keys of the repeats' searches stand in the key, and their versions in these"
EXCEPTIONS = {
    ("tasks.datasets.user.declaration", None): DECLARED,
    ("tasks.curator.calibration.graphs", "score"): TABLE,
    ("tasks.curator.calibration.graphs", "search"): TABLE,
    ("tasks.curator.calibration", "search_shared"): SEARCHES,
    (
        "tasks.datasets",
        "download",
    ): "files are checked by their hashes, and those that we make by their parser's version",
}
"""Modules, with all below them, that a step imports and no version covers: of one step or (None) of all; and why."""


def excepted(module: str, step: str) -> bool:
    names = [name for name, of in EXCEPTIONS if of in (step, None)]
    return is_apart(module) or any(module == name or module.startswith(f"{name}.") for name in names)


def imported(step: str) -> set[str]:
    """What a step computes with, through all imports of all that it names, whatever stands apart."""
    return {module for module in closure(named_modules(DECLARATIONS[step].compute)) if module.startswith(COMPUTING)}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_what_a_step_imports_is_covered_or_a_written_exception(name: str) -> None:
    missing = imported(name) - closure(covered_modules(name))
    assert {module for module in missing if not excepted(module, name)} == set()


def test_every_exception_is_one() -> None:
    for module, step in EXCEPTIONS:
        missing = {
            name for of in DECLARATIONS if step in (of, None) for name in imported(of) - closure(covered_modules(of))
        }
        assert any(name == module or name.startswith(f"{module}.") for name in missing)


@pytest.mark.parametrize("name", DECLARATIONS)
def test_nothing_is_covered_that_hands_steps_out_or_stores_points(name: str) -> None:
    found = closure(covered_modules(name))
    assert not {module for module in found if module.startswith(("tasks.steps", "tasks.store", "flows"))}


def test_every_mechanism_covers_where_its_noise_comes_from() -> None:
    source = "tasks.client.noise_source"
    noisy = {name for name in DECLARATIONS if source in named_modules(DECLARATIONS[name].compute)}
    assert len(noisy) == 8
    assert all(source in covered_modules(name) for name in noisy)


@pytest.mark.parametrize("method", METHODS)
def test_a_score_and_a_search_cover_the_calibration_of_their_method(method: str) -> None:
    of = SimpleNamespace(method=method, study=STUDY)
    for name in ("score", "search"):
        declaration = DECLARATIONS[name]
        _, named = covered(declaration.compute.__module__, declaration.compute.__name__)
        assert declaration.code
        assert set(METHODS[method].modules) <= set(declaration.code(of, named))
        assert "tasks.curator.training" not in declaration.code(of, named)


STEP = '''
"""A step."""
from tasks.numbers import two
from tasks.steps.point import point
from tasks.steps.helpers import halved as less
from tasks.steps.other import SIZE, unrelated

FACTOR: int = 3

@point(label="x")
def step(draft: two, count: int = SIZE) -> None:
    """Doubles."""
    draft.write(scaled(less(count)))

def scaled(value):
    from tasks.scales import scale
    return scale(value, FACTOR)

def beside(value):
    return unrelated(value)
'''
HELPERS = "from tasks.halves import half\n\ndef halved(value):\n    return half(value)\n"
OTHER = "from tasks.faults import fault\n\nSIZE = 5\n\ndef unrelated(value):\n    return fault(value)\n"


@pytest.fixture
def version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[str, frozenset[str]]]]:
    """What is covered of a small package: version("old", "new") changes it first."""
    files = {"step": STEP, "helpers": HELPERS, "other": OTHER}
    monkeypatch.setattr(code_version, "ROOT", tmp_path)
    (tmp_path / "tasks/steps").mkdir(parents=True)

    def found(old: str = "", new: str = "") -> tuple[str, frozenset[str]]:
        assert any(old in text for text in files.values())
        for name, text in files.items():
            (tmp_path / f"tasks/steps/{name}.py").write_text(text.replace(old, new) if old else text)
        subject._names.cache_clear()
        covered.cache_clear()
        return covered("tasks.steps.step", "step")

    yield found
    subject._names.cache_clear()
    covered.cache_clear()


def test_modules_are_found_through_helpers_and_inner_imports(version: Callable[..., Any]) -> None:
    assert version()[1] == {"tasks.halves", "tasks.scales"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Doubles.", "Halves."),
        ("draft: two", "draft"),
        ('@point(label="x")', "@point(label='y')"),
        ("FACTOR: int", "FACTOR: float"),
        ("return unrelated(value)", "return None"),
        ("return fault(value)", "return None"),
    ],
)
def test_what_decides_nothing_changes_nothing(version: Callable[..., Any], old: str, new: str) -> None:
    assert version(old, new) == version()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("draft.write(", "draft.append("),
        ("scale(value, FACTOR)", "scale(value, 2)"),
        ("int = 3", "int = 4"),
        ("SIZE = 5", "SIZE = 6"),
        ("half(value)", "half(half(value))"),
    ],
)
def test_what_the_step_computes_is_covered_wherever_it_stands(version: Callable[..., Any], old: str, new: str) -> None:
    assert version(old, new)[0] != version()[0]
