"""What a cell of a column may be: a number, or a text by which it is compared."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError

NUMBERS = (bool, int, float, Decimal, np.bool_, np.integer, np.floating)
Place = Callable[[int], str] | None  # words a row in errors


def to_number(values: np.ndarray, label: str) -> np.ndarray:
    """Objects that are all numbers (or missing) as float64."""
    number = np.full(len(values), np.nan)
    seen = ~pd.isna(values)
    try:
        number[seen] = values[seen].astype(np.float64)
    except OverflowError:
        raise InputError(
            f"{label} holds a whole number too large for a float (above 1e308)",
            "Values must fit a 64-bit float",
            "Take logarithms, or divide the column by a constant",
        ) from None
    return number


def to_text(values: np.ndarray, label: str, place: Place) -> np.ndarray:
    """Categories compare by their text, so that 1, 1.0 and a category 1 mean the same level."""
    try:
        codes, levels = pd.factorize(values)
        texts = np.array([*map(_level_text, levels), None], dtype=object)
    except TypeError:  # from factorize for what has no hash (lists, dicts), or from _level_text
        raise _no_value_error(values, label, place) from None
    return texts[codes]  # factorize marks missing by -1


def _level_text(level: Any) -> str:
    if isinstance(level, str):
        return str(level)
    if isinstance(level, bool | np.bool_ | int | np.integer):
        return str(int(level))  # True equals 1, as in a column of numbers
    if isinstance(level, float | np.floating | Decimal):
        return str(int(level)) if float(level).is_integer() else str(float(level))
    if isinstance(level, bytes):
        return level.decode("utf-8", errors="replace")
    raise TypeError


def _no_value_error(values: np.ndarray, label: str, place: Place) -> InputTypeError:
    missing = pd.isna(values)
    row = next(
        i
        for i, value in enumerate(values)
        if not missing[i] and not isinstance(value, (str, bytes, *NUMBERS))
    )
    return InputTypeError(
        f"{label} holds a value of type {type(values[row]).__name__}"
        f" (first: {place(row) if place else f'row {row}'})",
        "A value: argument must be a string or a number, or missing",
        "Take the parts you need out of it into columns of their own",
    )
