"""`Panel`: series of unequal length, one after the other, sized and indexed by series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputTypeError
from .._columns import Columns, is_polars
from ._panel_layout import PLAIN, Layout


def first_steps(lengths: np.ndarray) -> np.ndarray:
    """The number of each series' first step; (n,) -> (n,)."""
    return np.cumsum(lengths) - lengths


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
    apart : columns that are not values, (S,) object each
    keyed : whether the ids came with the data rather than by position
    source : (S,) int64, the row of the input each step came from
    by_row : whether a row of the input is a step; not so for (variable, value) pairs
    width : steps along the time axis of the array, or of the longest series
    starts : (n,) datetime64, what the times of each series count from; None without dates
    layout : which columns or axes meant what
    kind : the form the series came in
    sorted_ids : whether labels by position are certain: there are no ids, or they were sorted
    timed : whether the series came with times rather than steps counted 0, 1, 2, …

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
    source: np.ndarray
    apart: dict[str, np.ndarray]
    by_row: bool = True
    width: int = 0
    starts: np.ndarray | None = None
    layout: Layout = PLAIN
    kind: str = ""
    sorted_ids: bool = True
    timed: bool = False

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
        _check_frame(frame)
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
        _check_frame(frame)
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
        if not (isinstance(series, pd.DataFrame) or is_polars(series)):
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
        from ._panel_arrays import as_cube

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
        raise InputTypeError(
            "a Panel cannot be turned into an array",
            "Its series differ in length, and its columns may hold categories",
            "Pass it to a sequence estimator, or use GILClassifier and GILRegressor for tables",
        )

    def __repr__(self) -> str:
        from ...errors import shorten

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
        from ._panel_labels import series_labels

        index = pd.Index(self.ids, tupleize_cols=False).infer_objects()
        return pd.Series(series_labels(name, self), index=index, name=name)

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

    def places(self, kept: np.ndarray) -> np.ndarray:
        """The numbers of the steps of some series, series after series; kept (k,) -> (steps,)."""
        lengths = self.lengths[kept]
        ahead = first_steps(lengths)  # steps of the new panel before each series
        return np.repeat(first_steps(self.lengths)[kept] - ahead, lengths) + np.arange(
            lengths.sum()
        )

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


def _check_frame(frame: Any) -> None:
    if not (isinstance(frame, pd.DataFrame) or is_polars(frame)):
        raise InputTypeError(
            f"the series come as a {type(frame).__name__}",
            "Ids and times are columns of a pandas or polars DataFrame",
            "Use Panel.from_list for a list of series, Panel.from_array for a 3D array",
        )


def _read(
    X: Any,
    static: Any,
    labels: str | Sequence[str],
    lengths: Any = None,
    times: Any = None,
    **roles: Any,
) -> Panel:
    from ._panel_reading import read_panel

    names, table = split_static(static)
    apart = (labels,) if isinstance(labels, str) else tuple(labels)
    layout = Layout(static=names, apart=apart, **roles)
    return read_panel(X, layout, lengths=lengths, times=times, static=table)


def split_static(static: Any) -> tuple[tuple[Any, ...], Any]:
    """static= as names of columns and as a table, one of them empty."""
    if isinstance(static, str):
        return (static,), None
    rows = (list, tuple, np.ndarray)
    if isinstance(static, np.ndarray | pd.Index) and static.ndim == 1 and len(static):
        static = list(static)  # frame.columns[3:5]
    if isinstance(static, list | tuple) and not any(isinstance(row, rows) for row in static):
        return tuple(static), None
    return (), static
