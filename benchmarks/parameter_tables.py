"""docs/parameters.md, from the models of params.yaml: ``python -m benchmarks.parameter_tables [--check]``.

Status 1 with ``--check`` where the page is not what the models give.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from flows.system.environment import PACKAGE_ROOT
from tasks.parameters.classification import NodeClassification, Search
from tasks.parameters.embedding import NodeEmbedding
from tasks.parameters.graphs import EgoClustering, GraphClassification, Solver
from tasks.parameters.profiles import OwnDataset, Profile
from tasks.parameters.values import Section

PAGE = PACKAGE_ROOT / "docs" / "parameters.md"
SECTIONS: dict[str, type[Section]] = {
    "A profile": Profile,
    "node_classification": NodeClassification,
    "node_classification.search": Search,
    "node_embedding": NodeEmbedding,
    "graph_classification": GraphClassification,
    "ego_clustering": EgoClustering,
    "solver": Solver,
    "datasets.NAME": OwnDataset,
}
HEAD = """# Parameters

`params.yaml` has a section for each profile, `demo` and `paper`, and `datasets` for graphs of your own. `--set
dotted.key=json` overrides any key of a profile for one run; its key is relative to the profile. This page is written by
`python -m benchmarks.parameter_tables`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *("\n".join(_section(title, model)) for title, model in SECTIONS.items())])


def _section(title: str, model: type[Section]) -> Iterator[str]:
    yield f"## {title if ' ' in title else f'`{title}`'}\n"
    yield from (f"{_plain(part)}\n" for part in (model.__doc__ or "").split("\n\n"))
    yield "| key | values | default | meaning |\n| --- | --- | --- | --- |"
    for name, field in model.model_fields.items():
        meaning = _plain(field.description or "")
        yield f"| `{name}` | {_values(field.annotation)} | {_default(field)} | {meaning} |"
    yield ""


def _plain(text: str) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", " ".join(text.split())).replace("|", "\\|")


def _values(annotation: Any) -> str:
    """The choices, or the kind of value."""
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(annotation))
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if get_origin(annotation) in (list, dict, tuple):
        kind = {list: "list of ", dict: "by name: ", tuple: "pair of "}[get_origin(annotation)]
        return kind + _values(parts[-1])
    if parts:
        return " or ".join(dict.fromkeys(_values(part) for part in parts if isinstance(part, type) or get_args(part)))
    names = {str: "text", int: "whole number", float: "number", bool: "`true`, `false`"}
    return names.get(annotation, "section" if isinstance(annotation, type) else str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Section):
        return "its defaults"
    return f"`{json.dumps(value)}`"


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or compare."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.parameter_tables", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("--check", action="store_true", help="compare with the page, write nothing")
    if parser.parse_args(arguments).check:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
