"""The MNIST benchmark of the per-class mixture starts, chooses, scores and records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "mnist_mixture.py"


def test_mnist_mixture(tmp_path):
    if "IMPUTEFREE_DATA" not in os.environ:
        pytest.skip("needs the real images: set IMPUTEFREE_DATA to the folder with mnist/mnist.npz")
    options = ("--rows", 1000, "--rates", 0.5, "--components", 2, 5, "--smoothing", 1, "--members")
    command = [sys.executable, SCRIPT, *options, 2, "--json", tmp_path / "out.json"]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["seed"] == 0
    assert "--rows 1000" in record["command"]
    assert set(record["versions"]) >= {"python", "numpy", "imputefree"}
    (run,) = record["runs"]
    tried = {one["n_components"]: one["validation_accuracy"] for one in run["tried"]}
    assert set(tried) == {2, 5}
    assert run["chosen"]["n_components"] == max(tried, key=lambda number: tried[number])
    # 1,000 images: naive Bayes knows two digits in three, a mixture more.
    assert run["accuracy"] > run["naive_bayes_accuracy"] > 0.6
    assert f"test accuracy {run['accuracy']:.4f}" in done.stdout
