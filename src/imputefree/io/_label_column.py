"""The target column of a file: classes or numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ..data import MOST_CLASSES
from ..errors import InputError

TASKS = ("classification", "regression")
EXACT = 2**53  # up to which floats hold all whole numbers


def read_label_column(values: pd.Series, task: str | None, path: Path) -> np.ndarray:
    """Classes as texts or whole numbers, or numbers as floats."""
    number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if task == "regression" and not number:
        raise InputError(
            f"the target {values.name!r} of {path} holds texts",
            "Regression needs numbers",
            "Leave task= out, or name another target",
        )
    if not number:
        return values.astype(str).to_numpy(dtype=str)
    array = values.to_numpy(dtype=float)
    if not np.isfinite(array).all():
        raise InputError(
            f"the target {values.name!r} of {path} holds an infinite number",
            "A label is a class or a finite number",
            "Correct or drop these rows",
        )
    whole = bool((array == np.round(array)).all())
    exact = bool((np.abs(array) < EXACT).all())
    if task is None:
        task = TASKS[0] if whole and exact and len(np.unique(array)) <= MOST_CLASSES else TASKS[1]
    if task == "regression":
        return array
    if not exact:
        raise InputError(
            f"the target {values.name!r} of {path} holds numbers beyond 2^53",
            "Such numbers are not told apart exactly, and classes must be",
            "Write the classes as texts, or as smaller numbers",
        )
    return array.astype(int) if whole else array.astype(str)
