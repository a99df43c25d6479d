"""The folder with real data, or a skip that says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def real(folder):
    root = os.environ.get("IMPUTEFREE_DATA")
    if not root or not (Path(root) / folder).is_dir():
        pytest.skip(f"needs the real files: set IMPUTEFREE_DATA to the folder that holds {folder}/")
    return Path(root)
