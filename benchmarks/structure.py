"""How the code is laid out, counted, and the limits it keeps: ``python -m benchmarks.structure [ROOT]``.

Imports inside functions count as well, those for type checkers do not. Status 1 where a limit is exceeded.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from flows.system.environment import PACKAGE_ROOT

LAYERS = (
    ("run",),
    ("studies",),
    ("tracking", "results", "attack_runs"),
    ("context",),
    ("execution", "server"),
    ("system",),
)
"""Folders of flows/, from the top; a module imports from its own row or below."""
ENTRY_POINTS = ("flows.model", "flows.dask_worker")
"""Files of flows/ that other programs import: a notebook, and Dask's worker."""
STARTED = ("flows.system.settings_check", "flows.server.supervisor", "flows.system.exit_with_stdin")
STARTED += ("flows.system.prefect_patches", "flows.server.crashed_runs", "flows.run.sweep_flow")
STARTED += ("tasks.steps.job_process",)
"""Modules that a process of ours runs with ``-m`` or ``-c``, or that prefect.yaml names."""
LARGEST_FOLDER = 14
LIMITS = {
    "circles between modules": 0,
    "upward arrows": 0,
    "files in flows/ that are no command": 0,
    "modules in the largest folder": LARGEST_FOLDER,
    "modules that no command reaches": 0,
    "hand-written point keys": 0,
    "lines of README.md": 150,
}
KEY = re.compile(r'"step": "')

Graph = dict[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """Files of flows and tasks by dotted name; a package bears the name of its folder."""
    files = [path for package in ("flows", "tasks") for path in sorted((root / package).rglob("*.py"))]
    return {_name(path.relative_to(root)): path for path in files}


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def import_graph(files: dict[str, Path]) -> Graph:
    """What each module imports of the others."""
    return {name: set(_imported(path, files)) - {name} for name, path in files.items()}


def _imported(path: Path, files: dict[str, Path]) -> Iterator[str]:
    for node in _nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in inner if name in files)
            # What a package imports for its users it would list itself; ours are empty.
            if node.module in files and not all(name in files for name in inner):
                yield node.module


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _nodes(node)


def circles(graph: Graph) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others."""
    return [sorted(group) for group in _components(graph) if len(group) > 1]


def _components(graph: Graph) -> Iterator[set[str]]:
    reach = {name: reached([name], graph) for name in graph}
    left = set(graph)
    while left:
        name = min(left)
        group = {other for other in reach[name] if name in reach[other]}
        left -= group
        yield group


def reached(starts: Iterable[str], graph: Graph) -> set[str]:
    """All that these modules import, themselves included."""
    found: set[str] = set()
    pending = list(starts)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += graph.get(name, ())
    return found


def upward(graph: Graph) -> list[str]:
    """Imports of a command, or from a lower folder of flows/ to a higher one, or from tasks to flows."""
    height = {f"flows.{folder}": -row for row, folders in enumerate(LAYERS) for folder in folders}
    found = []
    for name, imports in graph.items():
        for other in imports:
            here, there = (".".join(part.split(".")[:2]) for part in (name, other))
            command = there.startswith("flows.") and there not in height
            above = here in height and there in height and height[there] > height[here]
            if command or above or (name.startswith("tasks") and other.startswith("flows.")):
                found.append(f"{name} -> {other}")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the counts; what exceeds its limit is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.structure", description=(__doc__ or "").split(":")[0])
    parser.add_argument("root", nargs="?", type=Path, default=PACKAGE_ROOT, help="a checkout (default: this one)")
    root = parser.parse_args(arguments).root
    files = modules(root)
    graph = import_graph(files)
    commands = [name for name in files if name.count(".") == 1 and name.startswith("flows.")]
    commands = [name for name in commands if files[name].name != "__init__.py"]
    starts = [*commands, *STARTED]
    found: dict[str, list[str]] = {
        "circles between modules": [" <-> ".join(group) for group in circles(graph)],
        "upward arrows": upward(graph),
        "files in flows/ that are no command": [
            name
            for name in commands
            if name not in ENTRY_POINTS and '__name__ == "__main__"' not in files[name].read_text(encoding="utf-8")
        ],
        "modules that no command reaches": sorted(
            name for name in set(files) - reached(starts, graph) if files[name].name != "__init__.py"
        ),
        "hand-written point keys": [
            f"{name}: {match.group().strip()}"
            for name, path in files.items()
            for match in KEY.finditer(path.read_text(encoding="utf-8"))
            if name.startswith("tasks.steps")
        ],
    }
    folders = Counter(path.parent for path in files.values() if path.name != "__init__.py")
    del folders[root / "flows"]  # commands alone
    largest, size = folders.most_common(1)[0]
    counts = {name: len(items) for name, items in found.items()}
    counts["modules in the largest folder"] = size
    found["modules in the largest folder"] = [str(largest.relative_to(root))]
    counts["lines of README.md"] = _lines([root / "README.md"])
    counts |= {f"lines of {package}": _lines((root / package).rglob("*.py")) for package in ("flows", "tasks")}
    exceeded = 0
    for name, count in counts.items():
        limit = LIMITS.get(name)
        print(f"{name}: {count}" + ("" if limit is None else f" (at most {limit})"))
        if limit is not None and count > limit:
            exceeded = 1
            print("\n".join(f"  {item}" for item in found.get(name, [])), file=sys.stderr)
    return exceeded


def _lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


if __name__ == "__main__":
    sys.exit(main())
