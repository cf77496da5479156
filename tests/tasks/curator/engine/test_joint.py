"""Models with edge weights of their own against the reference that trains one at a time by autograd."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.curator.engine.settings import EngineSettings, GraphSteps
from tasks.curator.engine.train_batch import train_batch
from tasks.curator.hyper_parameters import HyperParameters

EPOCHS = 25
POINTS = [
    HyperParameters(0.05, 0.25, 0.001, lambda1=1e-3, lambda2=1e-4),
    HyperParameters(0.05, 0.25, 0.001, lambda1=1e-2, lambda2=1e-2),
    HyperParameters(0.01, 0.0, 0.01, lambda1=1e-4, lambda2=1e-3),
]


@pytest.mark.parametrize(("l_x", "l_y", "inner_steps"), [(0, 0, 1), (2, 0, 3), (0, 2, 2)])
@pytest.mark.parametrize(("backbone", "normalization"), [("gcn", "symmetric"), ("gcn", "mean"), ("sage", "mean")])
def test_models_and_graphs_are_those_of_the_reference(
    make_scene, train_jointly, backbone, normalization, l_x, l_y, inner_steps
):
    problem, steps = make_scene().problem, GraphSteps(30.0, inner_steps)
    settings = EngineSettings(
        backbone,
        epochs=EPOCHS,
        precision="float64",
        joint=steps,
        smooth_loss=True,
        workers=1,
        normalization=normalization,
    )
    off_diagonal = np.repeat(np.arange(problem.graph.shape[0]), np.diff(problem.graph.indptr)) != problem.graph.indices
    for point in POINTS:
        point = HyperParameters(
            point.learning_rate, point.dropout, point.weight_decay, l_x, l_y, point.lambda1, point.lambda2
        )
        (ours,) = train_batch([problem], [[point]], settings).trained
        expected = train_jointly(problem, backbone, point, steps, EPOCHS, normalization)
        row = ours.search.iloc[0]
        assert (row["chosen_epoch"], row["validation_accuracy"]) == (expected.fit.epoch, expected.fit.score.accuracy)
        assert row["validation_loss"] == pytest.approx(expected.fit.score.loss, abs=1e-6)
        logs = expected.fit.logits.log_softmax(dim=1)
        np.testing.assert_allclose(ours.log_probabilities, logs, atol=1e-5, rtol=1e-5)
        edges = expected.edge_weights.numpy()
        assert edges.std() > 0.01
        where = off_diagonal if backbone == "gcn" else slice(None)
        np.testing.assert_allclose(ours.weights["edge_weights"][where], edges[where], atol=1e-5)
