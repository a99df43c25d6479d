"""The demo runs and shows every variant (small sizes; `make demo` runs it whole)."""

from __future__ import annotations

import pytest
from rich.console import Console

from imputefree.lab.demo import run


@pytest.mark.slow
def test_demo_prints_a_row_for_every_variant():
    console = Console(record=True, width=120, quiet=False)
    tables = run(members=1, epochs=1, series=60, console=console)
    assert [table.row_count for table in tables] == [10, 8]
    for table in tables:
        console.print(table)
    text = console.export_text()
    for name in ("mask only", "GIL-H", "GIL-D", "policy meta", "simulated gaps", "cohort"):
        assert name in text
