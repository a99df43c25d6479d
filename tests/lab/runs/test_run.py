"""A grid of runs: resumed, killed, failing in part; the same figures in any case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import ImputefreeError, ParameterError, ResultsError
from imputefree.lab.report._results_frame import frame_of
from imputefree.lab.runs import _protocol as protocol
from imputefree.lab.runs import _run as module
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._results import ResultsFile, read_results
from imputefree.lab.runs._run import attempt, grid, run_grid
from imputefree.lab.runs._workers import InThisProcess, WorkerDied
from tests.lab.simulated import table
from tests.refusals import check_error

HERE = {"executor": InThisProcess(), "progress": False}
UNLIKE = ("cost", "seconds", "finished", "command")  # of two runs that are the same
COSTS = ["fit_seconds", "search_seconds", "predict_seconds", "peak_memory_mb"]
QUICK = {"network": {"max_iter": 1, "n_members": 2}}


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "ward.csv"
    X, y = table(120)
    X.assign(ill=np.where(y, "yes", "no")).to_csv(path, index=False)
    return path


def runs(csv, methods=("mask_only", "linear", "network"), seeds=(0, 1)):
    options = [{"target": "ill"}]
    return grid(f"table:{csv}", methods, options=options, split_seeds=seeds, settings=QUICK)


def alike(records):
    """Lines without what may differ, in an order of their own."""
    kept = [{k: v for k, v in one.items() if k not in UNLIKE} for one in records]
    return sorted(json.dumps(one, sort_keys=True) for one in kept)


@pytest.fixture(scope="module")
def undisturbed(csv, tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "results.jsonl"
    return run_grid(runs(csv), path, command="imputefree bench", **HERE)


def test_a_line_a_run(csv, undisturbed):
    assert [Run.of(one).identity for one in undisturbed] == [one.identity for one in runs(csv)]
    for line in undisturbed:
        assert line["status"] == "done"
        assert line["command"] == "imputefree bench"
        assert {"python", "torch", "imputefree"} <= set(line["versions"])
        assert line["seconds"] > line["cost"]["fit_seconds"] > 0
        assert 0 <= line["scores"]["accuracy"] <= 1
        assert line["simulated"] is False


def test_what_is_done_is_not_done_again(csv, tmp_path, monkeypatch, undisturbed):
    path = tmp_path / "results.jsonl"
    carried = []
    real = module.carry_out
    monkeypatch.setattr(
        module, "carry_out", lambda run, study, **how: carried.append(run) or real(run, study)
    )
    everything = runs(csv)
    run_grid(everything[:2] + everything[:1], path, **HERE)
    assert carried == everything[:2]  # one that was asked for twice was done once
    found = run_grid(everything[::-1], path, **HERE)
    assert len(carried) == len(everything)
    assert len(path.read_text().splitlines()) == len(everything)
    assert alike(found) == alike(undisturbed)  # in another order too


def test_processes_give_the_same(csv, tmp_path, undisturbed):
    path = tmp_path / "results.jsonl"
    found = run_grid(runs(csv), path, n_jobs=2, progress=False)
    assert alike(found) == alike(undisturbed)
    assert alike(read_results(path)) == alike(undisturbed)


def test_a_torn_line_is_done_again(csv, tmp_path, undisturbed):
    path = tmp_path / "results.jsonl"
    run_grid(runs(csv), path, **HERE)
    path.write_bytes(path.read_bytes()[:-40])
    assert alike(run_grid(runs(csv), path, **HERE)) == alike(undisturbed)
    assert len(path.read_text().splitlines()) == len(undisturbed)


def test_who_fails_is_written_down_and_the_rest_goes_on(csv, tmp_path, monkeypatch):
    path = tmp_path / "results.jsonl"
    asked = runs(csv, ["naive_bayes", "linear", "ridge"], seeds=[0])  # text; fine; for numbers
    wrong = Run(f"table:{csv}", "network", {"target": "ill"}, setting={"depth": 3})
    text, fine, numbers, setting = run_grid([*asked, wrong], path, **HERE)
    assert fine["status"] == "done"
    assert {one["status"] for one in (text, numbers, setting)} == {"failed"}
    assert "column 'ward' holds text" in text["error"]
    assert "cannot do classification" in numbers["error"]
    assert "no setting 'depth'" in setting["error"]
    assert "scores" not in text
    size = path.stat().st_size
    run_grid(asked, path, **HERE)
    assert path.stat().st_size == size  # a failure counts as done,

    def mended(run, study, **how):
        return {"scores": {"auc": 1.0}}

    monkeypatch.setattr(module, "carry_out", mended)
    again = run_grid(asked, path, retry_failed=True, **HERE)  # unless asked otherwise
    assert [one["status"] for one in again] == ["done"] * 3
    assert again[1] == fine
    assert {one["status"] for one in read_results(path)[:3]} == {"done"}


def test_any_exception_is_one_line(csv, tmp_path, monkeypatch):
    def explode(run, study, **how):
        raise MemoryError("Unable to allocate\n  9 TB")

    monkeypatch.setattr(module, "carry_out", explode)
    (line,) = run_grid(runs(csv, ["linear"], [0]), tmp_path / "r", **HERE)
    assert line["error"] == "MemoryError: Unable to allocate 9 TB"


@pytest.mark.parametrize("figure", [float("nan"), float("inf"), np.float32(1), object()])
def test_a_figure_that_cannot_be_written_fails_its_run_alone(csv, tmp_path, monkeypatch, figure):
    real = module.carry_out

    def odd(run, study, **how):
        found = real(run, study, **how)
        return found | ({"scores": {"rmse": figure}} if run.method == "linear" else {})

    monkeypatch.setattr(module, "carry_out", odd)
    path = tmp_path / "results.jsonl"
    found = run_grid(runs(csv, ["linear", "mask_only"], [0]), path, **HERE)
    assert [line["status"] for line in found] == ["failed", "done"]
    assert "what the run found cannot be written down" in found[0]["error"]
    assert read_results(path) == found


def test_pictures_of_one_run_of_each_kind(csv, tmp_path, undisturbed):
    path = tmp_path / "results.jsonl"
    found = run_grid(runs(csv), path, pictures=True, **HERE)
    assert ["pictures" in line for line in found] == [line["split_seed"] == 0 for line in found]
    shown = {line["method"]: line["pictures"] for line in found if "pictures" in line}
    assert set(shown["network"]) == {"curves", "features"}
    assert shown["linear"] == {}
    assert read_results(path) == found
    pd.testing.assert_frame_equal(
        frame_of(found).drop(columns=COSTS), frame_of(undisturbed).drop(columns=COSTS)
    )
    plain = [{k: v for k, v in line.items() if k != "pictures"} for line in found]
    assert alike(plain) == alike(undisturbed)


def test_pictures_that_fail_are_a_warning_however_many_there_are(csv, tmp_path, monkeypatch):
    def explode(*given, **how):
        for i in range(9):
            warnings.warn(f"warning {i}", stacklevel=1)
        raise RuntimeError("no\npaint")

    monkeypatch.setattr(protocol.looks, "pictures", explode)
    (line,) = run_grid(runs(csv, ["linear"], [0]), tmp_path / "r", pictures=True, **HERE)
    assert line["status"] == "done"
    assert line["scores"]
    assert line["warnings"][0] == "no pictures: RuntimeError: no"
    assert len(line["warnings"]) == 5


def test_a_process_that_died_is_a_failed_run(csv, tmp_path, monkeypatch):
    def by_processes(work, items, n_jobs):
        for item in items:
            yield item, WorkerDied("its process ended without a word")

    monkeypatch.setattr(module, "by_processes", by_processes)
    path = tmp_path / "r"
    run_grid(runs(csv, ["linear"], [0]), path, progress=False)
    (line,) = read_results(path)
    assert (line["status"], line["error"]) == ("failed", "its process ended without a word")
    assert line["versions"]["torch"]


def test_a_study_that_is_not_there_is_no_result(tmp_path):
    path = tmp_path / "r"
    asked = [Run("table:/nowhere/at/all.csv", "linear")]
    with pytest.raises((ImputefreeError, OSError)):
        run_grid(asked, path, **HERE)
    assert path.read_bytes() == b""  # so it is tried again when it is there


def test_nothing_starts_where_something_is_wrong(csv, tmp_path):
    path = tmp_path / "r"
    wrong = [*runs(csv), Run("icu", "gill")]
    check_error(lambda: run_grid(wrong, path, **HERE), "no method 'gill'", kind=ParameterError)
    check_error(lambda: run_grid([], path, n_jobs=0), "n_jobs is 0", kind=ParameterError)
    assert not path.exists()
    with ResultsFile(path):
        check_error(lambda: run_grid(runs(csv), path), "another process", kind=ResultsError)


def test_a_full_disk_ends_it_with_a_sentence_and_it_goes_on_later(
    csv, tmp_path, monkeypatch, undisturbed
):
    path = tmp_path / "results.jsonl"
    sync, times = os.fsync, []

    def full(file):
        times.append(file)
        if len(times) == 4:  # one of the folder, two lines, and then
            raise OSError(28, "No space left on device")
        sync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        check_error(
            lambda: run_grid(runs(csv), path, **HERE),
            "the disk is full",
            "2 runs in it are safe",
            kind=ResultsError,
        )
    assert len(read_results(path)) == 2
    assert alike(run_grid(runs(csv), path, **HERE)) == alike(undisturbed)


def stuck(run, **how):
    """An attempt that never ends from the second seed on: whoever kills it comes in the middle."""
    if run.split_seed:
        time.sleep(600)
    return attempt(run, **how)


STUCK = """
from imputefree.bench import run
from tests.lab.runs.test_run import stuck
run.attempt = stuck
"""
BENCH = """
import sys
from imputefree.bench.run import run_grid
from tests.lab.runs.test_run import runs
run_grid(runs(sys.argv[1]), sys.argv[2], n_jobs=1, progress=False)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_bench_goes_on_as_if_nothing_had_been(csv, tmp_path, undisturbed):
    path = tmp_path / "results.jsonl"
    bench = subprocess.Popen([sys.executable, "-c", STUCK + BENCH, csv, path])
    deadline = time.monotonic() + 300  # a busy machine takes its time
    while not path.exists() or path.read_bytes().count(b"\n") < 3:
        assert bench.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers = children(bench.pid)
    assert workers
    bench.send_signal(signal.SIGKILL)
    assert bench.wait() == -signal.SIGKILL
    done = read_results(path)
    assert alike(done) == alike(undisturbed[:3])
    while any(map(alive, workers)):  # nobody goes on computing for a dead parent
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run_grid(runs(csv), path, **HERE)
    assert alike(read_results(path)) == alike(undisturbed)
    assert read_results(path)[: len(done)] == done  # and nothing was done twice
    assert len(path.read_text().splitlines()) == len(undisturbed)


def children(parent):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True)
    return [int(one) for one in found.stdout.split()]


def alive(pid):
    """Whether it is there and no zombie."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True).stdout
    return bool(state.strip()) and not state.startswith(b"Z")
