"""`meta`: a policy trained by the exact gradient of the next loss with respect to importance.

After one step W' = W − η Σ_b Δ_b (x_b ⊙ a_b)ᵀ. With G = ∂E_next/∂W' on the next batch,

    ∂E_next / ∂a_bj = −η · x_bj · (Δ_bᵀ G)_j ,

so an entry of a row deserves importance where its gradient agrees with that of rows not yet seen.
DDPG has to estimate this signal through a critic; here it costs two products, because the next
step's ordinary backward pass already computes Δ_next, and G = Σ_b Δ_b x_bᵀ over it. The formula
holds for a plain gradient step. Adam rescales each weight's part of the sum, so with Adam the
signal is an approximation, whose sign can differ.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._adamw import restore_optimizer
from ._importance import ImportanceTap
from ._policies import Policy, State, Task, Transition
from ._predictors import MemberLinear, MemberMlp
from ._recurrent import RecurrentTap


def importance_gradient(
    step: ImportanceTap, next_step: ImportanceTap, learning_rate: float
) -> Tensor:
    """∂E_next/∂a for the rows of one step, exact for a plain gradient step.

    Shapes: `inputs` (K, B, D) and gradients of (K, E, D) in both taps -> (K, B, D).
    """
    return -learning_rate * step.inputs * step.along(next_step.gradient())  # x · (Δᵀ G)


class MetaPolicy(Policy):
    """A small network s -> a, trained down `importance_gradient`.

    Parameters
    ----------
    hidden_sizes : widths of the policy network (per member)
    rate : its learning rate
    start_at : initial importance of every entry
    """

    network: MemberMlp

    def __init__(
        self, hidden_sizes: tuple[int, ...] = (64,), rate: float = 1e-3, start_at: float = 0.75
    ) -> None:
        self.hidden_sizes, self.rate, self.start_at = hidden_sizes, rate, start_at

    def start(self, task: Task) -> None:
        inputs = task.width
        sizes = [task.state_size, *self.hidden_sizes, inputs]
        if getattr(self, "_sizes", None) == (task.members, *sizes):
            return
        self._sizes = (task.members, *sizes)
        self._previous: tuple[Tensor, ImportanceTap, float] | None = None
        net = MemberMlp(task.members, sizes, task.generator, last_bound=3e-3)
        with torch.no_grad():
            last = [m for m in net if isinstance(m, MemberLinear)][-1]
            last.bias.fill_(torch.logit(torch.tensor(self.start_at)).item())
        self.network = net.to(task.device)
        self._adam = torch.optim.Adam(self.network.parameters(), self.rate, fused=True)

    @torch.no_grad()
    def importance(self, state: State) -> Tensor:
        return self.network(state.joined)

    def state(self) -> dict[str, Any]:
        previous: Any = self._previous
        if previous is not None:
            joined, tap, rate = previous
            previous = joined, tap.state(), rate
        return {
            "network": self.network.state_dict(),
            "adam": self._adam.state_dict(),
            "previous": previous,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        restore_optimizer(self._adam, state["adam"])
        if state["previous"] is not None:
            joined, tap, rate = state["previous"]
            kind = RecurrentTap if "upstream" in tap else ImportanceTap
            self._previous = joined, kind.of(tap), rate

    def learn(self, transition: Transition) -> dict[str, float]:
        """Learn from the previous step: only now is the gradient on its next batch known."""
        previous = self._previous
        self._previous = (transition.state.joined, transition.tap, transition.learning_rate)
        if previous is None:
            return {}
        joined, tap, rate = previous
        tap.complete(transition.tap)
        gradient = importance_gradient(tap, transition.tap, rate)
        gradient = gradient[..., : transition.state.values.shape[2]]  # indicators: no importance
        # Adam uses only the direction; unit scale makes its epsilon negligible.
        gradient /= gradient.abs().mean((1, 2), keepdim=True).clamp_min(1e-30)
        action = self.network(joined)
        self._adam.zero_grad()
        action.backward(gradient)
        self._adam.step()
        return {"importance": action.detach().mean().item()}
