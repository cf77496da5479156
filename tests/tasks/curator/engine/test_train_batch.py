"""The whole engine: points and repeats together, against one model at a time."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from tasks.client.labels import reveal_labels
from tasks.curator.engine import any_block
from tasks.curator.engine.plain_torch.block import TorchBlock
from tasks.curator.engine.problem import Problem, TrainingTargets
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.engine.train_batch import train_batch
from tasks.curator.hyper_parameters import HyperParameters, ValidationScore, grid
from tasks.curator.trained import SEARCH_COLUMNS, Trained
from tasks.curator.training import train
from tasks.errors import UserError
from tasks.evaluation.node_classification.scoring import score
from tasks.models.architecture import BACKBONES

GRID = grid([0.001, 0.05], [0.0, 0.5], [0.001, 0.1])
SETTINGS = EngineSettings("gcn", epochs=30, workers=1)


def same(one: Trained, other: Trained) -> bool:
    """Bit for bit."""
    weights = all(np.array_equal(one.weights[name], other.weights[name]) for name in one.weights)
    predictions = np.array_equal(one.log_probabilities, other.log_probabilities)
    return weights and predictions and one.search.equals(other.search) and one.chosen == other.chosen


@pytest.mark.parametrize("patience", [None, 5])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_it_finds_what_a_loop_over_single_models_finds(make_scene, train_alone, backbone, patience):
    problem = make_scene().problem
    settings = EngineSettings(backbone, epochs=40, patience=patience, precision="float64", workers=1)
    (ours,) = train_batch([problem], [GRID], settings).trained
    best_model, chosen = None, 0
    for index, point in enumerate(GRID):
        alone, _ = train_alone(problem, backbone, point, 40, patience=patience)
        row = ours.search.iloc[index]
        assert (row["chosen_epoch"], row["validation_accuracy"]) == (alone.epoch, alone.score.accuracy)
        assert row["validation_loss"] == pytest.approx(alone.score.loss, abs=1e-6)
        assert row["epochs"] == (40 if patience is None else min(40, alone.epoch + patience))
        if best_model is None or alone.score.beats(best_model.score):
            best_model, chosen = alone, index
    assert ours.chosen == chosen and ours.hyper_parameters == GRID[chosen]
    np.testing.assert_allclose(ours.log_probabilities, best_model.logits.log_softmax(dim=1), atol=1e-5)
    for name, value in best_model.weights.items():
        np.testing.assert_allclose(ours.weights[name], value, atol=1e-6)


def test_it_agrees_with_training_in_single_precision(make_scene):
    problem = make_scene().problem
    (ours,) = train_batch([problem], [GRID], SETTINGS).trained
    theirs = train(
        problem.graph, problem.features, problem.labels,
        backbone="gcn", grid=GRID, seed=problem.seed, epochs=30, device="cpu", form="dgl",
    )  # fmt: skip
    assert tuple(theirs.search.columns) == SEARCH_COLUMNS == tuple(ours.search.columns)[:-1]
    np.testing.assert_allclose(ours.search["validation_loss"], theirs.search["validation_loss"], atol=1e-3)


@pytest.mark.parametrize("workers", [2, 5])
def test_the_number_of_workers_changes_no_byte(make_scene, tmp_path, workers):
    problems = [make_scene(seed).problem for seed in range(3)]
    one = train_batch(problems, [GRID] * 3, replace(SETTINGS, patience=4))
    many = train_batch(problems, [GRID] * 3, replace(SETTINGS, patience=4, workers=workers))
    assert one.model_epochs == many.model_epochs
    for number, (first, second) in enumerate(zip(one.trained, many.trained, strict=True)):
        first.save(tmp_path / f"{number}-one")
        second.save(tmp_path / f"{number}-many")
        assert (tmp_path / f"{number}-one").read_bytes() == (tmp_path / f"{number}-many").read_bytes()


def test_a_problem_does_not_depend_on_the_problems_or_points_around_it(make_scene):
    problems = [make_scene(seed).problem for seed in range(2)]
    both = train_batch(problems, [GRID, GRID[:3]], SETTINGS).trained
    assert same(both[1], train_batch(problems[1:], [GRID[:3]], SETTINGS).trained[0])
    wider = train_batch(problems[1:], [GRID[:3] + grid([0.01], [0.3], [0.0])], SETTINGS).trained[0]
    assert wider.search.iloc[:3].equals(both[1].search)


def test_points_that_differ_in_l_y_only_are_one_model_read_in_several_ways(make_scene):
    problem = make_scene().problem
    points = [HyperParameters(0.05, 0.5, 0.001, l_x=l_x, l_y=l_y) for l_x in (0, 2) for l_y in (0, 1, 4)]
    run = train_batch([problem], [points], SETTINGS)
    assert run.model_epochs == 2 * 30
    for index, point in enumerate(points):
        (alone,) = train_batch([problem], [[point]], SETTINGS).trained
        assert alone.search.iloc[0].equals(run.trained[0].search.iloc[index])


def test_targets_that_depend_on_l_y_are_trained_on(make_scene):
    problem = make_scene().problem
    nodes = problem.labels.train_nodes
    shifted = TrainingTargets.of_labels(nodes, (problem.labels.train_labels + 1) % 3, 3)
    points = [HyperParameters(0.05, 0.0, 0.001, l_y=l_y) for l_y in (0, 2)]
    (ours,) = train_batch([replace(problem, targets={2: shifted})], [points], SETTINGS).trained
    accuracies = ours.search["validation_accuracy"]
    assert accuracies[0] > 0.7 and accuracies[1] < 0.5


def test_soft_targets_between_two_labels_give_both(make_scene):
    problem = make_scene().problem
    nodes = problem.labels.train_nodes
    even = TrainingTargets(nodes, np.full((len(nodes), 3), 1 / 3))
    (ours,) = train_batch([replace(problem, targets={0: even})], [[HyperParameters(0.05, 0.0, 0.1)]], SETTINGS).trained
    assert ours.search["validation_loss"].item() == pytest.approx(np.log(3), abs=0.01)


def test_a_deadline_leaves_points_out_and_says_which(make_scene):
    problem = make_scene().problem
    (ours,) = train_batch([problem], [GRID], SETTINGS, until=time.monotonic() + 1e9).trained
    assert len(ours.search) == len(GRID)
    with pytest.raises(UserError, match="minutes"):
        train_batch([problem], [GRID], SETTINGS, until=time.monotonic())


def test_memory_bounds_the_block_and_is_told(make_scene):
    problem, long = make_scene().problem, replace(SETTINGS, epochs=600, patience=20)
    run = train_batch([problem], [GRID], replace(long, slots=16, workers=3, memory_mb=1))
    assert any("halved" in note for note in run.notes)
    assert same(run.trained[0], train_batch([problem], [GRID], long).trained[0])
    with pytest.raises(UserError, match="memory_mb"):
        train_batch([problem], [GRID], replace(SETTINGS, memory_mb=1, epochs=10**6))


def test_out_of_memory_halves_the_block_and_is_told(make_scene, monkeypatch):
    class Greedy(any_block.Block):
        def __init__(self, shared, slots, graph_steps=None):
            if slots > 2:
                raise MemoryError
            super().__init__(shared, slots, graph_steps)

    problem = make_scene().problem
    expected = train_batch([problem], [GRID], SETTINGS).trained[0]
    monkeypatch.setattr(any_block, "Block", Greedy)
    run = train_batch([problem], [GRID], replace(SETTINGS, slots=8))
    assert run.notes == (
        "out of memory with blocks of 8 models: going on with 4",
        "out of memory with blocks of 4 models: going on with 2",
    )
    assert same(run.trained[0], expected)


def test_the_torch_form_searches_to_the_same_choice(make_scene, monkeypatch):
    problem = make_scene().problem
    settings = replace(SETTINGS, precision="float64", patience=6)
    (compiled,) = train_batch([problem], [GRID], settings).trained
    monkeypatch.setattr(any_block, "Block", TorchBlock)
    (torch_form,) = train_batch([problem], [GRID], settings).trained
    assert torch_form.chosen == compiled.chosen
    columns = ["chosen_epoch", "validation_accuracy", "epochs"]
    assert torch_form.search[columns].equals(compiled.search[columns])
    np.testing.assert_allclose(torch_form.log_probabilities, compiled.log_probabilities, atol=1e-5)


def test_a_diverging_point_is_never_chosen(make_scene):
    problem = make_scene().problem
    (ours,) = train_batch([problem], [grid([1e38, 0.01], [0.0], [0.0])], SETTINGS).trained
    assert ours.chosen == 1
    with pytest.raises(UserError, match="learning rates"):
        train_batch([problem], [grid([1e38], [0.0], [0.0])], SETTINGS)


def relabelled(scene, role):
    """The scene's problem with the labels of one role on other nodes."""
    classes = scene.classes.copy()
    classes[scene.roles[role]] = np.roll(classes[scene.roles[role]], 1)
    labels = reveal_labels(classes, scene.roles[0], scene.roles[1], classes=3, dataset="communities")
    return replace(scene.problem, labels=labels), classes


def test_permuted_test_labels_change_nothing_but_the_test_score(make_scene):
    scene = make_scene()
    permuted, classes = relabelled(scene, 2)
    points = [HyperParameters(0.05, 0.5, 0.001, l_x=l_x, l_y=l_y) for l_x in (0, 2) for l_y in (0, 2)]
    before, after = (train_batch([problem], [points], SETTINGS).trained[0] for problem in (scene.problem, permuted))
    assert same(before, after)
    test = scene.roles[2]
    scores = [score(before.log_probabilities, test, truth[test], 3) for truth in (scene.classes, classes)]
    assert scores[0] != scores[1]


def test_validation_labels_choose_but_are_no_training_target(make_scene):
    scene = make_scene()
    permuted, _ = relabelled(scene, 1)
    points = [HyperParameters(0.05, 0.5, 0.001, l_x=2, l_y=2)]
    for smooth_loss in (False, True):
        settings = replace(SETTINGS, epochs=1, smooth_loss=smooth_loss)
        before, after = (train_batch([problem], [points], settings).trained[0] for problem in (scene.problem, permuted))
        assert np.array_equal(before.log_probabilities, after.log_probabilities)
        assert before.search["validation_loss"].item() != after.search["validation_loss"].item()


@pytest.mark.parametrize("backbone", BACKBONES)
def test_it_learns(make_scene, backbone):
    scene = make_scene()
    (ours,) = train_batch([scene.problem], [GRID], EngineSettings(backbone, epochs=100, workers=1)).trained
    assert score(ours.log_probabilities, scene.roles[2], scene.classes[scene.roles[2]], 3)["accuracy"] > 0.7


def test_mistakes_are_named(make_scene):
    problem = make_scene().problem
    smoothing = [HyperParameters(0.1, 0.0, 0.0, l_x=1)]
    joint = [HyperParameters(0.1, 0.0, 0.0, lambda1=1e-3)]
    for given, points, named in (
        (problem, [], "grid"),
        (replace(problem, smoothing=None), smoothing, "l_x"),
        (problem, joint, "lambda1"),
    ):
        with pytest.raises(UserError, match=named):
            train_batch([given], [points], SETTINGS)
    with pytest.raises(UserError, match=r"\(5, 5\).* 90 "):
        Problem(problem.graph[:5, :5], problem.features, problem.labels, 0)
    for options, named in (
        ({"epochs": 0}, "epochs 0"),
        ({"slots": 3}, " 3: "),
        ({"workers": 0}, "workers 0"),
        ({"device": "tpu"}, "'tpu'"),
    ):
        with pytest.raises(UserError, match=named):
            train_batch([problem], [GRID], replace(SETTINGS, **options))


def test_the_best_of_two_scores_is_found_whatever_the_order():
    from tasks.curator.engine.best_model import BestModel

    offers = [(ValidationScore(0.5, 1.0), 3, 1), (ValidationScore(0.5, 1.0), 1, 4), (ValidationScore(0.4, 0.1), 0, 1)]
    for order in (offers, offers[::-1]):
        best_model = BestModel()
        for offered, point, epoch in order:
            best_model.offer(offered, point, epoch, dict)
        assert (best_model.score, best_model.position) == (ValidationScore(0.5, 1.0), (1, 4))
