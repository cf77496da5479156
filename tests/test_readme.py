"""The README's commands and code are true: modules and targets exist, settings are accepted, the example runs."""

import ast
import itertools
import re
import shlex
from pathlib import Path

import pytest

from tasks.datasets.registry import public_dataset
from tasks.parameters.loading import load_parameters

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = sorted(set(re.findall(r"python -m (?!dask )[^`\n]+", README)))  # Dask is not ours


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_a_module_and_settings_that_exist(command: str) -> None:
    words = shlex.split(command)
    module = words[2]
    assert ROOT.joinpath(*module.split(".")).with_suffix(".py").is_file()
    options = dict(itertools.pairwise(words))
    overrides = [words[index + 1] for index, word in enumerate(words) if word == "--set"]
    load_parameters(ROOT / "params.yaml", options.get("--profile", "demo"), overrides)
    if "--dataset" in options:
        declared = re.findall(r"^  (\w+):$", README, re.MULTILINE)  # the example of a graph of one's own
        assert options["--dataset"] in declared or public_dataset(options["--dataset"])


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)\b", README)) - {"it"}
    assert named
    assert named <= targets


def test_every_picture_exists() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert pictures
    assert [path for path in pictures if not (ROOT / path).is_file()] == []


def test_the_notebook_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(ast.parse(example), "README.md", "exec"), {})
    assert "0." in capsys.readouterr().out
