"""Runs on a Dask cluster that is there already: `imputefree bench STUDY --dask tcp://HOST:8786`.

    dask scheduler                                                 on one machine
    dask worker tcp://HOST:8786 --nthreads 1 --nworkers 8          on each, 8 of its cores

What a cluster has to have:

- The extra `cluster` and the same versions of Python and imputefree everywhere.
- One thread a worker, as written above: a run measures its time and memory, and catches warnings,
  for its whole process. Workers with more are refused; `carry_out` limits libraries to one thread.
- The files of studies on every machine, under the same path if --root is given, else where
  IMPUTEFREE_DATA of the *worker* says, or in the cache there. Simulated ones need none.
- Memory: at 80 % of its --memory-limit Dask gives a worker no further runs. `--memory-limit 0`
  leaves that to the machine.

Runs are moved to another worker when theirs is gone; one that is gone with several (Dask's
allowed-failures, 3 unless the scheduler says otherwise) is a failed line, and the rest goes on.
Workers that join later are given work, too. Results are written here, by this process alone.
"""

from __future__ import annotations

import logging
import platform
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ...data import counted, shorten
from ...errors import ClusterError, ImputefreeError
from ._workers import WorkerDied

ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?[^\s/:]+:\d{1,5}")
PATIENCE = 10.0  # seconds for a scheduler to answer, and for a first worker to be there
ALONE = 60.0  # seconds without any worker: a restarted one needs a few
LOOK = 2.0  # seconds between two looks at the workers
GO_ON = "Start it again, then the same command: it goes on from there"


class Cluster:
    """The workers of a scheduler as an executor; made by `connect`."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        # pure=False: a key of its own for every run. By Dask's default equal calls share a key, so
        # that a run to be tried again would be given the result that failed.
        self._executor = client.get_executor(pure=False)
        self._flying: set[Future[Any]] = set()
        self._closed = threading.Event()
        self._workers = len(client.nthreads())
        threading.Thread(target=self._watch, daemon=True).start()

    def width(self) -> int:
        """How many runs to give it at a time: one for each worker that there is now.

        More would wait inside workers, and be held responsible when these die.
        """
        return max(1, self._workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As in concurrent.futures; the result of what killed its workers is a `WorkerDied`."""
        outer: Future[Any] = Future()
        self._flying.add(outer)
        inner = self._executor.submit(fn, *args, **kwargs)
        inner.add_done_callback(lambda done: self._settle(outer, done))
        return outer

    def close(self) -> None:
        """Take back what has not begun. What is under way on a worker goes on to its end there."""
        self._closed.set()
        self._executor.shutdown(wait=False)

    def _settle(self, outer: Future[Any], inner: Future[Any]) -> None:
        from distributed import KilledWorker

        try:
            self._end(outer, inner.result())
        except KilledWorker as error:
            died = f"{counted(error.allowed_failures + 1, 'worker')} died while running it"
            self._end(outer, WorkerDied(f"{died}: killed, often for want of memory, or crashed"))
        except CancelledError:
            self._end(outer, self._gone("the scheduler"))
        except ImputefreeError as error:  # such as files that are here, and not there
            fact = f"on a worker of the Dask cluster: {error.fact}"
            self._end(outer, type(error)(fact, error.rule, error.remedy))
        except BaseException as error:
            self._end(outer, error)

    def _end(self, outer: Future[Any], result: Any) -> None:
        try:
            self._flying.remove(outer)
        except KeyError:  # the other thread was first
            return
        is_error = isinstance(result, BaseException) and not isinstance(result, WorkerDied)
        (outer.set_exception if is_error else outer.set_result)(result)

    def _watch(self) -> None:
        """Count workers; without any Dask would wait for ever, and nobody would know why."""
        seen = time.monotonic()
        while not self._closed.wait(LOOK):
            with suppress(Exception):  # the scheduler is gone: then runs are cancelled, which tells
                self._workers = len(self._client.nthreads())
                if self._workers:
                    seen = time.monotonic()
            if time.monotonic() - seen > ALONE:
                for outer in list(self._flying):
                    self._end(outer, self._gone("the last worker"))

    def _gone(self, who: str) -> ClusterError:
        return ClusterError(
            f"{who} of the Dask cluster {self._address} is gone",
            "The runs that were done are in the file of results; those under way are not",
            GO_ON,
        )


@contextmanager
def connect(address: str, patience: float = PATIENCE) -> Iterator[Cluster]:
    """An executor for `run_grid(..., executor=cluster, width=cluster.width)`.

    address : such as "tcp://127.0.0.1:8786", as the scheduler prints it
    patience : seconds for the scheduler to answer, and for a first worker to be there

    >>> with connect("http://127.0.0.1"):
    ...     pass
    Traceback (most recent call last):
    imputefree.errors.ClusterError: 'http://127.0.0.1' is no address of a Dask scheduler. It must \
be tcp://HOST:PORT. Copy it from what `dask scheduler` prints.
    """
    if not ADDRESS.fullmatch(address):
        raise ClusterError(
            f"{address!r} is no address of a Dask scheduler",
            "It must be tcp://HOST:PORT",
            "Copy it from what `dask scheduler` prints",
        )
    _check_installed()  # and its loggers made
    with _quietly():
        client = _client(address, patience)
        try:
            _check_workers(client, address, patience)
            cluster = Cluster(client, address)
            try:
                yield cluster
            finally:
                cluster.close()
        finally:
            with suppress(Exception):  # of a scheduler that is gone there is no leave to take
                client.close(timeout=patience)


def _check_installed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ClusterError(
            "Dask is not installed",
            "--dask needs the extra `cluster`",
            "Run pip install 'imputefree[cluster]', here and on all workers",
        ) from None


def _client(address: str, patience: float) -> Any:
    from distributed import Client

    answer: Future[Any] = Future()

    def ask() -> None:
        try:
            answer.set_result(Client(address, timeout=patience, set_as_default=False))
        except Exception as error:
            answer.set_exception(error)

    # In a thread: with a server that is no scheduler Dask would talk for ever.
    threading.Thread(target=ask, daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions: `_check_workers` says which matter
            return answer.result(patience + 2)
    except Exception as error:
        silent = isinstance(error, (OSError, TimeoutError))
        why = "" if silent else f" ({type(error).__name__}: {error})"
        raise ClusterError(
            f"no Dask scheduler answers at {address} within {patience:g} seconds{why}",
            "--dask uses a cluster that is there already",
            "Start `dask scheduler`, or check the address and what stands between",
        ) from None


def _check_workers(client: Any, address: str, patience: float) -> None:
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=patience)
    threads = client.nthreads()
    start = f"`dask worker {address} --nthreads 1`"
    if not threads:
        raise ClusterError(
            f"the Dask scheduler {address} has no workers", "Runs need some", f"Start {start}"
        )
    wide = [worker for worker, number in threads.items() if number > 1]
    if wide:
        raise ClusterError(
            f"{counted(len(wide), 'Dask worker')} with more than one thread: {shorten(wide)}",
            "Time, memory and warnings of a run are those of its process, so it must be alone",
            f"Start workers by {start}, with --nworkers for several on a machine",
        )
    _check_same("Python", platform.python_version(), client.run(platform.python_version))
    here = version("imputefree")
    _check_same("imputefree", here, client.run(version, "imputefree", on_error="return"))


def _check_same(what: str, here: str, there: dict[str, Any]) -> None:
    for worker, found in there.items():
        if found != here:
            has = "none" if isinstance(found, PackageNotFoundError) else str(found)
            raise ClusterError(
                f"{what} is {here} here and {has} on the Dask worker {worker}",
                "A bench is made by one version",
                "Install the same on all workers and start them again",
            )


@contextmanager
def _quietly() -> Iterator[None]:
    """Without Dask's log, which tells of every lost connection at length."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in names]  # several have a level of their own
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
