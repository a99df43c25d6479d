"""`imputefree bench`: tables on stdout, a sentence for what cannot be, nothing lost in any case."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import numpy as np
import pytest

from imputefree.cli import _bench as bench
from imputefree.cli._app import main
from imputefree.lab import runs
from imputefree.lab.runs._results import read_results
from imputefree.lab.runs._run import run_grid
from tests.lab.runs.test_run import STUCK, alike, alive, children
from tests.lab.simulated import in_this_process

CHEAP = ("--methods", "mask_only,logistic_regression", "--no-pictures")
SCRIPT = "import sys; from imputefree.cli._app import main; main(sys.argv[1:])"
# Where tests run in the background, children are told to ignore Ctrl-C.
LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


def run_here(*words, **options):
    return run_grid(*words, **options | {"workers": in_this_process, "progress": False})


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Files of the size and with the target of the real ones, so that nothing need be there."""
    folder = tmp_path_factory.mktemp("data") / "tabular"
    folder.mkdir()
    rng = np.random.default_rng(0)
    age, ill = rng.integers(20, 70, 155), rng.random(155) < 0.3
    albumin = np.where(rng.random(155) < 0.4, "", (4 - ill + rng.normal(0, 0.8, 155)).round(1))
    rows = zip(age, albumin, np.where(ill, "DIE", "LIVE"), strict=True)
    lines = ["AGE,ALBUMIN,Class", *(f"{a},{b},{c}" for a, b, c in rows)]
    (folder / "hepatitis.csv").write_text("\n".join(lines) + "\n")
    return folder.parent


@pytest.fixture(autouse=True)
def no_processes(monkeypatch):
    """Processes start slowly."""
    monkeypatch.setattr(runs, "run_grid", run_here)


@pytest.fixture
def hepatitis(root):
    return ("bench", "table:hepatitis", "--root", root, *CHEAP)


@pytest.fixture(scope="module")
def undisturbed(root, tmp_path_factory):
    """stdout of a bench that nobody troubled, and its lines."""
    path = tmp_path_factory.mktemp("undisturbed") / "r.jsonl"
    words = ("bench", "table:hepatitis", "--root", root, *CHEAP, "--seeds", 6, "-o", path)
    return table_of(said_by(*words)), read_results(path)


def said_by(*words):
    """stdout of a command that is carried out in this process."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(runs, "run_grid", run_here)
        with pytest.raises(SystemExit) as left:
            main(list(map(str, words)))
    assert (left.value.code, err.getvalue()) == (0, "")
    return out.getvalue()


def table_of(out):
    """Without the lines that name files."""
    return [line for line in out.splitlines() if ".jsonl" not in line]


def test_a_table_and_what_to_do_next(run, hepatitis, tmp_path):
    code, out, err = run(*hepatitis, "--seeds", 2)
    assert (code, err) == (0, "")
    assert out.startswith("table:hepatitis: 4 runs, written to results/table-hepatitis.jsonl\n")
    assert "mask_only" in out
    assert "±" in out
    assert out.endswith("Page: imputefree report results/table-hepatitis.jsonl\n")
    path = tmp_path / "results" / "table-hepatitis.jsonl"
    lines = path.read_bytes()
    assert lines.count(b"\n") == 4
    assert read_results(path)[0]["command"].startswith("imputefree bench table:hepatitis --root ")
    again = run(*hepatitis, "--seeds", 2)
    assert again == (0, out, "")
    assert path.read_bytes() == lines  # nothing was done again


def test_placeholders_stand_side_by_side(run, hepatitis):
    words = ("--seeds", 1, "--methods", "gil-h", "--steps", 5, "--placeholders", "0,3max")
    code, out, err = run(*hepatitis, *words)
    assert (code, err) == (0, "")
    assert "gil-h [placeholder 0.0]" in out
    assert "gil-h [placeholder 3max]" in out


def test_what_failed_is_told_and_done_again_on_demand(run, hepatitis, tmp_path):
    words = (*hepatitis, "--methods", "ridge", "--seeds", 1)  # of CHEAP, too; ridge is for numbers
    code, out, _ = run(*words)
    assert code == 0
    assert "1 of 3 runs failed:" in out
    assert "  table:hepatitis ridge: the method 'ridge' cannot do classification" in out
    assert "with --retry-failed" in out
    path = tmp_path / "results" / "table-hepatitis.jsonl"
    run(*words)
    assert path.read_bytes().count(b"\n") == 3
    run(*words, "--retry-failed")
    assert path.read_bytes().count(b"\n") == 4


def test_nothing_but_failures_is_code_1(run, root):
    words = ("bench", "table:hepatitis", "--root", root, "--methods", "ridge", "--seeds", 1)
    code, out, _ = run(*words, "--no-pictures")
    assert code == 1
    assert "1 of 1 run failed:" in out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["moon"], ["no study 'moon'", "mnist, ", "physionet2012", "table:NAME", "hepatitis"]),
        (
            ["icu", "--methods", "gil,gill"],
            ["no series method 'gill'", "Valid names are mask_only", "gil-h"],
        ),
        (["icu", "--rates", "0.5"], ["'icu' hides nothing on purpose"]),
        (["icu", "--masks", "redrawn"], ["'icu' has one draw of its gaps"]),
        (["icu", "--placeholders", "0,max"], ["--placeholders is '0,max'", "for example, 0,3max"]),
        (["mnist", "--rates", "half"], ["--rates is 'half'", "for example, 0.5,0.9"]),
        (["mnist", "--rates", "0.5,1.5"], ["--rates is '0.5,1.5'"]),
        (["icu", "--methods", ","], ["--methods is ','", "at least one word"]),
        (["icu", "--methods", "", "--methods", " "], ["--methods is ', '"]),
        (["mnist", "--rates", ","], ["--rates is ','"]),
        (["icu", "--jobs", "2", "--dask", "tcp://h:1"], ["--jobs and --dask were given"]),
        (["icu", "--dask", "moon"], ["'moon' is not an address of a Dask scheduler"]),
        (["table:hepatitis", "--root", "/nowhere"], ["the folder /nowhere does not exist"]),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_code_1(run, monkeypatch, tmp_path, words, parts):
    monkeypatch.delenv("IMPUTEFREE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, _, err = run("bench", *words)
    assert code == 1
    assert err.startswith("imputefree: ")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err
    if "--root" not in words:
        assert not (tmp_path / "results").exists()


def test_help_names_the_studies_and_shows_how(run):
    code, out, _ = run("bench", "--help")
    assert code == 0
    for part in ("ophthalmic-simulated", "table:NAME", "gil,gil-h,zero+network", "--nthreads 1"):
        assert part in out


@pytest.mark.parametrize("place", ["file/results.jsonl", "/proc/none/results.jsonl", "."])
def test_a_folder_that_cannot_be_written(run, hepatitis, tmp_path, place):
    (tmp_path / "file").write_text("")
    code, _, err = run(*hepatitis, "--output", place)
    assert code == 1
    assert f"{place} cannot be written" in err
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files")
def test_a_full_disk_loses_nothing(run, hepatitis, tmp_path, undisturbed):
    """Files of this process may have so many bytes: writing more fails, as on a full disk."""
    path = tmp_path / "r.jsonl"
    words = (*hepatitis, "--seeds", 6, "--jobs", 1, "-o", path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    room = 3 * len(json.dumps(undisturbed[1][0]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        code, _, err = run(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 1
    assert f"{path} cannot be written (File too large)" in err
    assert "start the same command again" in err
    assert err.count("\n") == 1
    kept = path.read_bytes()
    assert kept.endswith(b"}\n")
    assert 1 <= kept.count(b"\n") < 12
    check_goes_on(words, path, kept, undisturbed)


def check_goes_on(words, path, kept, undisturbed):
    """The same command adds to what is there, and ends as if nothing had been."""
    table, records = undisturbed
    assert table_of(said_by(*words)) == table
    assert alike(read_results(path)) == alike(records)
    assert path.read_bytes().startswith(kept)
    assert path.read_bytes().count(b"\n") == len(records)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no groups of processes")
def test_interrupted_it_goes_on_as_if_nothing_had_been(hepatitis, tmp_path, undisturbed):
    """tests/lab/runs/test_run.py kills one."""
    path = tmp_path / "r.jsonl"
    words = (*hepatitis, "--seeds", 6, "--jobs", 1, "-o", path)
    command = [sys.executable, "-c", STUCK + LISTENING + SCRIPT, *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = subprocess.Popen(command, **pipes, start_new_session=True)
    deadline = time.monotonic() + 300  # a busy machine takes its time
    while not path.exists() or path.read_bytes().count(b"\n") < 2:
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers = children(started.pid)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    _, err = started.communicate(timeout=300)
    assert started.returncode == 130
    assert err.decode().endswith(  # after lines of progress, if it took long
        f"imputefree: interrupted. The runs that were done are in {path}; the same command"
        " continues from there.\n"
    )
    while any(map(alive, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    kept = path.read_bytes()
    assert len(read_results(path)) == 2
    check_goes_on(words, path, kept, undisturbed)


def test_help_names_the_planned_studies():
    assert bench.STUDIES.split(", ") == list(runs.STUDIES)
