"""Commands and code of the documents are true: modules and targets exist, settings are accepted, the example runs."""

import ast
import itertools
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from benchmarks.documented import commands, documents
from tasks.datasets.catalogue.public import public_dataset
from tasks.parameters.loading import load_parameters

ROOT = Path(__file__).resolve().parent.parent
TEXT = "\n".join(path.read_text() for path in documents())
EVERY = sorted({command.text for path in documents() for command in commands(path)})
FOLDERS = "flows/", "tasks/", "tests/", "benchmarks/", "docs/", "data/", "paper/", ".github/"
ENDINGS = ".py", ".md", ".csv", ".tsv", ".json", ".png", ".toml", ".yaml", ".lock"
MADE_BY_RUNS = "data/results/", "data/own/"
SEARCHED = "flows", "tasks", "benchmarks", "data/measured"
FILES = {path.relative_to(ROOT).as_posix() for folder in SEARCHED for path in (ROOT / folder).rglob("*")}
COMMANDS = [text for text in EVERY if re.match(r"python -m (flows|benchmarks)\.", text)]


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
        declared = re.findall(r"^  (\w+):$", TEXT, re.MULTILINE)  # the example of a graph of one's own
        assert options["--dataset"] in declared or public_dataset(options["--dataset"])


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for text in EVERY for target in re.findall(r"\bmake ([a-z-]+)\b", text)}
    assert named
    assert named <= targets


def test_every_picture_exists() -> None:
    pictures = [
        path.parent / name for path in documents() for name in re.findall(r"!\[[^]]+\]\(([^)]+)\)", path.read_text())
    ]
    assert pictures
    assert [path for path in pictures if not path.is_file()] == []


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_links_and_named_files_exist(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    links = [link for link in re.findall(r"(?<!!)\[[^]]+\]\(([^)\s]+)\)", text) if not link.startswith("http")]
    for link in links:
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {re.sub(r"[^\w -]", "", name).lower().replace(" ", "-") for name in headings}
    named = set(re.findall(r"`((?:[\w.-]+/)*[\w.-]+/|(?:[\w.-]+/)+[\w.-]*\w|[\w-]+\.\w+)`", text))
    files = {name for name in named if name.startswith(FOLDERS) or name.endswith(ENDINGS)}
    assert [name for name in sorted(files) if not name.startswith(MADE_BY_RUNS) and not _is_in_the_tree(name)] == []
    modules = re.findall(r"`((?:flows|tasks|benchmarks)(?:\.\w+)+)`", text)
    assert [name for name in modules if not name.endswith(ENDINGS) and not _is_defined(name)] == []


def _is_in_the_tree(name: str) -> bool:
    """Whether a file or folder has this path, or, where the text has named its folder, one that ends with it."""
    if name.startswith(FOLDERS) or (ROOT / name).exists():
        return (ROOT / name).exists()
    return any(path.endswith(f"/{name}") for path in FILES)


def _is_defined(name: str) -> bool:
    """Whether a dotted name is a package, a module, or a function, class or method of one."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        module = ROOT.joinpath(*parts[:length])
        if module.with_suffix(".py").is_file():
            code = module.with_suffix(".py").read_text()
            return all(re.search(rf"^\s*(?:def|class) {part}\b", code, re.MULTILINE) for part in parts[length:])
        if length == len(parts) and module.is_dir():
            return True
    return False


def test_the_notebook_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(ast.parse(example), "example", "exec"), {})
    rows = [re.findall(r"\d+\.\d*", line) for line in capsys.readouterr().out.splitlines()]
    distances = np.array(rows, dtype=float)
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_array_equal(distances > 0, ~np.eye(2, dtype=bool))


def test_the_demos_table_is_the_committed_run() -> None:
    metrics = json.loads((ROOT / "data/results/demo/node_classification/digits/metrics.json").read_text())
    printed = re.findall(
        r"^\| digits \| (\S+) \| (\S+) \| (\S+) \| (\S+) \| (0\.\d+) ±", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    assert len(printed) == len(metrics)
    for method, backbone, eps_a, eps_x, accuracy in printed:
        settings = {f"backbone={backbone}", f"eps_a={eps_a}", f"eps_x={eps_x}"}
        (found,) = [row["accuracy"] for name, row in metrics.items() if {method, *settings} <= set(name.split())]
        assert float(accuracy) == pytest.approx(found, abs=0.0006)
