"""What the papers printed."""

from __future__ import annotations

import pandas as pd

from flows.system.environment import PACKAGE_ROOT
from tasks.evaluation.tables.reference import read_reference


def printed(paper: str) -> pd.DataFrame:
    """The figures of a paper, from its file below data/reference."""
    return read_reference(PACKAGE_ROOT / "data" / "reference" / f"{paper}.csv")
