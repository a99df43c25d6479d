"""Exact gradient importance for a linear encoder (section 2 of the paper, equation 5).

An ordinary linear layer has the weight gradient Σ_b Δ_b x_bᵀ, with Δ the gradient at its output.
Gradient importance replaces x_b by x_b ⊙ a_b *in that formula only*: the forward pass, the bias
and the input receive what they always receive. One product per batch; no per-sample gradients.
"""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F


class ImportanceTap:
    """Carries the importance into a backward pass and the gradient Δ out of it.

    The policy sees features and predictions before it decides, so the importance is not yet known
    in the forward pass. It is set here between the forward and the backward pass.

    Attributes
    ----------
    importance : (..., B, d) in [0, 1], or None for ordinary training; it covers the first d
        inputs; the others (indicators) always have importance 1
    early : whether the importance is known before the forward pass; recurrent encoders are then
        faster
    inputs : (..., B, D), what the encoder saw, set by the forward pass
    delta : (..., B, E), gradient of the loss at the encoder's output, set by the backward pass
    """

    __slots__ = ("delta", "early", "importance", "inputs")
    SAVED: tuple[str, ...] = ("inputs", "delta")  # set by the two passes
    inputs: Tensor
    delta: Tensor

    def __init__(self) -> None:
        self.importance: Tensor | None = None
        self.early = False

    def state(self) -> dict[str, Any]:
        """What the two passes set, for a checkpoint."""
        return {name: getattr(self, name) for name in self.SAVED}

    @classmethod
    def of(cls, state: dict[str, Any]) -> Self:
        """The inverse of `state`."""
        tap = cls()
        for name in cls.SAVED:
            setattr(tap, name, state[name])
        return tap

    def complete(self, later: Any) -> None:
        """Take from a later tap of the same encoder what a checkpoint cannot hold."""

    def gradient(self) -> Tensor:
        """Σ_b Δ_b x_bᵀ, the weight's gradient without importance; (..., E, D)."""
        return self.delta.mT @ self.inputs

    def along(self, matrix: Tensor) -> Tensor:
        """Δ_bᵀ M for every row: (..., E, D) -> (..., B, D)."""
        return self.delta @ matrix

    def change(self, importance: Tensor) -> Tensor:
        """Σ_b Δ_b (x_b ⊙ (a_b - 1))ᵀ, what importance adds to the weight's gradient; (..., E, D).

        importance : (..., B, d), for the first d inputs
        """
        width = importance.shape[-1]
        change = self.delta.mT @ (self.inputs[..., :width] * (importance - 1))
        return F.pad(change, (0, self.inputs.shape[-1] - width))


class _WeightedLinear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None, tap: ImportanceTap | None
    ) -> Tensor:
        ctx.save_for_backward(values, weight)
        ctx.has_bias, ctx.tap = bias is not None, tap
        if bias is not None and values.ndim == weight.ndim == 3:
            return torch.baddbmm(bias, values, weight.mT)
        out = values @ weight.mT
        return out if bias is None else out + bias

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, ...]:
        values, weight = ctx.saved_tensors
        weighted = values
        if ctx.tap is not None:
            ctx.tap.delta = delta
            if ctx.tap.importance is not None:
                importance = ctx.tap.importance
                if others := values.shape[-1] - importance.shape[-1]:
                    importance = F.pad(importance, (0, others), value=1.0)
                weighted = values * importance  # x ⊙ a
        for_values = delta @ weight if ctx.needs_input_grad[0] else None
        for_bias = delta.sum(-2, keepdim=True) if ctx.has_bias else None
        return for_values, delta.mT @ weighted, for_bias, None  # dE/dW = Δ (x ⊙ a)ᵀ


def weighted_linear(
    values: Tensor, weight: Tensor, bias: Tensor | None, tap: ImportanceTap | None = None
) -> Tensor:
    """A linear layer whose weight gradient is weighted by `tap.importance`.

    Without a tap it is an ordinary layer, and still faster for batched members: its weight
    gradient comes out in the weight's memory layout, where baddbmm's has to be copied.

    Shapes: values (..., B, D), weight (..., E, D), bias (..., 1, E) or None -> (..., B, E). Without
    a tap, values (1, B, D) are those of all K members.

    >>> x, w = torch.tensor([[3.0, 5.0]]), torch.zeros(1, 2, requires_grad=True)
    >>> tap = ImportanceTap()
    >>> out = weighted_linear(x, w, None, tap)
    >>> tap.importance = torch.tensor([[1.0, 0.5]])
    >>> out.sum().backward()
    >>> w.grad.flatten()
    tensor([3.0000, 2.5000])
    """
    if tap is not None:
        tap.inputs = values.detach()
    elif bias is not None and values.ndim == weight.ndim == 3 and len(values) == 1:
        # One member, or the same rows for all: one product for all of them.
        out = F.linear(values[0], weight.flatten(0, 1), bias.flatten())
        return out.unflatten(1, (len(weight), -1)).transpose(0, 1)
    return _WeightedLinear.apply(values, weight, bias, tap)
