"""A pickle reader that can build arrays and lists of neighbours, and nothing else.

Planetoid ships Python 2 pickles (protocol 2). A pickle may name any importable callable; this reader resolves
the six names that those files use and refuses every other, so a file cannot run code.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.errors import UserError


class StoredCsr:
    """Stands in for scipy's CSR matrix, whose internals changed since the files were written."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    _shape: tuple[int, int]

    def array(self) -> csr_array:
        """The sparse array, with every index checked."""
        matrix = csr_array((self.data, self.indices, self.indptr), shape=self._shape)
        matrix.check_format(full_check=True)
        return matrix


def new_array(kind: type, shape: tuple[int, ...], code: str | bytes) -> NDArray[Any]:
    """The empty array that numpy's pickles fill in afterwards; they always ask for shape (0,)."""
    if kind is not np.ndarray or tuple(shape) != (0,):
        raise pickle.UnpicklingError("an array that is not a plain one")
    return np.ndarray((0,), dtype=np.int8)


ALLOWED: dict[tuple[str, str], Any] = {
    ("__builtin__", "list"): list,
    ("collections", "defaultdict"): defaultdict,
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): new_array,
    ("scipy.sparse.csr", "csr_matrix"): StoredCsr,
}


class ArrayUnpickler(pickle.Unpickler):
    """Resolves the names in ``ALLOWED``, exactly as spelt there."""

    def find_class(self, module: str, name: str) -> Any:
        """The allowed object of that name.

        Raises:
            UnpicklingError: for any other name.
        """
        try:
            return ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"the pickle asks for {module}.{name}, which is not allowed") from None


def read_pickle(path: Path) -> Any:
    """The object in a Planetoid pickle: an array, a sparse array or a dict of neighbour lists.

    Raises:
        UserError: for a pickle that asks for anything else, and for a damaged one.
    """
    try:
        value = ArrayUnpickler(io.BytesIO(path.read_bytes()), encoding="latin1").load()
        return value.array() if isinstance(value, StoredCsr) else value
    except Exception as error:  # a hostile pickle can raise nearly anything while it is read
        reason = str(error) if isinstance(error, pickle.UnpicklingError) else type(error).__name__
        raise UserError(f"{path}: refused: {reason}; delete it and download it again") from error
