"""Learning the graph together with the network (Solitude, eq. 14).

min over Ac and theta of L_GNN(Ac, Xc, theta) + lambda1 ||A~ - Ac||_F^2 + lambda2 ||Ac||_1, with Ac in [0, 1] and on the
support of the report only: an entry that nobody reported could not gain weight from the l1 and distance terms, and
there are N^2 of them. So the graph is a vector of weights (E,), and A~ on the support is one, or the weights of another
calibration that the joint method is combined with.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tasks.errors import UserError

STEP_SIZE = 30.0
INNER_STEPS = 1


@dataclass(frozen=True)
class JointPenalties:
    """The two weights of the objective and the size and number of the graph's steps after each step on theta.

    Neither of the last two is stated in the source.

    Raises:
        UserError: for a value out of range.
    """

    lambda1: float
    lambda2: float
    step_size: float = STEP_SIZE
    inner_steps: int = INNER_STEPS

    def __post_init__(self) -> None:
        for name in ("lambda1", "lambda2"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UserError(f"{name} {getattr(self, name)}: use 0 or a positive number")
        if not 0 < self.step_size < float("inf") or self.inner_steps < 1:
            raise UserError(f"step_size {self.step_size}, inner_steps {self.inner_steps}: use positive numbers")


def penalty(
    weights: Tensor, lambda1: Tensor | float, lambda2: Tensor | float, reported: Tensor | float = 1.0
) -> Tensor:
    """lambda1 sum (a - w)^2 + lambda2 sum |w| over the last axis, for weights (..., E) and reported values a."""
    return lambda1 * (reported - weights).square().sum(dim=-1) + lambda2 * weights.abs().sum(dim=-1)


def graph_step(
    weights: Tensor,
    gradient: Tensor,
    lambda1: Tensor | float,
    lambda2: Tensor | float,
    step_size: Tensor | float,
    reported: Tensor | float = 1.0,
) -> Tensor:
    """One proximal gradient step on the weights (..., E), given the gradient of L_GNN with respect to them.

    A step along the smooth part, gradient + 2 lambda1 (w - a), then the proximal map of lambda2 |w| on [0, 1], which is
    a shift and a clamp. A step longer than 1/(2 lambda1) would overshoot the distance term by itself and is cut to
    that. For many models at once pass the three numbers as (models, 1).
    """
    lambda1 = torch.as_tensor(lambda1, dtype=weights.dtype, device=weights.device)
    size = torch.minimum(torch.as_tensor(step_size, dtype=weights.dtype, device=weights.device), 0.5 / lambda1)
    moved = weights - size * (gradient + 2 * lambda1 * (weights - reported))
    return (moved - size * lambda2).clamp(0.0, 1.0)
