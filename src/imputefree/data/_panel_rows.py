"""What all readers of series share: the layout, the rows they hand over, and time stamps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError, counted, shorten
from ._columns import Columns, as_values

HOUR = np.timedelta64(1, "h")


@dataclass(frozen=True)
class Layout:
    """Which columns of a frame, or axes of an array, mean what.

    Attributes
    ----------
    id : column that identifies the series of a row of a long frame
    time : column of time stamps, numbers or dates; None takes rows in the order they come
    static : columns that describe the series rather than a step
    variable, value : columns of a long frame of (variable, value) pairs
    axes : "ntd" for arrays (series, time, columns), "ndt" for (series, columns, time)
    apart : columns that are labels, groups or weights, not values
    lengths, times : whether an array came with lengths, and whether times were passed with the
        series; such data must come with them again
    """

    id: str | None = None
    time: str | None = None
    static: tuple[str, ...] = ()
    variable: str | None = None
    value: str | None = None
    axes: str = "ntd"
    apart: tuple[str, ...] = ()
    lengths: bool = False
    times: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The layout as plain JSON types."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, layout: Mapping[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        roles: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in layout.items()
        }
        return cls(**roles)

    @property
    def roles(self) -> list[tuple[str, str]]:
        """(role, column) for every column that is named."""
        single = [(role, getattr(self, role)) for role in ("id", "time", "variable", "value")]
        several = [(role, name) for role in ("static", "apart") for name in getattr(self, role)]
        return [(role, name) for role, name in single + several if name is not None]

    def check(self) -> None:
        """Raise an InputError unless axes are known and names are strings, each in one role."""
        if not isinstance(self.axes, str) or self.axes not in ("ntd", "ndt"):
            raise InputError(
                f"axes is {self.axes!r}",
                'It must be "ntd" (series, time, columns) or "ndt" (series, columns, time)',
                'Write axes="ntd" or axes="ndt"',
            )
        seen: dict[str, str] = {}
        for role, name in self.roles:
            if not isinstance(name, str):
                raise InputTypeError(
                    f"{role} names the column {name!r}, a {type(name).__name__}",
                    "Column names must be strings",
                    f"Write {str(name)!r}; columns numbered 0, 1, … are called '0', '1', …",
                )
            if name in seen:
                raise InputError(
                    f"column {name!r} is named as {seen[name]} and as {role}",
                    "A column has one role",
                    "Name it once",
                )
            seen[name] = role


@dataclass
class Rows:
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


def first_steps(lengths: np.ndarray) -> np.ndarray:
    """The number of each series' first step; (n,) -> (n,)."""
    return np.cumsum(lengths) - lengths


def count_ids(n: int) -> np.ndarray:
    """0 … n-1 as objects: ids of series that have none."""
    return np.arange(n).astype(object)


def is_nested(values: Any) -> bool:
    """Whether a list holds one sequence per series rather than single values."""
    return isinstance(values, list | tuple) and any(
        isinstance(member, list | tuple) or np.ndim(member) > 0 for member in values
    )


def stack(arrays: list[np.ndarray]) -> np.ndarray:
    """np.concatenate that never turns numbers into strings."""
    if len({array.dtype.kind in "USO" for array in arrays}) > 1:
        arrays = [array.astype(object) for array in arrays]
    return np.concatenate(arrays)


def refuse_no_series(n: int) -> None:
    """Refuse input without any series."""
    if n == 0:
        raise InputError(
            "X holds no series at all",
            "There must be at least one series",
            "Check how the series were selected",
        )


def refuse_empty_series(lengths: np.ndarray) -> None:
    """Refuse series of length 0."""
    if not lengths.all():
        raise InputError(
            f"series {int(np.argmin(lengths))} is empty (it has 0 steps)",
            "A series has at least one step (its values may all be missing)",
            "Drop empty series, and their labels",
        )


def refuse_no_values(values: list[Any], names: list[str]) -> None:
    """Refuse a frame whose columns all have another role."""
    if not values:
        raise InputError(
            f"X has no column of values (columns: {shorten(names)})",
            "A step holds at least one value besides ids, times, static and label columns",
            "Check how the columns were selected",
        )


# ---- time stamps
def read_stamps(values: Any, label: str, place: Callable[[int], str]) -> np.ndarray:
    """Numbers, dates and timedeltas as float64, datetime64 or timedelta64; (R,) -> (R,)."""
    stamps = pd.Series(values).reset_index(drop=True)
    _refuse_stamps(stamps.isna(), f"{label} is missing", "Every step needs a time stamp", place)
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
            rule = "Time stamps must be finite"
            _refuse_stamps(np.isinf(numbers), f"{label} is infinite", rule, place)
            return numbers
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        kind = f"{kind} values that cannot be ordered ({error})"
    raise InputTypeError(
        f"{label} holds {'strings' if kind == 'string' else kind} such as {stamps.iloc[0]!r}",
        "Time stamps must be numbers or dates",
        "Convert them with pd.to_datetime (dates) or pd.to_numeric (numbers)",
    )


def _refuse_stamps(bad: Any, fact: str, rule: str, place: Callable[[int], str]) -> None:
    rows = np.flatnonzero(bad)
    if len(rows):
        raise InputError(
            f"{fact} in {counted(len(rows), 'row')} (first: {place(int(rows[0]))})",
            rule,
            "Drop these steps, or correct their times",
        )


def passed_times(times: Any, rows: Rows) -> np.ndarray:
    """times= as one stamp per step; (T,), (N, T) or a list of (T_i,) -> (S,)."""
    lengths = np.bincount(rows.series)
    n, width = len(lengths), rows.width or int(lengths.max())
    rule = "times must be (T,) for all series, (N, T), or a list of one (T_i,) per series"
    remedy = "Count the steps of each series, or leave out times: then they are 0, 1, 2, …"
    if is_nested(times):
        members = [as_values(member, "times") for member in times]
        if len(members) != n:
            raise InputError(f"times has {len(members)} members for {n} series", rule, remedy)
        for i, member in enumerate(members):
            if member.shape not in {(lengths[i],), (rows.width or lengths[i],)}:
                fact = f"times of series {i} has shape {member.shape} for {lengths[i]} steps"
                raise InputError(fact, rule, remedy)
        flat = stack([member[:length] for member, length in zip(members, lengths, strict=True)])
    else:
        array = as_values(times, "times")
        step = np.arange(len(rows.series)) - np.repeat(first_steps(lengths), lengths)
        if array.shape == (n, width):
            flat = array[rows.series, step]
        elif array.shape == (width,):
            flat = array[step]
        else:
            fact = f"times has shape {array.shape} for {n} series of up to {width} steps"
            raise InputError(fact, rule, remedy)
    return read_stamps(flat, "times", replace(rows, stamps=None).place)


def index_times(indices: list[pd.Index], series: np.ndarray) -> np.ndarray | None:
    """The times that members bring as their index, one stamp per step (S,); None: no times."""
    timed = [holds_times(index) for index in indices]
    if not any(timed):
        return None
    if not all(timed):
        raise InputError(
            f"series {timed.index(False)} has no times as its index while series"
            f" {timed.index(True)} has",
            "Either all series bring their times as index, or none",
            "Set the index of all of them, or pass times=",
        )
    place = Rows(None, series, count_ids(len(indices)), False).place
    return read_stamps(indices[0].append(indices[1:]), "the index", place)


def holds_times(index: pd.Index) -> bool:
    """Dates and fractions are times; whole numbers and strings may be just labels of rows."""
    return index.dtype.kind in "mMf" or isinstance(index, pd.PeriodIndex)


def hours(stretch: np.ndarray) -> np.ndarray:
    """timedelta64 as float hours.

    Whole hours and the rest are converted separately, so that a duration is the same float in
    any unit.
    """
    return (stretch // HOUR).astype(np.float64) + (stretch % HOUR) / HOUR


def stamp_text(stamp: Any) -> str:
    """A time stamp as a string."""
    if isinstance(stamp, np.datetime64):
        return str(pd.Timestamp(stamp))
    return str(pd.Timedelta(stamp)) if isinstance(stamp, np.timedelta64) else repr(float(stamp))
