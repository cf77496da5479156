"""YAML in which a key that stands twice in one section is a mistake: PyYAML takes the last, DVC refuses the file."""

from __future__ import annotations

from typing import Any

import yaml

MERGE = "tag:yaml.org,2002:merge"


def read_yaml(text: str) -> Any:
    """The value of a document.

    Raises:
        yaml.YAMLError: for what is no YAML, and for a key that stands twice.
    """
    loader = _Loader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """See ``yaml.composer.Composer``; keys that a merge brings are not there yet, and may be overridden."""
        node = super().compose_mapping_node(anchor)
        assert node is not None
        found: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == MERGE:
                continue
            name, line = (key.tag, key.value), key.start_mark.line + 1
            if name in found:
                problem = f"the key {key.value} stands in line {found[name]} already"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            found[name] = line
        return node
