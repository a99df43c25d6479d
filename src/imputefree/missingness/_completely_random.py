"""MCAR: which entries are missing says nothing about any value."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from ._checks import check_columns
from ._draws import Gaps, lose_by_column, no_drivers
from ._grid import Grid


def mcar(
    grid: Grid,
    rate: float | None,
    rng: np.random.Generator,
    *,
    columns: Any = None,
    keep_one: bool = False,
) -> Gaps:
    """Entries go missing completely at random, the same share of each column.

    columns : which may lose entries; None means all
    keep_one : keep an entry in each row, one picked at random beforehand. Without it rows that are
        entirely missing can occur: about rate**d of them.

    >>> from imputefree.missingness import make_missing
    >>> make_missing("mcar", np.ones((100, 4)), rate=0.9).missing_by_column.tolist()
    [0.9, 0.9, 0.9, 0.9]
    """
    chosen = list(range(len(grid.names)))
    if columns is not None:
        chosen = check_columns("columns", columns, grid)
    why = f"{len(chosen)} of {len(grid.names)} columns may lose entries"
    lost = lose_by_column(grid, chosen, rate, rng, repeat(0.0, len(chosen)), why, keep_one)
    return Gaps(lost, "MCAR", no_drivers(grid))
