"""Labels of series or of steps, matched to a panel.

They come by id, by (id, time), by column, or by a position that is certain: where there is only one
order. A long frame whose ids are not sorted has no such order, and guessing would silently train on
shuffled labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError, listed, shorten
from ._examples import as_array
from ._panel_frames import match_ids, one_known
from ._series_rows import hours, is_nested, read_stamps, stack, stamp_text

if TYPE_CHECKING:
    from ._panel import Panel

BY_TIME = "a Series indexed by (id, time)"


def series_labels(y: Any, panel: Panel, name: str = "y") -> np.ndarray:
    """One label per series, in the order of the panel; shape (n,). Missing labels stay missing.

    y : a column of labels of the panel, constant within each series; a dict or pandas Series
        keyed by id; or an array of n labels, for series without ids or with ids that were sorted

    >>> from imputefree import Panel
    >>> frame = pd.DataFrame({"who": ["b", "b", "a"], "pulse": [70, 80, 75], "died": [1, None, 0]})
    >>> panel = Panel.from_long(frame, id="who", labels="died")
    >>> series_labels("died", panel)
    array([1., 0.])
    >>> series_labels({"a": "alive", "b": "dead"}, panel)
    array(['dead', 'alive'], dtype='<U5')
    """
    if isinstance(y, str):
        values, series = _apart(y, panel, name), panel.series
        rule = f"{name} is one label per series (missing in some rows is fine)"

        def owner(step: int) -> str:
            return _series_text(panel, series[step])

        known = one_known(values, series, len(panel), f"column {y!r}", owner, rule)
        return _native(values[known])
    if isinstance(y, dict):
        keys: Any = pd.Index(np.fromiter(y, dtype=object, count=len(y)), tupleize_cols=False)
        return _match_series(as_array(list(y.values()), name), keys, panel, name)
    if isinstance(y, pd.Series) and panel.keyed and not _is_unlabelled(y.index, panel):
        return _match_series(y.to_numpy(), y.index, panel, name)
    labels = as_array(y, name)
    if labels.shape != (len(panel),):
        fact = f"{name} has {_size(labels)} for {len(panel)} series"
        rule = "There must be one label per series"
        raise InputError(fact, rule, "Check how the series were selected")
    _check_order(panel, name, f"pd.Series({name}, index=ids)")
    return labels


def step_labels(y: Any, panel: Panel, name: str = "y") -> np.ndarray:
    """One label per step, in the order of the panel; shape (S,). Missing labels stay missing.

    y : a column of labels of the panel; a pandas Series indexed by (id, time); a list of (T_i,)
        arrays; a 2D array (N, T), its padding ignored; or a flat array (S,); all of them, for long
        frames, in the order of their rows

    >>> from imputefree import Panel
    >>> frame = pd.DataFrame({"who": [1, 1, 2], "hour": [9, 4, 0], "pulse": [80, 70, 75]})
    >>> step_labels(["late", "early", "other"], Panel.from_long(frame, "who", "hour"))
    array(['early', 'late', 'other'], dtype='<U5')
    """
    if isinstance(y, str):
        return _native(_apart(y, panel, name))
    if isinstance(y, pd.Series) and isinstance(y.index, pd.MultiIndex):
        return _match_steps(y, panel, name)
    if not panel.by_row:
        fact = f"{name} is given by position, but the steps of X come from (variable, value) pairs"
        rule = "Such steps have no position: labels are matched by id and time"
        raise InputError(fact, rule, f"Pass {name} as {BY_TIME}, or name a column of X")
    n, n_steps, width = len(panel), len(panel.times), panel.width
    if is_nested(y):
        return _match_members(list(y), panel, name)
    labels = as_array(y, name)
    if labels.ndim == 2 and labels.shape == (n, width):
        return _by_time(labels[np.arange(width) < panel.lengths[:, None]], panel, name)
    if labels.shape != (n_steps,):
        fact = f"{name} has {_size(labels)} for {n_steps} steps of {n} series"
        remedy = f"Pass ({n_steps},) labels, one array per series, or an array of ({n}, {width})"
        raise InputError(fact, "There must be one label per step", remedy)
    if panel.source.max() >= n_steps:
        fact = f"{name} has {n_steps} labels by position, but some series of X were left out"
        rule = "Positions count the rows of the whole input"
        raise InputError(fact, rule, "Match the labels to the whole panel before selecting series")
    return labels[panel.source]


def fill_labels(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Steps without a label get that of another step; and which steps have one, if not all do.

    Nothing is learned from such steps, but later steps remember what was measured there.

    >>> fill_labels(np.array([np.nan, 1.0, 0.0]))
    (array([1., 1., 0.]), array([False,  True,  True]))
    """
    known = ~pd.isna(labels)
    if known.all() or not known.any():
        return labels, None
    return _native(np.where(known, labels, labels[known.argmax()])), known


def _size(labels: np.ndarray) -> str:
    return f"{len(labels)} labels" if labels.ndim == 1 else f"shape {labels.shape}"


def _is_unlabelled(index: pd.Index, panel: Panel) -> bool:
    """A default index that does not hold the ids is just a count of rows."""
    counts = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return counts and not bool(pd.Index(panel.ids, tupleize_cols=False).isin(index).all())


def _apart(column: str, panel: Panel, name: str) -> np.ndarray:
    if column in panel.apart:
        return panel.apart[column]
    fact = f"{name} names {column!r}, which is not a label column of the panel"
    remedy = "Pass the labels themselves, or name the column in labels= of the Panel"
    raise InputError(fact, f"The label columns are: {shorten(list(panel.apart)) or 'none'}", remedy)


def _native(values: np.ndarray) -> np.ndarray:
    """Objects that are all numbers or booleans as an array of that kind."""
    return pd.Series(values, dtype=object).infer_objects().to_numpy()


def _match_series(labels: np.ndarray, keys: Any, panel: Panel, name: str) -> np.ndarray:
    """Labels with one id each."""
    rows, extra = match_ids(panel.ids, keys, name)
    missing = panel.ids[rows < 0]
    if len(missing) or len(extra):
        differ = listed(("ids without labels:", missing), ("labels without series:", extra))
        fact = f"{name} does not match the series; {differ}"
        remedy = f"Select the same ids in both, for example {name}.loc[ids]"
        raise InputError(fact, "Labels are matched by id, and every series needs one", remedy)
    return labels[rows]


def _match_steps(y: pd.Series, panel: Panel, name: str) -> np.ndarray:
    """Labels with an (id, time) index."""
    rule = "Labels are matched by id and time, and every step needs one"
    if y.index.nlevels != 2:
        fact = f"the index of {name} has {y.index.nlevels} levels"
        rule = "Labels of steps are indexed by (id, time)"
        raise InputError(fact, rule, f"Drop the other levels with {name}.droplevel")
    ids, index = y.index.get_level_values(0).astype(object), y.index.get_level_values(1)
    series = pd.Index(panel.ids, dtype=object, tupleize_cols=False).get_indexer(ids)
    label = f"level 1 of the index of {name}"
    stamps = read_stamps(index, label, lambda row: f"row {row}, id {ids[row]!r}")
    if (stamps.dtype.kind == "M") != (panel.starts is not None):
        theirs, ours = ("numbers", "dates") if panel.starts is not None else ("dates", "numbers")
        fact = f"{name} has {theirs} as times while X has {ours}"
        raise InputTypeError(fact, rule, f"Index {name} by the times of X")
    times = stamps if panel.starts is None else stamps - panel.starts[series]
    times = hours(times) if times.dtype.kind == "m" else times
    labelled = pd.MultiIndex.from_arrays([series, times])
    steps = pd.MultiIndex.from_arrays([panel.series, panel.times])

    def key(row: int) -> str:
        return f"({ids[row]!r}, {stamp_text(stamps[row])})"

    repeated = np.flatnonzero(labelled.duplicated() & (series >= 0))
    if len(repeated):
        fact = f"{name} holds two labels of {key(repeated[0])}"
        raise InputError(fact, rule, "Drop the repeated rows")
    extra, missing = np.flatnonzero(~labelled.isin(steps)), np.flatnonzero(~steps.isin(labelled))
    parts = []
    if len(missing):
        shown = shorten(missing, 3, lambda step: _step_text(panel, step))
        parts.append(f"steps without labels: {shown}")
    if len(extra):
        parts.append(f"labels without steps: {shorten(extra, 3, key)}")
    if parts:
        fact = f"{name} does not match the steps of X; {'; '.join(parts)}"
        raise InputError(fact, rule, "Select the same ids and times in both")
    return y.to_numpy()[labelled.get_indexer(steps)]


def _match_members(members: list[Any], panel: Panel, name: str) -> np.ndarray:
    """A list of (T_i,) arrays."""
    rule, remedy = "A list of labels has one (T_i,) array per series", "Pass one label per step"
    if len(members) != len(panel):
        fact = f"{name} has {len(members)} members for {len(panel)} series"
        raise InputError(fact, rule, remedy)
    arrays = [as_array(member, f"{name} of series {i}") for i, member in enumerate(members)]
    for i, (array, length) in enumerate(zip(arrays, panel.lengths, strict=True)):
        if array.shape != (length,):
            owner = _series_text(panel, i)
            fact = f"{name} of {owner} has shape {array.shape} for {length} steps"
            raise InputError(fact, rule, remedy)
    return _by_time(stack(arrays), panel, name)


def _by_time(labels: np.ndarray, panel: Panel, name: str) -> np.ndarray:
    """Labels that come series by series, each in the order of its rows in X -> by time; (S,)."""
    _check_order(panel, name, BY_TIME)
    by_time = np.empty_like(labels)
    by_time[np.lexsort((panel.source, panel.series))] = labels
    return by_time


def _check_order(panel: Panel, name: str, remedy: str) -> None:
    """Labels by position belong to series with ids only if there is only one order of the ids."""
    if not panel.sorted_ids:
        first = shorten(panel.ids.tolist(), 3)
        fact = f"{name} has no ids, and the ids of X are not in sorted order (first: {first})"
        rule = "Such labels could follow the rows of X or the sorted ids"
        raise InputError(fact, rule, f"Pass {remedy}, or name a column of X")


def _step_text(panel: Panel, step: int) -> str:
    i, time = panel.series[step], panel.times[step]
    if panel.starts is None:
        return f"({panel.ids[i]!r}, {stamp_text(time)})"
    return f"({panel.ids[i]!r}, {pd.Timestamp(panel.starts[i]) + pd.Timedelta(time, unit='h')})"


def _series_text(panel: Panel, i: int) -> str:
    return f"id {panel.ids[i]!r}" if panel.keyed else f"series {i}"
