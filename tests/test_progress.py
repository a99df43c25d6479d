"""Progress bars: nothing heavy is imported for them."""

from __future__ import annotations

import ast
from pathlib import Path

from imputefree import _progress as progress


def test_training_code_is_imported_for_its_type_only():
    """It brings torch, which takes seconds; `imputefree data list` has no need of it."""
    body = ast.parse(Path(progress.__file__).read_text(encoding="utf-8")).body
    imported = [one.module for one in body if isinstance(one, ast.ImportFrom) and one.level]
    assert imported == []


def test_a_grid_shows_how_much_is_done_and_how_long_it_takes(capsys, monkeypatch):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    with progress.grid_progress(True, runs=5, done=2) as report:
        report("mnist gil")
    shown = capsys.readouterr().err
    assert "3/5" in shown
    assert "left:" in shown
    assert "mnist gil" in shown


def test_a_grid_is_silent_where_nobody_looks(capsys):
    for wanted in (True, False):
        with progress.grid_progress(wanted, runs=5, done=2) as report:
            report("mnist gil")
    assert capsys.readouterr().err == ""
