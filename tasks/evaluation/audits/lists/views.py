"""What an audit looks at in reported neighbour lists; for every subject, next to the bit that differs:

who it is; whether its whole list, its ones or its zeros came unflipped, and how many flips there are; whether another
bit flips together with this one; the parity of the flips; the number of ones; the flips in the list of the next user.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.evaluation.audits.case import Copies, around, joined
from tasks.evaluation.audits.lists.inputs import ListInputs

RARE = 1e-3
"""An unflipped list is taken for a copy where chance makes fewer than these."""
DEVIATIONS = 4
FEW = 12


def list_views(inputs: ListInputs, lists: NDArray[np.bool_], reports: NDArray[np.bool_], flip: float) -> NDArray:
    """int64 (views, R * S): reports of ``lists``, one of the two graphs of ``inputs``, bool (R, N, N)."""
    noise, subjects = reports ^ lists, inputs.subjects
    own = reports[:, subjects, inputs.places] ^ inputs.first[subjects, inputs.places]
    flipped = noise[:, subjects, inputs.places]
    ones = _counted(noise & lists)[:, subjects] - (flipped & lists[subjects, inputs.places])
    all_flips = _counted(noise)
    flips = all_flips[:, subjects] - flipped
    lengths = inputs.reported[subjects].sum(axis=1) - 1
    twin = noise.reshape(len(noise), -1)[:, inputs.twins] ^ inputs.turned
    next_user = subjects ^ 1
    next_flips = all_flips[:, next_user]
    more = _counted(reports)[:, subjects] - inputs.first[subjects].sum(axis=1)
    who = np.arange(len(subjects))
    bit = (own, 2)
    copy = (flips == 0) & looked_at(inputs, flip)
    total = lists[subjects].sum(axis=1)
    parts = (ones, total), (flips - ones, lengths - total)
    kept = [((count == 0) & ((1 - flip) ** size < RARE), 2) for count, size in parts]
    views = [
        joined((who, len(who)), bit),
        joined((copy, 2), (flips == lengths, 2), _deviation(flips, lengths, flip), bit),
        joined(*kept, (ones, FEW), (flips - ones == 0, 2), bit),
        joined((who, len(who)), (twin, 2), bit),
        joined((flips % 2, 2), bit),
        joined(around(more, 3), (np.broadcast_to(inputs.first[subjects, inputs.places], more.shape), 2)),
        joined(_deviation(next_flips, inputs.reported[next_user].sum(axis=1), flip), (next_flips == 0, 2), bit),
    ]
    return np.array([view.ravel() for view in views])


def _counted(bits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Sums over the last axis; numpy adds bools one by one, eight of them in a word together."""
    words = bits.view(np.uint64)
    words = (words & np.uint64(0x0101010101010101)) * np.uint64(0x0101010101010101) >> np.uint64(56)
    return words.sum(axis=-1).astype(np.int64)


def looked_at(inputs: ListInputs, flip: float) -> NDArray[np.bool_]:
    """bool (S,): the subjects whose lists are so long that chance makes no copy; all, where no list is."""
    rare = (1 - flip) ** inputs.reported[inputs.subjects].sum(axis=1) < RARE
    return rare if rare.any() else ~rare


def list_copies(inputs: ListInputs, flip: float) -> Copies:
    """Chances of an unflipped list, with the bit that differs as in the own or as in the other list."""
    mask = looked_at(inputs, flip)
    rest = np.where(mask, (1 - flip) ** (inputs.reported[inputs.subjects].sum(axis=1) - 1.0), 0.0).mean()
    return Copies(float(rest * (1 - flip)), float(rest * flip), float(mask.mean()))


def _deviation(counts: NDArray, lengths: NDArray, flip: float) -> tuple[NDArray, int]:
    """By how many standard deviations there are more flips than expected, as a column."""
    spread = np.sqrt(lengths * flip * (1 - flip)) + 1e-9
    return around(np.rint((counts - lengths * flip) / spread).astype(np.int64), DEVIATIONS)
