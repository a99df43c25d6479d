"""What the reader of a format hands over: rows of values, and whose rows they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InputError, shorten
from .._columns import Columns
from ._panel_clock import stamp_text


@dataclass
class Read:
    """What a reader hands over: R rows of n series, in the order of the input.

    Shapes: series (R,) int64 in [0, n), ids (n,) object, apart (R,) object each, stamps (R,)
    float64, datetime64 or timedelta64 without gaps (None: count the rows). `width` is the size
    of an array's time axis, 0 for anything else.
    """

    table: Any
    series: np.ndarray
    ids: np.ndarray
    keyed: bool
    stamps: np.ndarray | None = None
    statics: Columns | None = None
    apart: dict[str, np.ndarray] = field(default_factory=dict)
    by_row: bool = True
    width: int = 0

    def place(self, row: int) -> str:
        """Where a row is, for errors."""
        i = self.series[row]
        if not self.keyed:
            return f"series {i}, step {row - np.searchsorted(self.series, i)}"
        when = f"row {row}" if self.stamps is None else f"time {stamp_text(self.stamps[row])}"
        return f"id {self.ids[i]!r}, {when}"


def refuse_no_series(n: int) -> None:
    """Nothing to learn from."""
    if n == 0:
        raise InputError(
            "X holds no series at all",
            "There must be at least one series",
            "Check how the series were selected",
        )


def empty_series(i: int) -> InputError:
    """A series of length 0."""
    return InputError(
        f"series {i} is empty (it has 0 steps)",
        "A series has at least one step (its values may all be missing)",
        "Drop empty series, and their labels",
    )


def no_values(names: list[str]) -> InputError:
    """A frame whose columns all have roles."""
    return InputError(
        f"X has no column of values (columns: {shorten(names)})",
        "A step holds at least one value besides ids, times, static and label columns",
        "Check how the columns were selected",
    )
