"""Audit of neighbour-group counts: tables with cells from 0 to some hundreds, of which one or two change.

A table is summarised by the side on which the cells that change lie, next to how large they are, whose they are and
which they are; by how many of the other cells are exact; and by noise in cells beside it that agrees with theirs.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.neighbour_counts import release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.evaluation.audits.case import AuditCase, Copies, around, gathered, joined
from tasks.evaluation.audits.fedwalk.count_inputs import VERTICES, CountInputs, count_inputs
from tasks.evaluation.audits.fedwalk.degree import noise_zero
from tasks.reports.fedwalk.neighbour_counts import BUCKETS, NeighbourCountReport

BINS, MORE_BINS = 2, 4
DRAWS, MORE_DRAWS = 150_000, 200_000
NOISE = 12
"""Noise up to this far from 0 is told apart."""
SIZES = np.array([1, 2, 6, 30, 100, 200])
"""Where the classes of exact counts begin, after 0."""


def count_cases() -> list[AuditCase]:
    """Both sensitivities, and tables of more cells: at a large budget, chance makes small ones exact."""
    cases = [_case(epsilon, sensitivity, BINS) for sensitivity in (1, 2) for epsilon in ("0.5", "1", "2")]
    return [*cases, _case("2", 1, MORE_BINS, MORE_DRAWS)]


def reported_counts(
    lists: NeighbourLists,
    published: NDArray[np.int64],
    bins: NDArray[np.int32],
    epsilon: str,
    sensitivity: int,
    rng: np.random.Generator,
) -> NeighbourCountReport:
    """One report of the real mechanism."""
    return release_neighbour_counts(
        lists, published, bins, epsilon, rng, dataset="audit", simulated=True, sensitivity=sensitivity
    )


def table_copies(epsilon: float, sensitivity: int, cells: int) -> Copies:
    """Chances of an exact table."""
    exact = noise_zero(epsilon / sensitivity) ** cells
    return Copies(exact, exact * math.exp(-epsilon))


def _case(epsilon: str, sensitivity: int, width: int, draws: int = DRAWS) -> AuditCase:
    both = count_inputs(width, sensitivity == 2)
    rng = np.random.default_rng(0)
    line = reported_counts(both.lists[0], both.published, both.bins, epsilon, sensitivity, rng).ledger
    return AuditCase(
        line.mechanism,
        f"eps_counts {epsilon}, sensitivity {sensitivity}, {BUCKETS * width} cells",
        line.unit,
        float(line.epsilon),
        partial(_outputs, epsilon, sensitivity, width),
        draws,
        copies=table_copies(float(epsilon), sensitivity, both.cells),
    )


def drawn_tables(
    both: CountInputs, epsilon: str, sensitivity: int, changed: bool, rng: np.random.Generator
) -> NDArray[np.int64]:
    """int64 (V, cells): one report."""
    lists = both.lists[int(changed)]
    return (
        reported_counts(lists, both.published, both.bins, epsilon, sensitivity, rng)
        .counts.reshape(VERTICES, -1)
        .astype(np.int64)
    )


def sides(both: CountInputs, tables: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(V/2,) each: how far the cells that gain and that lose lie from the first input's."""
    subjects = np.arange(0, VERTICES, 2)
    gain, lose = (tables[subjects, c] - both.exact[0, subjects, c] for c in (both.gains, both.loses))
    return gain, lose


def exact_elsewhere(both: CountInputs, tables: NDArray[np.int64], changed: bool) -> NDArray[np.int64]:
    """(V/2,): how many cells, of those that do not change, are exact."""
    right = (tables == both.exact[int(changed)])[::2]
    rows = np.arange(len(right))
    right[rows, both.gains] = right[rows, both.loses] = False
    return right.sum(axis=1)


def _outputs(
    epsilon: str, sensitivity: int, width: int, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    both = count_inputs(width, sensitivity == 2)
    number, rows = np.arange(VERTICES // 2), np.arange(0, VERTICES, 2)
    size = np.searchsorted(SIZES, both.exact[0, rows, both.gains], side="right"), len(SIZES) + 1
    cells = both.cells

    def views() -> NDArray[np.int64]:
        tables = drawn_tables(both, epsilon, sensitivity, changed, rng)
        gain, lose = sides(both, tables)
        moved = tables - both.exact[0]
        side, signs = (joined((gain + 1, 4), (lose + 2, 4)), 16), (joined((gain >= 1, 2), (lose >= 0, 2)), 4)
        # Cells of the same table, and of the next device, whose list stays as it is.
        beside = [moved[rows, (both.gains + step) % cells] for step in (1, width)]
        next_one = moved[rows + 1, both.gains]
        elsewhere = moved[rows].sum(axis=1) - gain - lose
        found = [
            joined(signs),
            joined(size, around(gain, NOISE)),
            joined(size, around(lose, NOISE)),
            joined((number, len(number)), signs),
            joined((both.gains, cells), signs),
            joined((exact_elsewhere(both, tables, changed), cells), side),
            joined(around(next_one, 4), around(gain, 4)),
            joined(*((cell == gain - step, 2) for cell in (next_one, *beside) for step in (0, 1)), side),
            joined((elsewhere % 2, 2), side),
        ]
        return np.array(found)

    return gathered(views, draws)
