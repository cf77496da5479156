"""The model of an MLflow run's best repeat, by validation: weights as arrays, no code.

No command: a notebook or a script imports it.

from flows.model import load_model
model = load_model("<id of a child run>")
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from flows.system.environment import project_root
from flows.tracking.mlflow_log import MODEL
from tasks.broadcasts.weights import ModelWeights
from tasks.curator.trained import Trained
from tasks.steps.graph_classification.embed_graphs import WEIGHTS
from tasks.steps.tracking.address import default_tracking_uri
from tasks.steps.tracking.track import fetch_artifacts


def load_model(run_id: str, tracking_uri: str | None = None) -> Trained | ModelWeights:
    """Of node classification predictions, weights and search table; of graph classification the network's weights.

    ``tracking_uri`` is MLFLOW_TRACKING_URI's, else the project's own, unless it is given.

    Raises:
        UserError: when the tracking store cannot be used, or the run has no model.
    """
    with TemporaryDirectory() as place:
        folder = fetch_artifacts(tracking_uri or default_tracking_uri(project_root()), run_id, MODEL, Path(place))
        (file,) = folder.iterdir()
        return ModelWeights.load(file) if file.name == WEIGHTS else Trained.load(file)
