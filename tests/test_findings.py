"""Promises that version 0.1.0 broke are kept."""

from __future__ import annotations

import pytest

from scripts.findings import PROMISES


@pytest.mark.slow
@pytest.mark.parametrize("name", PROMISES)
def test_it_is_kept(name, tmp_path):
    assert PROMISES[name](tmp_path) is None
