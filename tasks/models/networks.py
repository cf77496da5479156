"""Builds a network in the form that fits the device: dgl's layers on the CPU, plain torch on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol

import torch
from scipy import sparse
from torch import Tensor, nn

from tasks.errors import UserError
from tasks.models.affine_input import AffineInput
from tasks.models.architecture import Architecture
from tasks.models.propagation import Normalization, propagation_matrix
from tasks.models.torch_form import TorchNetwork

Device = Literal["auto", "cpu", "cuda"]
Form = Literal["auto", "dgl", "torch"]


class Network(Protocol):
    """What training needs of a form: two differentiable halves around the dropout, and its weights by name."""

    def hidden(self, features: AffineInput) -> Tensor:
        """First layer and SELU, before dropout: (N, hidden)."""

    def logits(self, hidden: Tensor) -> Tensor:
        """Second layer: (N, classes)."""

    def weights(self) -> dict[str, Tensor]:
        """The live weights by name, matrices as (inputs, outputs)."""

    def load(self, weights: dict[str, Tensor]) -> None:
        """Copies weights into this network."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """What the optimiser updates."""


def resolve(device: Device, form: Form = "auto") -> tuple[torch.device, Form]:
    """The device and form to use. ``auto`` takes a GPU where torch sees one, unless the dgl form is asked for.

    Raises:
        UserError: for an unknown word, ``cuda`` without a GPU, or the dgl form on ``cuda``.
    """
    if device not in ("auto", "cpu", "cuda"):
        raise UserError(f"device {device!r} is unknown; use auto, cpu or cuda")
    if form not in ("auto", "dgl", "torch"):
        raise UserError(f"form {form!r} is unknown; use auto, dgl or torch")
    if device == "cuda" and form == "dgl":
        raise UserError("device cuda: the dgl form runs on the CPU only; use form torch, or device cpu")
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device cuda: torch sees no GPU here; use device cpu or auto, or install torch with CUDA")
    if device == "cpu" or form == "dgl" or not torch.cuda.is_available():
        return torch.device("cpu"), "torch" if form == "torch" else "dgl"
    return torch.device("cuda"), "torch"


def set_threads(threads: int, form: Form) -> None:
    """Threads of torch's and dgl's kernels. One gives the same bytes whatever else runs beside."""
    torch.set_num_threads(threads)
    if form == "dgl":
        from tasks.models.dgl_adapter import set_dgl_threads

        set_dgl_threads(threads)


def build_network(
    architecture: Architecture,
    adjacency: sparse.csr_array,
    *,
    normalization: Normalization = "symmetric",
    device: torch.device,
    form: Form,
    dtype: torch.dtype = torch.float32,
) -> Network:
    """A network with zero weights over the graph (N, N); ``device`` and ``form`` come from ``resolve``."""
    propagation = propagation_matrix(adjacency, architecture.backbone, normalization)
    if form == "torch":
        return TorchNetwork(architecture, propagation, dtype=dtype, device=device)
    # Imported on demand: a GPU machine needs no dgl.
    from tasks.models.dgl_adapter import DglGcn, DglSage

    layers = DglGcn if architecture.backbone == "gcn" else DglSage
    network: Network = layers(architecture, propagation, dtype=dtype)
    return network
