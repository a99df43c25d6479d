"""A real scheduler with real workers, of which some die; and the sentences where there is none."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from imputefree.cli._app import main
from imputefree.errors import ClusterError, InputError
from imputefree.lab.runs import _cluster as module
from imputefree.lab.runs import _run as run_module
from imputefree.lab.runs._cluster import connect
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._results import read_results
from imputefree.lab.runs._run import attempt, run_grid
from imputefree.lab.runs._workers import WorkerDied, by_executor
from tests.cli.test_bench import root
from tests.lab.runs.test_run import HERE, alike, csv, runs
from tests.refusals import check_error

__all__ = ["csv", "root"]  # fixtures
distributed = pytest.importorskip("distributed", reason="needs the extra cluster")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


@contextmanager
def process(*words):
    """`dask …` in the background; what it logs goes nowhere."""
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OMP_NUM_THREADS": "1",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    }
    command = [sys.executable, "-m", "dask", *map(str, words), "--no-dashboard"]
    started = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


@contextmanager
def scheduler(folder):
    said = folder / "scheduler.json"
    # The last one: should this process be killed, nobody is left behind.
    words = ("--host", "127.0.0.1", "--port", 0, "--scheduler-file", said, "--idle-timeout", 600)
    with process("scheduler", *words) as started:
        until(lambda: said.exists() and said.read_text().endswith("}"))
        yield json.loads(said.read_text())["address"], started


@contextmanager
def worker(address, folder, *words):
    fixed = ("--nthreads", 1, "--memory-limit", 0, "--local-directory", folder)
    fixed += ("--death-timeout", 60)
    with process("worker", address, *fixed, *words) as started:
        yield started


def until(condition, seconds=400.0):  # a busy machine takes its time
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A scheduler, and one worker that a nanny starts again whenever it dies."""
    folder = tmp_path_factory.mktemp("dask")
    with scheduler(folder) as (address, _):
        with pytest.raises(ClusterError, match="has no workers"), connect(address, 0.5):
            pass
        with worker(address, folder, "--nanny"):
            yield address


def stuck_in(pid, run, **how):
    """An attempt that never ends in this one process: whoever kills it comes in the middle."""
    if os.getpid() == pid:
        time.sleep(600)
    return attempt(run, **how)


def test_a_worker_killed_in_the_middle(address, tmp_path, csv, monkeypatch):
    asked, path, killed = runs(csv, seeds=range(3)), tmp_path / "results.jsonl", []
    with (
        worker(address, tmp_path, "--no-nanny") as victim,
        distributed.Client(address, set_as_default=False) as looking,
    ):
        looking.wait_for_workers(2, timeout=400)
        pids = looking.run(os.getpid)
        (at,) = [name for name, pid in pids.items() if pid == victim.pid]

        def kill():
            """When results come from the other one, and the victim has a run that never ends."""
            try:
                until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2)
                until(lambda: looking.processing()[at], 20)
                killed.extend(looking.processing()[at])
            finally:  # in any case, as the grid waits for it
                victim.send_signal(signal.SIGKILL)

        killer = threading.Thread(target=kill)
        monkeypatch.setattr(run_module, "attempt", partial(stuck_in, victim.pid))
        with connect(address, 60) as cluster:
            assert cluster.width() == 2
            killer.start()
            found = run_grid(asked, path, executor=cluster, width=cluster.width, progress=False)
        killer.join()
        assert victim.wait(60) == -signal.SIGKILL
    assert killed
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(Run.of(line).identity for line in lines) == sorted(r.identity for r in asked)
    assert {line["status"] for line in lines} == {"done"}
    here = run_grid(asked, tmp_path / "here.jsonl", **HERE)
    assert alike(lines) == alike(found) == alike(here)


def test_the_command(address, root, tmp_path, capsys):
    words = ("table:hepatitis", "--methods", "mask_only", "--seeds", "2", "--no-pictures")
    path = tmp_path / "r.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["bench", *words, "--root", str(root), "--dask", address, "-o", str(path)])
    assert (left.value.code, capsys.readouterr().err) == (0, "")
    assert [line["status"] for line in read_results(path)] == ["done"] * 2


def test_the_same_work_twice_is_done_twice(address):
    """With Dask's own keys the second would be given what the first found."""
    with connect(address, 60) as cluster:
        ticks = [cluster.submit(time.monotonic_ns) for _ in range(2)]
        assert len({tick.result() for tick in ticks}) == 2


def test_an_error_on_a_worker_says_where(address):
    def no_files(number):
        raise InputError("there is no mnist", "It must be there", "Fetch it")

    with (
        connect(address, 60) as cluster,
        pytest.raises(InputError, match="on a worker of the Dask"),
    ):
        list(by_executor(no_files, [1], cluster, 1))


def test_another_version_on_a_worker(address, monkeypatch):
    here = os.getpid()
    monkeypatch.setattr(module, "version", lambda name: "9.0" if os.getpid() == here else "0.1")
    check_error(
        lambda: connect(address, 60).__enter__(),
        "imputefree is 9.0 here and 0.1 on the Dask worker tcp://",
        kind=ClusterError,
    )


def test_who_kills_its_workers_is_a_line_and_the_rest_goes_on(address):
    def deadly(number):
        if number == 1:
            os._exit(9)
        return number**2

    with connect(address, 60) as cluster:
        found = dict(by_executor(deadly, range(4), cluster, cluster.width))
    died = found.pop(1)
    assert isinstance(died, WorkerDied)
    assert str(died).startswith("2 workers died while running it")
    assert found == {0: 0, 2: 4, 3: 9}


def test_no_imputefree_on_a_worker():
    check_error(
        lambda: module._check_same("imputefree", "1.0", {"tcp://a:1": PackageNotFoundError()}),
        "imputefree is 1.0 here and none on the Dask worker tcp://a:1",
        "Install",
        kind=ClusterError,
    )


def test_workers_with_many_threads():
    client = SimpleNamespace(
        wait_for_workers=lambda number, timeout: None, nthreads=lambda: {"tcp://a:1": 1, "b": 8}
    )
    check_error(
        lambda: module._check_workers(client, "tcp://a:2", 1.0),
        "1 Dask worker with more than one thread: 'b'",
        "dask worker tcp://a:2 --nthreads 1",
        kind=ClusterError,
    )


def test_a_scheduler_that_dies_ends_it_with_a_sentence(tmp_path):
    def slow(number):
        time.sleep(0.3)
        return number

    with scheduler(tmp_path) as (address, started), worker(address, tmp_path):
        found = []
        with (
            pytest.raises(ClusterError, match="the scheduler of the Dask cluster"),
            connect(address, 30) as cluster,
        ):
            for item, _ in by_executor(slow, range(100), cluster, 1):
                found.append(item)
                started.send_signal(signal.SIGKILL)
        assert found == [0]


def test_no_worker_left(address, monkeypatch):
    """As if nobody came back: Dask itself would wait for ever."""
    monkeypatch.setattr(module, "ALONE", 0.0)
    monkeypatch.setattr(module, "LOOK", 0.1)
    with connect(address, 60) as cluster:
        cluster._client = SimpleNamespace(nthreads=dict)
        with pytest.raises(ClusterError, match="the last worker of the Dask cluster"):
            list(by_executor(time.sleep, [3], cluster, 1))


def test_nobody_answers():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # it takes the call and says nothing, as a server of another kind does
        address = "tcp://{}:{}".format(*silent.getsockname())
        start = time.monotonic()
        check_error(
            lambda: connect(address, 0.5).__enter__(),
            f"no Dask scheduler answers at {address} within 0.5 seconds",
            "Start `dask scheduler`",
            kind=ClusterError,
        )
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("address", ["", "host", "tcp://host", "http://host:80", "tcp://host:x"])
def test_what_is_no_address(address):
    check_error(lambda: connect(address).__enter__(), "no address", kind=ClusterError)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    check_error(
        lambda: connect("tcp://host:1").__enter__(),
        "Dask is not installed",
        "imputefree[cluster]",
        kind=ClusterError,
    )
