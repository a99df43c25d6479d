"""Where runs are carried out: in processes on this machine, or on a Dask cluster.

Each is a function (work, items) that yields (item, work(item)) once per item, as results come.

What a Dask cluster needs is in docs/tutorial-benchmarks.md. Only this process writes results.
"""

from __future__ import annotations

import logging
import os
import platform
import re
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from joblib.externals.loky import ProcessPoolExecutor

from ...errors import ClusterError, ImputefreeError, counted, require_extra, shorten

Item = TypeVar("Item")
Work = Callable[[Item], Any]
Results = Iterator[tuple[Item, Any]]
DIED = "its process died without a message: killed, often for lack of memory, or crashed"
# Set before any library is loaded: some read nothing else.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?[^\s/:]+:\d{1,5}")
PATIENCE = 10.0  # seconds for a scheduler to answer, and for the first worker to join
ALONE = 60.0  # seconds without any worker: a restarted one needs a few
LOOK = 2.0  # seconds between two counts of the workers


class WorkerDied(Exception):
    """Takes the place of a result whose process died twice."""


def by_processes(work: Work[Item], items: Sequence[Item], n_jobs: int) -> Results[Item]:
    """In n_jobs processes with one thread each.

    Every process is a separate executor: a run that crashes or exhausts memory takes down only its
    own process. It is tried once more; its result after that is a `WorkerDied`.
    """
    waiting = deque((item, 1) for item in items)  # with the number of the attempt
    executors: list[Any] = []  # all; known before they start a process, which may be interrupted
    idle: list[Any] = []
    running: dict[Future[Any], tuple[Any, Item, int]] = {}
    try:
        with warnings.catch_warnings():
            # loky replaces processes that have grown, and says so.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            while waiting or running:
                while waiting and len(running) < n_jobs:
                    if not idle:
                        executors.append(_process())
                        idle.append(executors[-1])
                    executor = idle.pop()
                    future = executor.submit(work, waiting[0][0])
                    running[future] = (executor, *waiting.popleft())
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    executor, item, attempt = running[future]
                    try:
                        result = future.result()
                        idle.append(executor)
                    except BrokenExecutor:
                        executor.shutdown(wait=True, kill_workers=True)
                        result = WorkerDied(DIED)
                    del running[future]
                    if isinstance(result, WorkerDied) and attempt == 1:
                        waiting.append((item, 2))
                    else:
                        yield item, result
    finally:
        for executor in executors:
            executor.shutdown(wait=True, kill_workers=True)


def _process() -> Any:
    return ProcessPoolExecutor(1, env=ONE_THREAD, initializer=_end_with, initargs=(os.getpid(),))


def _end_with(parent: int) -> None:
    """End this process soon after its parent, and not before: Ctrl-C in a terminal reaches all.

    A parent that is interrupted ends its workers itself; one that is killed cannot.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Cluster:
    """The workers of a Dask scheduler, to be passed as `run_grid(..., workers=cluster)`."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address

    def __call__(self, work: Work[Item], items: Sequence[Item]) -> Results[Item]:
        """One run per worker at a time: more would wait in workers, and be blamed if these die."""
        # pure=False: each run has its own key. By default equal calls share one, so that a run to
        # be tried again would get the result that failed.
        executor = self._client.get_executor(pure=False)
        waiting, running = deque(items), dict[Future[Any], Item]()
        last_seen = time.monotonic()
        try:
            while waiting or running:
                n_workers = 0
                with suppress(Exception):  # the scheduler is gone: cancelled runs will say so
                    n_workers = len(self._client.nthreads())
                if n_workers:
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > ALONE:  # Dask would wait forever
                    raise self._gone("the last worker")
                while waiting and len(running) < max(1, n_workers):
                    future = executor.submit(work, waiting[0])
                    running[future] = waiting.popleft()
                for future in wait(running, LOOK, FIRST_COMPLETED).done:
                    yield running.pop(future), self._result(future)
        finally:  # cancel runs that have not begun; others finish on their worker
            executor.shutdown(wait=False)

    def _result(self, future: Future[Any]) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            died = f"{counted(error.allowed_failures + 1, 'worker')} died while running it"
            return WorkerDied(f"{died}: killed, often for lack of memory, or crashed")
        except CancelledError:
            raise self._gone("the scheduler") from None
        except ImputefreeError as error:  # such as files that are here and not there
            fact = f"on a worker of the Dask cluster: {error.fact}"
            raise type(error)(fact, error.rule, error.remedy) from None

    def _gone(self, who: str) -> ClusterError:
        return ClusterError(
            f"{who} of the Dask cluster {self._address} is gone",
            "Finished runs are in the results file; those that were running are not",
            "Start it and the same command again: it continues from there",
        )


@contextmanager
def connect(address: str, patience: float = PATIENCE) -> Iterator[Cluster]:
    """The cluster of the scheduler at this address.

    address : such as "tcp://127.0.0.1:8786", as the scheduler prints it
    patience : seconds for the scheduler to answer, and for the first worker to join

    >>> with connect("http://127.0.0.1"):
    ...     pass
    Traceback (most recent call last):
    imputefree.errors.ClusterError: 'http://127.0.0.1' is not an address of a Dask scheduler. It \
must be tcp://HOST:PORT. Copy it from what `dask scheduler` prints.
    """
    if not ADDRESS.fullmatch(address):
        fact = f"{address!r} is not an address of a Dask scheduler"
        remedy = "Copy it from what `dask scheduler` prints"
        raise ClusterError(fact, "It must be tcp://HOST:PORT", remedy)
    require_extra("cluster", "distributed")
    with ExitStack() as stack:
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.CRITICAL)  # Dask reports every lost connection at length
        client = _client(address, patience)
        try:
            _check_workers(client, address, patience)
            yield Cluster(client, address)
        finally:
            with suppress(Exception):  # the scheduler may be gone
                client.close(timeout=patience)


def _client(address: str, patience: float) -> Any:
    from distributed import Client

    answer: Future[Any] = Future()

    def ask() -> None:
        try:
            answer.set_result(Client(address, timeout=patience, set_as_default=False))
        except Exception as error:
            answer.set_exception(error)

    # In a thread: with a server that is not a scheduler, Dask would keep talking forever.
    threading.Thread(target=ask, daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: `_check_workers` says which matter
            return answer.result(patience + 2)
    except Exception as error:
        silent = isinstance(error, (OSError, TimeoutError))
        why = "" if silent else f" ({type(error).__name__}: {error})"
        raise ClusterError(
            f"no Dask scheduler answers at {address} within {patience:g} seconds{why}",
            "--dask uses a cluster that is already running",
            "Start `dask scheduler`, or check the address and the network",
        ) from None


def _check_workers(client: Any, address: str, patience: float) -> None:
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=patience)
    threads = client.nthreads()
    start = f"`dask worker {address} --nthreads 1`"
    if not threads:
        fact = f"the Dask scheduler {address} has no workers"
        raise ClusterError(fact, "Runs need one", f"Start {start}")
    wide = [worker for worker, number in threads.items() if number > 1]
    if wide:
        raise ClusterError(
            f"{counted(len(wide), 'Dask worker')} with more than one thread: {shorten(wide)}",
            "Time, memory and warnings of a run are those of its process, so it must be alone",
            f"Start workers with {start}, and --nworkers for several on a machine",
        )
    for name, ask in (
        ("Python", platform.python_version),
        ("imputefree", partial(version, "imputefree")),
    ):
        for worker, installed in client.run(ask, on_error="return").items():
            if installed != ask():
                installed = (
                    "not installed" if isinstance(installed, PackageNotFoundError) else installed
                )
                raise ClusterError(
                    f"{name} is {ask()} here and {installed} on the Dask worker {worker}",
                    "All runs of a bench use one version",
                    "Install the same version on all workers and restart them",
                )
