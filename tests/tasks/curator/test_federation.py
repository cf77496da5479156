import numpy as np
import pytest
import torch

from tasks.broadcasts.weights import ModelWeights
from tasks.client.local_training import update_line
from tasks.curator.federation import Federation, federated_average, initial_weights
from tasks.errors import UserError
from tasks.models.graph_architecture import GraphArchitecture
from tasks.reports.model_update import ModelUpdate, ValidationCounts
from tasks.seeds import generator

ARCHITECTURE = GraphArchitecture("gin", 3, 2)
LINE = update_line("toy", generator(0))


def update(client: int, examples: int, values: np.ndarray, counts=(0, 0, 0.0), number: int = 0) -> ModelUpdate:
    return ModelUpdate(client, number, examples, values.astype(np.float32), ValidationCounts(*counts), LINE)


def test_average_is_weighted_by_size_for_weights_and_statistics_alike() -> None:
    rng, first = np.random.default_rng(0), initial_weights(ARCHITECTURE, 1)
    vectors, sizes = rng.random((3, ARCHITECTURE.size)), [5, 0, 15]
    after = federated_average(first, [update(c, n, v) for c, (n, v) in enumerate(zip(sizes, vectors, strict=True))])
    np.testing.assert_allclose(after.values, (5 * vectors[0] + 15 * vectors[2]) / 20, rtol=1e-6)
    variance = "layers.0.apply_func.1.running_var"
    parts = [ARCHITECTURE.split(torch.from_numpy(v))[variance].numpy() for v in (vectors[0], vectors[2])]
    ours = ARCHITECTURE.split(torch.from_numpy(after.values))[variance].numpy()
    np.testing.assert_allclose(ours, 0.25 * parts[0] + 0.75 * parts[1], rtol=1e-6)
    assert after.round == 1


def test_nobody_training_changes_nothing() -> None:
    first = initial_weights(ARCHITECTURE, 1)
    for updates in ([], [update(0, 0, first.values)]):
        assert (federated_average(first, updates).values == first.values).all()


def test_answers_to_another_broadcast_and_diverged_training_are_refused() -> None:
    first = initial_weights(ARCHITECTURE, 1)
    with pytest.raises(UserError, match=r"client 3: .*round 0"):
        federated_average(first, [update(3, 1, first.values, number=1)])
    with pytest.raises(UserError, match=r"client 3: .*round 0"):
        federated_average(first, [update(3, 1, first.values[1:])])
    with pytest.raises(UserError, match=r"round 1; .*learning rate"):
        federated_average(first, [update(0, 1, np.full(ARCHITECTURE.size, np.nan))])


def test_champion_is_the_broadcast_that_validates_best_over_all_clients() -> None:
    federation = Federation(initial_weights(ARCHITECTURE, 1))
    broadcasts = [federation.weights]
    # Accuracies 3/6, 4/6, 4/6 with a lower loss, 4/6 with the same loss.
    for number, counts in enumerate(
        [((2, 1, 1.0), (4, 2, 1.0)), ((2, 2, 2.0), (4, 2, 1.0)), ((2, 0, 1.0), (4, 4, 1.0))]
    ):
        values = federation.weights.values + 1
        federation.receive([update(c, 1, values, part, number) for c, part in enumerate(counts)])
        broadcasts.append(federation.weights)
    federation.close([ValidationCounts(6, 4, 2.0)])
    assert federation.best_model is broadcasts[2]
    assert federation.history["validation_accuracy"].tolist() == pytest.approx([3 / 6, 4 / 6, 4 / 6, 4 / 6])
    assert federation.history["round"].tolist() == [0, 1, 2, 3]
    assert federation.history["examples"].tolist() == [2, 2, 2, 0]


def test_without_validation_graphs_the_last_weights_win() -> None:
    federation = Federation(initial_weights(ARCHITECTURE, 1))
    federation.receive([update(0, 1, federation.weights.values + 1)])
    federation.close([])
    assert federation.best_model is federation.weights
    assert federation.history["validation_accuracy"].isna().all()


def test_first_weights_are_a_function_of_the_seed() -> None:
    one, two, other = (initial_weights(ARCHITECTURE, seed).digest() for seed in (1, 1, 2))
    assert one == two != other
    assert isinstance(initial_weights(ARCHITECTURE, None), ModelWeights)
