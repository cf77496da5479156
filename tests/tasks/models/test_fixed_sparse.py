import numpy as np
import torch
from scipy import sparse

from tasks.models.affine_input import affine_input
from tasks.models.fixed_sparse import FixedSparse

CPU = torch.device("cpu")


def test_product_and_gradient_are_those_of_the_dense_matrix():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((6, 9)) < 0.4, rng.normal(size=(6, 9)), 0)
    fixed = FixedSparse(sparse.csr_array(dense), dtype=torch.float64, device=CPU)
    right = torch.tensor(rng.normal(size=(9, 3)), requires_grad=True)
    np.testing.assert_allclose((fixed @ right).detach(), dense @ right.detach().numpy(), atol=1e-12)
    assert torch.autograd.gradcheck(lambda x: fixed @ x, (right,))


def test_projection_is_that_of_the_dense_features():
    rng = np.random.default_rng(1)
    dense = np.where(rng.random((6, 9)) < 0.2, rng.normal(size=(6, 9)), 0)
    weight = torch.tensor(rng.normal(size=(9, 4)), requires_grad=True)
    features = affine_input(-1.25, sparse.csr_array(dense), dtype=torch.float64, device=CPU)
    np.testing.assert_allclose(features.project(weight).detach(), (dense - 1.25) @ weight.detach().numpy(), atol=1e-12)
    assert torch.autograd.gradcheck(features.project, (weight,))
