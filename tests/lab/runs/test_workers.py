"""Every item comes back once: from processes and from a real Dask cluster, of which some die."""

from __future__ import annotations

import json
import os
import platform
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
from imputefree.errors import ClusterError, InputError, MissingExtraError
from imputefree.lab.runs import _run as run_module
from imputefree.lab.runs import _workers as module
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._results import read_results
from imputefree.lab.runs._run import attempt, run_grid
from imputefree.lab.runs._workers import WorkerDied, by_processes, connect
from tests.cli.test_bench import root
from tests.lab.runs.test_run import HERE, alike, csv, runs
from tests.refusals import check_error

__all__ = ["csv", "root"]  # fixtures


def dask(test):
    """Mark a test that needs the cluster, whose processes all import PyTorch."""
    return pytest.mark.slow(pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")(test))


@pytest.mark.slow
def test_a_process_that_dies_takes_no_other_down(monkeypatch):
    def deadly(number):  # in here it is pickled whole, so that processes import little
        import os

        if number == 1:
            os._exit(9)
        return number**2, os.environ["OMP_NUM_THREADS"]

    # without the initializer, which would import PyTorch; test_run.py shows what that one does
    bare = partial(module.ProcessPoolExecutor, 1, env=module.ONE_THREAD)
    monkeypatch.setattr(module, "_process", bare)
    results = dict(by_processes(deadly, range(4), n_jobs=2))
    assert isinstance(results.pop(1), WorkerDied)
    assert results == {0: (0, "1"), 2: (4, "1"), 3: (9, "1")}


def test_no_work_starts_no_process(monkeypatch):
    monkeypatch.setattr(module, "_process", None)
    assert list(by_processes(abs, [], n_jobs=2)) == []


@contextmanager
def process(*words):
    """`dask …` in the background; its log is dropped."""
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


def worker(address, folder, *words):
    fixed = ("--nthreads", 1, "--memory-limit", 0, "--local-directory", folder)
    return process("worker", address, *fixed, "--death-timeout", 60, *words)


def until(condition, seconds=400.0):  # a busy machine takes its time
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """Address and process of a scheduler with one worker, which a nanny restarts when it dies."""
    pytest.importorskip("distributed", reason="needs the extra cluster")
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    words = ("--host", "127.0.0.1", "--port", 0, "--scheduler-file", file, "--idle-timeout", 600)
    with process("scheduler", *words) as started:
        until(lambda: file.exists() and file.read_text().endswith("}"))
        address = json.loads(file.read_text())["address"]
        with pytest.raises(ClusterError, match="has no workers"), connect(address, 0.5):
            pass
        with worker(address, folder, "--nanny"):
            yield address, started


@pytest.fixture
def address(scheduler):
    return scheduler[0]


def stuck_in(pid, run, **options):
    """An attempt that never ends in this one process, to be killed in the middle."""
    if os.getpid() == pid:
        time.sleep(600)
    return attempt(run, **options)


@dask
def test_a_worker_killed_in_the_middle(address, tmp_path, csv, monkeypatch):
    from distributed import Client

    asked, path, killed = runs(csv, ("mask_only", "linear")), tmp_path / "results.jsonl", []
    with (
        worker(address, tmp_path, "--no-nanny") as victim,
        Client(address, set_as_default=False) as looking,
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
            killer.start()
            returned = run_grid(asked, path, workers=cluster, progress=False)
        killer.join()
        assert victim.wait(60) == -signal.SIGKILL
    assert killed
    assert len(path.read_text().splitlines()) == len(asked)
    lines = read_results(path)
    assert sorted(Run.of(line).identity for line in lines) == sorted(r.identity for r in asked)
    assert {line["status"] for line in lines} == {"done"}
    here = run_grid(asked, tmp_path / "here.jsonl", **HERE)
    assert alike(lines) == alike(returned) == alike(here)


@dask
def test_the_command(address, root, tmp_path, capsys):
    words = ("table:hepatitis", "--methods", "mask_only", "--seeds", "2", "--no-pictures")
    path = tmp_path / "r.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["bench", *words, "--root", str(root), "--dask", address, "-o", str(path)])
    assert (left.value.code, capsys.readouterr().err) == (0, "")
    assert [line["status"] for line in read_results(path)] == ["done"] * 2


@dask
def test_equal_work_is_done_each_time(address):
    """With Dask's default keys the second would get the first one's result."""
    with connect(address, 60) as cluster:
        ticks = {tick for _, tick in cluster(lambda item: time.monotonic_ns(), ["a", "a"])}
    assert len(ticks) == 2


@dask
def test_an_error_on_a_worker_says_where(address):
    def no_files(number):
        raise InputError("there is no mnist", "It must be there", "Fetch it")

    with (
        connect(address, 60) as cluster,
        pytest.raises(InputError, match="on a worker of the Dask"),
    ):
        list(cluster(no_files, [1]))


@dask
def test_another_version_on_a_worker(address, monkeypatch):
    here = os.getpid()
    monkeypatch.setattr(module, "version", lambda name: "9.0" if os.getpid() == here else "0.1")
    check_error(
        lambda: connect(address, 60).__enter__(),
        "imputefree is 9.0 here and 0.1 on the Dask worker tcp://",
        kind=ClusterError,
    )


@dask
def test_a_run_that_kills_its_workers_fails_and_the_rest_goes_on(address):
    def deadly(number):
        if number == 1:
            os._exit(9)
        return number**2

    with connect(address, 60) as cluster:
        results = dict(cluster(deadly, range(4)))
    died = results.pop(1)
    assert isinstance(died, WorkerDied)
    assert str(died).startswith("2 workers died while running it")
    assert results == {0: 0, 2: 4, 3: 9}


@dask
def test_no_worker_left(address, monkeypatch):
    """As if none came back: Dask itself would wait for ever."""
    monkeypatch.setattr(module, "ALONE", 0.0)
    monkeypatch.setattr(module, "LOOK", 0.1)
    with connect(address, 60) as cluster:
        monkeypatch.setattr(cluster._client, "nthreads", dict)
        with pytest.raises(ClusterError, match="the last worker of the Dask cluster"):
            list(cluster(time.sleep, [3]))


@dask
def test_a_scheduler_that_dies_is_one_error(scheduler):  # the last to use it
    def slow(number):
        time.sleep(0.3)
        return number

    address, started = scheduler
    results = []
    with (
        pytest.raises(ClusterError, match="the scheduler of the Dask cluster"),
        connect(address, 5) as cluster,
    ):
        for item, _ in cluster(slow, range(100)):
            results.append(item)
            started.send_signal(signal.SIGKILL)
    assert results == [0]


def test_no_imputefree_on_a_worker():
    python = platform.python_version()
    client = SimpleNamespace(
        wait_for_workers=lambda number, timeout: None,
        nthreads=lambda: {"tcp://a:1": 1},
        run=lambda ask, on_error: {
            "tcp://a:1": python if ask() == python else PackageNotFoundError()
        },
    )
    check_error(
        lambda: module._check_workers(client, "tcp://a:2", 1.0),
        "here and not installed on the Dask worker tcp://a:1",
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


@pytest.mark.slow
def test_nobody_answers():
    pytest.importorskip("distributed", reason="needs the extra cluster")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # it accepts and says nothing, like a server of another kind
        address = "tcp://{}:{}".format(*silent.getsockname())
        check_error(
            lambda: connect(address, 0.5).__enter__(),
            f"no Dask scheduler answers at {address} within 0.5 seconds",
            kind=ClusterError,
        )


@pytest.mark.parametrize("address", ["", "host", "tcp://host", "http://host:80", "tcp://host:x"])
def test_what_is_not_an_address(address):
    check_error(lambda: connect(address).__enter__(), "not an address", kind=ClusterError)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    check_error(
        lambda: connect("tcp://host:1").__enter__(), "imputefree[cluster]", kind=MissingExtraError
    )
