"""What a step declares: the function that computes its files, from whose signature the rest is derived."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from pydantic import BaseModel

from tasks.code_version import code_version
from tasks.point_folder import canonical_json
from tasks.reports.ledgers.ledger_line import Charge, uncharged
from tasks.steps.covered_code import covered
from tasks.steps.raw_source import RawSource
from tasks.steps.seeds import Seed
from tasks.steps.sides import compute_apart, side_of
from tasks.store import PointRef, PointStore

Given = SimpleNamespace
"""The arguments of a call by name, with the defaults of what it leaves out."""


@dataclass
class Draft:
    """A point in the making.

    Attributes:
        store: where it will lie.
        key, label, private: what they are for these arguments of the step.
        folder: where its files go.
        parts: the points that it is put together from.
        charge: enters a report into the account of a private data set, before it is drawn.
    """

    store: PointStore
    key: dict[str, object]
    label: str
    private: bool
    folder: Path = Path()
    parts: list[PointRef] = field(default_factory=list)
    charge: Charge = uncharged

    @property
    def seed(self) -> Any:
        """The step's own seed: an int, or None for noise from the operating system's entropy."""
        return self.key["seed"]

    def file(self, name: str) -> Path:
        """Path of one of the point's files."""
        return self.folder / name

    def part(self, compute: Callable[[Path], None], label: str, **entries: object) -> PointRef:
        """A part as a point of its own, for as long as the whole is not stored: a killed run goes on from there."""
        key = {"step": f"{self.key['step']} block", "of": canonical_json(self.key)} | entries
        self.parts.append(self.store.point(key, compute, label=label, private=self.private))
        return self.parts[-1]


@dataclass(frozen=True)
class Declaration:
    """A step as declared; see ``tasks.steps.point.point`` for the attributes. A call stores the point once."""

    compute: Callable[..., object]
    step: str
    label: str | Callable[[Given], str]
    seed: Seed | None = None
    ignore: Collection[str] = ()
    also: Callable[[Given], Mapping[str, object]] | None = None
    code: Callable[[Given, frozenset[str]], Collection[str]] | None = None

    shared: ClassVar[bool] = False
    """Whether all repeats on a private data set use one draw, unless that set declares ``fresh_noise``."""

    def __call__(self, store: PointStore, *args: Any, **kwargs: Any) -> PointRef:
        """The point of these arguments."""
        of = self._given(*args, **kwargs)
        label = self._label(of)
        private = any(_private(value) for name, value in vars(of).items() if name not in self.ignore)
        draft = Draft(store, self._key(of), label, private)
        side = side_of(vars(of))

        def compute(folder: Path) -> None:
            draft.folder = folder
            if side:
                compute_apart(self, draft, vars(of), side)
            else:
                self.compute(draft, **vars(of))

        point = store.point(draft.key, compute, label=label, private=private)
        for part in draft.parts:
            store.discard(part)
        return replace(point, side=side)

    def _label(self, of: Given) -> str:
        return self.label(of) if callable(self.label) else self.label.format(**vars(of))

    def key(self, *args: Any, **kwargs: Any) -> dict[str, object]:
        """Everything that decides the point of these arguments, which are those of the step without its store."""
        return self._key(self._given(*args, **kwargs))

    def _key(self, of: Given) -> dict[str, object]:
        decide = {name: value for name, value in vars(of).items() if name not in self.ignore}
        key: dict[str, object] = {"step": self.step}
        key |= {"raw" if isinstance(value, RawSource) else name: _entry(value) for name, value in decide.items()}
        if self.seed:
            key["seed"] = self.seed.of(**{"dataset": of.source.name} if "source" in vars(of) else {}, **vars(of))
        return {**key, **(self.also(of) if self.also else {}), "code": self._code(of)}

    def _given(self, *args: Any, **kwargs: Any) -> Given:
        bound = inspect.signature(self.compute).bind(None, *args, **kwargs)
        bound.apply_defaults()
        _, *arguments = bound.arguments.items()
        return Given(**dict(arguments))

    def _code(self, of: Given) -> str | None:
        definitions, modules = covered(self.compute.__module__, self.compute.__name__)
        covers = self.code(of, modules) if self.code else modules
        if self.code and not covers:
            return None
        return hashlib.sha256(f"{definitions} {code_version(*sorted(covers))}".encode()).hexdigest()[:16]


def _entry(value: object) -> object:
    if isinstance(value, (PointRef, RawSource)):
        return value.content
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(name): _entry(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_entry(part) for part in value]
    return value


def _private(value: object) -> bool:
    if isinstance(value, PointRef):
        return value.raw
    if isinstance(value, RawSource):
        return value.private
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return any(map(_private, parts))
