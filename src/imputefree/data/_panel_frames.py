"""Series from frames: one row per step, (variable, value) pairs, and static columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError, shorten
from ._columns import Columns, Place, read_columns, refuse_rows, to_strings
from ._series_rows import Layout, Rows, read_stamps, refuse_no_values, stamp_text

NESTED, LONG, INDEXED = "a nested frame", "a long frame", "a frame indexed by (id, time)"
PAIRS = "a frame of (variable, value) pairs"


# ---- columns of frames
def names_of(X: Any) -> list[str]:
    """Column names of a frame as strings; nothing else has any."""
    return [str(name) for name in getattr(X, "columns", ())]


def column(X: Any, name: str | None) -> pd.Series:
    """One column, raw."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, names_of(X).index(str(name))]
    values = X[name].to_numpy()
    if values.ndim > 1:  # a column of polars arrays
        return pd.Series(list(values), dtype=object)
    return pd.Series(values, dtype=object if values.dtype == object else None)


def _select(X: Any, names: Sequence[str]) -> Any:
    """These columns as a frame of the same kind."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, [j for j, name in enumerate(names_of(X)) if name in set(names)]]
    return X.select(list(names))


def label_column(X: Any, name: str, place: Place) -> np.ndarray:
    """A column of labels, groups or weights as objects, one single value per row; shape (R,)."""
    values = column(X, name).astype(object).to_numpy()
    if pd.api.types.infer_dtype(values).startswith("mixed"):  # any other kind is single values
        row = next((i for i, cell in enumerate(values) if not isinstance(cell, Hashable)), None)
        if row is not None:
            raise InputTypeError(
                f"column {name!r} holds a value of type {type(values[row]).__name__}"
                f" (first: {place(row)})",
                "A label, group or weight is one single value per row",
                "Extract the part you need into a separate column",
            )
    return values


def plain(values: pd.Series) -> np.ndarray:
    """Numbers as float64 with NaN, anything else as objects."""
    dtype = values.dtype
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return values.astype(object).to_numpy()


def frame_kind(X: Any, layout: Layout) -> str:
    """A frame of pairs, a long, an indexed or a nested one; its columns with a role are checked."""
    kind, names = _frame_kind(X, layout), names_of(X)
    for role, name in layout.roles:
        if name not in names:
            in_index = isinstance(X, pd.DataFrame) and name in X.index.names
            fact = f"{role} names {name!r}, which is not a column of X"
            remedy = "Call X.reset_index() first" if in_index else f"Check the spelling of {name!r}"
            raise InputError(fact, f"The columns are: {shorten(names, 12)}", remedy)
        if names.count(name) > 1:
            fact = f"column {name!r} ({role}) appears {names.count(name)} times in X"
            rule = "Columns are matched by name, so names must be unique"
            raise InputError(fact, rule, "Rename or drop the repeated columns")
    extra = [name for name in names if name not in {used for _, used in layout.roles}]
    if kind == PAIRS and extra:
        rule = "A frame of (variable, value) pairs holds values only in its value column"
        remedy = "Drop them, or name columns that are constant within each id in static"
        raise InputError(f"columns without a role: {shorten(extra)}", rule, remedy)
    return kind


def _frame_kind(X: Any, layout: Layout) -> str:
    if layout.variable is not None or layout.value is not None:
        wanted = ("id", "time", "variable", "value")
        missing = [role for role in wanted if getattr(layout, role) is None]
        if missing:
            rule = "Such a frame has the columns id, time, variable and value"
            remedy = "Name the missing ones: " + ", ".join(f"{role}='…'" for role in missing)
            raise InputError(f"{' and '.join(missing)} not given for {PAIRS}", rule, remedy)
        return PAIRS
    if layout.id is not None:
        return LONG
    if isinstance(X, pd.DataFrame):
        if isinstance(X.index, pd.MultiIndex) and X.index.nlevels == 2:
            return INDEXED
        objects = (X.iloc[:, j] for j in range(X.shape[1]) if X.iloc[:, j].dtype == object)
        if any(isinstance(cell, pd.Series) for values in objects for cell in values):
            return NESTED
    raise InputError(
        f"X is a DataFrame without an id (columns: {shorten(names_of(X))})",
        "A frame of series must say which series a row belongs to",
        "Pass id='…' (and time='…') naming its columns, or set_index([id, time]); for a table of"
        " independent rows use GILClassifier or GILRegressor",
    )


# ---- one row per step
def read_long(X: Any, layout: Layout) -> Rows:
    """A frame with one row per step, ids and times in columns or in a two-level index."""
    if layout.id is None:  # as sktime's pd-multiindex
        keys, times = (X.index.get_level_values(level) for level in (0, 1))
        labels = "level 0 of the index (the ids)", "level 1 of the index (the times)"
    else:
        keys, times = column(X, layout.id), None
        if layout.time is not None:
            times = column(X, layout.time)
        labels = f"id column {layout.id!r}", f"time column {layout.time!r}"
    series, ids, place = _number_ids(keys, labels[0])
    stamps = None if times is None else read_stamps(times, labels[1], place)
    roles = {layout.id, layout.time, *layout.static, *layout.apart}
    values = [name for name in names_of(X) if name not in roles]
    refuse_no_values(values, names_of(X))
    statics = constant_columns(X, layout.static, series, ids)
    apart = {name: label_column(X, name, place) for name in layout.apart}
    return Rows(_select(X, values), series, ids, True, stamps, statics, apart)


def _number_ids(values: Any, label: str) -> tuple[np.ndarray, np.ndarray, Place]:
    """For each row the number of its series, by first appearance (R,), the ids (n,), and words
    for a row whose time is not known yet."""
    rule = "An id must be a string, a number or another value with a hash"
    series, levels = _numbered(values, label, rule)
    ids = np.fromiter(levels, dtype=object, count=len(levels))
    rule = "Every row must say which series it belongs to"
    remedy = "Drop these rows, or fill in their ids"
    refuse_rows(series < 0, f"{label} is missing", rule, remedy)
    return series, ids, lambda row: f"row {row}, id {ids[series[row]]!r}"


def _numbered(values: Any, label: str, rule: str) -> tuple[np.ndarray, Any]:
    """For each value the number of its level, -1 where missing (R,), and the levels."""
    try:
        codes, levels = pd.factorize(values)
    except TypeError:
        remedy = "Convert it, for example with .astype(str)"
        raise InputTypeError(f"{label} holds values such as lists", rule, remedy) from None
    return codes.astype(np.int64), levels


# ---- one row per measurement
def read_pairs(X: Any, layout: Layout) -> Rows:
    """A frame of (variable, value) pairs, pivoted to one column per variable, sorted by name."""
    series, ids, place = _number_ids(column(X, layout.id), f"id column {layout.id!r}")
    stamps = read_stamps(column(X, layout.time), f"time column {layout.time!r}", place)
    variable, names = _number_variables(column(X, layout.variable), layout, place)
    # A step is one (id, time). Hashing beats sorting here: pairs come by the million.
    moment, moments = pd.factorize(stamps, sort=True)
    step, keys = pd.factorize(series * len(moments) + moment, sort=True)
    cell, rows = variable * len(keys) + step, np.arange(len(X))
    row_of_cell = np.full(len(names) * len(keys), -1)
    row_of_cell[cell] = rows

    def where(row: int) -> str:
        return f"id {ids[series[row]]!r} at time {stamp_text(stamps[row])}"

    if (twice := row_of_cell[cell] != rows).any():
        row = int(twice.argmax())
        by = [layout.id, layout.time, layout.variable]
        raise InputError(
            f"id {ids[series[row]]!r} has two values of {names[variable[row]]!r} at time"
            f" {stamp_text(stamps[row])} (rows {row} and {row_of_cell[cell[row]]})",
            "A variable has one value per time stamp",
            f"Merge them first, for example with X.groupby({by})[{layout.value!r}].mean()",
        )
    values = plain(column(X, layout.value))
    matrix = np.full((len(names), len(keys)), None if values.dtype == object else np.nan)
    matrix.reshape(-1)[cell] = values
    apart = {}
    for name in layout.apart:
        labels = label_column(X, name, place)
        rule = "Pairs of one id and time make one step, so this column has one value there"
        known = one_known(labels, step, len(keys), f"column {name!r}", where, rule)
        apart[name] = labels[known]
    statics = constant_columns(X, layout.static, series, ids)
    table = pd.DataFrame(matrix.T, columns=names)
    step_stamps, step_series = np.asarray(moments)[keys % len(moments)], keys // len(moments)
    return Rows(table, step_series, ids, True, step_stamps, statics, apart)


def _number_variables(
    values: pd.Series, layout: Layout, place: Place
) -> tuple[np.ndarray, list[str]]:
    """For each pair the number of its variable (R,), and the sorted names."""
    label = f"variable column {layout.variable!r}"
    codes, levels = _numbered(values, label, "A variable's name is a string or a number")
    # Only the levels are read: item 220045 and item 220045.0 are one variable, as in tables.
    strings = to_strings(np.asarray(pd.Series(levels).astype(object)), label)
    refuse_rows(
        np.append(strings == "", True)[codes],  # code -1 is the appended one
        f"{label} is missing or empty",
        "Every pair must say which variable its value belongs to",
        f"Drop these rows, for example with X.dropna(subset=[{layout.variable!r}])",
        place,
    )
    names, number = np.unique(strings.astype(str), return_inverse=True)
    return number[codes], names.tolist()


# ---- static columns
def constant_columns(
    X: Any, names: Sequence[str], series: np.ndarray, ids: np.ndarray, owner: str = "id"
) -> Columns | None:
    """Static columns of a frame, one row per series: the one known value of each."""
    if not names:
        return None

    def where(row: int) -> str:
        return f"{owner} {ids[series[row]]!r}"

    columns = read_columns(_select(X, names), lambda row: f"static values of {where(row)}")
    rule = "A static column has one value per series (missing in some rows is fine)"
    arrays = []
    for name, array in columns.items():
        label = f"static column {name!r}"
        arrays.append(array[one_known(array, series, len(ids), label, where, rule)])
    return replace(columns, arrays=arrays, n_rows=len(ids))


def one_known(
    array: np.ndarray, groups: np.ndarray, n_groups: int, label: str, where: Place, rule: str
) -> np.ndarray:
    """For each group the row of its one known value (or its first row if none is known).

    Shapes: array (R,), groups (R,) -> (n_groups,). Two different values are an InputError.
    """
    first = np.zeros(n_groups, dtype=np.int64)
    rows, seen = np.arange(len(array)), np.flatnonzero(~pd.isna(array))
    for some in (rows, seen):  # backwards: of several rows of a group the last one written stays
        first[groups[some[::-1]]] = some[::-1]
    differ = np.flatnonzero(array[seen] != array[first[groups[seen]]])
    if len(differ):
        row = int(seen[differ[0]])
        one, other = (array[at : at + 1].tolist()[0] for at in (first[groups[row]], row))
        fact = f"{label} of {where(row)} holds {one!r} and {other!r}"
        raise InputError(fact, rule, "Correct the rows, or leave the column out")
    return first


def read_static_table(static: Any, ids: np.ndarray, keyed: bool, layout: Layout) -> Columns:
    """static= as one row per series, in the order of the series; ids (n,)."""
    owner = "id" if keyed else "series"
    if keyed:
        if layout.id is not None and layout.id in getattr(static, "columns", ()):
            keys: Any = column(static, layout.id)
            static = _select(static, [name for name in names_of(static) if name != layout.id])
        elif isinstance(static, pd.DataFrame) and not _just_counts(static.index, ids):
            keys = static.index
        else:
            fact = f"static is a {type(static).__name__} without ids while the series have ids"
            remedy = "Pass a frame with the id column, or pd.DataFrame(static, index=ids)"
            raise InputError(fact, "Static rows are matched to series by id", remedy)
        kept, _ = match_ids(ids, keys, "static")
        if (kept < 0).any():
            raise InputError(
                f"ids without a row in static: {shorten(ids[kept < 0].tolist())}",
                "Every series needs its static row (its values may be missing)",
                "Add the rows; static.reindex(ids) adds them with missing values",
            )
        static = static.iloc[kept] if isinstance(static, pd.DataFrame) else static[kept.tolist()]
    columns = read_columns(static, lambda row: f"static of {owner} {ids[row]!r}")
    if columns.n_rows != len(ids):
        fact = f"static has {columns.n_rows} rows for {len(ids)} series"
        rule = "Without ids, static has one row per series, in the order of the series"
        raise InputError(fact, rule, "Check how the series were selected")
    return columns


def _just_counts(index: pd.Index, ids: np.ndarray) -> bool:
    """Whether an index is an unnamed 0, 1, 2, … that numbers rows and is not the ids."""
    counts = isinstance(index, pd.RangeIndex) and index.name is None and index.start == 0
    return counts and sorted(map(str, index)) != sorted(map(str, ids))


def match_ids(ids: np.ndarray, keys: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """For each id the row of its key, -1 if there is none (n,); and the keys no id has."""
    index = keys if isinstance(keys, pd.Index) else pd.Index(keys, tupleize_cols=False)
    if isinstance(index, pd.MultiIndex):
        index = index.to_flat_index()  # ids that are tuples
    index = index.astype(object)
    if not index.is_unique:
        twice = shorten(index[index.duplicated()].unique().tolist())
        rule = f"{name} has one row per series"
        raise InputError(f"{name} holds ids more than once: {twice}", rule, "Drop repeated rows")
    wanted = pd.Index(ids, dtype=object, tupleize_cols=False)
    return index.get_indexer(wanted), index[wanted.unique().get_indexer(index) < 0].to_numpy()
