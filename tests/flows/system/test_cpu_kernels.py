"""The pins reach the libraries before they load, whatever the caller's environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from flows.system.cpu_kernels import KERNELS, PINS, pin_kernels, uncovered
from flows.system.environment import PACKAGE_ROOT

CHOSEN = """
from flows.system.environment import configure_environment
configure_environment()
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


@pytest.mark.usefixtures("covered_machine")
@pytest.mark.parametrize("command", ["graph_classification", "report", "sweep", "audit", "attacks", "measured"])
def test_commands_pin_before_any_numerical_library_loads(command: str) -> None:
    script = (
        "import os, runpy, sys\n"
        "late = []\n"
        "class Watch:\n"
        "    def find_spec(self, name, *_):\n"
        "        late_pins = os.environ.get('OPENBLAS_CORETYPE') != 'Haswell'\n"
        "        if late_pins and name in ('numpy', 'scipy', 'torch', 'numba'):\n"
        "            late.append(name)\n"
        "sys.meta_path.insert(0, Watch())\n"
        f"sys.argv = ['{command}', '--profile', 'nope']\n"
        "try:\n"
        f"    runpy.run_module('flows.{command}', run_name='__main__')\n"
        "finally:\n"
        "    print(late)\n"
    )
    environment = os.environ | {"OPENBLAS_CORETYPE": "Nehalem"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


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
    monkeypatch.setattr("flows.system.cpu_kernels._processor_flags", lambda: frozenset({"fma", "f16c"}))
    before = dict(environment)
    pin_kernels()
    assert "avx2" in uncovered()
    assert environment == before
