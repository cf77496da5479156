"""The hashed pins are those of constraints.txt, and every declared dependency has one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
# Its builds for CPU, CUDA and macOS have different hashes under one version.
WITHOUT_HASH = {"torch"}


def pins(file: str) -> dict[str, str]:
    """Names and versions of a file of pins."""
    lines = re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\\n]+)", (ROOT / file).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


def test_hashed_pins_are_the_pins() -> None:
    constraints = pins("constraints.txt")
    assert pins("requirements.lock") == {name: pin for name, pin in constraints.items() if name not in WITHOUT_HASH}


def test_every_hashed_pin_has_hashes() -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins("requirements.lock"))
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)


def test_every_declared_dependency_is_pinned_within_its_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    constraints = pins("constraints.txt")
    for text in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        declared = Requirement(text)
        assert declared.specifier.contains(constraints[canonicalize_name(declared.name)], prereleases=True), text
