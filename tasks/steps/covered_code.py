"""Which code makes a step's point: the functions of ``tasks.steps`` that compute it, and the modules that these use.

A step's module also imports what hands the step out and what stores its point. So the walk goes from the computing
function by the names that it uses: definitions of ``tasks.steps`` are covered one by one, any other module of
``tasks`` as a whole.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache

from tasks.code_version import syntax_tree

STEPS = "tasks.steps"
APART = {
    "tasks.code_version": "it is what says which code is covered",
    "tasks.curator.methods": "a method's row stands in the key, and a step names the modules that the row needs",
    "tasks.datasets.catalogue": "a set of the wrong kind is refused",
    "tasks.errors": "what is refused makes no point",
    "tasks.point_folder": "it keeps points and makes none",
    "tasks.steps.point": "it declares steps",
    "tasks.steps.progress": "it tells of a computation and takes no part",
    "tasks.steps.raw_source": "the digest of raw data covers the code that parses them",
    "tasks.steps.seeds": "seeds stand in the key",
    "tasks.store": "it keeps points and makes none",
}
"""Modules (with all below them) that no point's version covers for being named by a step, and why."""


@cache
def covered(module: str, function: str) -> tuple[str, frozenset[str]]:
    """Digest of the covered definitions of ``tasks.steps``, and the names of the other covered modules."""
    definitions: dict[tuple[str, str], str] = {}
    modules: set[str] = set()
    pending = [(module, function)]
    while pending:
        place = source, name = pending.pop()
        if place in definitions or is_apart(source):
            continue
        if not source.startswith(STEPS):
            modules.add(source)
            continue
        found = _names(source).get(name)
        if isinstance(found, tuple):
            pending.append(found)
        elif found is not None:
            definitions[place] = ast.dump(found)
            pending += _uses(source, found)
    text = "\n".join(f"{place}:{definitions[place]}" for place in sorted(definitions))
    return hashlib.sha256(text.encode()).hexdigest(), frozenset(modules)


def is_apart(module: str) -> bool:
    """Whether a module is left out for a reason of ``APART``, or is none of ours."""
    ours = module.startswith("tasks.")
    return not ours or any(module == name or module.startswith(f"{name}.") for name in APART)


@cache
def _names(module: str) -> dict[str, ast.stmt | tuple[str, str]]:
    """A module's names: what defines them, or (module, name) where they are imported from."""
    found: dict[str, ast.stmt | tuple[str, str]] = {}
    for node in _Bare().visit(syntax_tree(module)).body:
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: (str(node.module), alias.name) for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: node for target in targets if isinstance(target, ast.Name)}
    return found


def _uses(module: str, definition: ast.stmt) -> Iterator[tuple[str, str]]:
    """What a definition uses of its module, and what it imports itself, as (module, name)."""
    inside = list(ast.walk(definition))
    own = {part.arg for part in inside if isinstance(part, ast.arg)}
    own |= {part.id for part in inside if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    for part in inside:
        if isinstance(part, ast.ImportFrom):
            yield from ((str(part.module), alias.name) for alias in part.names)
        elif isinstance(part, ast.Name) and part.id not in own:
            yield module, part.id


class _Bare(ast.NodeTransformer):
    """Leaves out what decides nothing, or stands in the key: a function's decorators, and annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, node.returns = [], None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)
