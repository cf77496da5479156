"""Training on a small graph of three noisy communities."""

import numpy as np
import pytest
import torch
from scipy import sparse

from tasks.client.labels import reveal_labels
from tasks.curator.hyper_parameters import grid
from tasks.curator.rectify import AffineSparse
from tasks.curator.trained import SEARCH_COLUMNS, Trained
from tasks.curator.training import train
from tasks.errors import UserError
from tasks.evaluation.node_classification.scoring import score
from tasks.models.affine_input import affine_input
from tasks.models.architecture import BACKBONES, Architecture
from tasks.models.networks import build_network

NODES, CLASSES = 90, 3
GRID = grid([0.001, 0.05], [0.0, 0.5], [0.001])
CPU = torch.device("cpu")


def communities():
    """Graph, features and classes, with 45 training, 23 validation and 22 test nodes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(CLASSES, size=NODES)
    alike = classes[:, None] == classes[None, :]
    lists = rng.random((NODES, NODES)) < np.where(alike, 0.15, 0.02)
    cells = np.where(rng.random((NODES, CLASSES)) < 0.6, np.eye(CLASSES)[classes] - 0.5, 0.0)
    roles = np.split(rng.permutation(NODES), [45, 68])
    return sparse.csr_array(lists.astype(np.int8)), AffineSparse(0.5, sparse.csr_array(cells)), classes, roles


def report(classes, roles):
    return reveal_labels(classes, roles[0], roles[1], classes=CLASSES, dataset="communities")


def trained(classes=None, **options):
    graph, features, truth, roles = communities()
    labels = report(truth if classes is None else classes, roles)
    defaults = {"backbone": "gcn", "grid": GRID, "epochs": 12, "seed": 3, "device": "cpu", "form": "torch"}
    return train(graph, features, labels, **(defaults | options))


@pytest.mark.parametrize("form", ["dgl", "torch"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_same_seed_gives_the_same_file_and_another_does_not(tmp_path, form, backbone):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        torch.set_num_threads(2)  # what ran before in the process does not matter
        trained(seed=seed, form=form, backbone=backbone).save(tmp_path / name)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_no_seed_never_repeats():
    first, second = (trained(seed=None).log_probabilities for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_file_comes_back_equal(tmp_path):
    result = trained()
    result.save(tmp_path / "t.npz")
    back = Trained.load(tmp_path / "t.npz")
    assert (back.backbone, back.chosen, back.hyper_parameters) == (result.backbone, result.chosen, GRID[result.chosen])
    assert back.search.equals(result.search)
    assert np.array_equal(back.log_probabilities, result.log_probabilities)
    assert back.weights.keys() == result.weights.keys()
    assert all(np.array_equal(back.weights[name], value) for name, value in result.weights.items())


@pytest.mark.parametrize("backbone", BACKBONES)
def test_predictions_are_those_of_the_returned_weights_and_match_the_search_table(backbone):
    result = trained(backbone=backbone)
    graph, features, classes, roles = communities()
    network = build_network(Architecture(backbone, CLASSES, CLASSES), graph, device=CPU, form="dgl")
    network.load({name: torch.from_numpy(value) for name, value in result.weights.items()})
    inputs = affine_input(features.constant, features.sparse, dtype=torch.float32, device=CPU)
    expected = network.logits(network.hidden(inputs)).log_softmax(dim=1).detach().numpy()
    np.testing.assert_allclose(result.log_probabilities, expected, atol=1e-5)
    assert result.log_probabilities.dtype == np.float32
    validation = result.log_probabilities[roles[1]]
    row = result.search.iloc[result.chosen]
    assert row["validation_accuracy"] == np.mean(validation.argmax(axis=1) == classes[roles[1]])
    assert row["validation_loss"] == pytest.approx(-validation[np.arange(23), classes[roles[1]]].mean(), abs=1e-5)


def test_the_search_table_holds_validation_metrics_only_and_the_rule_chose():
    result = trained()
    assert tuple(result.search.columns) == SEARCH_COLUMNS
    order = result.search.sort_values(
        ["validation_accuracy", "validation_loss"], ascending=[False, True], kind="stable"
    )
    assert result.chosen == order.index[0]
    assert result.search["chosen_epoch"].between(1, 12).all()


def test_the_best_epoch_is_the_best_of_all_shorter_runs():
    """The prefix of a longer run is the shorter run, so the best score can only grow, and moves when the epoch does."""
    runs = [trained(grid=GRID[3:], epochs=epochs).search.iloc[0] for epochs in range(1, 13)]
    keys = [(run["validation_accuracy"], -run["validation_loss"]) for run in runs]
    assert keys == sorted(keys)
    for epochs in range(1, 12):
        moved = keys[epochs] > keys[epochs - 1]
        assert runs[epochs]["chosen_epoch"] == (epochs + 1 if moved else runs[epochs - 1]["chosen_epoch"])


def test_a_point_does_not_depend_on_the_points_around_it():
    whole = trained().search
    alone = [trained(grid=[point]).search.iloc[0] for point in GRID]
    assert all(whole.iloc[index].equals(row) for index, row in enumerate(alone))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_both_forms_train_to_the_same_predictions(backbone):
    dgl, torch_form = (trained(backbone=backbone, form=form).log_probabilities for form in ("dgl", "torch"))
    np.testing.assert_allclose(dgl, torch_form, atol=1e-3)


def test_permuted_test_labels_change_nothing_but_the_test_score(tmp_path):
    *_, classes, roles = communities()
    permuted = classes.copy()
    permuted[roles[2]] = np.roll(classes[roles[2]], 1)
    trained().save(tmp_path / "a")
    trained(classes=permuted).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    predictions = Trained.load(tmp_path / "a").log_probabilities
    scores = [score(predictions, roles[2], truth[roles[2]], CLASSES) for truth in (classes, permuted)]
    assert scores[0] != scores[1]


def test_validation_labels_choose_but_are_no_training_target():
    *_, classes, roles = communities()
    permuted = classes.copy()
    permuted[roles[1]] = np.roll(classes[roles[1]], 1)
    one_epoch = {"grid": GRID[:1], "epochs": 1}
    before, after = trained(**one_epoch), trained(classes=permuted, **one_epoch)
    assert np.array_equal(before.log_probabilities, after.log_probabilities)
    assert before.search["validation_loss"].item() != after.search["validation_loss"].item()


@pytest.mark.parametrize("backbone", BACKBONES)
def test_it_learns(backbone):
    _, _, classes, roles = communities()
    result = trained(backbone=backbone, epochs=100)
    assert score(result.log_probabilities, roles[2], classes[roles[2]], CLASSES)["accuracy"] > 0.8


def test_patience_stops_a_run_that_no_longer_improves():
    full, patient = trained(epochs=200), trained(epochs=200, patience=20)
    assert (patient.search["chosen_epoch"] <= full.search["chosen_epoch"]).all()
    never = trained(epochs=200, patience=200)
    assert never.search.equals(full.search)


def test_weight_decay_shrinks_the_weights():
    free, decayed = (trained(grid=grid([0.01], [0.0], [decay]), epochs=60) for decay in (0.0, 1.0))
    norms = [sum(float((value**2).sum()) for value in run.weights.values()) for run in (free, decayed)]
    assert norms[1] < norms[0]


def test_a_diverging_point_is_never_chosen():
    result = trained(grid=grid([1e38, 0.01], [0.0], [0.0]))
    assert result.chosen == 1
    with pytest.raises(UserError, match="learning rates"):
        trained(grid=grid([1e38], [0.0], [0.0]))


def test_mistakes_are_named():
    graph, features, classes, roles = communities()
    for options, named in (
        ({"grid": []}, "grid"),
        ({"epochs": 0}, "epochs 0"),
        ({"backbone": "gat"}, "'gat'"),
        ({"device": "cuda", "form": "dgl"}, "cuda.*dgl"),
    ):
        with pytest.raises(UserError, match=named):
            trained(**options)
    with pytest.raises(UserError, match="validation"):
        train(graph, features, report(classes, [roles[0], roles[1][:0]]), backbone="gcn", grid=GRID, seed=0)
    with pytest.raises(UserError, match=r"\(5, 5\).* 90 "):
        train(graph[:5, :5], features, report(classes, roles), backbone="gcn", grid=GRID, seed=0)
