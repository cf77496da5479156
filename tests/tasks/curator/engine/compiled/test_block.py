"""A block against single models trained by dgl, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.curator.engine.batch_planner import BatchPlanner
from tasks.curator.engine.compiled.block import Block
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.hyper_parameters import HyperParameters, grid
from tasks.models.architecture import BACKBONES

RATES = (1e-4, 1e-3, 1e-2, 1e-1)
EPOCHS = 20


def block_of(problem, backbone, points, *, slots=4, epochs=EPOCHS, **options):
    """A block of the points' only group, and the l_y in it."""
    settings = EngineSettings(backbone, epochs=epochs, precision="float64", slots=slots, **options)
    planner = BatchPlanner([problem], [points], settings)
    (group_key,) = planner.waiting
    return Block(planner.shared(group_key), slots)


def agree(problem, backbone, points, train_alone, **options):
    """Trains the points side by side; predictions and validation must be those of one model at a time."""
    block = block_of(problem, backbone, points, **options)
    for slot, point in enumerate(points):
        block.load(slot, point)
    for _ in range(EPOCHS):
        losses, accuracies = block.step()
    labels = problem.labels
    for slot, point in enumerate(points):
        _, expected = train_alone(problem, backbone, point, EPOCHS, **options)
        # Only the scale 1 / (1 - dropout) may be rounded to float32; every epoch adds to what that moves.
        near = 1e-10 if point.dropout in (0.0, 0.5) else EPOCHS * float(np.finfo(np.float32).eps)
        np.testing.assert_allclose(block.predict(slot, point.l_y), expected, rtol=near, atol=near)
        chosen = expected[labels.validation_nodes]
        own = chosen[np.arange(len(chosen)), labels.validation_labels]
        evaluation = block.shared.evaluations.index(point.l_y)
        assert losses[evaluation, slot] == pytest.approx(-own.mean(), rel=near, abs=near)
        assert accuracies[evaluation, slot] == np.mean(chosen.argmax(axis=1) == labels.validation_labels)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("features", ["reports", "full", "dense"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_every_model_is_the_dgl_model_at_every_learning_rate(make_scene, train_alone, backbone, features, dropout):
    """The same initial weights and dropout; the features take all three ways through the first layer."""
    points = grid(RATES, [dropout], [0.001])
    agree(make_scene(features=features).problem, backbone, points, train_alone)


@pytest.mark.parametrize("features", ["reports", "dense"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_features_smoothed_in_stages_are_smoothed_features(make_scene, train_alone, backbone, features):
    points = [HyperParameters(rate, 0.25, 0.01, l_x=3) for rate in RATES]
    agree(make_scene(features=features).problem, backbone, points, train_alone)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_smoothed_predictions_are_judged_at_every_step(make_scene, train_alone, backbone):
    points = [HyperParameters(0.01, 0.25, 0.01, l_y=l_y) for l_y in (0, 1, 2, 5)]
    agree(make_scene().problem, backbone, points, train_alone)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_loss_reaches_the_weights_through_smoothed_predictions(make_scene, train_alone, backbone):
    points = [HyperParameters(rate, 0.25, 0.01, l_y=3) for rate in RATES]
    agree(make_scene().problem, backbone, points, train_alone, smooth_loss=True)


@pytest.mark.parametrize("slots", [1, 2, 8])
def test_a_model_does_not_depend_on_its_lane_its_start_or_the_width(make_scene, slots):
    problem, points = make_scene().problem, grid(RATES, [0.5], [0.001])
    alone = block_of(problem, "sage", points)
    alone.load(2, points[3])
    for _ in range(5):
        alone.step()
    crowded = block_of(problem, "sage", points, slots=slots)
    for slot in range(slots):
        crowded.load(slot, points[slot % 3])
    for _ in range(4):
        crowded.step()
    crowded.load(slots - 1, points[3])
    for _ in range(5):
        crowded.step()
    assert np.array_equal(alone.predict(2, 0), crowded.predict(slots - 1, 0))
    expected, found = alone.weights(2), crowded.weights(slots - 1)
    assert all(np.array_equal(expected[name], found[name]) for name in expected)
