"""Every documented command is run by somebody, and the table that says by whom is no larger than it need be."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.documented import Command, Rule, commands, documents, rule_of, rules
from flows.system.environment import PACKAGE_ROOT

TABLE = rules()
COMMANDS = [command for path in documents() for command in commands(path)]


def test_every_command_has_a_rule() -> None:
    assert len(COMMANDS) >= 10
    assert [command for command in COMMANDS if rule_of(command.text, TABLE) is None] == []


@pytest.mark.parametrize("rule", TABLE, ids=lambda rule: rule.text)
def test_a_rule_says_one_thing_and_names_a_test_that_exists(rule: Rule) -> None:
    assert sum(map(bool, (rule.test, rule.why, rule.run, rule.stays, rule.last))) <= 1
    if rule.test:
        file, _, name = rule.test.partition("::")
        functions = ast.parse((PACKAGE_ROOT / file).read_text()).body
        assert name in {function.name for function in functions if isinstance(function, ast.FunctionDef)}


def test_what_is_a_command(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Do `make run`, then see `dvc.yaml` and `python -m\nflows.audit`; `make` alone is none.\n"
        "```\ngit fetch   # a comment\nmake run\ndvc repro \\\n  paper/dvc.yaml\n```\n"
        "```python\nmake = `dvc repro`\n```\nAt last `SEED=1 make run`.\n"
    )
    assert commands(page) == [
        Command("make run", "page.md"),
        Command("python -m flows.audit", "page.md"),
        Command("git fetch", "page.md, block 1"),
        Command("dvc repro paper/dvc.yaml", "page.md, block 1"),
        Command("SEED=1 make run", "page.md"),
    ]


def test_a_rule_fills_in_what_the_command_says() -> None:
    table = [Rule(text=r"make (\w+) x", run=r"make --dry-run \1"), Rule(text="make .*")]
    assert [rule.command(text) for text in ("make run x", "make run") if (rule := rule_of(text, table))] == [
        "make --dry-run run",
        "make run",
    ]
    assert rule_of("dvc repro", table) is None
