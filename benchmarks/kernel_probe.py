"""One small computation per numerical library and its digest, as JSON: ``python -m benchmarks.kernel_probe``.

What it prints depends on the kernels that the libraries chose, as results do.
"""

from __future__ import annotations

from flows.system.environment import configure_environment

if __name__ == "__main__":
    configure_environment()

import hashlib
import json
import math

import dgl
import numpy as np
import scipy.linalg
import torch
from gensim.models import Word2Vec
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist
from scipy.special import gammaln, logsumexp
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.svm import SVC
from torch.nn import functional

ROWS, COLUMNS, CLASSES = 300, 97, 61


@njit(fastmath={"contract"})
def _contracted(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i] + math.exp(-abs(a[i]))
    return total


def probe() -> dict[str, str]:
    """Digests by library and operation."""
    rng = np.random.Generator(np.random.PCG64(1))
    x, w = rng.standard_normal((ROWS, COLUMNS)), rng.standard_normal((COLUMNS, CLASSES))
    labels = (x[:, 0] + rng.standard_normal(ROWS) > 0).astype(int)
    words = [[str(word) for word in line] for line in rng.integers(0, 40, (60, 30))]
    gram = x.T @ x
    kernel = np.exp(-(pairwise_distances(x) ** 2) / COLUMNS)
    found = {
        "numpy exp, log, tanh": _digest(np.exp(x), np.log(np.abs(x)), np.tanh(x), np.abs(x) ** 1.7),
        "numpy sums": _digest(x.sum(), x.sum(0), x.sum(1), x.var(0), np.einsum("ij,jk->ik", x, w)),
        "numpy argsort with ties": _digest(np.argsort(x.ravel().round(1).astype(np.float32))),
        "OpenBLAS products": _digest(x @ w, x.astype(np.float32) @ w.astype(np.float32), x.ravel() @ x.ravel()),
        "OpenBLAS eigenvalues": _digest(np.linalg.eigh(gram)[0], scipy.linalg.eigh(gram)[0]),
        "SciPy": _digest(gammaln(np.abs(x)), logsumexp(x, axis=1), pdist(x)),
        "numba": _digest(_contracted(x.ravel(), x.ravel()[::-1].copy())),
        "scikit-learn logistic regression": _digest(LogisticRegression().fit(x, labels).coef_),
        "scikit-learn SVM": _digest(SVC(kernel="precomputed").fit(kernel, labels).dual_coef_),
        "scikit-learn k-means": _digest(KMeans(5, n_init=2, random_state=0).fit(x).cluster_centers_),
        "gensim": _digest(Word2Vec(words, vector_size=64, sg=1, hs=1, negative=0, workers=1, seed=1).wv.vectors),
    }
    return found | _torch(x.astype(np.float32), w.astype(np.float32), rng)


def _torch(x: NDArray[np.float32], w: NDArray[np.float32], rng: np.random.Generator) -> dict[str, str]:
    features, weight = torch.from_numpy(x), torch.from_numpy(w)
    targets = torch.from_numpy(rng.integers(0, CLASSES, ROWS))
    entries = sparse.random_array((ROWS, ROWS), density=0.05, rng=np.random.default_rng(3), format="coo")
    graph = dgl.graph((torch.from_numpy(entries.row.astype(np.int64)), torch.from_numpy(entries.col.astype(np.int64))))
    graph = dgl.add_nodes(graph, ROWS - graph.num_nodes())
    trained = torch.nn.Parameter(features.clone())
    adam = torch.optim.Adam([trained], lr=0.01, weight_decay=0.01, fused=True)
    norm = torch.nn.BatchNorm1d(COLUMNS)
    for _ in range(5):
        adam.zero_grad()
        functional.cross_entropy(norm(torch.selu(trained)) @ weight, targets).backward()
        adam.step()
    convolved = dgl.nn.pytorch.GraphConv(COLUMNS, CLASSES, norm="none", weight=False, bias=False)(
        graph, features, edge_weight=torch.from_numpy(entries.data.astype(np.float32))
    )
    return {
        "MKL products": _digest((features @ weight).numpy(), (features.double() @ weight.double()).numpy()),
        "torch softmax": _digest(torch.softmax(features, 1).numpy(), torch.log_softmax(features, 1).numpy()),
        "torch sums": _digest(features.sum().numpy(), features.mean(0).numpy(), features.var(0).numpy()),
        "torch training": _digest(trained.detach().numpy()),
        "dgl sparse product": _digest(convolved.numpy()),
    }


def _digest(*arrays: NDArray[np.generic] | float) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    print(json.dumps(probe()))
