from pathlib import Path

import numpy as np
import pytest

from tasks.client.local_training import update_line
from tasks.errors import UserError
from tasks.reports.archive import write_arrays
from tasks.reports.model_update import ModelUpdate, ValidationCounts
from tasks.seeds import generator

UPDATE = ModelUpdate(
    3, 7, 12, np.arange(5, dtype=np.float32), ValidationCounts(4, 3, 1.25), update_line("toy", generator(0))
)


def test_file_round_trip(tmp_path: Path) -> None:
    UPDATE.save(tmp_path / "one")
    again = ModelUpdate.load(tmp_path / "one")
    again.save(tmp_path / "two")
    assert again.digest() == UPDATE.digest()
    assert (again.ledger, again.validation) == (UPDATE.ledger, UPDATE.validation)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"header": np.array([3, 7])}, "header"),
        ({"header": np.array([3, -7, 12])}, "client, round"),
        ({"validation_counts": np.array([4, 5])}, "validation counts"),
        ({"validation_loss": np.array(np.nan)}, "validation counts"),
        ({"values": np.zeros(5)}, "values .*float32"),
    ],
)
def test_unsound_files_are_refused(change: dict, named: str, tmp_path: Path) -> None:
    write_arrays(tmp_path / "update", {**UPDATE._arrays(), **change})
    with pytest.raises(UserError, match=named):
        ModelUpdate.load(tmp_path / "update")


def test_counts_add_up() -> None:
    assert ValidationCounts(4, 3, 1.0) + ValidationCounts(2, 0, 0.5) == ValidationCounts(6, 3, 1.5)
