"""Time stamps: numbers, dates and timedeltas in, comparable and without gaps out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, InputTypeError, counted

HOUR = np.timedelta64(1, "h")


def clock(values: Any, label: str, place: Callable[[int], str]) -> np.ndarray:
    """Time stamps as float64, datetime64 or timedelta64, without gaps; (R,) -> (R,)."""
    stamps = pd.Series(values).reset_index(drop=True)
    missing = np.flatnonzero(stamps.isna())
    if len(missing):
        raise InputError(
            f"{label} is missing in {counted(len(missing), 'row')} (first:"
            f" {place(int(missing[0]))})",
            "Every step needs a time stamp",
            "Drop these steps, or fill in their times",
        )
    if isinstance(stamps.dtype, pd.CategoricalDtype):
        stamps = stamps.astype(object)
    stamps = stamps.infer_objects()
    dtype, kind = stamps.dtype, pd.api.types.infer_dtype(stamps)
    try:
        if isinstance(dtype, pd.PeriodDtype):
            stamps = pd.Series(stamps.dt.to_timestamp())
            dtype = stamps.dtype
        if pd.api.types.is_datetime64_any_dtype(dtype) or kind in {"date", "datetime"}:
            dates = pd.DatetimeIndex(stamps)
            return (dates if dates.tz is None else dates.tz_convert(None)).to_numpy()
        if pd.api.types.is_timedelta64_dtype(dtype):
            return pd.TimedeltaIndex(stamps).to_numpy()
        if kind in {"integer", "floating", "mixed-integer-float", "decimal"}:
            numbers = stamps.to_numpy(dtype=np.float64)
            infinite = np.flatnonzero(np.isinf(numbers))
            if len(infinite):
                raise InputError(
                    f"{label} is infinite in {counted(len(infinite), 'row')} (first:"
                    f" {place(int(infinite[0]))})",
                    "Time stamps must be finite",
                    "Drop these steps, or correct their times",
                )
            return numbers
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        kind = f"{kind} values that cannot be ordered ({error})"
    raise InputTypeError(
        f"{label} holds {'texts' if kind == 'string' else kind} such as {stamps.iloc[0]!r}",
        "Time stamps must be numbers or dates",
        "Convert them with pd.to_datetime (dates) or pd.to_numeric (numbers)",
    )


def hours(stretch: np.ndarray) -> np.ndarray:
    """timedelta64 as float hours.

    Whole hours and the rest apart, so that the same stretch gives the same float in any unit.
    """
    return (stretch // HOUR).astype(np.float64) + (stretch % HOUR) / HOUR


def stamp_text(stamp: Any) -> str:
    """A time stamp in words."""
    if isinstance(stamp, np.datetime64):
        return str(pd.Timestamp(stamp))
    return str(pd.Timedelta(stamp)) if isinstance(stamp, np.timedelta64) else repr(float(stamp))
