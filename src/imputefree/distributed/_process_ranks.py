"""`fit`: all processes that `torchrun` started train one estimator."""

from __future__ import annotations

import numbers
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch import distributed as dist

from .._ranks import Job, Ranks, Result, together
from ..errors import ClusterError, ParameterError

Estimator = TypeVar("Estimator")
TIMEOUT = 600.0  # seconds
AGAIN = "Start the same command again: with a checkpoint it continues where that was written"


class ProcessRanks(Ranks):
    """The ranks of a process group of PyTorch, by default of the one of all ranks."""

    def __init__(self, group: Any = None) -> None:
        self._group, self._teams = group, dict[int, ProcessRanks]()
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)

    def teams(self, count: int) -> tuple[int, Ranks]:
        width = self.size // count
        team = self.rank // width
        if count == 1 or width == 1:
            return team, self if count == 1 else Ranks()
        if count not in self._teams:  # all ranks must make all groups
            starts = range(0, self.size, width)
            groups = [dist.new_group(range(start, start + width)) for start in starts]
            self._teams[count] = ProcessRanks(groups[team])
        return team, self._teams[count]

    def sum_(self, tensors: Sequence[Tensor]) -> None:
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        with _clear_errors(self):
            dist.all_reduce(flat, group=self._group)
        parts = flat.split([tensor.numel() for tensor in tensors])
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.copy_(part.view_as(tensor))

    def gather(self, value: Result) -> list[Result]:
        values: list[Any] = [None] * self.size
        with _clear_errors(self):
            dist.all_gather_object(values, value, self._group)
        return values

    def first(self, make: Callable[[], Result]) -> Result:
        outcome: list[Any] = [_outcome(make) if self.rank == 0 else None]
        with _clear_errors(self):
            dist.broadcast_object_list(outcome, group=self._group, group_src=0)
        return _value(outcome[0])

    def share(self, work: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
        own_jobs = jobs[self.rank :: self.size]
        shares = [_value(part) for part in self.gather(_outcome(lambda: [*map(work, own_jobs)]))]
        return [shares[number % self.size][number // self.size] for number in range(len(jobs))]


def _outcome(make: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What it returns, or raises: other ranks would wait in vain for one that has failed."""
    try:
        return make(), None
    except Exception as error:
        return None, error


def _value(outcome: tuple[Any, Exception | None]) -> Any:
    value, error = outcome
    if error is not None:
        raise error
    return value


def _reason(error: Exception) -> str:
    """The first sentence of an error of gloo, without the place in its source."""
    return re.sub(r"^\[\S+\]\s*", "", str(error)).partition(". ")[0].partition("\n")[0]


@contextmanager
def _clear_errors(ranks: Ranks) -> Iterator[None]:
    """Say what it means that a message to the other ranks failed."""
    try:
        yield
    except RuntimeError as error:
        raise ClusterError(
            f"rank {ranks.rank} of {ranks.size} has lost the others ({_reason(error)})",
            "All train one model, so that none can go on without the others: one has failed, was"
            " killed (often for lack of memory) or did not answer in time",
            f"The first error in the log says why. {AGAIN}",
        ) from None


@contextmanager
def _sentence_at_sigterm(ranks: Ranks) -> Iterator[None]:
    """torchrun ends the ranks that are left by SIGTERM; they should not go without a word."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise ClusterError(
            f"rank {ranks.rank} of {ranks.size} received SIGTERM",
            "torchrun ends all ranks when one has failed or was killed, or when it is stopped",
            f"The first error in the log says why. {AGAIN}",
        )

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def joined(timeout: float, meeting: Callable[[], dict[str, Any]] | None = None) -> Iterator[Ranks]:
    """The ranks of the process group; it is made if there is none, and left at the end.

    meeting : returns where ranks meet, as for `init_process_group`; by default what torchrun set
    """
    if dist.is_initialized():
        if meeting:
            raise ClusterError(
                "this process is already a rank of another fit",
                "A process is one rank at a time",
                "Wait for the other fit to end",
            )
        yield ProcessRanks()
        return
    if not meeting and "RANK" not in os.environ:
        raise ParameterError(
            "this process was not started by torchrun",
            "Ranks are processes that torchrun starts, and that know of each other",
            "Run torchrun --nproc-per-node 2 SCRIPT, or call estimator.fit",
        )
    backend = "gloo"
    if torch.cuda.is_available():
        backend = "cpu:gloo,cuda:nccl"
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    try:
        place = meeting() if meeting else {}
        dist.init_process_group(backend, timeout=timedelta(seconds=timeout), **place)
    except (RuntimeError, TimeoutError) as error:
        raise ClusterError(
            f"ranks did not meet ({_reason(error)})",
            f"A fit begins when all ranks are there, within {timeout:g} seconds",
            "Check that all were started, and that machines reach each other",
        ) from None
    try:
        yield ProcessRanks()
    finally:
        dist.destroy_process_group()


def check_seed(estimator: Any) -> None:
    """Refuse an estimator that would draw other numbers on each rank."""
    seed = getattr(estimator, "random_state", None)
    if not isinstance(seed, numbers.Integral):
        raise ParameterError(
            f"random_state is {seed!r}",
            "All ranks must draw the same random numbers",
            "Pass a whole number, such as random_state=0",
        )


def fit(
    estimator: Estimator, X: Any, y: Any, *, timeout: float = TIMEOUT, **options: Any
) -> Estimator:
    """Fit an estimator with all ranks that torchrun started; each returns it, the same.

    Every rank calls this with the same arguments. The model is that of `estimator.fit(X, y)`, up to
    rounding: of a batch, each rank computes the gradient of its share of the rows, and the trees of
    a blend are shared out. `batch_size` is the number of rows in the batches of all ranks together.

    Parameters
    ----------
    estimator : any estimator of this package
        With a number as `random_state`, and a policy that does not learn.
    X, y, options : as for `estimator.fit`
        A `checkpoint` is read and written by rank 0.
    timeout : float
        Seconds after which a rank that does not answer counts as lost. It should be longer than
        growing the trees of one fold takes.
    """
    check_seed(estimator)
    with joined(timeout) as ranks, _sentence_at_sigterm(ranks), together(ranks):
        return estimator.fit(X, y, **options)  # type: ignore[attr-defined]
