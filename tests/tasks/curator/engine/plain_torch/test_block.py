"""The torch form against the compiled one: gradients by autograd against those by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.curator.engine.batch_planner import BatchPlanner
from tasks.curator.engine.compiled.block import Block
from tasks.curator.engine.plain_torch.block import TorchBlock
from tasks.curator.engine.settings import EngineSettings, GraphSteps
from tasks.curator.hyper_parameters import HyperParameters
from tasks.models.architecture import BACKBONES

EPOCHS = 12
CASES = {
    "plain": ({}, {}, "reports"),
    "staged": ({"l_x": 2}, {}, "reports"),
    "dense": ({"l_x": 1}, {}, "dense"),
    "smoothed": ({"l_y": 2}, {}, "reports"),
    "smoothed loss": ({"l_y": 2}, {"smooth_loss": True}, "reports"),
    "learned graph": ({"lambda1": 1e-3, "lambda2": 1e-4}, {"joint": GraphSteps(30.0, 2)}, "reports"),
    "all": (
        {"l_x": 1, "l_y": 1, "lambda1": 1e-3, "lambda2": 1e-4},
        {"joint": GraphSteps(10.0, 1), "smooth_loss": True},
        "full",
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_both_forms_train_the_same_models(make_scene, backbone, case):
    more, options, features = CASES[case]
    problem = make_scene(features=features).problem
    points = [HyperParameters(rate, 0.25, 0.01, **more) for rate in (0.001, 0.01, 0.1)]
    planner = BatchPlanner([problem], [points], EngineSettings(backbone, epochs=EPOCHS, precision="float64", **options))
    (group_key,) = planner.waiting
    shared = planner.shared(group_key)
    blocks = [form(shared, 4, options.get("joint")) for form in (Block, TorchBlock)]
    for epoch in range(EPOCHS):
        for block in blocks:
            if epoch == 0:
                block.load(0, points[0])
                block.load(1, points[1])
            if epoch == 3:  # a slot that starts later
                block.load(3, points[2])
        (losses, accuracies), (other_losses, other_accuracies) = (block.step() for block in blocks)
        slots = [0, 1, 3] if epoch >= 3 else [0, 1]
        np.testing.assert_allclose(losses[:, slots], other_losses[:, slots], atol=1e-7)
        np.testing.assert_array_equal(accuracies[:, slots], other_accuracies[:, slots])
    for slot in (0, 1, 3):
        l_y = points[0].l_y
        np.testing.assert_allclose(blocks[0].predict(slot, l_y), blocks[1].predict(slot, l_y), atol=1e-6)
        ours, theirs = blocks[0].weights(slot), blocks[1].weights(slot)
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_allclose(ours[name], theirs[name], atol=1e-7, err_msg=name)
