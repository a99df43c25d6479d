"""Times that come beside the values: as `times=`, or as the index of pandas members."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError
from .._columns import as_values
from ._container import first_steps
from ._panel_clock import clock
from ._panel_frames import count_ids
from ._panel_members import is_nested, stack
from ._panel_rows import Read


def given_times(times: Any, read: Read) -> np.ndarray:
    """times= as one stamp a step; (T,), (N, T) or a list of (T_i,) -> (S,)."""
    lengths = np.bincount(read.series)
    n, width = len(lengths), read.width or int(lengths.max())
    step = np.arange(len(read.series)) - np.repeat(first_steps(lengths), lengths)
    rule = "times must be (T,) for all series, (N, T), or a list of one (T_i,) a series"
    remedy = "Count the steps of each series, or leave out times: then they are 0, 1, 2, …"
    if is_nested(times):
        members = [as_values(member, "times") for member in times]
        if len(members) != n:
            raise InputError(f"times has {len(members)} members for {n} series", rule, remedy)
        for i, member in enumerate(members):
            if member.shape not in {(lengths[i],), (read.width or lengths[i],)}:
                fact = f"times of series {i} has shape {member.shape} for {lengths[i]} steps"
                raise InputError(fact, rule, remedy)
        flat = stack([member[:length] for member, length in zip(members, lengths, strict=True)])
    else:
        array = as_values(times, "times")
        if array.shape == (n, width):
            flat = array[read.series, step]
        elif array.shape == (width,):
            flat = array[step]
        else:
            fact = f"times has shape {array.shape} for {n} series of up to {width} steps"
            raise InputError(fact, rule, remedy)
    return clock(flat, "times", replace(read, stamps=None).place)


def index_stamps(indices: list[pd.Index], series: np.ndarray) -> np.ndarray | None:
    """The times that members bring as their index, one stamp a step (S,); None: no times."""
    timed = [is_clock(index) for index in indices]
    if not any(timed):
        return None
    if not all(timed):
        raise InputError(
            f"series {timed.index(False)} has no times as its index while series"
            f" {timed.index(True)} has",
            "Either all series bring their times as index, or none",
            "Set the index of all of them, or pass times=",
        )
    place = Read(None, series, count_ids(len(indices)), False).place
    return clock(indices[0].append(indices[1:]), "the index", place)


def is_clock(index: pd.Index) -> bool:
    """Dates and fractions are times; whole numbers and texts may be just labels of rows."""
    return index.dtype.kind in "mMf" or isinstance(index, pd.PeriodIndex)
