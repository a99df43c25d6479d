"""What has been observed of each column of a series, in seven numbers: for the output layers.

A recurrent layer has to learn to carry a minimum or a mean through time; here the output layers
get them beside the last hidden state. Only observed entries count and nothing is filled in.
"""

from __future__ import annotations

import torch
from torch import Tensor

STATISTICS = 7  # mean, standard deviation, maximum, minimum, last, last - first, number


def summary(values: Tensor, observed: Tensor, running: bool = False) -> Tensor:
    """Statistics of the observed entries over time, 0 for columns without any.

    The number n of observations comes as log(1 + n) / 2, to be of the size of the others.
    With `running`, up to and including each step.
    Shapes: values and observed (..., T, D) -> (..., 7 D), running (..., T, 7 D).

    >>> x = torch.tensor([[1.0], [9.0], [3.0]])
    >>> seen = torch.tensor([[True], [False], [True]])
    >>> summary(x, seen).round(decimals=2)
    tensor([2.0000, 1.0000, 3.0000, 1.0000, 3.0000, 2.0000, 0.5500])
    >>> summary(x, seen, running=True)[:, 0]
    tensor([1., 1., 2.])
    """
    dim, given = values.ndim - 2, values.dtype
    values = values.double()  # the spread is a difference of squares: float32 leaves little of it
    step = torch.arange(values.shape[dim], device=values.device, dtype=torch.int32)[:, None]
    above = torch.where(observed, values, -torch.inf)
    below = torch.where(observed, values, torch.inf)
    kept = values * observed  # 0 where missing, whatever the placeholder
    if running:
        count = observed.to(values.dtype).cumsum(dim)
        sums, squares = kept.cumsum(dim), kept.square().cumsum(dim)
        highest, lowest = above.cummax(dim).values, below.cummin(dim).values
        last = kept.gather(dim, torch.where(observed, step, 0).cummax(dim).values.long())
        # The first one seen: a running sum of what is observed and first.
        first = (kept * (observed & (count == 1))).cumsum(dim)
    else:
        count = observed.to(values.dtype).sum(dim)
        sums, squares = kept.sum(dim), kept.square().sum(dim)
        highest, lowest = above.amax(dim), below.amin(dim)
        place = torch.where(observed, step, 0).amax(dim, keepdim=True).long()
        last = kept.gather(dim, place).squeeze(dim)
        place = torch.where(observed, step, values.shape[dim] - 1).amin(dim, keepdim=True).long()
        first = kept.gather(dim, place).squeeze(dim)
    some = count > 0
    mean = sums / count.clamp_min(1)
    spread = (squares / count.clamp_min(1) - mean.square()).clamp_min(1e-12).sqrt()
    extremes = [torch.where(some, one, 0.0) for one in (highest, lowest)]
    parts = [mean, spread * some, *extremes, last, last - first, count.log1p() / 2]
    return torch.cat(parts, -1).to(given)
