import numpy as np
import pytest
import torch
from scipy import sparse

from tasks.broadcasts.weights import ModelWeights
from tasks.client.local_training import Examples, GraphClient, LocalSettings, update_line
from tasks.curator.federation import initial_weights
from tasks.errors import UserError
from tasks.models.graph_architecture import GraphArchitecture
from tasks.models.graph_backbones import build_graph_network
from tasks.models.graph_stack import GraphStack, stack_graphs
from tasks.seeds import generator

CPU = torch.device("cpu")


def rings(sizes: list[int]) -> GraphStack:
    graphs = [sparse.csr_array((r := np.roll(np.eye(n, dtype=np.int8), 1, axis=1)) | r.T) for n in sizes]
    rng = np.random.default_rng(0)
    return stack_graphs(graphs, [sparse.csr_array(rng.random((n, 3)).astype(np.float32)) for n in sizes])


def client(train: Examples, validation: Examples, backbone="gin", level="graph", seed=0, **settings) -> GraphClient:
    network = build_graph_network(GraphArchitecture(backbone, 3, 2, level), device=CPU, form="torch")
    return GraphClient(
        4,
        train,
        validation,
        network=network,
        device=CPU,
        settings=LocalSettings(**settings),
        rng=generator(seed),
        ledger=update_line("toy", generator(0)),
    )


def first(backbone="gin", level="graph") -> ModelWeights:
    return initial_weights(GraphArchitecture(backbone, 3, 2, level), 7)


def some(sizes: list[int]) -> Examples:
    return Examples(rings(sizes), np.arange(len(sizes)) % 2)


NONE = Examples(rings([3]).subset(np.empty(0, dtype=np.int64)), np.empty(0, dtype=np.int64))


def test_one_batch_of_gcn_is_one_step_of_adam_on_the_mean_cross_entropy() -> None:
    """Without dropout and batch norm; Adam's first step is rate * g / (|g| + eps)."""
    data, weights = some([4, 5, 6]), first("gcn")
    update = client(data, NONE, "gcn", learning_rate=0.02).train(weights)
    network = build_graph_network(weights.architecture, device=CPU, form="dgl", dtype=torch.float64)
    network.load(weights.values)
    torch.nn.functional.cross_entropy(
        network.logits(network.to_batch(data.graphs)), torch.tensor(data.labels)
    ).backward()
    slopes = np.concatenate([p.grad.numpy().ravel() for _, p in network.named_parameters()])
    expected = weights.values - 0.02 * slopes / (np.abs(slopes) + 1e-8)
    clear = np.abs(slopes) > 1e-5
    np.testing.assert_allclose(update.values[clear], expected[clear], atol=1e-5)
    assert (update.client, update.round, update.examples) == (4, 0, 3)


def test_validation_is_of_the_broadcast_in_evaluation_mode() -> None:
    weights, data = first(), some([5, 6, 7, 8])
    counts = client(some([4, 4]), data).train(weights).validation
    network = build_graph_network(weights.architecture, device=CPU, form="torch")
    network.load(weights.values)
    logits = network.eval().logits(network.to_batch(data.graphs)).detach()
    assert counts.hits == int((logits.argmax(dim=1).numpy() == data.labels).sum())
    loss = -torch.log_softmax(logits, dim=1)[range(4), data.labels].sum()
    assert counts.loss == pytest.approx(float(loss), rel=1e-6)


def test_batches_cover_every_graph_once_an_epoch_and_training_learns() -> None:
    data = Examples(rings([3] * 40 + [12] * 35), np.repeat([0, 1], [40, 35]))
    trainee = client(data, data, "gin", batch_size=16, epochs=3)
    batches = list(trainee._batches())
    assert sorted(len(labels) for _, labels in batches) == [15] * 5
    assert sum(int(labels.sum()) for _, labels in batches) == 35
    weights = first()
    before = trainee.validate(weights).loss
    after = trainee.validate(ModelWeights(weights.architecture, 1, trainee.train(weights).values)).loss
    assert after < before / 2


def test_statistics_of_batch_norm_travel() -> None:
    weights = first()
    moved = weights.architecture.split(torch.from_numpy(client(some([4, 6]), NONE).train(weights).values))
    assert all((part != 1).any() for name, part in moved.items() if "running_var" in name)


def test_clients_with_few_graphs_take_part() -> None:
    single = Examples(
        stack_graphs([sparse.csr_array((1, 1), dtype=np.int8)], [sparse.csr_array(np.ones((1, 3)))]), np.array([1])
    )
    update = client(single, NONE).train(first())
    assert update.examples == 1
    assert np.isfinite(update.values).all()
    assert update.validation.examples == 0
    idle = client(NONE, some([5])).train(first())
    assert idle.examples == 0
    assert (idle.values == first().values).all()
    assert idle.validation.examples == 1


def test_node_level_leaves_unknown_labels_out() -> None:
    labels = np.array([0, 1, -1, 1, 0, 1, -1])
    data, weights = Examples(rings([3, 4]), labels), first("gcn", "node")
    one = client(data, data, "gcn", "node").train(weights)
    assert one.examples == one.validation.examples == 5
    many = client(Examples(rings([3] * 40), np.tile([0, 1, -1], 40)), NONE, "gcn", "node").train(weights)
    assert many.examples == 80


def test_same_seed_same_update_and_the_ledger_promises_nothing() -> None:
    data = some([4, 5] * 30)
    one, two, other = (client(data, NONE, seed=seed).train(first()) for seed in (1, 1, 2))
    assert one.digest() == two.digest() != other.digest()
    assert one.ledger.statement == "no guarantee: weights trained on raw graphs cross in clear"
    assert not one.ledger.guarantee
    assert one.ledger.epsilon == "inf"


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"epochs": 0}, {"learning_rate": 0.0}, {"batch_size": 0}):
        with pytest.raises(UserError, match=next(iter(wrong))):
            LocalSettings(**wrong)
