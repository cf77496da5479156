import numpy as np
import torch
from scipy import sparse
from scipy.special import log_softmax, softmax

from tasks.client.graph_embedding import embed_graphs, predict_graphs
from tasks.curator.federation import initial_weights
from tasks.models.graph_architecture import GraphArchitecture
from tasks.models.graph_backbones import build_graph_network
from tasks.models.graph_stack import stack_graphs


def test_embeddings_and_predictions_do_not_depend_on_the_company() -> None:
    rng = np.random.default_rng(0)
    graphs = [
        sparse.csr_array((b := np.triu(rng.random((n, n)) < 0.4, 1)) | b.T, dtype=np.int8) for n in [1, 7, 12] * 100
    ]
    features = [sparse.csr_array(rng.random((g.shape[0], 4)).astype(np.float32)) for g in graphs]
    stack, architecture = stack_graphs(graphs, features), GraphArchitecture("gin", 4, 3)
    weights = initial_weights(architecture, 1)
    network = build_graph_network(architecture, device=torch.device("cpu"), form="torch")
    together, classes = embed_graphs(stack, weights, network), predict_graphs(stack, weights, network)
    assert [h.shape for h in together] == [(g.shape[0], 64) for g in graphs]
    assert classes.shape == (300, 3)
    for number in (0, 255, 256, 299):
        alone = stack.subset(np.array([number]))
        batch = network.to_batch(alone)
        raw = network.embed(batch).detach().numpy().astype(float)
        logits = network.logits(batch).detach().numpy()
        # Five layers sum 64 terms each in float32, in an order that the company decides.
        rounding = 5 * 64 * np.finfo(np.float32).eps / 2 * max(np.abs(raw).max(), np.abs(logits).max())
        np.testing.assert_allclose(together[number], softmax(raw, axis=1), atol=rounding)
        np.testing.assert_allclose(embed_graphs(alone, weights, network)[0], together[number], atol=rounding)
        np.testing.assert_allclose(classes[number], log_softmax(logits, axis=1)[0], atol=rounding)
