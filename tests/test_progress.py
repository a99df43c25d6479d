"""Progress bars: nothing heavy is imported for them."""

from __future__ import annotations

import ast
from pathlib import Path

from imputefree import progress


def test_training_code_is_imported_for_its_type_only():
    """It brings torch, which takes seconds; `imputefree data list` has no need of it."""
    body = ast.parse(Path(progress.__file__).read_text(encoding="utf-8")).body
    imported = [one.module for one in body if isinstance(one, ast.ImportFrom) and one.level]
    assert imported == []
