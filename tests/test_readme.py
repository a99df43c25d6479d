"""The README is short, its code runs, and its figures are those of the committed results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal

from imputefree import read_table
from scripts.patients import patients

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_read_in_minutes():
    assert len(README.split()) <= 900


@pytest.mark.slow
def test_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)
    assert (tmp_path / "model.imputefree").exists()


def test_the_file_of_the_commands_is_read_as_it_was_meant():
    (path,) = set(re.findall(r"examples/\S+\.csv", README))
    frame, understood = read_table(ROOT / path)
    assert_frame_equal(frame, patients(), check_dtype=False, check_categorical=False)
    assert understood


def test_commands_exist_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^make (\w+)", README, re.MULTILINE)
    assert "test" in targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.slow
def test_figures_are_those_of_the_committed_results():
    command = [sys.executable, "-m", "benchmarks.readme", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, f"{done.stderr}figures drifted: run `make readme`"


def test_links_to_files_exist():
    found = re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", README)
    for target in map("".join, found):
        assert target.startswith("http") or (ROOT / target).exists(), target
