"""What a prediction is, and how wrong it is: one small class a task."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


class CrossEntropy:
    """Classes. The network's raw output is one logit a class; for two classes it is one logit.

    >>> import torch
    >>> loss = CrossEntropy(classes=2)
    >>> loss.errors(torch.zeros(1, 1, 1), torch.tensor([[1]])).round(decimals=4)
    tensor([[0.6931]])
    >>> loss.predict(torch.zeros(1, 1, 1))
    tensor([[[0.5000, 0.5000]]])
    """

    def __init__(self, classes: int) -> None:
        self.classes = self.predictions = classes
        self.outputs = 1 if classes == 2 else classes

    def predict(self, raw: Tensor) -> Tensor:
        """(..., O) logits -> (..., classes) probabilities ŷ."""
        if self.classes == 2:
            return torch.cat([torch.sigmoid(-raw), torch.sigmoid(raw)], -1)
        return raw.softmax(-1)

    def errors(self, raw: Tensor, target: Tensor) -> Tensor:
        """E(ŷ, y) per row: (K, B, O) and (K, B) -> (K, B)."""
        if self.classes == 2:
            truth = target.to(raw.dtype)
            return F.binary_cross_entropy_with_logits(raw.squeeze(-1), truth, reduction="none")
        flat = F.cross_entropy(raw.flatten(0, -2), target.flatten(), reduction="none")
        return flat.view(target.shape)


class SquaredError:
    """A number, scaled to mean 0 and standard deviation 1 on the training rows.

    >>> import torch
    >>> SquaredError().errors(torch.ones(1, 1, 1), torch.tensor([[3.0]]))
    tensor([[4.]])
    """

    outputs = predictions = 1
    classes = 0

    def predict(self, raw: Tensor) -> Tensor:
        """The raw output is the prediction ŷ already."""
        return raw

    def errors(self, raw: Tensor, target: Tensor) -> Tensor:
        """E(ŷ, y) per row: (K, B, 1) and (K, B) -> (K, B)."""
        return (raw.squeeze(-1) - target).square()


Loss = CrossEntropy | SquaredError
