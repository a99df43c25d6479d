"""Categories as numbers, for networks that take nothing else: one column a level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ...data import Columns

Levels = dict[str, list[str]]  # of each category column, in order


def levels_of(columns: Columns) -> Levels:
    """The levels that training has.

    >>> from ..data import read_columns
    >>> ward = read_columns(pd.DataFrame({"age": [30.0, 31.0], "ward": ["B", "A"]}))
    >>> levels_of(ward)
    {'ward': ['A', 'B']}
    """
    return {
        name: sorted(set(array[~pd.isna(array)]))
        for name, array in zip(columns.names, columns.arrays, strict=True)
        if array.dtype == object
    }


def one_hot(columns: Columns, levels: Levels) -> Columns:
    """The same table in numbers; a gap, and a level that training had not, is a gap in all.

    >>> from ..data import read_columns
    >>> ward = read_columns(pd.DataFrame({"ward": ["B", None, "C"]}))
    >>> found = one_hot(ward, {"ward": ["A", "B"]})
    >>> found.names, found.arrays
    (['ward=A', 'ward=B'], [array([ 0., nan, nan]), array([ 1., nan, nan])])
    """
    names: list[str] = []
    arrays: list[np.ndarray] = []
    for name, array in zip(columns.names, columns.arrays, strict=True):
        if name not in levels:
            names.append(name)
            arrays.append(array)
            continue
        known = np.isin(array.astype(str), levels[name]) & ~pd.isna(array)
        for level in levels[name]:
            names.append(f"{name}={level}")
            arrays.append(np.where(known, (array == level).astype(float), np.nan))
    return replace(columns, names=names, arrays=arrays, declared=[False] * len(names))
