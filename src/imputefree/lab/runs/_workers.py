"""Where runs are carried out: processes of this machine, this process, or any executor.

What is asked of an executor is `submit` of concurrent.futures; `cluster` has one for Dask.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib.externals.loky import ProcessPoolExecutor

Item = TypeVar("Item")
Done = Iterator[tuple[Item, Any]]
Width = int | Callable[[], int]  # a function is asked again whenever there may be room
DIED = "its process ended without a word: killed from outside, often for want of memory, or crashed"
# Set before any library is loaded: some look at nothing else.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}


class WorkerDied(Exception):
    """Stands in the place of a result whose process died twice."""


class InThisProcess(Executor):
    """Carries out at once what is submitted: for tests, and for a debugger."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future is done when it is returned."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def by_executor(
    work: Callable[[Item], Any], items: Sequence[Item], executor: Any, width: Width
) -> Done[Item]:
    """(item, result) as they come, with `width` under way at a time."""
    yield from _stream(work, deque(items), executor, width, {})


def by_processes(work: Callable[[Item], Any], items: Sequence[Item], n_jobs: int) -> Done[Item]:
    """(item, result) as they come, from n_jobs processes with one thread each.

    Processes, even if it is one: what crashes or eats all memory takes its process with it and
    nothing else. All that were under way then are tried once more, each alone, so that the
    innocent get their result; the result of the other is a `WorkerDied`.
    """
    waiting = deque(items)
    while waiting:
        flying: dict[Future[Any], Item] = {}
        try:
            with _processes(min(n_jobs, len(waiting))) as executor:
                yield from _stream(work, waiting, executor, n_jobs, flying)
        except BrokenExecutor:
            yield from _one_by_one(work, deque(flying.values()))


def _one_by_one(work: Callable[[Item], Any], suspects: deque[Item]) -> Done[Item]:
    while suspects:
        flying: dict[Future[Any], Item] = {}
        try:
            with _processes(1) as executor:
                yield from _stream(work, suspects, executor, 1, flying)
        except BrokenExecutor:
            for item in flying.values():
                yield item, WorkerDied(DIED)


def _stream(
    work: Callable[[Item], Any],
    waiting: deque[Item],
    executor: Any,
    width: Width,
    flying: dict[Future[Any], Item],
) -> Done[Item]:
    while waiting or flying:
        while waiting and len(flying) < (width() if callable(width) else width):
            future = executor.submit(work, waiting[0])  # may raise: then it still waits
            flying[future] = waiting.popleft()
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            result = future.result()  # may raise: then it was still flying
            yield flying.pop(future), result


@contextmanager
def _processes(number: int) -> Iterator[Any]:
    executor = ProcessPoolExecutor(
        max_workers=number, env=ONE_THREAD, initializer=_end_with, initargs=(os.getpid(),)
    )
    try:
        with warnings.catch_warnings():
            # It replaces processes that have grown, and says so; nobody need care.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            yield executor
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, and not before: Ctrl-C in a terminal reaches all.

    A parent that is killed outright cannot tell it to end; one that is interrupted does.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
