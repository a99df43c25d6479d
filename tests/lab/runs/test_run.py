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
import pytest

from imputefree.errors import ImputefreeError, ParameterError, ResultsError
from imputefree.lab.runs import _protocol as protocol
from imputefree.lab.runs import _run as module
from imputefree.lab.runs._protocol import Run
from imputefree.lab.runs._results import ResultsFile, read_results
from imputefree.lab.runs._run import ChangedCodeWarning, attempt, commit, fingerprint, run_grid
from imputefree.lab.runs._workers import WorkerDied
from tests.lab.simulated import in_this_process, table
from tests.refusals import check_error

HERE = {"workers": in_this_process, "progress": False}
UNLIKE = ("cost", "seconds", "finished", "command")  # what may differ between equal runs
QUICK = {"network": {"max_iter": 1, "n_members": 2}}


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "ward.csv"
    X, y = table(120)
    X.assign(ill=np.where(y, "yes", "no")).to_csv(path, index=False)
    return path


def runs(csv, methods=("mask_only", "linear", "network"), seeds=(0, 1)):
    return [
        Run(f"table:{csv}", name, {"target": "ill"}, QUICK.get(name, {}), split_seed=seed)
        for seed in seeds
        for name in methods
    ]


def alike(records):
    """Lines without what may differ, sorted."""
    same = [{k: v for k, v in record.items() if k not in UNLIKE} for record in records]
    return sorted(json.dumps(record, sort_keys=True) for record in same)


@pytest.fixture(scope="module")
def undisturbed(csv, tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "results.jsonl"
    return run_grid(runs(csv), path, command="imputefree bench", **HERE)


def test_one_line_per_run(csv, undisturbed):
    assert [Run.of(line).identity for line in undisturbed] == [run.identity for run in runs(csv)]
    for line in undisturbed:
        assert line["status"] == "done"
        assert line["command"] == "imputefree bench"
        assert {"python", "torch", "imputefree"} <= set(line["versions"])
        assert line["seconds"] > line["cost"]["fit_seconds"] > 0
        assert 0 <= line["scores"]["accuracy"] <= 1
        assert line["simulated"] is False


def test_lines_carry_the_code_that_made_them(undisturbed):
    for line in undisturbed:
        assert line["sources"] == fingerprint()
        assert line["commit"] == commit()


def test_resuming_over_changed_code_is_noticed(csv, tmp_path, undisturbed):
    path = tmp_path / "results.jsonl"
    old, same = runs(csv)[:2]
    with ResultsFile(path) as results:
        results.append(undisturbed[0] | {"sources": "0ld0ld00"})
        results.append(undisturbed[1])
    with pytest.warns(ChangedCodeWarning, match="1 run in .* were made by other code .*0ld0ld00"):
        kept = run_grid([old, same], path, **HERE)
    assert kept[0]["sources"] == "0ld0ld00"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_grid([same], path, **HERE)


def test_what_is_done_is_not_done_again(csv, tmp_path, monkeypatch, undisturbed):
    path = tmp_path / "results.jsonl"
    carried = []
    real = module.carry_out
    monkeypatch.setattr(
        module, "carry_out", lambda run, study, **options: carried.append(run) or real(run, study)
    )
    everything = runs(csv)
    run_grid(everything[:2] + everything[:1], path, **HERE)
    assert carried == everything[:2]  # a run that was asked for twice was done once
    path.write_bytes(path.read_bytes()[:-40])  # a torn line is done again
    returned = run_grid(everything[::-1], path, **HERE)
    assert len(carried) == len(everything) + 1
    assert len(path.read_text().splitlines()) == len(everything)
    assert alike(returned) == alike(undisturbed)  # in another order too


def test_failures_are_recorded_and_the_rest_goes_on(csv, tmp_path, monkeypatch):
    path = tmp_path / "results.jsonl"
    asked = runs(csv, ["naive_bayes", "linear", "ridge"], seeds=[0])  # text; fine; for numbers
    wrong = Run(f"table:{csv}", "network", {"target": "ill"}, setting={"depth": 3})
    text, fine, numbers, setting = run_grid([*asked, wrong], path, **HERE)
    assert fine["status"] == "done"
    assert {line["status"] for line in (text, numbers, setting)} == {"failed"}
    assert "column 'ward' holds text" in text["error"]
    assert "cannot do classification" in numbers["error"]
    assert "no option 'depth'" in setting["error"]
    assert "scores" not in text
    size = path.stat().st_size
    run_grid(asked, path, **HERE)
    assert path.stat().st_size == size  # a failure counts as done,
    monkeypatch.setattr(module, "carry_out", lambda *run, **options: {"scores": {"auc": 1.0}})
    again = run_grid(asked, path, retry_failed=True, **HERE)  # unless asked otherwise
    assert [line["status"] for line in again] == ["done"] * 3
    assert again[1] == fine
    assert {line["status"] for line in read_results(path)[:3]} == {"done"}


def test_any_exception_is_one_line(csv, tmp_path, monkeypatch):
    def explode(run, study, **options):
        raise MemoryError("Unable to allocate\n  9 TB")

    monkeypatch.setattr(module, "carry_out", explode)
    (line,) = run_grid(runs(csv, ["linear"], [0]), tmp_path / "r", **HERE)
    assert line["error"] == "MemoryError: Unable to allocate 9 TB"


@pytest.mark.parametrize("figure", [float("nan"), float("inf"), np.float32(1), object()])
def test_a_figure_that_is_not_json_fails_its_run_alone(csv, tmp_path, monkeypatch, figure):
    def odd(run, study, **options):
        return {"scores": {"rmse": figure if run.method == "linear" else 1.0}}

    monkeypatch.setattr(module, "carry_out", odd)
    path = tmp_path / "results.jsonl"
    returned = run_grid(runs(csv, ["linear", "mask_only"], [0]), path, **HERE)
    assert [line["status"] for line in returned] == ["failed", "done"]
    assert "JSON" in returned[0]["error"]
    assert read_results(path) == returned


def test_pictures_of_one_run_of_each_kind(csv, tmp_path, undisturbed):
    path = tmp_path / "results.jsonl"
    returned = run_grid(runs(csv), path, pictures=True, **HERE)
    assert ["pictures" in line for line in returned] == [
        not line["split_seed"] for line in returned
    ]
    shown = {line["method"]: line["pictures"] for line in returned if "pictures" in line}
    assert set(shown["network"]) == {"curves", "features"}
    assert shown["linear"] == {}
    assert read_results(path) == returned
    plain = [{k: v for k, v in line.items() if k != "pictures"} for line in returned]
    assert alike(plain) == alike(undisturbed)


def test_pictures_that_fail_are_the_first_warning(csv, tmp_path, monkeypatch):
    def explode(*arguments, **options):
        raise RuntimeError("no\npaint")

    def warn(run, study, real=module.carry_out, **options):
        for i in range(9):
            warnings.warn(f"warning {i}", stacklevel=1)
        return real(run, study, **options)

    monkeypatch.setattr(module, "carry_out", warn)
    monkeypatch.setattr(protocol._pictures, "_curves", explode)
    (line,) = run_grid(runs(csv, ["linear"], [0]), tmp_path / "r", pictures=True, **HERE)
    assert line["status"] == "done"
    assert line["scores"]
    assert line["warnings"][0] == "no picture of curves: RuntimeError: no"
    assert len(line["warnings"]) == 5


def test_a_process_that_died_is_a_failed_run(csv, tmp_path):
    def workers(work, items):
        for item in items:
            yield item, WorkerDied("its process died")

    path = tmp_path / "r"
    run_grid(runs(csv, ["linear"], [0]), path, workers=workers, progress=False)
    (line,) = read_results(path)
    assert (line["status"], line["error"]) == ("failed", "its process died")
    assert line["versions"]["torch"]


def test_nothing_starts_where_something_is_wrong(csv, tmp_path):
    path = tmp_path / "r"
    wrong = [*runs(csv), Run("icu", "gill")]
    check_error(lambda: run_grid(wrong, path, **HERE), "no method 'gill'", kind=ParameterError)
    check_error(lambda: run_grid([], path, n_jobs=0), "n_jobs is 0", kind=ParameterError)
    assert not path.exists()
    with ResultsFile(path):
        check_error(lambda: run_grid(runs(csv), path), "another process", kind=ResultsError)
    with pytest.raises((ImputefreeError, OSError)):
        run_grid([Run("table:/nowhere/at/all.csv", "linear")], path, **HERE)
    assert path.read_bytes() == b""  # a study that cannot be read is not a result


def test_a_full_disk_is_one_error_and_the_grid_resumes(csv, tmp_path, monkeypatch, undisturbed):
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
            "cannot be written (No space left on device)",
            "2 runs in it are safe",
            kind=ResultsError,
        )
    assert len(read_results(path)) == 2
    assert alike(run_grid(runs(csv), path, **HERE)) == alike(undisturbed)


CODE = '"""What it does."""\n\n\ndef one():\n    """The number one."""\n    return 1  # one\n'


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HOME", tmp_path)
    (tmp_path / "code.py").write_text(CODE)
    for cached in (module.fingerprint, module.commit):
        cached.cache_clear()
    yield tmp_path
    for cached in (module.fingerprint, module.commit):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("return 1", "return 2", True),
        ("# one", "# uno", False),
        ("What it does", "What this does", False),
        ("The number one", "One", False),
    ],
)
def test_only_code_changes_the_fingerprint(home, old, new, changes):
    before = module.fingerprint(("*.py",))
    (home / "code.py").write_text(CODE.replace(old, new))
    module.fingerprint.cache_clear()
    assert (module.fingerprint(("*.py",)) != before) == changes


def test_the_commit_says_if_files_differ_from_it(home):
    assert module.commit() == ""  # not a checkout

    def git(*words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", *identity, *words], cwd=home, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "First")
    module.commit.cache_clear()
    clean = module.commit()
    assert len(clean) == 12
    (home / "code.py").write_text(CODE + "two = 2\n")
    module.commit.cache_clear()
    assert module.commit() == f"{clean}+"


def stuck(run, **options):
    """An attempt that never ends from the second seed on, to be killed in the middle."""
    if run.split_seed:
        time.sleep(600)
    return attempt(run, **options)


STUCK = """
from imputefree.lab.runs import _run
from tests.lab.runs.test_run import stuck
_run.attempt = stuck
"""
BENCH = """
import sys
from tests.lab.runs.test_run import runs
_run.run_grid(runs(sys.argv[1]), sys.argv[2], n_jobs=2, progress=False)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_bench_resumes_and_leaves_no_orphans(csv, tmp_path, undisturbed):
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
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True)
    return [int(pid) for pid in listed.stdout.split()]


def alive(pid):
    """Whether it is running and not a zombie."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True).stdout
    return bool(state.strip()) and not state.startswith(b"Z")
