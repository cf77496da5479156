"""Both forms against dense numpy, and against each other, on graphs with every awkward feature."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tasks.errors import UserError
from tasks.models.affine_input import affine_input
from tasks.models.architecture import BACKBONES, Architecture, xavier_weights
from tasks.models.networks import build_network, resolve

CPU = torch.device("cpu")
CONSTANT = 0.5


def awkward_graph(rng, nodes):
    """Directed, with diagonal bits, and node 0 lists nobody although others list it."""
    bits = rng.random((nodes, nodes)) < 0.3
    bits[0] = False
    bits[1, 0] = bits[2, 2] = True
    return sparse.csr_array(bits.astype(np.int8))


def awkward_features(rng, nodes, dimensions):
    return sparse.csr_array(np.where(rng.random((nodes, dimensions)) < 0.3, rng.normal(size=(nodes, dimensions)), 0.0))


def numpy_selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))


def dense_logits(backbone, normalization, graph, x, w):
    """The definition, node by node, from the lists alone."""
    graph = graph.toarray().astype(float)
    nodes = len(graph)

    def gcn_step(h):
        lists = graph.copy()
        np.fill_diagonal(lists, 1.0)
        degree = lists.sum(axis=1)
        out = np.zeros_like(h)
        for i in range(nodes):
            for j in np.flatnonzero(lists[i]):
                out[i] += h[j] / (degree[i] if normalization == "mean" else np.sqrt(degree[i] * degree[j]))
        return out

    def mean_step(h):
        return np.stack([h[graph[i] == 1].mean(axis=0) if graph[i].any() else h[i] for i in range(nodes)])

    def layer(h, name):
        if backbone == "gcn":
            return gcn_step(h) @ w[f"{name}_weight"] + w[f"{name}_bias"]
        return h @ w[f"{name}_root"] + mean_step(h) @ w[f"{name}_neighbour"] + w[f"{name}_bias"]

    return layer(numpy_selu(layer(x, "first")), "second")


def random_weights(architecture, rng):
    return {name: torch.tensor(rng.normal(size=shape)) for name, shape in architecture.weight_shapes().items()}


@pytest.mark.parametrize("form", ["dgl", "torch"])
@pytest.mark.parametrize(("backbone", "normalization"), [("gcn", "symmetric"), ("gcn", "mean"), ("sage", "symmetric")])
def test_forward_is_the_definition(form, backbone, normalization):
    rng = np.random.default_rng(0)
    graph, matrix = awkward_graph(rng, 23), awkward_features(rng, 23, 31)
    architecture = Architecture(backbone, 31, 5)
    weights = random_weights(architecture, rng)
    network = build_network(
        architecture, graph, normalization=normalization, device=CPU, form=form, dtype=torch.float64
    )
    network.load(weights)
    features = affine_input(CONSTANT, matrix, dtype=torch.float64, device=CPU)
    logits = network.logits(network.hidden(features)).detach().numpy()
    plain = {name: value.numpy() for name, value in weights.items()}
    expected = dense_logits(backbone, normalization, graph, CONSTANT + matrix.toarray(), plain)
    np.testing.assert_allclose(logits, expected, atol=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**31), backbone=st.sampled_from(BACKBONES), nodes=st.integers(3, 30), soft=st.booleans())
def test_forms_agree_in_values_and_gradients(seed, backbone, nodes, soft):
    rng = np.random.default_rng(seed)
    graph = awkward_graph(rng, nodes)
    if soft:
        graph = sparse.csr_array(graph * rng.random((nodes, nodes)))
    matrix = awkward_features(rng, nodes, 7)
    architecture = Architecture(backbone, 7, 3, hidden=4)
    weights, labels = random_weights(architecture, rng), torch.tensor(rng.integers(3, size=nodes))
    features = affine_input(CONSTANT, matrix, dtype=torch.float64, device=CPU)
    outcomes = []
    for form in ("dgl", "torch"):
        network = build_network(architecture, graph, device=CPU, form=form, dtype=torch.float64)
        network.load(weights)
        logits = network.logits(network.hidden(features))
        torch.nn.functional.cross_entropy(logits, labels).backward()
        torch.optim.SGD(network.parameters(), lr=1.0).step()
        gradients = {name: weights[name] - stepped.detach() for name, stepped in network.weights().items()}
        outcomes.append({"logits": logits.detach(), **gradients})
    ours, theirs = outcomes
    assert ours.keys() == theirs.keys() == {"logits", *architecture.weight_shapes()}
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-6)


@pytest.mark.parametrize("form", ["dgl", "torch"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_node_hears_only_those_it_lists(form, backbone):
    """Two hops: 0 lists 1, 1 lists 2; so node 2's features reach 0, and node 0's reach nobody else."""
    graph = sparse.csr_array((np.ones(2, np.int8), ([0, 1], [1, 2])), shape=(4, 4))
    architecture = Architecture(backbone, 4, 2)
    network = build_network(architecture, graph, device=CPU, form=form)
    network.load(xavier_weights(architecture, torch.Generator().manual_seed(0)))

    def logits(changed):
        eye = sparse.diags_array(np.where(np.arange(4) == changed, 3.0, 1.0)).tocsr()
        return network.logits(network.hidden(affine_input(0.0, eye, dtype=torch.float32, device=CPU))).detach()

    before = logits(changed=-1)
    moved = [{int(i) for i in np.flatnonzero((logits(node) != before).any(dim=1))} for node in range(4)]
    assert moved == [{0}, {0, 1}, {0, 1, 2}, {3}]


def test_equal_seeds_give_equal_weights_within_xavier_bounds():
    architecture = Architecture("sage", 200, 7)
    first, second = (xavier_weights(architecture, torch.Generator().manual_seed(5)) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    bound = (6 / (200 + 16)) ** 0.5
    assert 0.95 * bound < first["first_root"].abs().max() <= bound
    assert not first["first_bias"].any()
    assert not torch.equal(first["first_root"], first["first_neighbour"])


def test_dgl_serves_the_cpu_and_cuda_is_refused_in_one_line():
    assert resolve("cpu") == (CPU, "dgl")
    assert resolve("cpu", "torch") == (CPU, "torch")
    assert resolve("auto", "dgl") == (CPU, "dgl")
    with pytest.raises(UserError, match=r"cuda.*dgl"):
        resolve("cuda", "dgl")
    with pytest.raises(UserError, match="tpu"):
        resolve("tpu")


def test_cuda_without_a_gpu_names_the_remedy(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match="device cpu"):
        resolve("cuda")


def test_cuda_takes_the_torch_form_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve("auto") == (torch.device("cuda"), "torch")
    assert resolve("auto", "dgl") == (CPU, "dgl")


def test_unknown_words_are_named():
    with pytest.raises(UserError, match="'gat'"):
        Architecture("gat", 3, 2)
    with pytest.raises(UserError, match="'row'"):
        build_network(
            Architecture("gcn", 3, 2), sparse.csr_array((3, 3)), normalization="row", device=CPU, form="torch"
        )
