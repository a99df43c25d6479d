"""Series for `fit` and for `predict`: which columns mean what is said once and remembered.

Columns belong to the model: what `fit` learned of them holds for `predict` too. Lengths and times
belong to the series at hand: they have to come with them, in a `Panel`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import InputError
from ._container import Panel
from ._panel_kinds import ARRAY, LIST, NESTED
from ._panel_layout import PLAIN, Layout
from ._panel_reading import read_panel
from ._panel_rows import refuse_no_series


def training_panel(X: Any, layout: Layout, beside: Mapping[str, Any]) -> Panel:
    """Series to learn from; `panel.layout` is what a model has to remember.

    Parameters
    ----------
    X : a Panel, or series in any form that `read_panel` takes
    layout : which columns or axes mean what; a Panel brings its own
    beside : labels, weights and the like by role; strings among them name columns of X
    """
    if isinstance(X, Panel):
        refuse_no_series(len(X))
        return X
    return read_panel(X, replace(layout, apart=_named_columns(X, beside)))


def prediction_panel(
    X: Any,
    layout: Mapping[str, Any],
    beside: Mapping[str, Any] | None = None,
    steps: Sequence[str] | None = None,
    statics: Sequence[str] = (),
) -> Panel:
    """Series to predict, read as those of training were.

    Parameters
    ----------
    X, beside : as for `training_panel`
    layout : `panel.layout.to_dict()` of training
    steps : names of the columns of training, where they had names
    statics : names of its static columns
    """
    told = Layout.from_dict(layout)
    if isinstance(X, Panel):
        refuse_no_series(len(X))
        panel = X
    else:
        panel = read_panel(X, _remembered(X, told, _named_columns(X, beside or {}), statics))
    _refuse_forgotten(panel, told)
    if panel.layout.variable and steps is not None:
        # A variable that nobody measured has no pairs.
        panel = replace(panel, steps=panel.steps.completed(list(steps)))
    return panel


def _remembered(X: Any, told: Layout, named: tuple[str, ...], statics: Sequence[str]) -> Layout:
    """The layout of training, as far as it fits what X has."""
    columns = _names(X)
    if not columns:  # an array or a list: names of columns mean nothing there
        return replace(PLAIN, axes=told.axes if getattr(X, "ndim", 0) == 3 else PLAIN.axes)
    layout = replace(told, axes=PLAIN.axes, apart=named)
    if told.variable not in columns and told.value not in columns:
        layout = replace(layout, variable=None, value=None)  # pairs then, a column each now
    if getattr(getattr(X, "index", None), "nlevels", 1) > 1 and told.id not in columns:
        layout = replace(layout, id=None, time=None)
    if not told.static and statics and set(statics) <= set(columns):
        layout = replace(layout, static=tuple(statics))  # a table then, columns now
    # Labels may still stand in the frame; they are not looked at.
    rest = (name for name in told.apart if name in columns)
    return replace(layout, apart=tuple(dict.fromkeys([*named, *rest])))


def _refuse_forgotten(panel: Panel, told: Layout) -> None:
    """Lengths and times belong to the data, so they cannot be remembered; nor be forgotten."""
    if told.lengths and panel.kind == ARRAY and not panel.layout.lengths:
        raise InputError(
            "the array comes without lengths, but in training it had them",
            "Padding is never guessed: without lengths it would be read as data",
            "Pass Panel.from_array(X, lengths=…), with np.full(n, T) if nothing is padded",
        )
    if told.times and panel.kind in (ARRAY, LIST, NESTED) and not panel.timed:
        raise InputError(
            "the series come without times, but in training they had them",
            "The networks know the time between steps in the unit of training",
            "Pass Panel.from_list or Panel.from_array with times=",
        )


def _names(X: Any) -> list[str]:
    """Column names of a frame as strings; nothing else has any."""
    return [str(name) for name in getattr(X, "columns", ())]


def _named_columns(X: Any, beside: Mapping[str, Any]) -> tuple[str, ...]:
    """Which columns of a frame hold labels, weights and the like."""
    named = {role: name for role, name in beside.items() if isinstance(name, str)}
    for role, name in named.items():
        if name not in _names(X):
            raise InputError(
                f"{role} is {name!r}, which is not a column of X",
                "A string names a column of the frame",
                f"Check the spelling of {name!r}, or pass {role} itself",
            )
    return tuple(dict.fromkeys(named.values()))
