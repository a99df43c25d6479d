"""The benchmark of `imputefree predict` runs, on few rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "predict_memory.py"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads Linux's own figures")
def test_predict_memory(tmp_path):
    out = tmp_path / "out.json"
    options = ["--rows", "3000", "--members", "1", "--format", "parquet", "--json", out]
    command = [sys.executable, SCRIPT, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(out.read_text())
    assert figures["rows"] == 3000
    assert 100 < figures["peak_mb"] < figures["bound_mb"]
