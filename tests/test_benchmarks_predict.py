"""The benchmark of prediction starts, prints ratios, judges and records them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "predict_cost.py"


def test_predict_cost(tmp_path):
    options = ["--rounds", 1, "--train-rows", 200, "--rows", 50, "--json", tmp_path / "out.json"]
    command = [sys.executable, SCRIPT, *options]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=300, check=False
    )
    assert "x the time of the bare network (limit 1.3)" in done.stdout, done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    speeds = record["by_rows_at_a_time"]["50"]["rows_per_second"]
    assert set(speeds) == {"estimator", "bare", "knn", "mice"}
    assert done.returncode == int("SHORT" in done.stdout or "OVER" in done.stdout)
