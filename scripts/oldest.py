"""Tests the lower bounds of pyproject.toml: an environment with exactly these versions, and tests.

JOBS=1 python scripts/oldest.py [ENVIRONMENT]     # default: build/oldest; made once, then reused

PyTorch is the exception: it has the version of constraints.txt, because open or older versions pull
gigabytes of CUDA packages. Its lower bound is therefore not tested.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = [
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "polars",
    "pyarrow",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "openpyxl",
    "safetensors",
]
OF_ONE_VERSION = "not test_no_check_is_forgotten"  # it lists the checks of today's scikit-learn
JOBS = os.environ.get("JOBS", "2")  # processes
TESTS = ["data", "families", "estimators", "inspection", "metrics", "missingness"]


def oldest() -> list[str]:
    """Dependencies at their lower bounds; PyTorch as it is constrained."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in project["dependencies"]]
    (torch,) = re.findall(r"^torch==\S+", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    return [torch, *(f"{b[1]}=={b[2]}" for b in bounds if b is not None and b[1] != "torch")]


def main() -> int:
    home = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "oldest"
    python = str(home / "bin" / "python")
    versions = oldest()
    print(" ".join(versions), flush=True)
    if not Path(python).exists():
        venv.create(home, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for packages in (versions[:1], [*versions, *TOOLS]):
        subprocess.run([*pip, *packages], check=True)
    subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
    tests = [str(ROOT / "tests" / name) for name in TESTS]
    chosen = ["-m", "not slow", "-k", OF_ONE_VERSION, "-n", JOBS, "--dist", "loadfile"]
    command = [python, "-m", "pytest", *chosen, *tests]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
