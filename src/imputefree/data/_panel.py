"""`Panel`: series of unequal length, sized and indexed by series, and how they are read.

Padding is never guessed and nothing is filled in: a series has the steps it came with, at the
times it came with, and a value that is not there stays missing. Values themselves are read by
`read_columns`, as those of tables are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError, shorten
from ._columns import Columns, is_polars, read_columns, refuse_other_polars
from ._panel_arrays import as_cube, read_array, read_list, read_nested
from ._panel_frames import (
    INDEXED,
    LONG,
    NESTED,
    PAIRS,
    frame_kind,
    read_long,
    read_pairs,
    read_static_table,
)
from ._series_labels import series_labels
from ._series_rows import (
    Layout,
    Rows,
    first_steps,
    hours,
    passed_times,
    refuse_no_series,
    split_static,
    stamp_text,
)

PLAIN = Layout()
ARRAY, LIST = "a 3D array", "a list of series"
USES = {  # which options make sense for which input
    "id": {LONG, PAIRS},
    "time": {LONG, PAIRS},
    "variable": {PAIRS},
    "value": {PAIRS},
    "static": {LONG, PAIRS, INDEXED, NESTED},
    "apart": {LONG, PAIRS, INDEXED, NESTED},
    "axes": {ARRAY},
    "lengths": {ARRAY},
    "times": {ARRAY, LIST, NESTED},
}


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """Series of unequal length with gaps: n series, S steps in all.

    Built by `from_long`, `from_pairs`, `from_list` or `from_array`. A panel is sized and indexed
    by series, so scikit-learn splits it as it splits an array: `cross_val_score`, `GridSearchCV`,
    `learning_curve` and `train_test_split` take it as X.

    Attributes
    ----------
    ids : (n,) object, from the frame, or 0 … n-1
    lengths : (n,) int64, steps of each series, at least 1
    times : (S,) float64, strictly increasing within a series; dates are hours since the first
        step of their series, timedeltas are hours, numbers stay what they are
    steps : columns with one row per step, series after series
    statics : columns with one row per series, or None
    apart : columns of labels, weights or groups, (S,) object each
    keyed : whether the ids came with the data rather than by position

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"who": ["b", "a", "b"], "hour": [2, 0, 1], "pulse": [80, None, 70]}
    ... )
    >>> panel = Panel.from_long(frame, id="who", time="hour")
    >>> panel
    Panel(2 series of 1 to 2 steps; columns: 'pulse')
    >>> panel.ids.tolist(), panel.lengths.tolist(), panel.times.tolist()
    (['b', 'a'], [2, 1], [1.0, 2.0, 0.0])
    >>> panel.steps.names, panel.steps.arrays
    (['pulse'], [array([70., 80., nan])])
    >>> panel[[1]].ids.tolist()
    ['a']
    """

    steps: Columns
    lengths: np.ndarray
    times: np.ndarray
    statics: Columns | None
    ids: np.ndarray
    keyed: bool
    source: np.ndarray  # (S,) int64, the row of the input each step came from
    apart: dict[str, np.ndarray]
    width: int = 0  # steps along the time axis of the array, or of the longest series
    starts: np.ndarray | None = None  # (n,) datetime64, what times count from, if they were dates
    layout: Layout = PLAIN  # which columns or axes meant what
    kind: str = ""  # the form the series came in
    sorted_ids: bool = True  # whether labels by position are certain: no ids, or sorted ones
    timed: bool = False  # whether the series came with times rather than counted steps

    @classmethod
    def from_long(
        cls,
        frame: Any,
        id: str | None = None,
        time: str | None = None,
        static: Any = None,
        *,
        labels: str | Sequence[str] = (),
    ) -> Panel:
        """Series from a frame with one row per step.

        Parameters
        ----------
        frame : pandas or polars DataFrame, rows in any order
        id : str, column that identifies the series; None for a pandas frame indexed by (id, time)
        time : str or None, column of time stamps, numbers or dates; None takes rows in their order
        static : names of columns that do not change within a series, or a table of them, with the
            id column or indexed by id
        labels : names of columns that hold labels, weights or groups, not values
        """
        return _read(frame, static, labels, id=id, time=time)

    @classmethod
    def from_pairs(
        cls,
        frame: Any,
        id: str,
        time: str,
        variable: str,
        value: str,
        static: Any = None,
        *,
        labels: str | Sequence[str] = (),
    ) -> Panel:
        """Series from a frame with one row per measurement: what was measured, and its value.

        Parameters
        ----------
        frame : pandas or polars DataFrame, rows in any order
        id, time, variable, value : str, the columns of the frame
        static, labels : as for `from_long`

        >>> frame = pd.DataFrame({"who": [1, 1, 2], "hour": [0, 0, 3],
        ...                       "item": ["pulse", "temp", "pulse"], "value": [70, 37.2, 64]})
        >>> Panel.from_pairs(frame, "who", "hour", "item", "value")
        Panel(2 series of 1 to 1 steps; columns: 'pulse', 'temp')
        """
        return _read(frame, static, labels, id=id, time=time, variable=variable, value=value)

    @classmethod
    def from_list(
        cls,
        series: Any,
        times: Any = None,
        static: Any = None,
        *,
        labels: str | Sequence[str] = (),
    ) -> Panel:
        """Series from a list with one array or frame per series.

        Parameters
        ----------
        series : list of (T_i, D) arrays or frames, or of (T_i,) single columns; or a pandas frame
            with one row per series and a pd.Series in each cell
        times : list of (T_i,) arrays, or (T,) for all series; default 0, 1, 2, …, or the index of
            pandas members where that holds dates or fractions
        static : table with one row per series; for a nested frame also names of its columns
        labels : names of columns of a nested frame that hold labels, weights or groups
        """
        if isinstance(series, np.ndarray) and series.ndim:
            series = list(series)
        return _read(series, static, labels, times=times)

    @classmethod
    def from_array(
        cls,
        array: Any,
        lengths: Any = None,
        times: Any = None,
        axes: str = "ntd",
        static: Any = None,
    ) -> Panel:
        """Series from a 3D array.

        Parameters
        ----------
        array : (N, T, D), or (N, D, T) with `axes="ndt"`
        lengths : (N,) real steps of each series; the rest is padding and never looked at
        times : (T,) for all series, or (N, T)
        static : table with one row per series

        >>> Panel.from_array(np.zeros((3, 4, 2)), lengths=[4, 1, 2])[1:].lengths
        array([1, 2])
        """
        return _read(as_cube(array), static, (), lengths=lengths, times=times, axes=axes)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, key: Any) -> Panel:
        """These series only, in that order: a slice, a mask, or numbers of series."""
        if isinstance(key, tuple):  # scikit-learn writes X[rows, ...]
            key = key[0]
        if isinstance(key, int | np.integer):
            key = [key]
        if not isinstance(key, slice):
            key = np.asarray(key)
            key = key if key.size else key.astype(np.int64)
        return self.rows(key)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        rule = "Its series differ in length, and its columns may hold categories"
        remedy = "Pass it to a sequence estimator, or use GILClassifier and GILRegressor for tables"
        raise InputTypeError("a Panel cannot be turned into an array", rule, remedy)

    def __repr__(self) -> str:
        spread = f"{self.lengths.min()} to {self.lengths.max()}" if len(self) else "0"
        static = f"; static: {shorten(self.statics.names)}" if self.statics else ""
        names = shorten(self.steps.names)
        return f"Panel({len(self)} series of {spread} steps; columns: {names}{static})"

    @property
    def shape(self) -> tuple[int, int, int]:
        """(series, steps of the longest, columns of a step)."""
        return len(self), int(self.lengths.max(initial=0)), len(self.steps.names)

    def labels(self, name: str) -> pd.Series:
        """A column named in `labels=` with one value per series, indexed by id."""
        index = pd.Index(self.ids, tupleize_cols=False).infer_objects()
        return pd.Series(series_labels(name, self), index=index, name=name)

    @property
    def by_row(self) -> bool:
        """Whether a row of the input is a step; not so for (variable, value) pairs."""
        return self.kind != PAIRS

    @property
    def n_rows(self) -> int:
        """Number of series."""
        return len(self.lengths)

    @property
    def columns(self) -> Columns:
        """The columns of the steps; for a table, the table itself."""
        return self.steps

    @property
    def series(self) -> np.ndarray:
        """For each step the number of its series; shape (S,)."""
        return np.repeat(np.arange(self.n_rows), self.lengths)

    @property
    def begins(self) -> np.ndarray:
        """For each step the number of the first step of its series; shape (S,)."""
        return np.repeat(first_steps(self.lengths), self.lengths)

    def places(self, kept: np.ndarray) -> np.ndarray:
        """The numbers of the steps of some series, series after series; kept (k,) -> (steps,)."""
        lengths = self.lengths[kept]
        shift = first_steps(self.lengths)[kept] - first_steps(lengths)  # to places in this panel
        return np.repeat(shift, lengths) + np.arange(lengths.sum())

    def rows(self, kept: Any) -> Panel:
        """These series only, in that order; kept (k,) holds their numbers."""
        kept = np.arange(self.n_rows)[kept]
        steps = self.places(kept)
        return replace(
            self,
            steps=self.steps.rows(steps),
            lengths=self.lengths[kept],
            times=self.times[steps],
            statics=None if self.statics is None else self.statics.rows(kept),
            ids=self.ids[kept],
            source=self.source[steps],
            apart={name: values[steps] for name, values in self.apart.items()},
            starts=None if self.starts is None else self.starts[kept],
        )

    def partner_steps(self, partners: np.ndarray) -> np.ndarray:
        """For each step, the step of its series' partner that is as far along; (n,) -> (S,)."""
        series = self.series
        within = np.arange(len(series)) - self.begins
        share = within * self.lengths[partners][series] // self.lengths[series]
        return first_steps(self.lengths)[partners][series] + share

    def with_gaps_of(self, donors: np.ndarray) -> Panel:
        """The same series where each also has the gaps of another; donors (n,)."""
        steps = self.steps.with_gaps_of(self.partner_steps(donors))
        statics = None if self.statics is None else self.statics.with_gaps_of(donors)
        return replace(self, steps=steps, statics=statics)


def _read(
    X: Any,
    static: Any,
    labels: str | Sequence[str],
    lengths: Any = None,
    times: Any = None,
    **roles: Any,
) -> Panel:
    (names, table), (apart, odd) = split_static(static), split_static(labels)
    if "id" in roles and not (isinstance(X, pd.DataFrame) or is_polars(X)):
        rule = "Ids and times are columns of a pandas or polars DataFrame"
        remedy = "Use Panel.from_list for a list of series, Panel.from_array for a 3D array"
        raise InputTypeError(f"the series come as a {type(X).__name__}", rule, remedy)
    if odd is not None:
        fact = f"labels is a {type(odd).__name__}"
        remedy = "Pass a name or a list of names; labels themselves go to fit"
        raise InputTypeError(fact, "It names columns of the frame", remedy)
    layout = Layout(static=names, apart=apart, **roles)
    return read_panel(X, layout, lengths=lengths, times=times, static=table)


def read_panel(
    X: Any,
    layout: Layout = PLAIN,
    *,
    lengths: Any = None,
    times: Any = None,
    static: Any = None,
) -> Panel:
    """Read series of any format, or raise an InputError that says what is wrong and where.

    X : a 3D array, a list, or a frame, see `Panel.from_array`, `from_list`, `from_long` and
        `from_pairs`, where `lengths`, `times` and `static` are explained too
    layout : which columns or axes mean what
    static : a table; columns of X are named in the layout

    >>> panel = read_panel(np.array([[[1.0], [2.0]], [[3.0], [np.inf]]]), lengths=[2, 1])
    >>> panel.steps.arrays, panel.lengths, panel.times
    ([array([1., 2., 3.])], array([2, 1]), array([0., 1., 0.]))
    """
    layout.check()
    refuse_other_polars(X)
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = list(X)  # how NumPy stores series of unequal length
    if isinstance(X, pd.DataFrame) or is_polars(X):
        kind = frame_kind(X, layout)
    elif isinstance(X, list | tuple):
        kind = LIST
    else:
        X, kind = as_cube(X), ARRAY
    layout = replace(layout, lengths=lengths is not None, times=times is not None)
    _check_options(kind, layout)
    refuse_no_series(len(X))
    if kind == ARRAY:
        rows = read_array(X, layout.axes, lengths)
    elif kind == LIST:
        rows = read_list(X)
    else:
        rows = {NESTED: read_nested, PAIRS: read_pairs}.get(kind, read_long)(X, layout)
    if times is not None:
        rows.stamps = passed_times(times, rows)
    if static is not None:
        rows.statics = read_static_table(static, rows.ids, rows.keyed, layout)
    return _in_order(rows, layout, kind)


def _check_options(kind: str, layout: Layout) -> None:
    """Refuse options that this kind of input would ignore."""
    options = [role for role, _ in layout.roles]
    options += ["axes"] * (layout.axes != "ntd") + ["lengths"] * layout.lengths
    for option in options + ["times"] * layout.times:
        if kind not in USES[option]:
            fact = f"{option} is given, but X is {kind}"
            rule = f"{option} belongs to {' or '.join(sorted(USES[option]))}"
            raise InputError(fact, rule, f"Leave out {option}, or pass X in such a form")


def _in_order(rows: Rows, layout: Layout, kind: str) -> Panel:
    """Sort rows into steps, series after series, and turn their times into numbers."""
    keys = (rows.series,) if rows.stamps is None else (rows.stamps, rows.series)
    # Rows of arrays and lists are in order by position: a time that goes back is an error there.
    order = np.lexsort(keys) if rows.keyed else np.arange(len(rows.series))
    lengths = np.bincount(rows.series, minlength=len(rows.ids))
    times, starts = _numeric_times(rows, layout, order, lengths)
    try:
        sorted_ids = not rows.keyed or rows.ids.tolist() == sorted(rows.ids)
    except TypeError:  # ids of mixed types have no order
        sorted_ids = False
    steps = read_columns(rows.table, rows.place)
    if not np.array_equal(order, np.arange(len(order))):
        steps = steps.rows(order)
    return Panel(
        steps=steps,
        lengths=lengths,
        times=times,
        statics=rows.statics,
        ids=rows.ids,
        keyed=rows.keyed,
        source=order,
        apart={name: values[order] for name, values in rows.apart.items()},
        width=rows.width or int(lengths.max()),
        starts=starts,
        layout=layout,
        kind=kind,
        sorted_ids=sorted_ids,
        timed=rows.stamps is not None,
    )


def _numeric_times(
    rows: Rows, layout: Layout, order: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """The times of the steps as numbers (S,), and what dates are counted from (n,), or None."""
    first, series = first_steps(lengths), rows.series[order]
    if rows.stamps is None:
        return (np.arange(len(order)) - first[series]).astype(np.float64), None
    times, starts = rows.stamps[order], None
    if times.dtype.kind == "M":
        starts = times[first]
        times = times - starts[series]
    if times.dtype.kind == "m":
        times = hours(times)
    behind = np.flatnonzero((times[1:] <= times[:-1]) & (series[1:] == series[:-1]))
    if len(behind):
        raise _order_error(rows, layout, order[behind[0]], order[behind[0] + 1])
    return times, starts


def _order_error(rows: Rows, layout: Layout, row: int, next_row: int) -> InputError:
    assert rows.stamps is not None
    before, after = (stamp_text(rows.stamps[at]) for at in (row, next_row))
    if not rows.keyed:
        fact = f"the times of {rows.place(next_row)} do not increase: {after} comes after {before}"
        remedy = "Sort the steps of each series by time, and merge steps of equal time"
        return InputError(fact, "Times must be strictly increasing within a series", remedy)
    by = "level=[0, 1]" if layout.id is None else f"[{layout.id!r}, {layout.time!r}]"
    return InputError(
        f"id {rows.ids[rows.series[row]]!r} has two rows at time {after} (rows {row} and"
        f" {next_row})",
        "A series has one row per time stamp",
        f"Merge them first, for example with X.groupby({by}).mean(numeric_only=True)",
    )
