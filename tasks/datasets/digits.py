"""The demo's data: scikit-learn's handwritten digits, joined to their nearest neighbours.

Source: Alpaydin & Kaynak, "Optical Recognition of Handwritten Digits", UCI 1998 (test part), shipped in
scikit-learn's wheel, so nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph, undirected
from tasks.errors import UserError

FILE = "digits.npz"
PIXEL_BOUND = 16  # declared by the source: each pixel counts the ink in a 4 x 4 block
NEIGHBOURS = 10
NOTE = "illustration only: the edges of digits derive from its features"


def materialise(folder: Path) -> None:
    """Writes scikit-learn's digits to ``folder/digits.npz``, the same bytes every time."""
    from sklearn.datasets import load_digits  # noqa: TID251 - the set comes with the package

    pixels, labels = load_digits(return_X_y=True)
    with (folder / FILE).open("wb") as file:
        np.savez(file, pixels=pixels.astype(np.uint8), labels=labels.astype(np.int64))


def parse(folder: Path) -> RawGraph:
    """1797 images: 64 pixels scaled to [0, 1], 10 classes, a symmetric 10-nearest-neighbour graph."""
    try:
        with np.load(folder / FILE, allow_pickle=False) as stored:
            pixels, labels = stored["pixels"], stored["labels"]
    except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
        raise UserError(f"{folder / FILE}: missing or damaged; delete it and run the download step again") from error
    neighbours = nearest(pixels, NEIGHBOURS)
    heads = np.repeat(np.arange(len(pixels)), NEIGHBOURS)
    adjacency, _, _ = undirected(len(pixels), heads, neighbours.ravel())
    features = csr_array(pixels.astype(np.float32) / np.float32(PIXEL_BOUND))
    return RawGraph("digits", adjacency, features, labels, notes=(NOTE,), private=False)


def nearest(points: NDArray[np.integer], k: int) -> NDArray[np.int64]:
    """The k nearest other rows of each row of small integers, Euclidean, ties to the lower row number.

    Squared distances are whole numbers below 2**53, so they are exact whatever the order of summation.

    Returns:
        (n, k) int64.
    """
    values = points.astype(np.float64)
    squares = (values**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * values @ values.T
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :k].astype(np.int64)
