"""How estimators are told what series look like, and what they remember of it for predictions.

Columns belong to the model: named in `fit`, they hold for `predict` too. Lengths and times belong
to the series at hand: they have to be given anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import Layout, Panel, read_panel
from ..errors import InputError

OPTIONS = ("id", "time", "static", "variable", "value", "lengths", "times", "axes")


def read_series(
    X: Any, how: Mapping[str, Any], beside: Mapping[str, Any], told: Mapping[str, Any] | None
) -> tuple[Panel, dict[str, Any]]:
    """Series, and their layout as plain JSON types, to be remembered.

    Parameters
    ----------
    X : series in any form that `fit` takes
    how : options by name, of OPTIONS
    beside : labels, weights and the like by role; texts among them name columns of X
    told : the layout that an earlier call returned; what `how` leaves open is as it was then
    """
    how = _checked_options(how)
    names, table = _static_names(how["static"])
    lengths, times, axes = how["lengths"], how["times"], how["axes"]
    if axes is None:  # an array comes as it came in training
        axes = told["axes"] if told and getattr(X, "ndim", 0) == 3 else "ntd"
    layout = Layout(
        id=how["id"],
        time=how["time"],
        static=names,
        variable=how["variable"],
        value=how["value"],
        axes=axes,
        apart=_named_columns(X, beside),
    )
    if told:
        _refuse_forgotten(X, told, lengths, times)
        layout = _remembered(X, layout, told, table is not None)
    panel = read_panel(X, layout, lengths=lengths, times=times, static=table)
    kept = {
        key: list(one) if isinstance(one, tuple) else one for key, one in asdict(layout).items()
    }
    return panel, kept | {"lengths": lengths is not None, "times": times is not None}


def _remembered(X: Any, given: Layout, told: Mapping[str, Any], static_table: bool) -> Layout:
    """The layout for a prediction: what is not given is as it was in training."""
    columns = _names(X)
    if not columns:  # an array or a list: names of columns mean nothing there
        return given
    before = {key: tuple(kept) if isinstance(kept, list) else kept for key, kept in told.items()}
    if static_table:
        before["static"] = ()
    if before["variable"] not in columns and before["value"] not in columns:
        before["variable"] = before["value"] = None  # pairs then, one column a variable now
    named = dict(given.roles)
    frame: dict[str, Any] = {
        key: getattr(given, key) if key in named else before[key]
        for key in ("id", "time", "static", "variable", "value")
    }
    indexed = getattr(getattr(X, "index", None), "nlevels", 1) > 1
    if indexed and "id" not in named and before["id"] not in columns:
        frame["id"] = frame["time"] = None
    # Labels may stand in the frame still; they are not looked at.
    apart = tuple(dict.fromkeys([*given.apart, *(n for n in before["apart"] if n in columns)]))
    return replace(given, **frame, apart=apart)


def _checked_options(how: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in how if name not in OPTIONS]
    if unknown:
        raise TypeError(
            f"unexpected keyword argument {unknown[0]!r}; series are described by"
            f" {', '.join(OPTIONS)}"
        )
    return dict.fromkeys(OPTIONS) | dict(how)


def _refuse_forgotten(X: Any, told: Mapping[str, Any], lengths: Any, times: Any) -> None:
    """Lengths and times belong to the data, so they cannot be remembered; nor be forgotten."""
    if getattr(X, "columns", None) is not None:
        return
    if told.get("lengths") and lengths is None and getattr(X, "ndim", 0) == 3:
        raise InputError(
            "lengths is not given, but in training it was",
            "Padding is never guessed: without lengths it would be read as data",
            "Pass lengths= for these series (np.full(n, T) if none is padded)",
        )
    by_index = isinstance(X, list | tuple) and any(isinstance(one, pd.DataFrame) for one in X[:1])
    if told.get("times") and times is None and not by_index:
        raise InputError(
            "times is not given, but in training it was",
            "The networks know the time between steps in the unit of training",
            "Pass times= for these series",
        )


def _names(X: Any) -> list[str]:
    """Column names of a frame as texts; nothing else has any."""
    return [str(name) for name in getattr(X, "columns", ())]


def _named_columns(X: Any, beside: Mapping[str, Any]) -> tuple[str, ...]:
    """Which columns of a frame hold labels, weights and the like."""
    named = {role: one for role, one in beside.items() if isinstance(one, str)}
    for role, name in named.items():
        if name not in _names(X):
            raise InputError(
                f"{role} is {name!r}, which is no column of X",
                "A text names a column of the frame",
                f"Check the spelling of {name!r}, or pass {role} itself",
            )
    return tuple(dict.fromkeys(named.values()))


def _static_names(static: Any) -> tuple[tuple[Any, ...], Any]:
    """static= as names of columns and as a table, one of them empty."""
    if isinstance(static, str):
        return (static,), None
    rows = (list, tuple, np.ndarray)
    if isinstance(static, np.ndarray | pd.Index) and static.ndim == 1 and len(static):
        static = list(static)  # frame.columns[3:5]
    if isinstance(static, list | tuple) and not any(isinstance(one, rows) for one in static):
        return tuple(static), None
    return (), static
