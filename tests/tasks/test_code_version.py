from __future__ import annotations

import ast
import gc
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tasks import code_version as subject
from tasks.code_version import ROOT

METHOD = '''"""A method."""
import numpy
from tasks.numbers import two

def double(x):
    """Twice x."""
    # by multiplication
    return two * x
'''
NUMBERS = '''"""Numbers."""
from tasks.deep.digits import DIGITS
two = DIGITS[2]
'''

Version = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tasks/deep").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "method": METHOD,
        "numbers": NUMBERS,
        "deep/__init__": "",
        "deep/digits": "DIGITS = list(range(10))\n",
        "unrelated": "x = 1\n",
    }.items():
        (tmp_path / f"tasks/{name}.py").write_text(text)
    return tmp_path


@pytest.fixture
def version(project: Path, monkeypatch: pytest.MonkeyPatch) -> Version:
    monkeypatch.setattr(subject, "ROOT", project)

    def forget() -> None:
        subject.code_version.cache_clear()
        subject._read.cache_clear()

    def fresh(*modules: str) -> str:
        forget()
        return subject.code_version(*(modules or ("tasks.method",)))

    monkeypatch.setattr(subject, "_releases", lambda packages: [(name, "1.0") for name in packages])
    yield fresh
    forget()


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A method."""\n', ""),
        ("Twice x.", "The double of x."),
        ("    # by multiplication\n", ""),
        ("two * x", "(two  *  x)  # the result"),
        ("\n\ndef", "\n\n\n\ndef"),
    ],
)
def test_comments_docstrings_and_layout_do_not_matter(project: Path, version: Version, old: str, new: str) -> None:
    before = version()
    edit(project / "tasks/method.py", old, new)
    assert version() == before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("method", "two * x", "x * two"),
        ("method", "def double(x)", "def double(x: int)"),
        ("method", "import numpy", "import scipy"),
        ("numbers", "DIGITS[2]", "DIGITS[3]"),
        ("deep/digits", "range(10)", "range(11)"),
    ],
)
def test_code_matters_here_and_in_all_that_is_imported(
    project: Path, version: Version, module: str, old: str, new: str
) -> None:
    before = version()
    edit(project / f"tasks/{module}.py", old, new)
    assert version() != before


def test_unrelated_modules_do_not_matter(project: Path, version: Version) -> None:
    before = version()
    edit(project / "tasks/unrelated.py", "x = 1", "x = 2")
    (project / "tasks/new.py").write_text("y = 1\n")
    assert version() == before
    assert version("tasks.method", "tasks.unrelated") != before


@pytest.mark.parametrize(
    "line",
    ["from tasks import numbers", "import tasks.numbers", "import tasks.numbers as n", "from tasks.numbers import *"],
)
def test_every_form_of_import_is_followed(project: Path, version: Version, line: str) -> None:
    edit(project / "tasks/method.py", "from tasks.numbers import two", line)
    before = version()
    edit(project / "tasks/deep/digits.py", "10", "11")
    assert version() != before


def test_modules_that_import_each_other_end(project: Path, version: Version) -> None:
    edit(project / "tasks/deep/digits.py", "DIGITS", "import tasks.method\nDIGITS")
    assert version() == version()


def test_the_release_of_an_imported_package_matters_and_of_no_other(
    version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    def releases(**changed: str) -> str:
        monkeypatch.setattr(subject, "_releases", lambda names: [(name, changed.get(name, "1")) for name in names])
        return version()

    assert releases(numpy="2") != releases()
    assert releases(torch="2") == releases()


def test_releases_are_those_installed_without_the_builds_suffix() -> None:
    found = dict(subject._releases({"numpy", "sklearn", "json", "no_such_package"}))
    assert set(found) == {"numpy", "scikit-learn", "no_such_package"}
    assert found["no_such_package"] == "absent"
    assert all(re.fullmatch(r"[\w.]+", release) for release in found.values())


def test_the_real_modules_have_versions_of_their_own() -> None:
    modules = ["tasks.client.randomized_response", "tasks.client.multibit", "tasks.curator.training"]
    versions = {subject.code_version(module) for module in modules}
    assert len(versions) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", version) for version in versions)


def test_packages_hold_no_code_of_their_own_which_a_version_would_not_see() -> None:
    assert not [path for path in (ROOT / "tasks").rglob("__init__.py") if path.read_text()]


def test_no_import_is_relative_which_a_version_would_not_follow() -> None:
    relative = re.compile(r"^\s*from\s+\.", re.MULTILINE)
    assert not [path for path in (ROOT / "tasks").rglob("*.py") if relative.search(path.read_text())]


def test_threads_may_ask_at_once() -> None:
    """CPython 3.11.7 and before count all threads' depth in one place, and parsing loses its count when they switch."""
    modules = [path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for path in ROOT.glob("tasks/*.py")]
    thresholds = gc.get_threshold()
    gc.set_threshold(10)
    subject._read.cache_clear()
    try:
        with ThreadPoolExecutor(4) as pool:
            asked = [module for module in modules * 4 if not module.endswith("__init__")]
            found = list(pool.map(subject.code_version.__wrapped__, asked))
    finally:
        gc.set_threshold(*thresholds)
    assert found[: len(found) // 4] * 4 == found


def test_a_parse_that_another_librarys_thread_disturbed_is_made_again(
    version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed, parse, failures = version(), ast.parse, iter([True, True])

    def disturbed(source: bytes, *arguments: str) -> ast.AST:
        if next(failures, False):
            raise SystemError("AST constructor recursion depth mismatch")
        return parse(source, *arguments)

    monkeypatch.setattr(subject.ast, "parse", disturbed)
    assert version() == undisturbed
    assert next(failures, None) is None
