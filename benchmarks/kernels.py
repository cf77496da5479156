"""What forced kernels change, with the pins off and on: ``python -m benchmarks.kernels [--demo] [--emulator COMMAND]``.

Each setting stands for another machine. Without options, every library computes one small thing under it
(``kernel_probe``). ``--demo`` computes the demo's studies instead, one repeat, in a store of their own. An emulator,
such as ``qemu-x86_64 -cpu EPYC``, runs the pinned computation on a processor of another make. Status 1 if the pins let
anything through.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from flows.system.cpu_kernels import KERNELS, PINS
from flows.system.environment import PACKAGE_ROOT
from tasks.point_folder import META, content_digest

FORCED: dict[str, dict[str, str]] = {
    "no vectors in ATen": {"ATEN_CPU_CAPABILITY": "default"},
    "OpenBLAS for Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "OpenBLAS for SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "numpy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": PINS["NPY_DISABLE_CPU_FEATURES"]},
    "MKL's compatible branch": {"MKL_CBWR": "COMPATIBLE"},
    "numba for any x86-64": {"NUMBA_CPU_NAME": "generic"},
    "one thread": {name: "1" for name in PINS if name.endswith("_NUM_THREADS")},
}
STUDIES = ("node_classification", "node_embedding", "graph_classification")

Digests = dict[str, str]


def computed(forced: dict[str, str], mode: str, studies: Iterable[str], emulator: list[str]) -> Digests:
    """Digests by operation, or by point where there are ``studies``, under a setting and ``CPU_KERNELS=mode``."""
    inherited = {name: value for name, value in os.environ.items() if name not in PINS}
    with TemporaryDirectory() as store:
        # Compiled code is cached by processor as well, so that an emulated one finds nothing of this machine's.
        own = {KERNELS: mode, "POINT_STORE": store, "NUMBA_CACHE_DIR": f"{store}/numba"}
        environment = inherited | forced | own

        def run(*words: str) -> str:
            command = [*emulator, sys.executable, "-m", *words]
            done = subprocess.run(
                command, cwd=PACKAGE_ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
            return done.stdout

        if not studies:
            return dict(json.loads(run("benchmarks.kernel_probe")))
        for study in studies:
            run(f"flows.{study}", "--plain", "--set", "repeats=1")
        metas = [json.loads(path.read_text()) for path in Path(store).glob(f"points/*/{META}")]
        found: dict[str, list[str]] = {}
        for meta in metas:
            found.setdefault(meta["label"], []).append(content_digest(meta["files"]))
        return {label: " ".join(sorted(digests)) for label, digests in found.items()}


def main() -> int:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--demo", nargs="*", choices=STUDIES, help="compute these studies of the demo (default: all)")
    parser.add_argument("--settings", nargs="*", choices=list(FORCED), default=list(FORCED), help="forced settings")
    parser.add_argument("--emulator", type=shlex.split, help="command that runs the pinned computation")
    chosen = parser.parse_args()
    studies = () if chosen.demo is None else chosen.demo or STUDIES
    free, pinned = (computed({}, mode, studies, []) for mode in ("native", "portable"))
    let_through = 0

    def tell(name: str, mode: str, reference: Digests, forced: dict[str, str], emulator: list[str]) -> int:
        started = time.perf_counter()
        found = computed(forced, mode, studies, emulator)
        changed = sorted(label for label in reference if found.get(label) != reference[label])
        seconds = time.perf_counter() - started
        shown = ", ".join(changed[:4]) + (", ..." if len(changed) > 4 else "")
        print(
            f"{name}, {mode}: {len(changed)} of {len(reference)} change ({seconds:.0f} s){': ' if shown else ''}{shown}"
        )
        sys.stdout.flush()
        return len(changed)

    for name in chosen.settings if not chosen.emulator else ():
        tell(name, "native", free, FORCED[name], [])
        let_through += tell(name, "portable", pinned, FORCED[name], [])
    if chosen.emulator:
        let_through += tell(shlex.join(chosen.emulator), "portable", pinned, {}, chosen.emulator)
    return 1 if let_through else 0


if __name__ == "__main__":
    raise SystemExit(main())
