"""Gromov-Wasserstein over pairs: the compiled solver against a plain loop over POT, one core each.

All pairs of graphs drawn from MUTAG, IMDB-BINARY and PROTEINS. Baselines: ``ot.gromov.gromov_wasserstein2`` with its
defaults, and with ``symmetric=True``; CAJAL's ``gw_cython_core`` where it is installed. The sides take turns, and the
least disturbed run of each counts. Packing, done once per graph and not once per pair, is set-up: ``packing_s``.

On embeddings without ties every value must equal POT's within 1e-6. Shortest paths and sign vectors have ties, there
the solver gets two starts and its mean objective must not be above POT's.

Run: ``python -m benchmarks.gromov [--json FILE]``. Needs the data sets (network, or GRAPH_DATA_MIRROR).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import ot
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.reporting import Measured, Work, compared, json_argument, measured, publish
from tasks.curator.gromov.blocks import pair_blocks, solve_block
from tasks.curator.gromov.packing import pack

try:
    from cajal.gw_cython import GW_cell, gw_cython_core  # type: ignore[import-not-found]
except ImportError:
    gw_cython_core = None

GRAPHS = {"mutag": 48, "imdb-binary": 48, "proteins": 40}
TARGETS = {"mutag": 35, "imdb-binary": 35, "proteins": 12}
TURNS = 2


def all_pairs(matrices: list[np.ndarray]) -> np.ndarray:
    """(P, 2) indices."""
    return next(pair_blocks(len(matrices), len(matrices) ** 2))


def pot_loop(matrices: list[np.ndarray], symmetric: bool | None) -> Work:
    """The baseline."""
    threadpool_limits(1)
    solve = ot.gromov.gromov_wasserstein2
    pairs = all_pairs(matrices)
    return lambda: np.array([solve(matrices[i], matrices[j], symmetric=symmetric) for i, j in pairs])


def cajal_loop(matrices: list[np.ndarray]) -> Work:
    """CAJAL's compiled solver, pair by pair; it returns half the root."""
    threadpool_limits(1)
    cells = [GW_cell(matrix, np.full(len(matrix), 1 / len(matrix))) for matrix in matrices]
    parts = [(cell.dmat, cell.distribution, cell.dmat_dot_dist, cell.cell_constant) for cell in cells]
    pairs = all_pairs(matrices)
    return lambda: np.array([4 * gw_cython_core(*parts[i], *parts[j])[1] ** 2 for i, j in pairs])


def compiled(matrices: list[np.ndarray], starts: int, threads: int) -> Work:
    """Ours."""
    pairs = all_pairs(matrices)
    packed = pack(matrices)
    solve_block(packed, pairs[:2], starts=starts, threads=threads)
    return lambda: solve_block(packed, pairs, starts=starts, threads=threads).values


def in_turns(sides: list[tuple[Any, tuple[Any, ...], int]]) -> list[Measured]:
    """Each side ``TURNS`` times in a process of its own, with its repeats; the fastest counts."""
    turns = [[measured(side, *arguments, repeats=repeats) for side, arguments, repeats in sides] for _ in range(TURNS)]
    return [min(results, key=lambda result: result.seconds) for results in zip(*turns, strict=True)]


def packing_seconds(matrices: list[np.ndarray]) -> float:
    """Time to pack the graphs, once compiled."""
    pack(matrices[:1])
    start = time.perf_counter()
    pack(matrices)
    return time.perf_counter() - start


def against_baselines(dataset: str, kind: str, matrices: list[np.ndarray]) -> list[dict[str, Any]]:
    """One case per baseline."""
    ties = kind in ("paths", "per_row")
    baselines: dict[str, tuple[Any, tuple[Any, ...], int]] = {"POT": (pot_loop, (matrices, None), 1)}
    if kind == "gcn":
        baselines["POT symmetric=True"] = (pot_loop, (matrices, True), 1)
        if gw_cython_core is not None:
            baselines["CAJAL"] = (cajal_loop, (matrices,), 3)
    *others, ours = in_turns([*baselines.values(), (compiled, (matrices, 2 if ties else 1, 1), 15)])
    cases = []
    for name, other in zip(baselines, others, strict=True):
        apart = np.abs(other.value - ours.value)
        case = compared(f"{dataset} {kind} against {name}", other, ours)
        case |= {
            "pairs": len(apart),
            "starts": 2 if ties else 1,
            "baseline_ms_a_pair": 1e3 * other.seconds / len(apart),
            "ours_ms_a_pair": 1e3 * ours.seconds / len(apart),
            "largest_difference": float(apart.max()),
            "pairs_apart": int((apart > 1e-6).sum()),
            "baseline_mean": float(other.value.mean()),
            "ours_mean": float(ours.value.mean()),
            "packing_s": packing_seconds(matrices),
            "target": target(dataset, kind, name),
        }
        cases.append(case)
    return cases


def target(dataset: str, kind: str, baseline: str) -> int | None:
    """The ratio to reach, where one is set."""
    if baseline == "CAJAL" or kind in ("paths", "per_row"):
        return None
    if kind in ("gaussian", "random"):
        return 10
    return 11 if (dataset, baseline) == ("proteins", "POT symmetric=True") else TARGETS[dataset]


def on_two_threads(dataset: str, kind: str, matrices: list[np.ndarray]) -> dict[str, Any]:
    """One thread against two."""
    one, two = in_turns([(compiled, (matrices, 1, 1), 15), (compiled, (matrices, 1, 2), 15)])
    assert (one.value == two.value).all()
    return compared(f"{dataset} {kind}, one thread against two", one, two, target=1.7)


def remark(case: dict[str, Any]) -> str:
    """Agreement, in words."""
    goal = "" if case["target"] is None else f"target {case['target']}, "
    return (
        f"{case['case']}: {goal}{case['baseline_ms_a_pair']:.3f} -> {case['ours_ms_a_pair']:.4f} ms a pair, "
        f"{case['pairs_apart']} of {case['pairs']} values over 1e-6 apart (at most {case['largest_difference']:.1e}), "
        f"mean objective {case['baseline_mean']:.6g} -> {case['ours_mean']:.6g}"
    )


def main() -> None:
    """Runs all cases."""
    # Kept out of the measured processes, which import this module: they need no torch.
    from benchmarks.gromov_structures import structures

    file, cases = json_argument(__doc__), []
    for dataset, count in GRAPHS.items():
        for kind in ("gcn", "gin", "gaussian", "random", "paths", "per_row"):
            found = against_baselines(dataset, kind, structures(dataset, kind, count))
            print(*map(remark, found), sep="\n", flush=True)
            cases += found
    cases.append(on_two_threads("proteins", "random", structures("proteins", "random", GRAPHS["proteins"])))
    publish(cases, file)


if __name__ == "__main__":
    main()
