from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.datasets.unpickle import StoredCsr, read_pickle
from tasks.errors import UserError


class Calls:
    """Pickles as a call of any function with any arguments."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.call


def written(folder: Path, content: bytes) -> Path:
    path = folder / "ind.evil.graph"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("attack", "called"),
    [
        (lambda marker: Calls(os.system, f"touch {marker}"), "system"),
        (lambda marker: Calls(subprocess.check_output, ["touch", str(marker)]), "check_output"),
        (lambda marker: Calls(eval, f"open({str(marker)!r}, 'w')"), "eval"),
        (lambda marker: Calls(getattr, [], "append"), "getattr"),
        (lambda marker: Calls(open, str(marker), "w"), "open"),
        (lambda marker: {0: [Calls(np.fromfile, str(marker))]}, "fromfile"),
    ],
    ids=["system", "subprocess", "eval", "getattr", "open", "numpy function, nested"],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_hostile_pickles_are_refused_and_not_run(tmp_path: Path, attack: Any, called: str, protocol: int) -> None:
    marker = tmp_path / "ran"
    path = written(tmp_path, pickle.dumps(attack(marker), protocol=protocol))
    with pytest.raises(UserError, match=rf"\.{called}\b"):
        read_pickle(path)
    assert not marker.exists()


@pytest.mark.parametrize(
    "name", ["__builtin__\neval", "builtins\ngetattr", "numpy\nload", "numpy.core.multiarray\narray"]
)
def test_only_the_listed_names_resolve(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=name.replace("\n", r"\.")):
        read_pickle(written(tmp_path, f"c{name}\n.".encode()))


@pytest.mark.parametrize("content", [b"", b".", b"no pickle", b"\x80\x02]q", b"c__builtin__\nlist\n)R)R."])
def test_damaged_pickles_are_one_clear_line(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UserError, match=r"ind\.evil\.graph"):
        read_pickle(written(tmp_path, content))


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="FileNotFoundError"):
        read_pickle(tmp_path / "missing")


def test_neighbour_lists_come_back(tmp_path: Path) -> None:
    """A pickle as Python 2 wrote it: defaultdict(list) filled item by item."""
    content = b"ccollections\ndefaultdict\n(c__builtin__\nlist\ntRI0\n(lI1\naI2\nasI1\n(lI0\nas."
    assert read_pickle(written(tmp_path, content)) == {0: [1, 2], 1: [0]}


def test_sparse_indices_are_checked(tmp_path: Path) -> None:
    """Column 9 in a table of 2 columns would be read out of bounds by compiled code."""
    stored = StoredCsr()
    stored.data, stored.indices, stored.indptr = np.ones(1), np.array([9]), np.array([0, 1])
    stored._shape = (1, 2)
    with pytest.raises(ValueError, match="indices"):
        stored.array()
