"""How graphs come to lie with clients: a Dirichlet draw per class (Hsu, Qi & Brown 2019), unequal on purpose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError

NOBODY = -1


def deal_graphs(
    labels: NDArray[np.int64],
    roles: Sequence[NDArray[np.int64]],
    clients: int,
    concentration: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """The client that holds each graph.

    For every class, shares over the clients are drawn from Dirichlet(concentration, ..., concentration); then the
    class's graphs of every role, shuffled, are cut by them. So a client has about the split's share of each role; it
    may hold few graphs, or none. A role dealt later has no influence on those before it.

    Args:
        labels: int64 (G,) classes of the graphs.
        roles: the graphs of each role, drawn beforehand; test graphs last.
        clients: how many.
        concentration: the smaller, the more unequal.
        rng: source of the draw.

    Returns:
        int64 (G,), ``NOBODY`` for graphs without a role or a label.

    Raises:
        UserError: for no client or a concentration that is not positive.
    """
    if clients < 1 or not 0 < concentration < np.inf:
        raise UserError(f"clients {clients}, concentration {concentration}: use at least one client and a positive one")
    holder = np.full(len(labels), NOBODY, dtype=np.int64)
    shares = rng.dirichlet(np.full(clients, float(concentration)), size=int(labels.max(initial=-1)) + 1)
    for role in roles:
        for label, share in enumerate(shares):
            graphs = rng.permutation(role[labels[role] == label])
            ends = np.rint(np.cumsum(share)[:-1] * len(graphs)).astype(np.int64)
            for client, part in enumerate(np.split(graphs, ends)):
                holder[part] = client
    return holder
