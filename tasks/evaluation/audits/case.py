"""What an audit needs to know of a mechanism: two neighbouring inputs to draw for, and what its ledger claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Sample = Callable[[bool, int, np.random.Generator], NDArray[np.int64]]
"""``sample(changed, draws, rng)``: int64 (draws,), independent outputs of the real mechanism, each as one integer.

``changed`` says which of the two neighbouring inputs is reported. Whatever maps outputs to integers is post-processing
and costs no validity; a good map keeps the outputs apart whose probabilities differ most.
"""


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
    """

    mechanism: str
    setting: str
    unit: str
    claim: float
    sample: Sample
    draws: int = 500_000
    remark: str = ""


def gathered(draw: Callable[[], NDArray[np.integer]], draws: int) -> NDArray[np.int64]:
    """``draw()`` called until there are ``draws`` outputs; each call gives some independent ones."""
    parts: list[NDArray[np.integer]] = []
    count = 0
    while count < draws:
        parts.append(draw())
        count += len(parts[-1])
    return np.concatenate(parts)[:draws].astype(np.int64)
