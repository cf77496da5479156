"""Reading params.yaml, the only source of the grid: an unknown key or impossible value is one clear line."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from tasks.errors import UserError
from tasks.parameters.classification import STATED, ClassificationGrid
from tasks.parameters.embedding import EmbeddingGrid
from tasks.parameters.problem import problem, shortened
from tasks.parameters.profiles import PROFILES, Parameters, parameters_with
from tasks.parameters.values import Section
from tasks.parameters.yaml_text import read_yaml

MOST_VALUES = 100_000
AXES = {"node_classification": ClassificationGrid.model_fields, "node_embedding": EmbeddingGrid.model_fields}
"""The axes of the studies whose grid has parts."""


def load_parameters(
    path: Path,
    profile: str = "demo",
    overrides: Sequence[str] = (),
    log: Callable[[str], object] = lambda _: None,
    sections: Mapping[str, type[Section]] | None = None,
) -> Parameters:
    """Read and validate ``path``; ``overrides`` are ``dotted.key=json``, relative to the profile.

    ``sections`` are the models of the studies' sections, where there are more than those of ``Profile``.

    Overrides that name an axis of a grid ask for the cells of that grid alone: its parts, which have budgets and
    methods of their own, are left out unless an override names them, too; and likewise the ``searches`` of single
    methods where one names ``search``. ``log`` is called with a line on that.

    Raises:
        UserError: for an unreadable file, an unknown profile or key, or a value out of range.
    """
    try:
        tree = read_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path.name} is missing; run from the project's root or restore it with git") from None
    except OSError as error:
        raise UserError(f"{path.name} cannot be read ({error.strerror}); make it a readable file") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{path.name} is not valid YAML{_place(error)}; correct it or restore it with git") from None
    if not isinstance(tree, dict):
        raise UserError(f"{path.name} must hold the sections {', '.join(PROFILES)}")
    _refuse_expansion(path, tree)
    if profile not in PROFILES or profile not in tree:
        raise UserError(f"profile {profile!r} is unknown; use one of {', '.join(PROFILES)}")
    tree[profile] = copy.deepcopy(tree[profile])  # sections may share an anchor
    model = parameters_with(sections or {})
    stated = _searches_of_the_file(model, tree, profile, overrides)
    for override in overrides:
        _apply(tree, profile, override)
    for study in _narrowed(overrides):
        section = tree[profile][study]
        if isinstance(parts := section.get("parts"), list) and parts:
            section["parts"] = []
            log(
                f"{study}: --set names an axis, so the {len(parts)} parts of the grid are left out; to run them, too, "
                f"change the axis in params.yaml, or name them with --set '{study}.parts=[...]'"
            )
    _search_as_asked(tree[profile], overrides, log)
    try:
        return model.model_validate(tree, context={STATED: stated})
    except ValidationError as error:
        source = f"{path.name} as changed for this run" if overrides else path.name
        raise UserError(f"{source}: {problem(error)}") from None


def _place(error: Exception) -> str:
    """Where and what, without the library's excerpt of the text."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        mark = error.problem_mark
        return f" in line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return f": {error}"


def _narrowed(overrides: Sequence[str]) -> list[str]:
    keys = {override.partition("=")[0].strip() for override in overrides}
    return [
        study
        for study, axes in AXES.items()
        if any(f"{study}.{axis}" in keys for axis in axes) and not any(key.startswith(f"{study}.parts") for key in keys)
    ]


def _search_as_asked(profile: dict[str, Any], overrides: Sequence[str], log: Callable[[str], object]) -> None:
    """An override of ``search`` holds for every method: the searches of single ones are left out unless named too."""
    keys = [override.partition("=")[0].strip() for override in overrides]
    named = {key.split(".")[1] for key in keys if key.startswith("node_classification.")}
    if "search" not in named or "searches" in named:
        return
    section = profile["node_classification"]
    if isinstance(section, dict) and section.get("searches"):
        log(f"node_classification: --set names search, so those of {', '.join(section['searches'])} are left out")
        section["searches"] = {}


def _searches_of_the_file(
    model: type[Parameters], tree: dict[str, Any], profile: str, overrides: Sequence[str]
) -> set[str]:
    """Methods whose searches may stand without a use: the file has them for whoever asks for the method.

    The other profiles, to which this does not apply, stand in ``tree`` as models afterwards.
    """
    try:
        whole = model.model_validate(tree)
    except ValidationError:
        return set()
    tree |= {name: getattr(whole, name) for name in PROFILES if name != profile}
    named = set(getattr(whole, profile).node_classification.searches)
    keys = [override.partition("=")[0].strip().split(".") for override in overrides]
    given = [key[2] if len(key) > 2 else "" for key in keys if key[:2] == ["node_classification", "searches"]]
    return set() if "" in given or ["node_classification"] in keys else named - set(given)


def _refuse_expansion(path: Path, tree: object) -> None:
    """A few lines of aliases may stand for billions of values, which everything below would visit one by one."""
    pending, visited = [tree], 0
    while pending:
        value = pending.pop()
        visited += 1
        if visited > MOST_VALUES:
            raise UserError(f"{path.name} expands to more than {MOST_VALUES} values; write its aliases out")
        if isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, (list, tuple, set)):
            pending += value


def _within_range(text: str) -> float:
    """A budget of 1e400 would turn into infinity, which means no noise."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(text)
    return number


def _apply(section: Any, profile: str, override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals:
        raise UserError(f"override (--set) {shortened(override)} has no '='; write dotted.key=json")
    shown = shortened(key, plain=True)
    try:
        value = json.loads(text, parse_float=_within_range)
    except (ValueError, RecursionError):
        raise UserError(f"--set {shown}: {shortened(text)} is not JSON; quote strings, for example '\"inf\"'") from None
    names = key.strip().split(".")
    if names[0] in Parameters.model_fields:
        raise UserError(f"--set {shown}: keys are those below the profile; the rest is changed in params.yaml alone")
    *parents, leaf = [profile, *names]
    for depth, name in enumerate(parents):
        section = section.setdefault(name, {})
        if not isinstance(section, dict):
            above = shortened(".".join(parents[: depth + 1]), plain=True)
            raise UserError(f"--set {shown}: {above} is not a section of params.yaml")
    section[leaf] = value
