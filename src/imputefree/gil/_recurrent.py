"""Exact gradient importance for recurrent encoders (the paper's Appendix A).

Only the input weights W of the cell (all gates) learn by importance; the recurrent weights U and
the biases get their ordinary gradient. PyTorch's fused cells do not expose the gradient Δ_t of
each step, so the importance enters through the *input*: the cell runs on [x ⊙ a, x − x ⊙ a] with
the input weight [W, W°], where W° is W as a constant. The forward pass gives W x; in the backward
pass W receives exactly Σ_t Δ_t (x_t ⊙ a_t)ᵀ. No loop over time, no per-sample gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ._importance import ImportanceTap


def _lstm(values: Tensor, start: Tensor, weights: list[Tensor]) -> Tensor:
    return torch.lstm(values, (start, start), weights, True, 1, 0.0, False, False, True)[0]


def _gru(values: Tensor, start: Tensor, weights: list[Tensor]) -> Tensor:
    return torch.gru(values, start, weights, True, 1, 0.0, False, False, True)[0]


CELLS: dict[str, tuple[int, Callable[[Tensor, Tensor, list[Tensor]], Tensor]]] = {
    "lstm": (4, _lstm),  # number of gates, and the function that runs a whole sequence
    "gru": (3, _gru),
}
Weights = Sequence[Tensor]  # input weight, hidden weight, input bias, hidden bias of K cells


class RecurrentTap(ImportanceTap):
    """Carries importance into recurrent encoders, and what `meta` needs of the gradient out.

    `inputs` (K, B·T, d) are the entries the encoder saw. A fused cell does not give the gradient
    at each step, but its products with matrices can be computed.
    """

    __slots__ = ("run", "unweighted", "upstream", "values", "weights")
    SAVED = ("inputs", "values", "weights", "upstream", "unweighted")
    run: Callable[[Tensor, Weights], Tensor]
    values: Tensor  # (K, B, T, D)
    weights: Weights  # as they were in this step
    upstream: Tensor  # (K, B, T, H), gradient at the hidden states
    unweighted: Tensor  # (K, 4H, d)

    def complete(self, later: RecurrentTap) -> None:
        self.run = later.run

    def gradient(self) -> Tensor:
        """Σ_t Δ_t x_tᵀ, without importance; (K, 4H, d)."""
        return self.unweighted

    def along(self, matrix: Tensor) -> Tensor:
        """Δ_tᵀ M for every step: (K, 4H, d) -> (K, B·T, d).

        It is the gradient at an extra input that is zero and enters through the weight M.
        """
        input_weight, *others = self.weights
        zeros = self.values.new_zeros(*self.values.shape[:3], matrix.shape[2]).requires_grad_()
        with torch.enable_grad():
            out = self.run(
                torch.cat([self.values, zeros], -1),
                [torch.cat([input_weight, matrix], 2), *others],
            )
        return torch.autograd.grad(out, zeros, self.upstream)[0].flatten(1, 2)


class _LateImportance(torch.autograd.Function):
    """Runs the cells now, and again in the backward pass, when the importance is known."""

    @staticmethod
    def forward(
        ctx: Any,
        run: Callable[[Tensor, Weights], Tensor],
        tap: RecurrentTap,
        values: Tensor,
        *weights: Tensor,
    ) -> Tensor:
        ctx.run, ctx.tap = run, tap
        ctx.save_for_backward(values, *weights)
        return run(values, weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        tap, wanted = ctx.tap, ctx.needs_input_grad[2:]
        values, *weights = (saved.detach() for saved in ctx.saved_tensors)
        tap.run, tap.values, tap.upstream = ctx.run, values, upstream
        tap.weights = [weight.clone() for weight in weights]  # the optimiser changes them in place
        for tensor, wants in zip((values, *weights), wanted, strict=True):
            tensor.requires_grad_(wants)
        entries = values.shape[-1] if tap.importance is None else tap.importance.shape[-1]
        tap.inputs = values.detach()[..., :entries].flatten(1, 2)
        constant = weights[0].detach()[..., :entries].requires_grad_()
        with torch.enable_grad():
            if tap.importance is None:
                out = ctx.run(values, weights)
            else:
                out = ctx.run(*split(values, weights, tap.importance, constant))
        leaves = [tensor for tensor in (values, *weights) if tensor.requires_grad]
        *leaf_gradients, rest = torch.autograd.grad(
            out, [*leaves, constant], upstream, allow_unused=True
        )
        by_leaf = iter(leaf_gradients)
        gradients = tuple(next(by_leaf) if wants else None for wants in wanted)
        for_input_weight = gradients[1]
        assert for_input_weight is not None
        tap.unweighted = for_input_weight[..., :entries] + (0 if rest is None else rest)
        return None, None, *gradients


def split(
    values: Tensor, weights: Weights, importance: Tensor, constant: Tensor | None = None
) -> tuple[Tensor, Weights]:
    """Input and weights with which W learns from x ⊙ a and the output stays the same.

    Importance covers the first d inputs; the others (indicators) always have importance 1.
    Shapes: values (K, B, T, D), importance (K, B·T, d) -> (K, B, T, D + d) and the weights.
    """
    entries = importance.shape[-1]
    x, others = values[..., :entries], values[..., entries:]
    weighted = x * importance.view(x.shape)
    weight = weights[0][..., :entries]
    constant = weight.detach() if constant is None else constant
    wide = torch.cat([weight, constant, weights[0][..., entries:]], -1)
    return torch.cat([weighted, x - weighted, others], -1), [wide, *weights[1:]]


class MemberRecurrent(nn.Module):
    """K recurrent layers, one per member; each runs as a fused cell of PyTorch.

    Shapes: values (K, B, T, D) -> hidden states (K, B, T, H). Padded steps (after the last one of
    a series) have no influence on the steps before, and get no gradient from them.

    >>> layer = MemberRecurrent("lstm", 2, 4, 8, torch.Generator().manual_seed(0))
    >>> layer(torch.zeros(2, 5, 3, 4)).shape
    torch.Size([2, 5, 3, 8])
    """

    def __init__(
        self, cell: str, members: int, inputs: int, hidden: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        gates, self._cell = CELLS[cell]
        self.hidden = hidden
        bound = 1.0 / math.sqrt(hidden)  # PyTorch's default for recurrent layers

        def draw(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))

        self.input_weight = draw(members, gates * hidden, inputs)
        self.hidden_weight = draw(members, gates * hidden, hidden)
        self.input_bias = draw(members, 1, gates * hidden)
        self.hidden_bias = draw(members, 1, gates * hidden)

    def forward(self, values: Tensor, tap: RecurrentTap | None = None) -> Tensor:
        weights: Weights = list(self.parameters())
        if tap is None or not torch.is_grad_enabled():
            return self._run(values, weights)
        if not tap.early:
            return _LateImportance.apply(self._run, tap, values, *weights)
        if tap.importance is not None:
            x = values.detach()[..., : tap.importance.shape[-1]]
            # If nothing is weighted down, a split would only cost time (and change the order of
            # summation): `observed` with placeholder 0 is ordinary training, to the last bit.
            if (x * (1 - tap.importance.view(x.shape))).any():
                values, weights = split(values, weights, tap.importance)
        return self._run(values, weights)

    def _run(self, values: Tensor, weights: Weights) -> Tensor:
        start = values.new_zeros(1, values.shape[1], self.hidden)
        members = zip(values.unbind(), *(weight.unbind() for weight in weights), strict=True)
        return torch.stack(
            [self._cell(x, start, [w, u, b.flatten(), c.flatten()]) for x, w, u, b, c in members]
        )
