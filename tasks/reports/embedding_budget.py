"""How an embedding encoder divides its budget; public, so that the curator can undo the bias of the coins."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_DOWN, ROUND_UP, Decimal, localcontext

from tasks.epsilon import INFINITE, PER_NODE, canonical_epsilon
from tasks.errors import UserError
from tasks.reports.encoders import Encoder

_OPTIMAL_SHARE = Decimal("2.18")


def vector_budget(encoder: Encoder, epsilon: str, nodes: int) -> str:
    """b, what the coins of one vector spend together: eps/n, or eps for ``row``; rounded down, never up.

    The vector is a row of H, or all of H for ``paper``. With epsilon ``"1/n"``, eps itself is 1/n.
    """
    if epsilon == INFINITE:
        return INFINITE
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_DOWN
        whole = Decimal(1) / nodes if epsilon == PER_NODE else Decimal(epsilon)
        share = whole if encoder == "row" else whole / nodes
    if float(share) == 0:
        raise UserError(f"eps: {epsilon} divided by the {nodes} nodes of a graph is out of range; use a larger budget")
    return canonical_epsilon(share)


def sampled_cells(budget: str, dimensions: int) -> int:
    """m = max(1, min(h, floor(b/2.18))), the number of cells that one vector sends, for a finite b."""
    return max(1, min(dimensions, int(Decimal(budget) // _OPTIMAL_SHARE)))


def largest_budget(epsilon: str, node_counts: Iterable[int]) -> str:
    """The budget as a decimal: ``"1/n"`` becomes that of the smallest graph, rounded up to six digits."""
    if epsilon != PER_NODE:
        return epsilon
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_UP
        return canonical_epsilon(Decimal(1) / min(node_counts, default=1))
