"""The processes that train one model together, as training sees them.

Every rank (process) has all rows. `gil._team` says which members it trains, and which rows of a
batch it looks at, so that the model is that of one process, up to rounding.
`imputefree.distributed` starts ranks; without it there is one, for which all of this is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import torch
from torch import Tensor

Job = TypeVar("Job")
Result = TypeVar("Result")


class Ranks:
    """One process alone: its share is everything, and sums are what it has."""

    rank, size = 0, 1

    def part(self, count: int) -> slice:
        """This rank's share of `count` rows; shares differ by one row at most.

        >>> Ranks().part(5)
        slice(0, 5, None)
        """
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def teams(self, count: int) -> tuple[int, Ranks]:
        """Divide ranks into equal teams: the number of this rank's team, and its ranks."""
        return 0, self

    def sum_(self, tensors: Sequence[Tensor]) -> None:
        """Replace each tensor by its sum over ranks; one message for all."""

    def gather(self, value: Result) -> list[Result]:
        """The values of all ranks, by rank."""
        return [value]

    def total(self, number: float) -> float:
        """The sum of a number over ranks; above 0 for a flag that any of them raises."""
        total = torch.tensor([number], dtype=torch.float64)
        self.sum_([total])
        return total.item()

    def first(self, make: Callable[[], Result]) -> Result:
        """What `make` returns (or raises) on rank 0, where alone it is called."""
        return make()

    def share(self, work: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
        """work(job) for each job, which one rank does; all ranks get all results, in order."""
        return [work(job) for job in jobs]


_ranks: ContextVar[Ranks] = ContextVar("ranks", default=Ranks())  # noqa: B039, it has no state


def current_ranks() -> Ranks:
    """The ranks that train together in this context."""
    return _ranks.get()


@contextmanager
def together(ranks: Ranks) -> Iterator[None]:
    """Fits in this block are fits of all these ranks, each of which must come to it."""
    token = _ranks.set(ranks)
    try:
        yield
    finally:
        _ranks.reset(token)
