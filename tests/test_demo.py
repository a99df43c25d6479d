"""The demo runs and shows every variant (small sizes; `make demo` runs it whole)."""

from __future__ import annotations

from rich.console import Console

from imputefree.demo import run, variants


def test_demo_prints_a_row_for_every_variant():
    console = Console(record=True, width=120, quiet=False)
    table = run(members=2, epochs=2, console=console)
    assert table.row_count == len(variants(2, 2)) == 10
    console.print(table)
    text = console.export_text()
    for name in ("mask only", "GIL-H", "GIL-D", "policy meta", "simulated gaps"):
        assert name in text
