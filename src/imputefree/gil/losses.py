"""What a prediction is, and how wrong it is: one small class a task."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


class CrossEntropy:
    """Classes. The network's raw output is one logit a class.

    >>> loss = CrossEntropy(classes=2)
    >>> loss.errors(torch.zeros(1, 1, 2), torch.tensor([[1]])).round(decimals=4)
    tensor([[0.6931]])
    """

    def __init__(self, classes: int) -> None:
        self.outputs = self.classes = classes

    def predict(self, raw: Tensor) -> Tensor:
        """(..., O) logits -> (..., O) probabilities ŷ."""
        return raw.softmax(-1)

    def errors(self, raw: Tensor, target: Tensor) -> Tensor:
        """E(ŷ, y) per row: (K, B, O) and (K, B) -> (K, B)."""
        flat = F.cross_entropy(raw.flatten(0, -2), target.flatten(), reduction="none")
        return flat.view(target.shape)


class SquaredError:
    """A number, scaled to mean 0 and standard deviation 1 on the training rows.

    >>> SquaredError().errors(torch.ones(1, 1, 1), torch.tensor([[3.0]]))
    tensor([[4.]])
    """

    outputs = 1
    classes = 0

    def predict(self, raw: Tensor) -> Tensor:
        """The raw output is the prediction ŷ already."""
        return raw

    def errors(self, raw: Tensor, target: Tensor) -> Tensor:
        """E(ŷ, y) per row: (K, B, 1) and (K, B) -> (K, B)."""
        return (raw.squeeze(-1) - target).square()


Loss = CrossEntropy | SquaredError
