"""A digest of the code that computes a point, so that a change of method never meets an old result.

It covers the normalised syntax tree (no comments, no docstrings) of a module and of every first-party module
that it imports, the versions of the third-party packages they name, and whether kernels are chosen by the processor:
such a point is never taken for one that has the same bytes everywhere.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version  # noqa: TID251 - versions only
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).resolve().parent.parent
FIRST_PARTY = ("tasks", "flows")
DISTRIBUTIONS = {"ot": "pot", "sklearn": "scikit-learn", "yaml": "pyyaml"}
"""Of packages that are not distributed by their own name; to ask all that is installed takes half a second."""
# Before CPython 3.11.8, parsing in two threads at once may raise SystemError (python/cpython issue 106905). The lock
# keeps our own threads apart; libraries parse too, so a failed attempt is made again.
_PARSING = Lock()
ATTEMPTS = 50


@cache
def code_version(*modules: str) -> str:
    """Hex digest over the code of these dotted modules and all that they import.

    The environment's own variation (device kind) belongs in the point's key beside it.
    """
    sources: dict[str, str] = {}
    packages: set[str] = set()
    pending = list(modules)
    while pending:
        module = pending.pop()
        if module in sources:
            continue
        sources[module], imports = _read(module)
        for name in imports:
            if name.split(".")[0] in FIRST_PARTY:
                pending.append(name)
            else:
                packages.add(name.split(".")[0])
    text = [f"{name}:{sources[name]}" for name in sorted(sources)]
    text += [f"{name}=={release}" for name, release in sorted(_releases(packages))]
    if os.environ.get("CPU_KERNELS") == "native":
        text.append("CPU_KERNELS==native")
    return hashlib.sha256("\n".join(text).encode()).hexdigest()[:16]


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """Normalised code of a module, and the names of what it imports."""
    tree = syntax_tree(module)
    return ast.dump(tree), tuple(_imports(tree))


def syntax_tree(module: str) -> ast.Module:
    """A module's normalised syntax tree: without comments and docstrings."""
    return _without_docstrings(_parsed(_path(module).read_bytes()))


def _parsed(source: bytes) -> ast.Module:
    with _PARSING:
        for _ in range(ATTEMPTS):
            try:
                return ast.parse(source)
            except SystemError:
                time.sleep(0.01)
        return ast.parse(source)


def _path(module: str) -> Path:
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All statements at any depth; expressions, the most of a tree, are not visited."""
    for node in body:
        yield node
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            yield from _statements(getattr(node, part, ()))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            first_party = node.module.split(".")[0] in FIRST_PARTY
            yield node.module
            yield from (name for name in submodules if first_party and _path(name).exists())


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in (tree, *_statements(tree.body)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return tree


def _releases(packages: set[str]) -> Iterator[tuple[str, str]]:
    for package in packages - set(sys.stdlib_module_names):
        distribution = DISTRIBUTIONS.get(package, package)
        try:
            yield distribution, version(distribution).split("+")[0]
        except PackageNotFoundError:
            yield distribution, "absent"
