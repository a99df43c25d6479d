"""The imputers' benchmarks start, compare, judge and record (few rows and steps)."""

from __future__ import annotations

import json
import os

import pytest

from tests.test_benchmarks import run


def test_table_imputers(tmp_path):
    methods = ["mean", "EM", "MICE, a draw"]
    done = run(
        *("table_imputers.py", "--tables", "breast", "--seeds", 0, "--methods", *methods),
        *("--json", tmp_path / "out.json"),
    )
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "out.json").read_text())["runs"]
    assert [run["method"] for run in runs] == methods
    mean, em, draw = (run["rmse"] for run in runs)
    assert em < draw < mean


def test_mnist_imputers(tmp_path):
    if "IMPUTEFREE_DATA" not in os.environ:
        pytest.skip("needs the real images: set IMPUTEFREE_DATA to the folder with mnist/mnist.npz")
    options = ("--rows", 500, "--methods", "GAIN", "--max-steps", 200)
    done = run("mnist_imputers.py", *options, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    assert [run["method"] for run in record["runs"]] == ["mean", "GAIN"]
    assert record["runs"][1]["ratio_to_mean"] < 1
    assert "x of the mean's" in done.stdout
