"""The search table as one parquet file for all repeats of a point: validation metrics only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tasks.curator.trained import Trained


def search_table(trained: Sequence[Trained]) -> pd.DataFrame:
    """One row per repeat and hyper-parameter configuration, ``chosen`` where a repeat took it."""
    tables = []
    for repeat, model in enumerate(trained):
        table = model.search.assign(chosen=False)
        table.loc[table.index[model.chosen], "chosen"] = True
        table.insert(0, "repeat", repeat)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def write_search_table(path: Path, trained: Sequence[Trained]) -> None:
    """Writes parquet; the same values give the same bytes."""
    search_table(trained).to_parquet(path, index=False)


def read_search_table(path: Path) -> pd.DataFrame:
    """Reads what ``write_search_table`` wrote."""
    return pd.read_parquet(path)
