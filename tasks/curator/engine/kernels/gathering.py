"""The product of a row of a sparse matrix with stacked rows: what every kernel of the engine is built on.

Layout: the models of a block lie side by side as slots. A row of activations is (hidden, slots), so that one entry of
the sparse matrix serves all models, and every model's arithmetic stays in its own slot: a model's result does not
depend on its slot or on its neighbours there.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from numba import njit
from numba.extending import overload

from tasks.curator.engine.kernels.vector_ops import load, tile
from tasks.curator.engine.kernels.vectors import fma


def source_digest() -> str:
    """Numba's cache on disk looks at one function's file; with this in its key a change to any of these counts."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@njit(inline="always")
def gathered(
    starts: Any, columns: Any, values: Any, row: int, source: Any, total: Any, width: int, hidden: int, slots: int
) -> Any:
    """``total`` plus the sum over the entries of a CSR row of value times the source's row, (hidden * slots).

    ``values`` is (entries,) where all models share them, (entries, slots) where each model has its own.
    """
    for entry in range(starts[row], starts[row + 1]):
        total = fma(_value(values, entry, hidden, slots), load(source, columns[entry], width), total)
    return total


def _value(values: Any, entry: int, hidden: int, slots: int) -> Any:
    raise NotImplementedError


@overload(_value, inline="always", prefer_literal=True)
def _value_of(values: Any, entry: int, hidden: int, slots: int) -> Any:

    def shared(values: Any, entry: int, hidden: int, slots: int) -> Any:
        return values[entry]

    def per_model(values: Any, entry: int, hidden: int, slots: int) -> Any:
        return tile(load(values, entry, slots), hidden)

    return shared if values.ndim == 1 else per_model
