"""Importance learned from rows that are trusted: `meta` whose next batch does not mislead.

If the training rows hold shortcuts, the next training batch holds them too, and `meta` cannot see
them. Here the gradient G comes from rows that judge: trusted ones, or rows of another group than
those that teach. Importance weights the step after Adam has scaled it, because Adam would divide a
column's importance out again. One step is then

    W' = (what does not depend on a) - η P ⊙ Σ_b Δ_b (x_b ⊙ a_b)ᵀ ,   P = (1-β1)/(1-β1^t) / (√v̂+ε),

with v that of the unweighted gradient. The loss E on judging rows has G = ∂E/∂W', so

    ∂E / ∂a_bj = -η · x_bj · (Δ_bᵀ (P ⊙ G))_j

exactly; what the step leaves in Adam's memory for later ones is neglected. All rows share one
importance per source, which is a column's values or its being missing, so this is summed over rows
and over the inputs of a source. Importance rises where training rows and judging rows pull the
weights of a source the same way.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from ..data import NOT_A_JUDGE
from ..errors import ParameterError
from ._adamw import AdamW
from ._importance import ImportanceTap
from ._policies import FixedPolicy, Policy, State, Task, Transition

MOST_JUDGES = 256  # rows per step


def agreement(tap: ImportanceTap, pull: Tensor, teaches: Tensor) -> Tensor:
    """-1/η ∂E/∂a_j for an importance that members and rows share; (D,).

    Shapes: pull (K, E, D) is P ⊙ G (see `Transition.judge`), teaches (K, B) is 1 for rows that
    count and 0 for others.
    """
    gradient = (tap.delta * teaches[..., None]).mT @ tap.inputs  # Σ_b Δ_b x_bᵀ
    return (gradient * pull).sum((0, 1))


class FixedImportance(FixedPolicy):
    """One importance per network input, indicators included, the same for every row.

    by_input : (D,) in [0, 1]
    """

    after_preconditioner = True
    sees_gaps = False

    def __init__(self, by_input: Tensor) -> None:
        self.by_input = by_input

    def importance(self, state: State) -> Tensor:
        return self.by_input.expand(*state.values.shape[:2], -1)

    def expected(self, state: State) -> Tensor:
        return self.importance(state)[..., : state.values.shape[2]]  # entries only


class TrustedPolicy(Policy):
    """Learns one importance per source by the loss on rows that judge.

    Parameters
    ----------
    steps : training steps in which it learns
    rate : learning rate of its logits
    start_at : initial importance of every source
    encoder_scale : factor on the encoder's initial weights: what an input of importance 0 keeps

    Attributes
    ----------
    judges : (n,) which rows judge together, by number; `NOT_A_JUDGE` for rows that never do. A step
        is judged by rows of one number, and rows of this number do not teach the policy.
    """

    blind = after_preconditioner = True
    sees_gaps = False
    judges: Tensor | None = None

    def __init__(
        self,
        steps: int = 400,
        rate: float = 0.2,
        start_at: float = 0.75,
        encoder_scale: float = 0.05,
    ) -> None:
        self.steps, self.rate, self.start_at = steps, rate, start_at
        self.encoder_scale = encoder_scale

    def start(self, task: Task) -> None:
        if self.judges is None:
            raise ParameterError(
                "policy is a TrustedPolicy, and there are no trusted rows",
                "It learns from them",
                "Pass trusted= to fit, or choose another policy",
            )
        data = task.data
        assert data.columns is not None
        is_indicator = torch.arange(len(data.columns), device=task.device) >= task.width
        self._source = data.columns + data.n_columns * is_indicator  # of each input
        self._generator = task.generator
        self._judges = self.judges
        self._numbers = self.judges[self.judges != NOT_A_JUDGE].unique()
        first = torch.logit(torch.tensor(self.start_at)).item()
        logits = torch.full((2 * data.n_columns,), first, dtype=task.dtype, device=task.device)
        self.logits = nn.Parameter(logits)
        self._adam = AdamW([([self.logits], 0.0)])

    @torch.no_grad()
    def importance(self, state: State) -> Tensor:
        return self.by_input().expand(*state.values.shape[:2], -1)

    def by_input(self) -> Tensor:
        """Importance of each input; (D,)."""
        return self.logits.detach().sigmoid()[self._source]

    @torch.no_grad()
    def learn(self, transition: Transition) -> dict[str, float]:
        """Change the importance of each source so that the loss on judging rows falls."""
        assert transition.judge is not None
        tap = transition.tap
        number = self._numbers[torch.randint(len(self._numbers), (), generator=self._generator)]
        rows = (self._judges == number).nonzero().flatten()
        if len(rows) > MOST_JUDGES:
            rows = rows[torch.randperm(len(rows), generator=self._generator)[:MOST_JUDGES]]
        with torch.enable_grad():
            pull = transition.judge(rows.expand(len(tap.delta), -1))
        teaches = (self._judges[transition.state.rows] != number).to(tap.delta)
        by_source = torch.zeros_like(self.logits)
        by_source.index_add_(0, self._source, agreement(tap, pull, teaches))
        importance = self.logits.sigmoid()
        slope = -by_source * importance * (1 - importance)
        # All steps on one scale: otherwise Adam would remember the first, largest slopes for long.
        self.logits.grad = slope / slope.abs().mean().clamp_min(1e-30)
        self._adam.step(self.rate)
        return {"importance": importance.mean().item()}

    def by_column(self) -> np.ndarray:
        """Importance of each column's values and of its being missing; NaN without an input.

        Shape: (columns, 2).
        """
        by_source = self.logits.detach().sigmoid().double().cpu()
        by_source[torch.bincount(self._source.cpu(), minlength=len(by_source)) == 0] = torch.nan
        return by_source.view(2, -1).T.numpy()

    def frozen(self) -> FixedImportance:
        """What it has learned."""
        return FixedImportance(self.by_input())
