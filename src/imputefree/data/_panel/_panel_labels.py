"""One label a series, or one a step: an array, a keyed Series, or a column of the frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, shorten
from .._target import as_array, as_labels
from ._container import Panel
from ._panel_matching import (
    check_sorted,
    in_order_of_rows,
    match_members,
    match_series,
    match_steps,
    series_text,
)
from ._panel_members import is_nested
from ._panel_statics import first_known


def series_labels(y: Any, panel: Panel, name: str = "y") -> np.ndarray:
    """One label a series, in the order of the panel; shape (n,). Missing labels stay missing.

    Parameters
    ----------
    y : a column named in `layout.apart`, constant within each series; a dict or pandas Series
        keyed by id; or an array of n labels, for series without ids or with ids in sorted order

    Examples
    --------
    >>> from imputefree.data import Layout, read_panel
    >>> frame = pd.DataFrame({"who": ["b", "b", "a"], "pulse": [70, 80, 75], "died": [1, None, 0]})
    >>> panel = read_panel(frame, Layout(id="who", apart=("died",)))
    >>> series_labels("died", panel)
    array([1., 0.])
    >>> series_labels({"a": "alive", "b": "dead"}, panel)
    array(['dead', 'alive'], dtype='<U5')
    """
    if isinstance(y, str):
        values, series = _apart(y, panel, name), panel.series

        def conflict(step: int, one: Any, other: Any) -> InputError:
            return InputError(
                f"column {y!r} of {series_text(panel, series[step])} holds {one!r} and {other!r}",
                f"{name} is one label a series (missing in some rows is fine)",
                "Correct the rows, or learn one label a step",
            )

        return _native(values[first_known(values, series, panel.n_rows, conflict)])
    if isinstance(y, dict):
        keys: Any = pd.Index(np.fromiter(y, dtype=object, count=len(y)), tupleize_cols=False)
        return match_series(as_array(list(y.values()), name), keys, panel, name)
    if isinstance(y, pd.Series) and panel.keyed and not _is_unlabelled(y.index, panel):
        return match_series(y.to_numpy(), y.index, panel, name)
    labels = as_labels(y, name)
    if labels.ndim != 1:
        raise InputError(
            f"{name} has shape {labels.shape}",
            "There must be one label a series",
            f"Pass {name} with shape ({panel.n_rows},), for example one column of it",
        )
    if len(labels) != panel.n_rows:
        raise InputError(
            f"{name} has {len(labels)} labels for {panel.n_rows} series",
            "There must be one label a series",
            "Check how the series were selected",
        )
    check_sorted(panel, name, f"pd.Series({name}, index=ids)")
    return labels


def step_labels(y: Any, panel: Panel, name: str = "y") -> np.ndarray:
    """One label a step, in the order of the panel; shape (S,). Missing labels stay missing.

    Parameters
    ----------
    y : a column named in `layout.apart`; a pandas Series indexed by (id, time); a list of (T_i,)
        arrays; a 2D array (N, T), its padding ignored; or a flat array (S,); all of them, for long
        frames, in the order of their rows

    Examples
    --------
    >>> from imputefree.data import Layout, read_panel
    >>> frame = pd.DataFrame({"who": [1, 1, 2], "hour": [9, 4, 0], "pulse": [80, 70, 75]})
    >>> panel = read_panel(frame, Layout(id="who", time="hour"))
    >>> step_labels(["late", "early", "other"], panel)
    array(['early', 'late', 'other'], dtype='<U5')
    """
    if isinstance(y, str):
        return _native(_apart(y, panel, name))
    if isinstance(y, pd.Series) and isinstance(y.index, pd.MultiIndex):
        return match_steps(y, panel, name)
    if not panel.by_row:
        raise InputError(
            f"{name} is given by position, but the steps of X come from (variable, value) pairs",
            "Such steps have no position: labels are matched by id and time",
            f"Pass {name} as a Series indexed by (id, time), or name a column of X",
        )
    if is_nested(y):
        return match_members(list(y), panel, name)
    labels = as_labels(y, name)
    if labels.ndim == 2:
        if labels.shape != (panel.n_rows, panel.width):
            raise InputError(
                f"{name} has shape {labels.shape} for {panel.n_rows} series of up to"
                f" {panel.width} steps",
                "There must be one label a step",
                f"Pass {name} with shape ({panel.n_rows}, {panel.width}), or one array a series",
            )
        check_sorted(panel, name, "a Series indexed by (id, time)")
        flat = labels[np.arange(panel.width) < panel.lengths[:, None]]
        return in_order_of_rows(flat, panel)
    n_steps = len(panel.times)
    if labels.shape != (n_steps,):
        found = f"{len(labels)} labels" if labels.ndim == 1 else f"shape {labels.shape}"
        raise InputError(
            f"{name} has {found} for {n_steps} steps of {panel.n_rows} series",
            "There must be one label a step",
            "Check how the rows were selected",
        )
    if panel.source.max() >= n_steps:
        raise InputError(
            f"{name} has {n_steps} labels by position, but some series of X were left out",
            "Positions count the rows of the whole input",
            "Match the labels to the whole panel before selecting series",
        )
    return labels[panel.source]


def _is_unlabelled(index: pd.Index, panel: Panel) -> bool:
    """A default index that does not hold the ids is just a count of rows."""
    counts = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return counts and not bool(pd.Index(panel.ids, tupleize_cols=False).isin(index).all())


def _apart(column: str, panel: Panel, name: str) -> np.ndarray:
    if column in panel.apart:
        return panel.apart[column]
    raise InputError(
        f"{name} names {column!r}, which is not a column set apart",
        f"The columns set apart are: {shorten(list(panel.apart)) or 'none'}",
        "Pass the labels themselves",
    )


def _native(values: np.ndarray) -> np.ndarray:
    """Objects that are all numbers or booleans as an array of that kind."""
    return pd.Series(values, dtype=object).infer_objects().to_numpy()
