"""Both forms against a dense definition, graph by graph, and against each other, on batches with odd graphs."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tasks.errors import UserError
from tasks.models.graph_architecture import GRAPH_BACKBONES, GraphArchitecture, initial_vector
from tasks.models.graph_backbones import build_graph_network
from tasks.models.graph_stack import stack_graphs

CPU = torch.device("cpu")


def random_graphs(rng, sizes, dimensions):
    """Graph 0 has no edges; the others have some nodes without any."""
    adjacencies, features = [], []
    for position, n in enumerate(sizes):
        bits = np.triu(rng.random((n, n)) < (0.4 if position else 0.0), 1)
        adjacencies.append(sparse.csr_array((bits | bits.T).astype(np.int8)))
        features.append(sparse.csr_array(rng.normal(size=(n, dimensions)).astype(np.float32)))
    return adjacencies, features


def random_vector(architecture, rng):
    vector = initial_vector(architecture, torch.Generator().manual_seed(1))
    return (vector + 0.05 * rng.normal(size=len(vector))).astype(np.float32)


def network_for(architecture, form, vector):
    network = build_graph_network(architecture, device=CPU, form=form, dtype=torch.float64)
    network.load(vector)
    return network


def dense_logits(architecture, a, x, w):
    """The definition in evaluation mode, one graph at a time."""
    for layer in range(architecture.layers):
        name = f"layers.{layer}"
        if architecture.backbone == "gcn":
            loops = a + np.eye(len(a))
            scale = 1 / np.sqrt(loops.sum(axis=1))
            x = (scale[:, None] * loops * scale) @ x @ w[f"{name}.weight"] + w[f"{name}.bias"]
            x = np.maximum(x, 0) if layer == 0 else x
            continue
        name += ".apply_func"
        x = (a + np.eye(len(a))) @ x @ w[f"{name}.0.weight"].T + w[f"{name}.0.bias"]
        x = (x - w[f"{name}.1.running_mean"]) / np.sqrt(w[f"{name}.1.running_var"] + 1e-5)
        x = np.maximum(x * w[f"{name}.1.weight"] + w[f"{name}.1.bias"], 0)
        x = np.maximum(x @ w[f"{name}.3.weight"].T + w[f"{name}.3.bias"], 0)
    embedding = x
    if architecture.level == "graph":
        x = x.mean(axis=0, keepdims=True) if architecture.backbone == "gcn" else x.sum(axis=0, keepdims=True)
    if architecture.backbone == "gin":
        x = np.maximum(x @ w["readout.weight"].T + w["readout.bias"], 0)
    return embedding, x @ w["head.weight"].T + w["head.bias"]


@pytest.mark.parametrize("form", ["dgl", "torch"])
@pytest.mark.parametrize("level", ["graph", "node"])
@pytest.mark.parametrize("backbone", GRAPH_BACKBONES)
def test_forward_is_the_definition(form, level, backbone):
    rng = np.random.default_rng(0)
    architecture = GraphArchitecture(backbone, 6, 3, level)
    adjacencies, features = random_graphs(rng, [4, 1, 9, 17], 6)
    vector = random_vector(architecture, rng)
    network = network_for(architecture, form, vector).eval()
    batch = network.to_batch(stack_graphs(adjacencies, features))
    weights = {name: part.double().numpy() for name, part in architecture.split(torch.from_numpy(vector)).items()}
    pairs = zip(adjacencies, features, strict=True)
    dense = [dense_logits(architecture, a.toarray().astype(float), x.toarray(), weights) for a, x in pairs]
    for ours, part in ((network.embed(batch), 0), (network.logits(batch), 1)):
        expected = np.concatenate([pair[part] for pair in dense])
        np.testing.assert_allclose(ours.detach().numpy(), expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=12)
@given(seed=st.integers(0, 2**31), backbone=st.sampled_from(GRAPH_BACKBONES), level=st.sampled_from(["graph", "node"]))
def test_forms_agree_in_training(seed, backbone, level):
    """Three steps with dropout: logits, weights and batch-norm statistics within 1e-6 in float64."""
    rng = np.random.default_rng(seed)
    architecture = GraphArchitecture(backbone, 5, 3, level)
    stack = stack_graphs(*random_graphs(rng, rng.integers(2, 15, size=6), 5))
    labels = torch.from_numpy(rng.integers(3, size=stack.graphs if level == "graph" else stack.nodes))
    vector = random_vector(architecture, rng)
    outcomes = []
    for form in ("dgl", "torch"):
        network = network_for(architecture, form, vector)
        batch, masks = network.to_batch(stack), torch.Generator().manual_seed(2)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network.logits(batch, masks), labels).backward()
            optimizer.step()
        state = {name: value for name, value in network.state_dict().items() if name in architecture.weight_shapes}
        outcomes.append(state | {"logits": network.eval().logits(batch).detach()})
    ours, theirs = outcomes
    assert ours.keys() == theirs.keys() == {"logits", *architecture.weight_shapes}
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-6)


@pytest.mark.parametrize("form", ["dgl", "torch"])
@pytest.mark.parametrize("backbone", GRAPH_BACKBONES)
def test_vectors_hold_every_weight_and_statistic(form, backbone):
    architecture = GraphArchitecture(backbone, 7, 2)
    network = build_graph_network(architecture, device=CPU, form=form)
    vector = initial_vector(architecture, torch.Generator().manual_seed(3))
    assert vector.shape == (architecture.size,)
    network.load(vector)
    assert (network.vector() == vector).all()
    names = {name for name in network.state_dict() if not name.endswith(("num_batches_tracked", ".eps"))}
    assert names == set(architecture.weight_shapes)
    again = initial_vector(architecture, torch.Generator().manual_seed(3))
    assert (again == vector).all()
    scales = [part for name, part in architecture.split(torch.from_numpy(vector)).items() if "running_var" in name]
    assert all((part == 1).all() for part in scales)


@pytest.mark.parametrize("backbone", GRAPH_BACKBONES)
def test_graphs_of_a_batch_do_not_touch_each_other(backbone):
    rng = np.random.default_rng(1)
    architecture = GraphArchitecture(backbone, 4, 2)
    adjacencies, features = random_graphs(rng, [5, 8, 3], 4)
    network = network_for(architecture, "torch", random_vector(architecture, rng)).eval()
    together = network.logits(network.to_batch(stack_graphs(adjacencies, features)))
    alone = [
        network.logits(network.to_batch(stack_graphs([a], [x]))) for a, x in zip(adjacencies, features, strict=True)
    ]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-10, atol=1e-10)


def test_a_large_graph_and_unknown_words():
    big = sparse.csr_array(sparse.diags_array([np.ones(619), np.ones(619)], offsets=[1, -1]).astype(np.int8))
    stack = stack_graphs([big], [sparse.csr_array(np.eye(620, 3, dtype=np.float32))])
    for form in ("dgl", "torch"):
        network = build_graph_network(GraphArchitecture("gin", 3, 2), device=CPU, form=form)
        assert network.logits(network.to_batch(stack)).shape == (1, 2)
    with pytest.raises(UserError, match="'gat'"):
        GraphArchitecture("gat", 3, 2)
    with pytest.raises(UserError, match="0 features"):
        GraphArchitecture("gin", 0, 2)
