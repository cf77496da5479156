from pathlib import Path

import numpy as np
import pytest

from tasks.broadcasts.weights import ModelWeights
from tasks.curator.federation import initial_weights
from tasks.errors import UserError
from tasks.models.graph_architecture import GraphArchitecture
from tasks.reports.archive import text_array, write_arrays

WEIGHTS = initial_weights(GraphArchitecture("gcn", 3, 2, "node"), 0)


def test_file_round_trip(tmp_path: Path) -> None:
    WEIGHTS.save(tmp_path / "one")
    again = ModelWeights.load(tmp_path / "one")
    again.save(tmp_path / "two")
    assert again.architecture == WEIGHTS.architecture
    assert again.digest() == WEIGHTS.digest()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.zeros(3, dtype=np.float32)},
        {"values": np.full_like(WEIGHTS.values, np.nan)},
        {"architecture": text_array("{}")},
        {"architecture": text_array("nonsense")},
        {"architecture": text_array('{"backbone":"gat","dimensions":3,"classes":2,"level":"graph"}')},
        {"architecture": text_array('{"backbone":"gcn","dimensions":"x","classes":2,"level":"graph"}')},
    ],
)
def test_unsound_files_are_refused_in_one_line(change: dict, tmp_path: Path) -> None:
    write_arrays(tmp_path / "weights", {**WEIGHTS._arrays(), **change})
    with pytest.raises(UserError, match=f"^{tmp_path / 'weights'}: ") as refusal:
        ModelWeights.load(tmp_path / "weights")
    assert "\n" not in str(refusal.value)
