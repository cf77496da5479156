"""What an audit needs to know of a mechanism: two neighbouring inputs to draw for, and what its ledger claims.

An audit draws for many users at once. They hold lists, vectors or tables of many kinds, and half of them or all of them
hold one of two neighbouring inputs. Each is one draw; which user it is, is public and may be part of the outcome.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Sample = Callable[[bool, int, np.random.Generator], NDArray[np.int64]]
"""``sample(changed, draws, rng)``: independent outputs of the real mechanism, each summarised by small integers from 0.

``changed`` says which of the two neighbouring inputs is reported. The array is (views, draws), or (draws,) for one
view: different summaries of the same outputs, each judged by itself. Whatever maps outputs to integers is
post-processing and costs no validity; a good map keeps the outputs apart whose probabilities differ most. Draw i must
stand for the same user under both inputs.
"""


@dataclass(frozen=True)
class Copies:
    """How an output that is the input itself looks among those of the right mechanism.

    Attributes:
        own: probability that a draw counts as a copy of the input it was made from.
        neighbour: probability that it counts as a copy of the neighbouring one.
        reach: the share of the draws for which a copy is looked for.
    """

    own: float
    neighbour: float
    reach: float = 1.0


@dataclass(frozen=True)
class AuditCase:
    """One row of the audit.

    Attributes:
        mechanism: its name.
        setting: budgets and shape, in words.
        unit: what differs between the two inputs.
        claim: epsilon, as the report's ledger line states it for this unit.
        sample: draws outputs.
        draws: outputs per input in a full audit.
        remark: why the lower bound must stay well below the claim; empty where it should come near it.
        copies: chances of a copy in clear under the right law; None where the audit looks for none.
    """

    mechanism: str
    setting: str
    unit: str
    claim: float
    sample: Sample
    draws: int = 500_000
    remark: str = ""
    copies: Copies | None = None


def gathered(draw: Callable[[], NDArray[np.integer]], draws: int) -> NDArray[np.int64]:
    """``draw()`` called until there are ``draws`` outputs along the last axis; each call gives independent ones."""
    parts: list[NDArray[np.integer]] = []
    count = 0
    while count < draws:
        parts.append(draw())
        count += parts[-1].shape[-1]
    return np.concatenate(parts, axis=-1)[..., :draws].astype(np.int64)


def joined(*columns: tuple[NDArray, int]) -> NDArray[np.int64]:
    """Several summaries as one integer: (values, size) each, values beyond 0..size-1 counted as the nearest of them."""
    outcome = np.zeros(np.broadcast_shapes(*(values.shape for values, _ in columns)), dtype=np.int64)
    for values, size in columns:
        outcome = outcome * size + np.clip(values, 0, size - 1)
    return outcome


def around(values: NDArray, width: int) -> tuple[NDArray, int]:
    """Integers around 0 as a column for ``joined``: those beyond -width..width are counted as the nearest."""
    return values + width, 2 * width + 1
