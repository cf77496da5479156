"""Every command of README.md, CONTRIBUTING.md and docs, and the rule of documented.toml that says who runs it.

A command is a line of a fenced block without a language (or ``sh``, ``bash``, ``console``), or inline code that begins
with one of ``PROGRAMS``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from flows.system.environment import PACKAGE_ROOT

PROGRAMS = "make", "python -m", "dvc", "git", "pip", "uv", "prefect", "mlflow", "srun", "source", "export"
TABLE = Path(__file__).with_suffix(".toml")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(rf"`((?:[A-Z_]+=\S+ )*(?:{'|'.join(PROGRAMS)})\s[^`]+)`")
_COMMENT = re.compile(r"\s+# .*$")


@dataclass(frozen=True)
class Command:
    """A command as it is printed, and where: commands of one fenced block share their exported variables."""

    text: str
    place: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Who runs the commands whose whole text ``text`` matches.

    ``test`` names the test that does it in `make test`; ``why`` says why nobody can. Everything else is run by `make
    docs-test`: as it is printed, or as ``run`` (with the groups of ``text``) where that takes hours or has a
    placeholder; ``stays`` marks a server, and ``last`` what ends one.
    """

    text: str
    test: str = ""
    why: str = ""
    run: str = ""
    stays: bool = False
    last: bool = False

    def command(self, text: str) -> str:
        """What is run for a command."""
        found = re.fullmatch(self.text, text)
        assert found
        return found.expand(self.run) if self.run else text


def documents(root: Path = PACKAGE_ROOT) -> list[Path]:
    """The documents, in the order in which they are read."""
    return [root / "README.md", *sorted(root.glob("docs/**/*.md")), root / "CONTRIBUTING.md"]


def commands(document: Path) -> list[Command]:
    """All commands of a document in their order, each text once."""
    content, name = document.read_text(), document.name
    found: dict[int, Command] = {}
    for number, fence in enumerate(_FENCE.finditer(content)):
        if fence[1] in ("", "sh", "bash", "console"):
            lines = fence[2].replace("\\\n", " ").splitlines()
            for row, line in enumerate(filter(None, (_COMMENT.sub("", line).strip() for line in lines))):
                found[fence.start() + row] = Command(" ".join(line.split()), f"{name}, block {number + 1}")
    prose = _FENCE.sub(lambda fence: " " * len(fence[0]), content)
    for code in _INLINE.finditer(prose):
        found[code.start()] = Command(" ".join(code[1].split()), name)
    once: dict[str, Command] = {}
    for _, command in sorted(found.items()):
        once.setdefault(command.text, command)
    return list(once.values())


def rules() -> list[Rule]:
    """The table; the first rule that matches is the one."""
    return [Rule(**entry) for entry in tomllib.loads(TABLE.read_text())["command"]]


def rule_of(text: str, table: list[Rule]) -> Rule | None:
    """The rule of a command, if there is one."""
    return next((rule for rule in table if re.fullmatch(rule.text, text)), None)
