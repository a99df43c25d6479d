"""Two tricks for speed: cheap random switches, and no time spent on vanishing numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Treat numbers below 1e-38 as zero inside the block; some CPUs are 100 times slower on them.

    Weights that only decay, and moments of units that never fire, end up there: a fit took twice
    as long without this. The setting is the process's own, so it is put back as it was.
    """
    before = (torch.tensor([1e-40]) * 1.0).item() == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
