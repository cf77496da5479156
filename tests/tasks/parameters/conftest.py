from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.errors import UserError
from tasks.parameters.loading import load_parameters
from tasks.parameters.profiles import Parameters

SHIPPED = Path(__file__).resolve().parents[3] / "params.yaml"
SECTION: dict[str, Any] = {
    "seed": 0,
    "node_classification": {"datasets": ["digits"], "eps_x": [1, "inf"], "eps_a": [7.0, math.inf]},
}
TREE: dict[str, Any] = {"demo": SECTION, "paper": SECTION, "datasets": {}}


def load(tmp_path: Path, tree: object, *overrides: str, profile: str = "demo") -> Parameters:
    path = tmp_path / "params.yaml"
    path.write_text(tree if isinstance(tree, str) else yaml.safe_dump(tree))
    return load_parameters(path, profile, overrides)


def refusal(tmp_path: Path, tree: object, *overrides: str, profile: str = "demo") -> str:
    with pytest.raises(UserError) as mistake:
        load(tmp_path, tree, *overrides, profile=profile)
    text = str(mistake.value)
    assert len(text.splitlines()) == 1
    return text


def changed(key: str, value: object) -> dict[str, Any]:
    """TREE with one dotted key set."""
    tree = copy.deepcopy(TREE)
    *parents, leaf = key.split(".")
    section = tree
    for name in parents:
        section = section.setdefault(name, {})
    section[leaf] = value
    return tree
