"""Each benchmark starts, prints a ratio and judges it (few steps; `make bench` runs them whole)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def run(script, *options):
    command = [sys.executable, str(FOLDER / script), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_step_cost(tmp_path):
    done = run("step_cost.py", "--rounds", 3, "--json", tmp_path / "out.json")
    assert "none" in done.stdout
    assert "x of a plain step (limit 1.1)" in done.stdout
    assert set(json.loads((tmp_path / "out.json").read_text())["ratios"]) >= {
        "none",
        "ddpg",
        "meta",
    }
    assert done.returncode == int("OVER" in done.stdout)


def test_sequence_step_cost(tmp_path):
    """Memory has its real limit; costs are judged by the script, over more rounds."""
    options = ("--rounds", 3, "--memory-steps", 20, "--small-only", "--json", tmp_path / "out.json")
    done = run("sequence_step_cost.py", *options)
    assert "x of a plain step (limit 1.15)" in done.stdout
    figures = json.loads((tmp_path / "out.json").read_text())
    assert max(figures["memory_growth_mb"].values()) < 20
    assert done.returncode == int("OVER" in done.stdout)


def test_physionet2012(tmp_path):
    if "IMPUTEFREE_DATA" not in os.environ:
        pytest.skip("needs the real files: set IMPUTEFREE_DATA to the folder with physionet2012/")
    methods = ["mask-only", "LightGBM on summaries", "without recurrence", "quick look"]
    done = run(
        *("physionet2012.py", "--stays", 400, "--splits", 0, "--jobs", 1),
        *("--methods", *methods, "--json", tmp_path / "out.json"),
    )
    assert done.returncode == 0, done.stderr
    runs = {run["method"]: run for run in json.loads((tmp_path / "out.json").read_text())["runs"]}
    assert set(runs) == set(methods)
    assert all(0 < run["auroc"] < 1 for run in runs.values())


def test_ddpg_memory_stays_under_its_limit(tmp_path):
    """Memory does not depend on who else uses the machine: the real limit, fewer steps."""
    done = run("ddpg_memory.py", "--steps", 8, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["peak_gb"] < 1.5


def test_misleading_columns(tmp_path):
    command = [sys.executable, "-m", "benchmarks.misleading_columns", "--seeds", "0"]
    done = subprocess.run(
        [*command, "--json", str(tmp_path / "out.json")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=FOLDER.parent,
    )
    assert done.returncode == 0, done.stderr
    runs = {run["policy"]: run for run in json.loads((tmp_path / "out.json").read_text())["runs"]}
    assert set(runs) == {"none", "random", "ddpg", "meta"}
    assert 0 <= runs["ddpg"]["misleading"] <= 1


def test_default_tables(tmp_path):
    if "IMPUTEFREE_DATA" not in os.environ:
        pytest.skip("needs the real tables: set IMPUTEFREE_DATA to the folder that holds tabular/")
    done = run(
        "default_tables.py",
        *("--tables", "hepatitis"),
        *("--methods", "mask-only", "logistic regression", "GILClassifier()"),
        *("--folds", 0, "--jobs", 1, "--json", tmp_path / "out.json"),
    )
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "out.json").read_text())["runs"]
    assert [run["method"] for run in runs] == [
        "mask-only",
        "logistic regression",
        "GILClassifier()",
    ]
    assert all(0.4 < run["auc"] <= 1 for run in runs)
