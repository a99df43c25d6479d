"""Exact gradient importance for a linear encoder (METHOD: section 2 of the paper, equation 5).

An ordinary linear layer has the weight gradient Σ_b x_b Δ_bᵀ, with Δ the gradient at its output.
Gradient importance replaces x_b by x_b ⊙ a_b *in that formula only*: the forward pass, the bias
and the input receive what they always receive. One product per batch; no per-sample gradients.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class ImportanceTap:
    """Carries the importance into a backward pass and the gradient Δ out of it.

    The policy looks at features and predictions before it decides, so the importance is not yet
    known when the forward pass runs. It is put in here between forward and backward.

    Attributes
    ----------
    importance : (..., B, D) in [0, 1], or None for ordinary training
    inputs : (..., B, D), what the encoder saw, set by the forward pass
    delta : (..., B, E), gradient of the loss at the encoder's output, set by the backward pass
    """

    __slots__ = ("delta", "importance", "inputs")

    def __init__(self) -> None:
        self.importance: Tensor | None = None
        self.inputs: Tensor | None = None
        self.delta: Tensor | None = None


class _WeightedLinear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None, tap: ImportanceTap
    ) -> Tensor:
        ctx.save_for_backward(values, weight)
        ctx.has_bias, ctx.tap = bias is not None, tap
        return torch.matmul(values, weight) if bias is None else affine(values, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, ...]:
        values, weight = ctx.saved_tensors
        importance = ctx.tap.importance
        ctx.tap.delta = delta
        taught = values if importance is None else values * importance  # x ⊙ a
        for_values = delta @ weight.mT if ctx.needs_input_grad[0] else None
        for_bias = delta.sum(-2, keepdim=True) if ctx.has_bias else None
        return for_values, taught.mT @ delta, for_bias, None


def affine(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """values @ weight + bias, in one kernel where there is one."""
    if values.ndim == 3 and weight.ndim == 3:
        return torch.baddbmm(bias, values, weight)
    return torch.matmul(values, weight) + bias


def weighted_linear(
    values: Tensor, weight: Tensor, bias: Tensor | None, tap: ImportanceTap
) -> Tensor:
    """A linear layer whose weight gradient is weighted by `tap.importance`.

    Shapes: values (..., B, D), weight (..., D, E), bias (..., 1, E) or None -> (..., B, E).

    >>> x, w = torch.tensor([[3.0, 5.0]]), torch.zeros(2, 1, requires_grad=True)
    >>> tap = ImportanceTap()
    >>> out = weighted_linear(x, w, None, tap)
    >>> tap.importance = torch.tensor([[1.0, 0.5]])
    >>> out.sum().backward()
    >>> w.grad.flatten()
    tensor([3.0000, 2.5000])
    """
    tap.inputs = values.detach()
    return _WeightedLinear.apply(values, weight, bias, tap)
