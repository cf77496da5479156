"""Dropout masks shared by all models of a repeat: one draw per epoch serves every model and every dropout rate.

A configuration's run does not depend on those around it, so all of them start from one dropout seed, and in epoch t all
compare the same uniform numbers with their own rates. Only the comparison's outcome is stored: a byte that counts the
rates at or below the number.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.errors import UserError


class DropoutRanks:
    """``ranks`` (epochs, N, hidden) uint8, filled as far as somebody asked.

    The numbers are those of ``fitting.fit`` for the same seed. A unit is kept in epoch t by the rate with ``threshold``
    k when ``ranks[t - 1]`` is above k.

    Raises:
        UserError: for more than 254 distinct rates.
    """

    def __init__(self, seed: int, rates: Iterable[float], epochs: int, nodes: int, hidden: int) -> None:
        self._rates = sorted(set(rates))
        if len(self._rates) > 254:
            raise UserError(f"{len(self._rates)} distinct dropout rates; search at most 254 at a time")
        self._generator = torch.Generator().manual_seed(seed)
        self._lock = threading.Lock()
        self._drawn = 0
        self.ranks: NDArray[np.uint8] = np.empty((epochs, nodes, hidden), dtype=np.uint8)

    def threshold(self, rate: float) -> int:
        """The rate's index among the rates."""
        return self._rates.index(rate)

    def reach(self, epoch: int) -> None:
        """Draws all epochs up to this one (from 1)."""
        if epoch <= self._drawn:
            return
        with self._lock:
            for drawn in range(self._drawn, epoch):
                numbers = torch.rand(self.ranks.shape[1:], generator=self._generator).numpy()
                counts = self.ranks[drawn]
                counts[:] = 0
                for rate in self._rates:
                    counts += numbers >= np.float32(rate)
                self._drawn = drawn + 1
