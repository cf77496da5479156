"""The pins reach the libraries before they load, whatever the caller's environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from flows.cpu_kernels import PINS, pin_kernels, uncovered
from flows.startup import PACKAGE_ROOT
from tasks.code_version import KERNELS
from tasks.errors import UserError

CHOSEN = """
from flows.startup import settle
settle()
import json, llvmlite, numba, numpy, torch
from numba.core.codegen import JITCPUCodegen
from numpy._core._multiarray_umath import __cpu_features__ as features
from threadpoolctl import threadpool_info
codegen = JITCPUCodegen("probe")
print(json.dumps({
    "aten": torch.backends.cpu.get_cpu_capability(),
    "numpy": [name for name in ("AVX512F", "AVX512_SKX") if features[name]],
    "numba": codegen._get_host_cpu_name(),
    "blas": sorted({found["architecture"] for found in threadpool_info() if found["user_api"] == "blas"}),
    "threads": sorted({found["num_threads"] for found in threadpool_info()} | {torch.get_num_threads()}),
}))
"""


@pytest.mark.usefixtures("covered_machine")
def test_libraries_run_the_pinned_kernels_in_a_process_that_asked_for_others() -> None:
    others = {
        "ATEN_CPU_CAPABILITY": "default",
        "OPENBLAS_CORETYPE": "Nehalem",
        "OMP_NUM_THREADS": "3",
        "OPENBLAS_NUM_THREADS": "3",
        "NUMBA_CPU_NAME": "generic",
        "NPY_DISABLE_CPU_FEATURES": "",
    }
    done = subprocess.run(
        [sys.executable, "-c", CHOSEN], cwd=PACKAGE_ROOT, env=os.environ | others, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == {
        "aten": "AVX2",
        "numpy": [],
        "numba": "x86-64-v3",
        "blas": ["Haswell"],
        "threads": [1],
    }, done.stderr


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment without pins in place of the process's own."""
    own = {name: value for name, value in os.environ.items() if name not in PINS and name != KERNELS}
    monkeypatch.setattr(os, "environ", own)
    return own


def test_native_leaves_the_environment_alone(environment: dict[str, str]) -> None:
    environment |= {KERNELS: "native", "OMP_NUM_THREADS": "7"}
    before = dict(environment)
    pin_kernels()
    assert environment == before
    assert KERNELS in uncovered()


def test_another_word_is_refused(environment: dict[str, str]) -> None:
    environment[KERNELS] = "fast"
    with pytest.raises(UserError, match=KERNELS):
        pin_kernels()


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64"), ("Darwin", "x86_64")])
def test_other_systems_are_not_covered(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, system: str, machine: str
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    before = dict(environment)
    pin_kernels()
    assert machine in uncovered()
    assert environment == before


def test_a_processor_without_avx2_is_not_covered(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("flows.cpu_kernels._processor_flags", lambda: frozenset({"fma", "f16c"}))
    before = dict(environment)
    pin_kernels()
    assert "avx2" in uncovered()
    assert environment == before
