"""Rows whose gaps a training row also gets, so that gaps carry no information about the target.

A row that takes the gaps of any other row keeps its own gaps as well, and these may reveal its
class. So it takes those of a row from the *other* side: with two classes, the gaps of a row of
class 0 and of one of class 1 together have the same distribution for the rows of both classes,
whole patterns included.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

WINDOW = 20  # of n numbers, donors are drawn from about n / 20 on either side of the mirror image


@dataclass(frozen=True, eq=False)
class Donors:
    """For each of n rows, a stretch of sorted rows from which donors are drawn; (n,) int64 each.

    of classes : any row of another class. With two, gaps are then independent of the class; with
        more, they still carry a little information.
    of numbers : rows near the mirror image, the rank from the other end. Then (gaps, rank) and
        (gaps, mirrored rank) are alike, so that the expected rank is the middle for any gaps.

    >>> donors = Donors.of(torch.tensor([0, 1, 0, 1]), classes=True)
    >>> donors.draw(torch.arange(4), torch.tensor([0.0, 0.0, 0.9, 0.9])).tolist()
    [1, 0, 3, 2]
    >>> Donors.of(torch.tensor([0.5, 9.0, 2.0]), classes=False).draw(torch.tensor([1]), 0.5)
    tensor([0])
    """

    order: Tensor
    first: Tensor
    count: Tensor

    @classmethod
    def of(cls, target: Tensor, classes: bool) -> Donors:
        """From classes 0, 1, … or numbers (n,); if all are of one class, any row is a donor."""
        order, n = target.argsort(stable=True), len(target)
        if classes:
            size = torch.bincount(target)
            first, count = size.cumsum(0)[target], n - size[target]
            return cls(order, first, torch.where(count > 0, count, n))
        width = min(n // WINDOW + 1, n)
        rank = torch.empty_like(order)
        rank[order] = torch.arange(n, device=order.device)
        first = (n - 1 - rank - width // 2).clamp(0, n - width)
        return cls(order, first, torch.full_like(first, width))

    def draw(self, rows: Tensor, uniform: Tensor | float) -> Tensor:
        """A donor for each of these rows, from numbers in [0, 1) of the same shape."""
        rows = rows.to(self.order.device)
        place = self.first[rows] + (uniform * self.count[rows]).long()
        return self.order[place % len(self.order)]
