"""Known vulnerabilities of the pinned packages, ``python -m flows.audit_deps PIP_AUDIT``: what `make audit-deps` calls.

Runs pip-audit over constraints.txt and makes one line of every outcome. Exit status: 0 for none known, 1 for any, 2
where the database was not reached or did not know the packages, which is no all-clear.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flows.system.environment import PACKAGE_ROOT
from flows.system.exit_status import exit_status
from tasks.errors import UserError

PINS = PACKAGE_ROOT / "constraints.txt"
SECONDS = 600
SHOWN = 5
SHOWN_REASON = 80


def audited(program: str, pins: Path) -> list[dict[str, Any]]:
    """What pip-audit says of every pin: name, version and ``vulns``, or a ``skip_reason``.

    Raises:
        UserError: when it cannot be run or gives no answer, which is so without a network.
    """
    command = [program, "--requirement", str(pins), "--no-deps", "--disable-pip", "--format", "json"]
    try:
        done = subprocess.run(
            [*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except OSError as error:
        raise UserError(f"{program}: cannot be run ({error.strerror}); make audit-deps installs it") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"the vulnerability database gave no answer in {SECONDS} s; try again later") from None
    try:
        answers = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = (done.stderr.strip().splitlines() or ["no answer"])[-1][:SHOWN_REASON]
        raise UserError(
            f"the vulnerability database was not reached ({reason}); run make audit-deps again with a network"
        ) from None
    if answers and all("skip_reason" in answer for answer in answers):
        raise UserError(
            f"the package index reached from here tells nothing about any of the {len(answers)} packages; run make"
            " audit-deps again where the public index is reached"
        )
    return list(answers)


def findings(answers: Sequence[dict[str, Any]]) -> list[str]:
    """One line for each known vulnerability."""
    return [
        f"{answer['name']} {answer['version']}: {flaw['id']}; "
        + (f"fixed in {', '.join(flaw['fix_versions'])}" if flaw.get("fix_versions") else "no fixed version yet")
        for answer in answers
        for flaw in answer.get("vulns", [])
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.audit_deps", description="known vulnerabilities of the pinned packages"
    )
    parser.add_argument("program", nargs="?", default="pip-audit", help="pip-audit, which make audit-deps installs")
    program = parser.parse_args(arguments).program
    return exit_status(lambda: told(audited(program, PINS)))


def told(answers: list[dict[str, Any]]) -> int:
    """Prints what an audit found; the exit status: 1 for a known vulnerability, 2 for packages without an answer."""
    found = findings(answers)
    skipped = sorted(answer["name"] for answer in answers if "skip_reason" in answer)
    for line in found:
        print(line)
    print(f"{len(answers) - len(skipped)} pinned packages audited, {len(found)} known vulnerabilities")
    if skipped:
        names = ", ".join(skipped[:SHOWN]) + (", ..." if len(skipped) > SHOWN else "")
        print(f"error: {len(skipped)} packages could not be audited: {names}", file=sys.stderr)
    return 1 if found else 2 * bool(skipped)


if __name__ == "__main__":
    sys.exit(main())
