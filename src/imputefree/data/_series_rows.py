"""What all readers of series share: the `Layout`, the `Rows` they hand over, and time stamps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError, shorten
from ._columns import Columns, Place, as_values, refuse_rows

HOUR = np.timedelta64(1, "h")


@dataclass(frozen=True)
class Layout:
    """Which columns of a frame, or axes of an array, mean what.

    Arrays with lengths, and series with times, must come with them again when they are predicted.
    """

    id: str | None = None  # column of a long frame that identifies the series of a row
    time: str | None = None  # column of numbers or dates; None takes rows in the order they come
    static: tuple[str, ...] = ()  # columns that describe the series rather than a step
    variable: str | None = None  # with `value`: columns of a frame of (variable, value) pairs
    value: str | None = None
    axes: str = "ntd"  # of arrays: (series, time, columns); "ndt" is (series, columns, time)
    apart: tuple[str, ...] = ()  # columns that are labels, groups or weights, not values
    lengths: bool = False  # whether an array came with lengths
    times: bool = False  # whether times were passed beside the series

    def to_dict(self) -> dict[str, Any]:
        """The layout as plain JSON types."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, layout: Mapping[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        fields: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in layout.items()}
        return cls(**fields)

    @property
    def roles(self) -> list[tuple[str, str]]:
        """(role, column) for every column that is named."""
        single = [(role, getattr(self, role)) for role in ("id", "time", "variable", "value")]
        several = [(role, name) for role in ("static", "apart") for name in getattr(self, role)]
        return [(role, name) for role, name in single + several if name is not None]

    def check(self) -> None:
        """Raise an InputError unless axes are known and names are strings, each in one role."""
        if not isinstance(self.axes, str) or self.axes not in ("ntd", "ndt"):
            rule = 'It must be "ntd" (series, time, columns) or "ndt" (series, columns, time)'
            raise InputError(f"axes is {self.axes!r}", rule, "Pass one of these")
        seen: dict[str, str] = {}
        for role, name in self.roles:
            if not isinstance(name, str):
                fact = f"{role} names the column {name!r}, a {type(name).__name__}"
                remedy = f"Write {str(name)!r}; columns numbered 0, 1, … are called '0', '1', …"
                raise InputTypeError(fact, "Column names must be strings", remedy)
            if name in seen:
                fact = f"column {name!r} is named as {seen[name]} and as {role}"
                raise InputError(fact, "A column has one role", "Name it once")
            seen[name] = role


def split_static(static: Any) -> tuple[tuple[Any, ...], Any]:
    """static= as names of columns and as a table, one of them empty."""
    if isinstance(static, str):
        return (static,), None
    rows = list | tuple | np.ndarray
    if isinstance(static, np.ndarray | pd.Index) and static.ndim == 1 and len(static):
        static = list(static)  # frame.columns[3:5]
    if isinstance(static, list | tuple) and not any(isinstance(row, rows) for row in static):
        return tuple(static), None
    return (), static


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


def is_nested(values: Any) -> bool:
    """Whether a list holds one sequence per series rather than single values."""
    return isinstance(values, list | tuple) and any(
        isinstance(member, list | tuple) or np.ndim(member) > 0 for member in values
    )


def stack(arrays: list[np.ndarray]) -> np.ndarray:
    """np.concatenate that never turns numbers into strings, nor dates into numbers."""
    kinds = {array.dtype.kind for array in arrays}
    if len({kind if kind in "mM" else kind in "USO" for kind in kinds}) > 1:
        arrays = [array.astype(object) for array in arrays]
    return np.concatenate(arrays)


def refuse_no_series(n: int) -> None:
    """Refuse input without any series."""
    if n == 0:
        rule = "There must be at least one series"
        raise InputError("X holds no series at all", rule, "Check how the series were selected")


def refuse_no_values(values: list[Any], names: list[str]) -> None:
    """Refuse a frame whose columns all have another role."""
    if not values:
        fact = f"X has no column of values (columns: {shorten(names)})"
        rule = "A step holds at least one value besides ids, times, static and label columns"
        raise InputError(fact, rule, "Check how the columns were selected")


# ---- time stamps
def read_stamps(values: Any, label: str, place: Place) -> np.ndarray:
    """Numbers, dates and timedeltas as float64, datetime64 or timedelta64; (R,) -> (R,)."""
    if getattr(getattr(values, "dtype", None), "names", None):  # records, which pandas refuses
        values = list(values)
    objects = isinstance(values, np.ndarray | pd.Series) and values.dtype == object
    stamps = pd.Series(values, dtype=object if objects else None).reset_index(drop=True)
    remedy = "Drop these steps, or correct their times"
    rule = "Every step needs a time stamp"
    refuse_rows(stamps.isna(), f"{label} is missing", rule, remedy, place)
    if isinstance(stamps.dtype, pd.CategoricalDtype):
        stamps = stamps.astype(object)
    kind = pd.api.types.infer_dtype(stamps)
    try:
        stamps = stamps.infer_objects()  # here, as 10**400 is too much for pandas 2
        if isinstance(stamps.dtype, pd.PeriodDtype):
            stamps = pd.Series(stamps.dt.to_timestamp())
        if pd.api.types.is_datetime64_any_dtype(stamps.dtype) or kind in {"date", "datetime"}:
            dates = pd.DatetimeIndex(stamps)
            return (dates if dates.tz is None else dates.tz_convert(None)).to_numpy()
        if pd.api.types.is_timedelta64_dtype(stamps.dtype):
            return pd.TimedeltaIndex(stamps).to_numpy()
        if kind in {"integer", "floating", "mixed-integer-float", "decimal"}:
            numbers = stamps.to_numpy(dtype=np.float64)
            rule = "Time stamps must be finite"
            refuse_rows(np.isinf(numbers), f"{label} is infinite", rule, remedy, place)
            return numbers
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        kind = f"{kind} values that cannot be ordered ({error})"
    fact = f"{label} holds {'strings' if kind == 'string' else kind} such as {stamps.iloc[0]!r}"
    remedy = "Convert them with pd.to_datetime (dates) or pd.to_numeric (numbers)"
    raise InputTypeError(fact, "Time stamps must be numbers or dates", remedy)


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
        if array.shape not in {(width,), (n, width)}:
            fact = f"times has shape {array.shape} for {n} series of up to {width} steps"
            raise InputError(fact, rule, remedy)
        step = np.arange(len(rows.series)) - np.repeat(first_steps(lengths), lengths)
        flat = np.broadcast_to(array, (n, width))[rows.series, step]
    return read_stamps(flat, "times", replace(rows, stamps=None).place)


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
