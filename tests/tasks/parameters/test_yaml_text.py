from __future__ import annotations

import pytest
import yaml

from tasks.parameters.yaml_text import read_yaml
from tests.tasks.parameters.conftest import SHIPPED


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: 2\na: 3\n",
        "x:\n  a: 1\n  'a': 2\n",
        "{a: 1, a: 1}",
        "- {b: [{a: 1, c: 2, a: 3}]}",
        "a: {}\n? a\n: 1\n",
    ],
)
def test_a_key_that_stands_twice_is_named(text: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError, match="key a "):
        read_yaml(text)


def test_a_merged_key_may_be_overridden_and_equal_keys_of_two_sections_are_two() -> None:
    text = "y: &y {k: 0, l: 9}\na: &x {<<: *y, k: 1}\nb: {<<: *x, k: 3}\n"
    assert read_yaml(text) == {"y": {"k": 0, "l": 9}, "a": {"k": 1, "l": 9}, "b": {"k": 3, "l": 9}}


def test_everything_else_is_as_pyyaml_reads_it() -> None:
    assert read_yaml(SHIPPED.read_text()) == yaml.safe_load(SHIPPED.read_text())
