"""MUTAG without a network: GraKeL's wheel ships the set's text files among its test data.

Source: Debnath et al., "Structure-activity relationship of mutagenic aromatic and heteroaromatic nitro compounds",
Journal of Medicinal Chemistry 1991, in the form of TUDataset.
"""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from tasks.datasets.graph import RawGraphSet
from tasks.datasets.tudataset import MEMBERS, TUTables, assemble, tables
from tasks.errors import UserError

FILE = "mutag.npz"


def materialise(folder: Path) -> None:
    """Writes the wheel's tables to ``folder/mutag.npz``, the same bytes every time."""
    import grakel

    place = Path(grakel.__file__).parent / "tests" / "data" / "MUTAG"
    try:
        given = tables({member: (place / f"MUTAG_{member}.txt").read_bytes() for member in MEMBERS})
    except (OSError, ValueError) as error:
        raise UserError("mutag: this grakel does not ship the set; install 'grakel>=0.1.11,<0.2'") from error
    if given.node_labels is None:
        raise AssertionError("every member was read above")
    with (folder / FILE).open("wb") as file:
        np.savez(
            file,
            pairs=given.pairs,
            graph_of=given.graph_of,
            graph_labels=given.graph_labels,
            node_labels=given.node_labels,
        )


def parse(folder: Path) -> RawGraphSet:
    """188 molecules: atoms as one-hot features of width 7, bonds as edges, mutagenic or not."""
    try:
        with np.load(folder / FILE, allow_pickle=False) as stored:
            given = TUTables(*(stored[key] for key in ("pairs", "graph_of", "graph_labels", "node_labels")))
    except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
        raise UserError(f"{folder / FILE}: missing or damaged; delete it and run the download step again") from error
    return assemble("mutag", given)
