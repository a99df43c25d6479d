"""The paper's tables: what is committed, what made it, and that it can be run."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from imputefree.lab.report import runs_frame
from imputefree.lab.runs import Run, plan, read_results
from paper import run, tables
from paper.policy_helps import policy_helps, sentence
from paper.run import runs_of
from tests.lab.simulated import in_this_process

PAPER = Path(__file__).parent.parent / "paper"
COMMITTED = sorted((PAPER / "results").glob("*.jsonl"))
every = pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)


@pytest.mark.slow
def test_pages_are_made_from_the_committed_results(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["tables", "--check"])
    assert tables.main() == 0, capsys.readouterr().err


def test_every_study_has_results():
    assert {path.stem for path in COMMITTED} >= {
        *("mnist", "ophthalmic-simulated", "icu", "physionet2012"),
    }


@every
def test_lines_say_what_made_them(path):
    for line in read_results(path):
        assert line["command"].startswith("python paper/run.py")
        assert line["versions"]["torch"]
        assert line["status"] == "done" or line["error"]
        if line["status"] == "done":
            assert line["simulated"] == (path.stem in ("icu", "ophthalmic-simulated"))


@every
def test_lines_are_runs_that_the_command_makes(path):
    """Every line once, and as the plan of today would run it."""
    today = {run.identity for run in runs_of(path.stem)}
    lines = [Run.of(line).identity for line in read_results(path)]
    assert set(lines) <= today
    assert len(lines) == len(set(lines))


@pytest.mark.slow
def test_one_command_per_table(tmp_path, monkeypatch):
    """A smoke test: one cheap method of a simulated study, through the command."""
    options = ("icu", "--only", "mask_only_lightgbm", "--seed", "0", "--jobs", "1")
    monkeypatch.setattr(sys, "argv", ["run.py", *options, "--results", str(tmp_path)])
    here = partial(run.run_grid, workers=in_this_process, progress=False)
    monkeypatch.setattr(run, "run_grid", here)
    run.main()
    lines = read_results(tmp_path / "icu.jsonl")
    assert {line["method"] for line in lines} == {"mask_only_lightgbm"}
    assert {line["status"] for line in lines} == {"done"}
    assert len(lines) == len(plan("icu", methods=["mask_only_lightgbm"], seeds=1).runs)


def line(study, method, auc, split=0):
    return asdict(Run(study, method, split_seed=split)) | {
        "status": "done",
        "rows": [80, 10, 10],
        "scores": {"auc": auc},
        "simulated": False,
        "command": "python paper/run.py tables",
        "seconds": 1.0,
        "versions": {"torch": "2"},
    }


def test_the_eight_tables_rank_whoever_finished_everywhere():
    figures = {"imputefree": 0.9, "gil": 0.8, "lightgbm": 0.7}
    lines = [line(f"table:{t}", m, auc) for t in "ab" for m, auc in figures.items()]
    lines[-1] |= {"status": "failed", "scores": {}}
    made = tables.tables_section(lines)
    assert "| **imputefree**, our default | 0.9000 | 1.00 |" in made
    assert "| gil | 0.8000 | 2.00 |" in made
    assert "Not finished everywhere: lightgbm." in made


@pytest.mark.parametrize(
    ("against_plain", "against_chance", "words"),
    [
        (None, None, "not run side by side"),
        ((0.5, 0.01, 9, 1), None, "not shown to beat random"),
        ((0.5, 0.01, 9, 1), (0.1, 0.5, 6, 4), "not shown to beat random"),
        ((0.5, 0.01, 9, 1), (0.3, 0.02, 9, 1), "policy (GIL) helps here"),
        ((-0.5, 0.01, 1, 9), None, "does not help"),
        ((0.5, 0.5, 6, 4), None, "within chance."),
        ((0.5, 0.5, 2, 1), None, "its smallest p: 0.25"),
    ],
)
def test_the_sentence_follows_from_the_tests(against_plain, against_chance, words):
    names = ["difference", "p", "better", "worse"]
    given = {("gil", "network"): against_plain, ("gil", "random"): against_chance}
    found = {key: pd.Series(v, names) for key, v in given.items() if v is not None}
    assert words in sentence(found)


def test_policies_are_compared_over_studies():
    """Six studies, GIL always ahead by 0.1: the smallest p there is."""
    lines = [
        line(f"table:{t}", method, auc)
        for t in "abcdef"
        for method, auc in {"imputefree": 0.7, "gil": 0.8, "random": 0.8}.items()
    ]
    mnist = [line("mnist", m, 0.5) | {"scores": {"accuracy": 0.5}} for m in ("gil", "network")]
    frames = {"tables": runs_frame(lines), "mnist": runs_frame(mnist)}
    text = policy_helps(frames)
    assert (
        "| gil | network (ordinary training, and GIL-H) | 7 | 6 / 1 / 0 | +8.57 | 0.031 |" in text
    )
    assert "not shown to beat random importance" in text
