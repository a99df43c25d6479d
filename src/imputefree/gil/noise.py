"""Random switches, made the cheap way."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def switches(shape: Sequence[int], probability: float, generator: torch.Generator) -> Tensor:
    """True with the given probability, to 1/256; a bool tensor on the CPU.

    One random byte an entry, eight from each draw: several times faster than `bernoulli_`, which
    was a third of the time of a training step.

    >>> flips = switches((1000, 10), 0.25, torch.Generator().manual_seed(0))
    >>> flips.shape, round(flips.float().mean().item(), 2)
    (torch.Size([1000, 10]), 0.25)
    """
    count = math.prod(shape)
    draws = torch.empty((count + 7) // 8, dtype=torch.int64)
    draws.random_(-(2**63), None, generator=generator)
    threshold = round(256 * probability)  # 256 does not fit a byte, so compare wider
    return (draws.view(torch.uint8)[:count].to(torch.int16) < threshold).view(*shape)
