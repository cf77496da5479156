"""Which compiled kernels the numerical libraries run, settled before they load so that results keep their bytes.

numpy, OpenBLAS, MKL, oneDNN, ATen, libxsmm, Arrow and numba choose kernels by the processor they find, and split sums
by the number of its cores; either changes the last bits of a result. ``portable`` (the default) holds all of them to
one choice that every x86-64 processor with AVX2 can run, on one thread each: steps, not kernels, run side by side.
``CPU_KERNELS=native`` lets each library choose.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

KERNELS = "CPU_KERNELS"
REQUIRED = frozenset({"avx2", "fma", "f16c", "bmi1", "bmi2", "abm", "movbe"})
"""What Linux calls the features of x86-64-v3."""
PINS = {
    "ATEN_CPU_CAPABILITY": "avx2",
    # AVX2 is honoured on Intel's processors alone; this is the only branch that is the same on all vendors'.
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL "
    "AVX512_SPR",
    "NUMBA_CPU_NAME": "x86-64-v3",
    "NUMBA_CPU_FEATURES": "",
    "LIBXSMM_TARGET": "hsw",  # dgl's sparse products
    "ARROW_USER_SIMD_LEVEL": "AVX2",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


def pin_kernels() -> None:
    """Set the environment that the libraries read when they are first imported; ``import flows`` does.

    Other values of these variables are replaced, since results would depend on them. Nothing is set where the
    processor is not covered, or under another CPU_KERNELS than ``portable``.
    """
    if not uncovered():
        os.environ.update(PINS)


def uncovered() -> str:
    """Why results of this machine and setting may differ from others in their last bits; empty where they may not."""
    if (chosen := os.environ.get(KERNELS) or "portable") != "portable":
        return f"{KERNELS}={chosen} lets each library choose its own kernels"
    if (system := f"{platform.system()} {platform.machine()}") != "Linux x86_64":
        return f"this is {system}, and the portable kernels are those of Linux x86_64"
    if missing := REQUIRED - _processor_flags():
        return f"this processor lacks {', '.join(sorted(missing))}, which the portable kernels need"
    return ""


@cache
def _processor_flags() -> frozenset[str]:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())
