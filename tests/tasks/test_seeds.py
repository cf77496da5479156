from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.seeds import derive_seed, generator

ROOT = Path(__file__).resolve().parents[2]
PURPOSE: dict[str, Any] = {"study": "s", "dataset": "cora", "point": "eps_a=7", "repeat": 0, "role": "client/edges"}
purposes = st.fixed_dictionaries(
    {
        "study": st.text(max_size=5),
        "dataset": st.text(max_size=5),
        "point": st.text(max_size=5),
        "repeat": st.integers(0, 5),
        "role": st.text(max_size=5),
    }
)


@given(st.integers(0, 2**63 - 1), purposes, st.integers(0, 2**63 - 1), purposes)
def test_equal_purposes_and_no_others_share_a_seed(root: int, first: dict, other: int, second: dict) -> None:
    seeds = derive_seed(root, **first), derive_seed(other, **second)
    assert all(seed is not None and 0 <= seed < 2**63 for seed in seeds)
    assert (seeds[0] == seeds[1]) == ((root, first) == (other, second))


def test_parts_do_not_run_into_each_other() -> None:
    joined = {**PURPOSE, "study": "ab", "dataset": "c"}
    split = {**PURPOSE, "study": "a", "dataset": "bc"}
    assert derive_seed(0, **joined) != derive_seed(0, **split)


@pytest.mark.parametrize("change", [{"role": "curator/training"}, {"repeat": 1}, {"point": "eps_a=8"}])
def test_every_part_of_the_purpose_matters(change: dict[str, Any]) -> None:
    assert derive_seed(0, **PURPOSE) != derive_seed(0, **{**PURPOSE, **change})


def test_without_a_root_there_is_no_seed() -> None:
    assert derive_seed(None, **PURPOSE) is None


def test_seed_zero_is_a_seed_like_any_other() -> None:
    assert generator(0).bytes(16) == generator(0).bytes(16)
    assert generator(0).bytes(16) != generator(1).bytes(16)
    assert derive_seed(0, **PURPOSE) != derive_seed(1, **PURPOSE)


def test_no_seed_means_fresh_entropy() -> None:
    assert generator(None).bytes(16) != generator(None).bytes(16)


def test_another_process_derives_the_same_and_the_global_state_is_left_alone() -> None:
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002 - the state that must not be touched
    ours = derive_seed(7, **PURPOSE)
    drawn = generator(ours).bytes(8).hex()
    program = f"from tasks.seeds import *; s = derive_seed(7, **{PURPOSE!r}); print(s, generator(s).bytes(8).hex())"
    command = [sys.executable, "-c", program]
    theirs = subprocess.run(command, cwd=ROOT, env={"PYTHONHASHSEED": "5"}, capture_output=True, text=True, check=True)
    assert theirs.stdout.split() == [str(ours), drawn]
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002
