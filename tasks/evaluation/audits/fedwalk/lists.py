"""Audit of lists that are encoded and released once, with true and with published lengths, alone and with the degree.

Every second device holds a list of some kind whose first, last or another entry differs. Its report is summarised by
the entries' likelihood ratios, by whether it holds the whole list, and by its length; next to it is a device whose one
entry stays as it is, and that tells how far that one was moved.
"""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.evaluation.audits.case import AuditCase, Copies, around, gathered, joined
from tasks.evaluation.audits.features.inputs import on_grid
from tasks.evaluation.audits.fedwalk.degree import noise_zero, reported_degrees
from tasks.evaluation.audits.fedwalk.laws import balanced_tree, levels_from, log_law
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.ledgers.composition import compose

DEPTH = 8
DEVICES = 2**DEPTH
BEFORE, AFTER, BESIDE = 0, DEVICES - 1, 100
LENGTHS = np.array([0, 0, 0, 6, 0, 6, 12, 0, 40, 120])
"""Entries of a subject's list beside the one that differs, in turn."""
SHORTER = np.array([0, 0, 1, 0, -3, 4])
"""By how many entries a published length is longer than the list, in turn."""
DRAWS, JOINT_DRAWS = 400_000, 900_000
FILLER = "a uniform filler stands in for nobody, nearer to the neighbour than the worst vertex is"
Change = str


def encoded_list_cases() -> list[AuditCase]:
    """Replaced entries at both lengths, an added one, and the list together with the degree that is its length."""
    return [
        *(_case(epsilon, padded, "replaced") for padded in (False, True) for epsilon in ("0.1", "0.25", "0.5")),
        _case("0.25", True, "added", FILLER),
        _joint_case("0.5", "0.1", JOINT_DRAWS),
        _joint_case("0.5", "0.25", DRAWS),
    ]


@cache
def subjects_lists(change: Change, changed: bool) -> NeighbourLists:
    """The lists of all devices; those with odd numbers hold the one entry ``BESIDE``."""
    middle = np.arange(BEFORE + 1, AFTER)
    lists = []
    for device in range(DEVICES):
        number = device // 2
        others = middle[np.linspace(0, len(middle) - 1, LENGTHS[number % len(LENGTHS)]).astype(int)]
        differing = AFTER if changed else BEFORE
        own = [*others, differing] if change == "replaced" or changed else [*others]
        lists.append(np.sort(np.array(own if device % 2 == 0 else [BESIDE], dtype=np.int32)))
    return NeighbourLists(np.concatenate([[0], np.cumsum([len(one) for one in lists])]), np.concatenate(lists))


def published_lengths(change: Change) -> NDArray[np.int64]:
    """A public length for every device, near that of its list under either input."""
    length = subjects_lists(change, True).degrees
    return np.maximum(length + np.repeat(np.resize(SHORTER, DEVICES // 2), 2) * (np.arange(DEVICES) % 2 == 0), 0)


def reported(
    lists: NeighbourLists, epsilon: str, lengths: NDArray[np.int64] | None, rng: np.random.Generator
) -> EncodedListReport:
    """One report of the real mechanism; those with true lengths draw as they do for real, without a key of 64 bits."""
    return release_lists(
        lists,
        balanced_tree(DEPTH),
        epsilon,
        rng,
        dataset="audit",
        simulated=lengths is not None,
        published_degrees=lengths,
    )


def _case(epsilon: str, padded: bool, change: Change, remark: str = "") -> AuditCase:
    lengths = published_lengths(change) if padded else None
    line = reported(subjects_lists(change, True), epsilon, lengths, np.random.default_rng(0)).ledger
    length = "at a published length" if padded else "at its true length"
    return AuditCase(
        "encoded lists, released once",
        f"eps_encoder {epsilon} a level, depth {DEPTH}, {length}",
        f"neighbour list (one neighbour {change})",
        float(line.epsilon),
        partial(_outputs, epsilon, change, padded, ""),
        DRAWS,
        remark,
        _copies(epsilon, change, padded),
    )


def _joint_case(eps_degree: str, epsilon: str, draws: int) -> AuditCase:
    lists = subjects_lists("added", True)
    line = reported(lists, epsilon, published_lengths("added"), np.random.default_rng(0)).ledger
    copies = _copies(epsilon, "added", False)
    not_shorter = (1 + noise_zero(float(eps_degree))) / 2
    return AuditCase(
        "noisy degree + encoded list of that length",
        f"eps_degree {eps_degree} + eps_encoder {epsilon} a level, depth {DEPTH}",
        "neighbour list (one neighbour added or removed)",
        float(compose([eps_degree, line.epsilon])),
        partial(_outputs, epsilon, "added", True, eps_degree),
        draws,
        FILLER,
        Copies(copies.own * not_shorter, copies.neighbour, copies.reach * not_shorter),
    )


def _copies(epsilon: str, change: Change, padded: bool) -> Copies:
    """Lists of two entries or more that come whole: each entry is kept, and none is left out for a short length."""
    kept = math.exp(log_law(balanced_tree(DEPTH), float(epsilon), 0)[0])
    lists = subjects_lists(change, True)
    looked_at = lists.degrees[::2] > 1
    if padded:
        looked_at &= published_lengths(change)[::2] >= lists.degrees[::2]
    own = np.where(looked_at, kept ** lists.degrees[::2], 0.0).mean()
    return Copies(float(own), float(own), float(looked_at.mean()))


def _outputs(
    epsilon: str, change: Change, padded: bool, eps_degree: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    lists, tree = subjects_lists(change, changed), balanced_tree(DEPTH)
    claim = float(epsilon) * DEPTH
    own, other = (log_law(tree, float(epsilon), v) for v in (AFTER, BEFORE))
    ratio = own - (other if change == "replaced" else -math.log(DEVICES))
    grid, size = on_grid(ratio, claim)
    beside_level = levels_from(tree, BESIDE)
    kinds = np.arange(DEVICES // 2) % (len(LENGTHS) * len(SHORTER)), len(LENGTHS) * len(SHORTER)
    before = subjects_lists(change, False).degrees
    held = [_held(subjects_lists(change, side))[::2] for side in (False, True)]

    def views() -> NDArray[np.int64]:
        lengths = published_lengths(change) if padded else None
        degree = np.zeros(DEVICES, dtype=np.int64)
        if eps_degree:
            lengths = reported_degrees(lists, eps_degree, rng).degrees
            degree = lengths - before
        report = reported(lists, epsilon, lengths, rng)
        length = np.diff(report.indptr)
        owner = np.repeat(np.arange(DEVICES), length)
        highest, lowest = np.zeros(DEVICES, dtype=np.int64), np.full(DEVICES, size - 1)
        np.maximum.at(highest, owner, grid[report.indices])
        np.minimum.at(lowest, owner, grid[report.indices])
        present = np.zeros((DEVICES, DEVICES), dtype=bool)
        present[owner, report.indices] = True
        has = [present[::2, vertex] for vertex in (BEFORE, AFTER)]
        same = [(present[::2] | ~side).all(axis=1) for side in held]
        met = np.zeros(DEVICES, dtype=np.int64)
        met[owner] = beside_level[report.indices]
        most, least, step = (highest[::2], size), (lowest[::2], size), around(degree[::2], 2)
        entries = around(length[::2] - before[::2], 5)
        long = lists.degrees[::2] > 1
        return np.array(
            [
                joined(most, least, step),
                joined(kinds, most, step),
                joined(kinds, *((flag, 2) for flag in has), step),
                joined((same[0] & long, 2), (same[1] & long, 2), step),
                joined(entries, (degree[::2] == length[::2] - before[::2], 2), most),
                joined((met[1::2], DEPTH + 1), (highest[::2], size), (has[1], 2)),
            ]
        )

    return gathered(views, draws)


def _held(lists: NeighbourLists) -> NDArray[np.bool_]:
    """bool (V, V): whose list holds whom."""
    held = np.zeros((DEVICES, DEVICES), dtype=bool)
    held[np.repeat(np.arange(DEVICES), lists.degrees), lists.indices] = True
    return held
