"""The processes that train one model together, as training sees them.

Every rank (process) has all rows and all weights. Of each batch it computes the gradient of its
share of the rows; the sum over ranks is the gradient of the batch, and all take the same step. So
the model is that of one process, up to rounding. `imputefree.distributed` starts ranks; without
it there is one, for which all of this is nothing.
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

    def generator(self, generator: torch.Generator) -> torch.Generator:
        """A generator that draws this rank's share of what `generator` would draw for a batch."""
        return generator

    def sum_(self, tensors: Sequence[Tensor]) -> None:
        """Replace each tensor by its sum over ranks; one message for all."""

    def copy_first_(self, tensors: Sequence[Tensor]) -> None:
        """Replace each tensor by that of rank 0."""

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


class PartGenerator(torch.Generator):
    """Draws for a whole batch, from which a rank takes its rows: all ranks draw the same.

    rows, total : this rank's rows of the batch, and how many there are
    """

    rows, total = slice(0, 1), 1

    def whole(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape for all rows, from that for this rank's: (K, rows or their steps, …)."""
        return (shape[0], self._steps(shape) * self.total, *shape[2:])

    def mine(self, drawn: Tensor, shape: Sequence[int]) -> Tensor:
        """This rank's rows, of this shape, of what was drawn for all."""
        start = self._steps(shape) * self.rows.start
        return drawn[:, start : start + shape[1]]

    def _steps(self, shape: Sequence[int]) -> int:
        """Steps per row: 1, unless the batch holds series."""
        return shape[1] // (self.rows.stop - self.rows.start)
