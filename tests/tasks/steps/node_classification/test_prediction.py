from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tasks.curator.trained import Trained
from tasks.steps.graph_classification.embed_graphs import HISTORY, PREDICTIONS, WEIGHTS
from tasks.steps.node_classification.prediction import Prediction, best_model
from tasks.steps.node_classification.search import TRAINED
from tasks.store import PointRef


def point(folder: Path) -> PointRef:
    folder.mkdir()
    return PointRef("digest", folder, "content", cached=False, seconds=0.0, raw=False)


def network(folder: Path, *validated: tuple[float, float]) -> Prediction:
    """A search of several points, the first of which was chosen."""
    made = point(folder)
    search = pd.DataFrame(validated, columns=["validation_accuracy", "validation_loss"])
    Trained("gcn", np.eye(3, dtype=np.float32), {}, search, 0).save(made.file(TRAINED))
    return Prediction(made, made, TRAINED)


def test_the_best_is_the_best_by_validation_then_loss_then_the_first(tmp_path: Path) -> None:
    repeats = [
        network(tmp_path / "a", (0.7, 0.1), (0.9, 0.0)),
        network(tmp_path / "b", (0.8, 0.5)),
        network(tmp_path / "c", (0.8, 0.3)),
        network(tmp_path / "d", (0.8, 0.3)),
    ]
    assert best_model(repeats) == tmp_path / "c" / TRAINED
    assert repeats[0].classes.tolist() == [0, 1, 2]


def test_a_federation_is_as_good_as_its_best_round_and_a_machine_has_no_network(tmp_path: Path) -> None:
    trained, machine = point(tmp_path / "trained"), point(tmp_path / "machine")
    for made in (trained, machine):
        np.save(made.file(PREDICTIONS), np.array([1, 0]))
    history = {"validation_accuracy": [0.5, 0.75, 0.75], "validation_loss": [0.1, 0.6, 0.4]}
    pd.DataFrame(history).to_csv(trained.file(HISTORY), index=False)
    trained.file(WEIGHTS).write_bytes(b"weights")
    assert Prediction(trained, trained).validation == (0.75, -0.4)
    assert Prediction(machine, machine).classes.tolist() == [1, 0]
    assert best_model([Prediction(machine, machine), Prediction(trained, trained)]) == trained.file(WEIGHTS)
    assert best_model([Prediction(machine, machine)]) is None
