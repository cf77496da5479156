"""The file form of reports: an uncompressed npz of declared arrays, byte-deterministic, read without trust."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError

LONGEST_REASON = 300
ArraySpec = Mapping[str, tuple[str, int]]
"""Name of each array -> (dtype, number of dimensions)."""


def write_arrays(path: Path, arrays: Mapping[str, NDArray]) -> None:
    """Writes named arrays to ``path``; equal arrays give equal bytes."""
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **{name: np.asarray(arrays[name], order="C") for name in sorted(arrays)})


def read_arrays(path: Path, spec: ArraySpec) -> dict[str, NDArray]:
    """Reads exactly the arrays of ``spec``.

    Raises:
        UserError: when the file is missing, damaged, compressed, or holds other names, dtypes or dimensions.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such report file; make it again")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            # Stored members cannot expand, so a small file cannot fill the memory.
            sound = sorted(x.filename for x in members) == sorted(f"{name}.npy" for name in spec) and all(
                x.compress_type == zipfile.ZIP_STORED and x.file_size == x.compress_size for x in members
            )
        if not sound:
            raise ValueError("unexpected members")
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: content[name] for name in spec}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("a member is no array")
    except Exception as error:  # whatever a hostile file provokes in the parsers, the user reads one line
        raise UserError(f"{path}: not a sound report file ({type(error).__name__}); make it again") from None
    for name, (dtype, dimensions) in spec.items():
        if arrays[name].dtype != np.dtype(dtype) or arrays[name].ndim != dimensions:
            raise UserError(f"{path}: array {name} should be {dtype} of {dimensions} dimensions; make the file again")
    return arrays


@contextmanager
def refusals_name(path: Path) -> Iterator[None]:
    """Refusals from inside the block begin with the file's name and end with the remedy."""
    try:
        yield
    except UserError as error:
        text = str(error).removeprefix(f"{path}: ")
        text = text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}..."  # it may quote the file
        raise UserError(f"{path}: {text}{'' if 'again' in text else '; make the file again'}") from None


def text_array(text: str) -> NDArray[np.uint8]:
    """A text as an array of its UTF-8 bytes."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def array_text(array: NDArray[np.uint8], path: Path) -> str:
    """Inverse of ``text_array``; UserError naming ``path`` when the bytes are not text."""
    try:
        return array.tobytes().decode()
    except UnicodeDecodeError:
        raise UserError(f"{path}: a text in the file is not UTF-8; make the file again") from None


def content_digest(arrays: Mapping[str, NDArray]) -> str:
    """sha256 over names, dtypes, shapes and bytes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()
