"""``.ci/install`` with a uv that writes down what it is told: which interpreter, which settings, which mistakes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = "sh", "sed", "grep", "tr", "rm", "uname"
# The interpreter's path may hold a blank, which no #! line can.
UV = f"""#!/bin/sh
exec "{sys.executable}" - "$@" <<'END'
import json, os, sys
if "--help" in sys.argv:
    print("--torch-backend")
elif sys.argv[1] == "venv":
    sys.exit(os.environ["FETCHED"])
else:
    words = {{name: value for name, value in os.environ.items() if name.startswith("UV_")}}
    print(json.dumps([sys.argv[3:], words]), file=open(os.environ["LOG"], "a"))
    sys.exit("--torch-backend" in sys.argv)  # PyTorch's index is out of reach
END
"""


class Place:
    """A project folder with a blank in its name and a PATH with nothing but what is put there."""

    def __init__(self, folder: Path) -> None:
        self.project, self.tools, self.log = folder / "a project", folder / "tools", folder / "log"
        (self.project / ".ci").mkdir(parents=True)
        self.tools.mkdir()
        shutil.copy(ROOT / ".ci/install", self.project / ".ci/install")
        (self.project / "requirements.lock").write_text("uv==1 \\\n    --hash=sha256:0\nz==1\n")
        for name in TOOLS:
            (self.tools / name).symlink_to(shutil.which(name) or name)

    def add(self, name: str, text: str) -> None:
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def install(self, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.tools),
            "LOG": str(self.log),
            "FETCHED": "nothing",
            "PIP_CONFIG_FILE": os.devnull,
        }
        return subprocess.run(
            ["sh", ".ci/install"],
            cwd=self.project,
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def told(self) -> list[tuple[list[str], dict[str, str]]]:
        """Arguments and settings of every installation since the last call."""
        lines = self.log.read_text().splitlines()
        self.log.unlink()
        return [json.loads(line) for line in lines]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("named", "uv", "says"),
    [
        ("", False, "uv"),
        ("", True, "make PYTHON="),
        ("/no/such/python", True, "/no/such/python"),
        ("python3.12", True, "python3.12"),
    ],
)
def test_without_an_interpreter_it_is_one_line_and_nothing_is_made(
    place: Place, named: str, uv: bool, says: str
) -> None:
    place.add("python3.12", "#!/bin/sh\nexit 1\n")
    if uv:
        place.add("uv", UV)
    done = place.install(PYTHON=named)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert says in line
    assert not (place.project / ".venv").exists()


def test_uv_gets_the_users_settings_and_torch_for_the_cpu_where_there_are_none(place: Place) -> None:
    place.add("uv", UV)
    settings = {"PIP_INDEX_URL": "https://a/simple", "PIP_FIND_LINKS": "/wheels /more", "UV_DEFAULT_INDEX": "https://b"}
    done = place.install(PYTHON=sys.executable, **settings)
    assert done.returncode == 0, done.stderr
    (hashed, variables), (editable, _) = place.told()
    assert "--require-hashes" in hashed
    assert "--reinstall" not in hashed
    assert variables["UV_DEFAULT_INDEX"] == "https://b"
    assert variables["UV_FIND_LINKS"] == "/wheels,/more"
    assert "--editable" in editable

    # No stamp: what is there may be half of a package.
    done = place.install(PIP_INDEX_URL="https://a/simple")
    (hashed, variables), *torch, (editable, _) = place.told()
    assert done.returncode == 0, done.stderr
    assert "--reinstall" in hashed
    assert variables["UV_DEFAULT_INDEX"] == "https://a/simple"
    assert [arguments[-1] for arguments, _ in torch] == ["torch"] * (sys.platform == "linux")
    assert ("PyTorch" in done.stderr) == (sys.platform == "linux")

    (place.project / ".venv/.installed").touch()
    place.install(UV_TORCH_BACKEND="cu128")
    (hashed, _), (_, variables) = place.told()
    assert "--reinstall" not in hashed
    assert variables["UV_TORCH_BACKEND"] == "cu128"
