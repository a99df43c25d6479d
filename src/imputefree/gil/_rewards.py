"""Rewards: what a policy is paid for, per row, after the update (Algorithm 1, lines 9 and 10).

A custom reward that clips large errors:

>>> import torch
>>> class ClippedReward(LossReward):
...     def __call__(self, errors, features, classes):
...         return -errors.clamp(max=1.0)
>>> ClippedReward()(torch.tensor([[0.5, 3.0]]), torch.zeros(1, 2, 4), classes=2)
tensor([[-0.5000, -1.0000]])

Use it as GILClassifier(policy="ddpg", reward=ClippedReward()).
"""

from __future__ import annotations

from torch import Tensor


class LossReward:
    """r = −E(ŷ, y), with ŷ from the updated weights: the paper's GIL; base class of rewards."""

    balanced = False  # whether batches must hold equally many rows of each class

    def __call__(self, errors: Tensor, features: Tensor, classes: int) -> Tensor:
        """errors (K, B), features (K, B, E) -> rewards (K, B)."""
        return -errors


class ContrastiveReward(LossReward):
    """r = −E(ŷ, y) + c·D(ζ⁺, ζ⁻): the paper's GIL-D.

    D is large when features of different classes lie apart and features of one class together
    (Appendix D.1); with more than two classes it is the mean over all pairs. It is one number per
    batch (and member), added to the reward of every row.

    >>> import torch
    >>> apart = torch.tensor([[[0.0], [0.0], [1.0], [1.0]]])       # two rows of each of 2 classes
    >>> ContrastiveReward(weight=5.0)(torch.zeros(1, 4), apart, classes=2)
    tensor([[10., 10., 10., 10.]])
    """

    balanced = True

    def __init__(self, weight: float = 5.0) -> None:
        self.weight = weight

    def __call__(self, errors: Tensor, features: Tensor, classes: int) -> Tensor:
        return -errors + self.weight * contrast(features, classes)[:, None]


def contrast(features: Tensor, classes: int) -> Tensor:
    """D(ζ⁺, ζ⁻) of Appendix D.1 for batches that hold the classes one after the other.

    Rows b·B/C … (b+1)·B/C belong to class b; B/C must be even. Shapes: (K, B, E) -> (K,).
    """
    members, batch, width = features.shape
    halves = features.view(members, classes, 2, batch // classes // 2, width)
    within = (halves[:, :, 0] - halves[:, :, 1]).square().mean((-2, -1))  # (K, C)
    total = features.new_zeros(members)
    pairs = [(p, q) for p in range(classes) for q in range(p)]
    for p, q in pairs:
        across = (halves[:, p] - halves[:, q]).square().mean((-2, -1)).sum(1)  # both halves
        total += across - within[:, p] - within[:, q]
    return total / max(len(pairs), 1)


REWARDS = {"loss": LossReward, "contrastive": ContrastiveReward}
