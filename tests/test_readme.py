"""The README's code runs, and its figures are those of the committed results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.slow
def test_code_blocks_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block.replace("simulate_icu(600,", "simulate_icu(150,"), names)  # fewer stays
    printed = capsys.readouterr().out
    assert (tmp_path / "model.imputefree").exists()
    promised = re.search(r"# (column 'lactate'.*?)\n```", README, re.DOTALL)
    assert promised is not None
    assert " ".join(promised[1].replace("\n# ", " ").split()) in printed


def test_commands_exist_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.slow
def test_figures_are_those_of_the_committed_results():
    command = [sys.executable, "-m", "benchmarks.readme", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, "README figures drifted from benchmarks/results: run `make readme`"


def test_links_to_files_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (ROOT / target).exists(), target
