"""Series for fit and predict: what columns mean is stated in fit and remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import InputError
from ._panel import ARRAY, LIST, Panel, read_panel
from ._panel_frames import NESTED, names_of
from ._series_rows import Layout, refuse_no_series


def training_panel(X: Any, layout: Layout, extras: Mapping[str, Any]) -> Panel:
    """Series to learn from; `panel.layout` is what a model has to remember.

    X : a Panel, or series in any form that `read_panel` takes
    layout : which columns or axes mean what; a Panel brings its own
    extras : labels, weights, groups and held-out flags by role; a string names a column of X
    """
    if isinstance(X, Panel):
        refuse_no_series(len(X))
        return X
    return read_panel(X, replace(layout, apart=_named_columns(X, extras)))


def prediction_panel(
    X: Any,
    layout: Mapping[str, Any],
    extras: Mapping[str, Any] | None = None,
    steps: Sequence[str] | None = None,
    statics: Sequence[str] = (),
) -> Panel:
    """Series to predict, read as those of training were.

    X, extras : as for `training_panel`
    layout : `panel.layout.to_dict()` of training
    steps : names of the columns of training, where they had names
    statics : names of its static columns
    """
    trained = Layout.from_dict(layout)
    if isinstance(X, Panel):
        refuse_no_series(len(X))
        panel = X
    else:
        panel = read_panel(X, _remembered(X, trained, _named_columns(X, extras or {}), statics))
    if trained.lengths and panel.kind == ARRAY and not panel.layout.lengths:
        fact = "the array comes without lengths, but in training it had them"
        rule = "Padding is never guessed: without lengths it would be read as data"
        remedy = "Pass Panel.from_array(X, lengths=…), with np.full(n, T) if nothing is padded"
        raise InputError(fact, rule, remedy)
    if trained.times and panel.kind in (ARRAY, LIST, NESTED) and not panel.timed:
        fact = "the series come without times, but in training they had them"
        rule = "The networks know the time between steps in the unit of training"
        raise InputError(fact, rule, "Pass Panel.from_list or Panel.from_array with times=")
    if panel.layout.variable and steps is not None:
        # A variable that was never measured has no pairs.
        panel = replace(panel, steps=panel.steps.completed(list(steps)))
    return panel


def _remembered(X: Any, trained: Layout, labels: tuple[str, ...], statics: Sequence[str]) -> Layout:
    """The layout of training, as far as it fits what X has."""
    columns = names_of(X)
    if not columns:  # an array or a list: names of columns mean nothing there
        return Layout(axes=trained.axes if getattr(X, "ndim", 0) == 3 else "ntd")
    layout = replace(trained, axes="ntd", apart=labels)
    if trained.variable not in columns and trained.value not in columns:
        layout = replace(layout, variable=None, value=None)  # pairs in training, a column each here
    if getattr(getattr(X, "index", None), "nlevels", 1) > 1 and trained.id not in columns:
        layout = replace(layout, id=None, time=None)
    if not trained.static and statics and set(statics) <= set(columns):
        layout = replace(layout, static=tuple(statics))  # a table in training, columns here
    # Labels may still be in the frame; they are ignored.
    rest = (name for name in trained.apart if name in columns)
    return replace(layout, apart=tuple(dict.fromkeys([*labels, *rest])))


def _named_columns(X: Any, extras: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns of a frame that hold labels, weights, groups or held-out flags."""
    named = {role: name for role, name in extras.items() if isinstance(name, str)}
    for role, name in named.items():
        if name not in names_of(X):
            fact = f"{role} is {name!r}, which is not a column of X"
            remedy = f"Check the spelling of {name!r}, or pass {role} itself"
            raise InputError(fact, "A string names a column of the frame", remedy)
    return tuple(dict.fromkeys(named.values()))
