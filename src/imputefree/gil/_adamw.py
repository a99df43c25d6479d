"""AdamW for networks with a members dimension.

PyTorch's own optimisers import its compiler at their first step, which takes one to two seconds:
longer than most fits of small tables. This one calls the same fused kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

BETAS, EPSILON = (0.9, 0.999), 1e-8


class AdamW:
    """Adam with decoupled weight decay, on groups of parameters that decay alike.

    groups : (parameters, weight decay) each
    paces : for some of the parameters, what Adam's step is multiplied by; decay is not

    >>> weight = nn.Parameter(torch.ones(1))
    >>> optimizer = AdamW([([weight], 0.5)])
    >>> weight.grad = torch.full((1,), 3.0)
    >>> optimizer.step(rate=0.1)  # decays by 0.1 * 0.5; Adam's first step has the size of the rate
    >>> round(weight.item(), 6)
    0.85
    """

    def __init__(
        self,
        groups: Sequence[tuple[list[nn.Parameter], float]],
        paces: Sequence[tuple[nn.Parameter, Tensor]] = (),
    ) -> None:
        self.groups = [(weights, decay) for weights, decay in groups if weights]
        self.moments = [
            ([torch.zeros_like(w) for w in weights], [torch.zeros_like(w) for w in weights])
            for weights, _ in self.groups
        ]
        self.steps = torch.zeros((), device=self._device)
        self.paces = [  # with room for what the weight is without the step
            (weight, pace.to(weight), decay, torch.empty_like(weight))
            for weights, decay in self.groups
            for weight, pace in paces
            if any(weight is other for other in weights)
        ]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Change the parameters by their gradients."""
        self.steps += 1
        for weight, _, decay, without_step in self.paces:
            torch.mul(weight, 1 - rate * decay, out=without_step)
        for (weights, decay), (means, squares) in zip(self.groups, self.moments, strict=True):
            gradients = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
            steps = [self.steps] * len(weights)
            torch._fused_adamw_(
                [w.data for w in weights],
                gradients,
                means,
                squares,
                [],
                steps,
                amsgrad=False,
                lr=rate,
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=decay,
                eps=EPSILON,
                maximize=False,
            )
        for weight, pace, _, without_step in self.paces:
            torch.lerp(without_step, weight, pace, out=weight.data)

    def per_gradient(self, weight: nn.Parameter) -> Tensor:
        """How far a weight moved, per rate, by each unit of the last step's gradient; its shape.

        (1 - β1) / (1 - β1^t) / (√v̂ + ε), times the pace if there is one: the step is this times
        the gradient, plus what Adam remembers of earlier ones.
        """
        (_, square), (beta1, beta2), steps = self._moments_of(weight), BETAS, float(self.steps)
        scale = square.sqrt().div_((1 - beta2**steps) ** 0.5).add_(EPSILON)
        scale.reciprocal_().mul_((1 - beta1) / (1 - beta1**steps))
        for other, pace, *_ in self.paces:
            if other is weight:
                scale *= pace
        return scale

    @torch.no_grad()
    def add_to_step(self, weight: nn.Parameter, gradient: Tensor, rate: float) -> None:
        """Change the last step as if the gradient of a weight had been larger by `gradient`.

        The square v, by which Adam divides, stays that of the gradient without it.
        """
        self._moments_of(weight)[0].add_(gradient, alpha=1 - BETAS[0])
        weight.data.addcmul_(self.per_gradient(weight), gradient, value=-rate)

    def _moments_of(self, weight: nn.Parameter) -> tuple[Tensor, Tensor]:
        """Mean and square of the gradients of one parameter."""
        for (weights, _), (means, squares) in zip(self.groups, self.moments, strict=True):
            for other, mean, square in zip(weights, means, squares, strict=True):
                if other is weight:
                    return mean, square
        raise ValueError("this optimizer does not have the parameter")

    @property
    def _device(self) -> torch.device:
        return self.groups[0][0][0].device

    def clear(self) -> None:
        """Forget the gradients."""
        for weights, _ in self.groups:
            for weight in weights:
                weight.grad = None

    def keep_members(self, kept: Tensor) -> None:
        """Keep the moments of the members with these numbers only."""
        self.moments = [
            ([m[kept] for m in means], [s[kept] for s in squares])
            for means, squares in self.moments
        ]
        self.paces = [
            (weight, pace[kept], decay, room[kept]) for weight, pace, decay, room in self.paces
        ]

    def state_dict(self) -> dict[str, Any]:
        """Moments and the number of steps."""
        return {"steps": self.steps, "moments": self.moments}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        device = self._device
        self.steps = check_alike(state["steps"], self.steps).to(device)
        self.moments = [
            tuple(  # type: ignore[misc]
                [check_alike(loaded, known).to(device) for loaded, known in zip(*both, strict=True)]
                for both in zip(stored, present, strict=True)
            )
            for stored, present in zip(state["moments"], self.moments, strict=True)
        ]


def check_alike(loaded: Any, known: Tensor) -> Tensor:
    """The given tensor; a ValueError unless it is as large as a known one, and of its type.

    Fused kernels check neither: a wrong size would end the process.
    """
    if not isinstance(loaded, Tensor) or (loaded.shape, loaded.dtype) != (known.shape, known.dtype):
        raise ValueError("the state of an optimizer does not belong to the weights")
    return loaded


def restore_optimizer(optimizer: torch.optim.Adam, state: dict[str, Any]) -> None:
    """Load the state of one of PyTorch's, if it belongs to the weights; rates may have changed."""
    current = optimizer.state_dict()["param_groups"]
    stored = [{**group, "lr": float(group["lr"])} for group in state["param_groups"]]
    if [group | {"lr": 0.0} for group in stored] != [group | {"lr": 0.0} for group in current]:
        raise ValueError("the settings of the optimizer differ")
    weights = optimizer.param_groups[0]["params"]
    if state["state"]:
        for number, weight in enumerate(weights):
            moments = state["state"][number]
            check_alike(moments["step"], torch.zeros(()))
            check_alike(moments["exp_avg"], weight)
            check_alike(moments["exp_avg_sq"], weight)
    optimizer.load_state_dict(state)


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Treat numbers below 1e-38 as zero inside the block; some CPUs are 100 times slower on them.

    Weights that only decay and moments of units that never fire end up there: without this a fit
    took twice as long. The setting is global to the process, so it is restored afterwards.
    """
    before = (torch.tensor([1e-40]) * 1.0).item() == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
