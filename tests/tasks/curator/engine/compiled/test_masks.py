from __future__ import annotations

import numpy as np
import pytest
import torch

from tasks.curator.engine.compiled.masks import DropoutRanks
from tasks.errors import UserError


def test_a_mask_is_the_comparison_with_torchs_numbers():
    rates = [0.5, 0.0, 0.1, 0.5, 0.9]
    ranks = DropoutRanks(7, rates, epochs=4, nodes=30, hidden=6)
    ranks.reach(2)
    ranks.reach(4)
    generator = torch.Generator().manual_seed(7)
    for epoch in range(4):
        numbers = torch.rand((30, 6), generator=generator)
        for rate in rates:
            kept = ranks.ranks[epoch] > ranks.threshold(rate)
            np.testing.assert_array_equal(kept, (numbers >= rate).numpy())


def test_too_many_rates_are_refused():
    with pytest.raises(UserError, match=r"255 .*dropout"):
        DropoutRanks(0, np.linspace(0, 0.9, 255), 1, 1, 1)
