"""The paper's tables: what is committed, what made it, and that it can be run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from imputefree.bench.plans import plan
from imputefree.bench.results import read_results

PAPER = Path(__file__).parent.parent / "paper"
COMMITTED = sorted((PAPER / "results").glob("*.jsonl"))


def call(script, *options):
    command = [sys.executable, str(PAPER / script), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_pages_are_made_from_the_committed_results():
    done = call("tables.py", "--check")
    assert done.returncode == 0, f"tables drifted from paper/results: `make readme` {done.stderr}"


def test_every_table_has_results():
    assert {path.stem for path in COMMITTED} >= {
        *("mnist", "ophthalmic-simulated", "icu", "physionet2012"),
    }


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_lines_say_what_made_them(path):
    for line in read_results(path):
        assert line["command"].startswith("python paper/run.py")
        assert line["versions"]["torch"]
        assert line["simulated"] == (path.stem in ("icu", "ophthalmic-simulated"))
        assert line["status"] == "done" or line["error"]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_networks_have_the_papers_shape_or_the_cut_one(path):
    """Every line is a run that the plan of today would make, but for what `run.py` cuts."""
    sys.path.insert(0, str(PAPER))
    try:
        from run import runs_of
    finally:
        sys.path.remove(str(PAPER))
    today = {run.identity for run in runs_of(path.stem)}
    lines = [line_identity(line) for line in read_results(path)]
    assert set(lines) <= today
    assert len(lines) == len(set(lines))


def line_identity(line):
    from imputefree.bench.protocol import Run

    return Run.of(line).identity


def test_one_command_a_table(tmp_path):
    """A smoke test: one cheap method of a simulated study, through the command."""
    asked = ("icu", "--only", "mask_only_lightgbm", "--seed", 0, "--jobs", 1)
    done = call("run.py", *asked, "--results", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = read_results(tmp_path / "icu.jsonl")
    assert {line["method"] for line in lines} == {"mask_only_lightgbm"}
    assert {line["status"] for line in lines} == {"done"}
    assert len(lines) == len(plan("icu", methods=["mask_only_lightgbm"], seeds=1).runs)
