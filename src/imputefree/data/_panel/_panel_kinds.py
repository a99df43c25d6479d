"""Which kind of series an input is, and which columns and options belong to that kind."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ...errors import InputError, shorten
from ._panel_frames import names_of
from ._panel_layout import PLAIN, Layout

ARRAY, LIST, NESTED = "a 3D array", "a list of series", "a nested frame"
LONG, INDEXED = "a long frame", "a frame indexed by (id, time)"
PAIRS = "a frame of (variable, value) pairs"
USES = {  # which options make sense for which input
    "id": {LONG, PAIRS},
    "time": {LONG, PAIRS},
    "variable": {PAIRS},
    "value": {PAIRS},
    "static columns": {LONG, PAIRS, INDEXED, NESTED},
    "apart": {LONG, PAIRS, INDEXED, NESTED},
    "axes": {ARRAY},
    "lengths": {ARRAY},
    "times": {ARRAY, LIST, NESTED},
}


def frame_kind(X: Any, layout: Layout) -> str:
    """A frame of pairs, a long, an indexed or a nested one."""
    if layout.variable is not None or layout.value is not None:
        lacking = [
            role for role in ("id", "time", "variable", "value") if getattr(layout, role) is None
        ]
        if lacking:
            raise InputError(
                f"{' and '.join(lacking)} not given for {PAIRS}",
                "Such a frame has the columns id, time, variable and value",
                "Name the missing ones: " + ", ".join(f"{role}='…'" for role in lacking),
            )
        return PAIRS
    if layout.id is not None:
        return LONG
    if isinstance(X, pd.DataFrame):
        if isinstance(X.index, pd.MultiIndex) and X.index.nlevels == 2:
            return INDEXED
        texts = [X.iloc[:, j] for j in range(X.shape[1]) if X.iloc[:, j].dtype == object]
        if any(isinstance(cell, pd.Series) for one in texts for cell in one):
            return NESTED
    raise InputError(
        f"X is a DataFrame without an id (columns: {shorten(names_of(X))})",
        "A frame of series must say which series a row belongs to",
        "Pass id='…' (and time='…') naming its columns, or set_index([id, time]); for a table of"
        " independent rows use GILClassifier or GILRegressor",
    )


def check_columns(X: Any, layout: Layout, kind: str) -> None:
    """Every column with a role is there, once; pairs have no columns beside."""
    names = names_of(X)
    for role, name in layout.roles:
        if name not in names:
            levels = X.index.names if isinstance(X, pd.DataFrame) else []
            raise InputError(
                f"{role} names {name!r}, which is no column of X",
                f"The columns are: {shorten(names, 12)}",
                "Call X.reset_index() first: it is a level of the index"
                if name in levels
                else f"Check the spelling of {name!r}",
            )
        if names.count(name) > 1:
            raise InputError(
                f"column {name!r} ({role}) appears {names.count(name)} times in X",
                "Columns are matched by name, so names must be unique",
                "Rename or drop the repeated columns",
            )
    used = {name for _, name in layout.roles}
    extra = [name for name in names if name not in used]
    if kind == PAIRS and extra:
        raise InputError(
            f"columns without a role: {shorten(extra)}",
            "A frame of (variable, value) pairs holds no values beside its value column",
            "Drop them, or name columns that are constant within each id in static",
        )


def check_options(kind: str, layout: Layout, lengths: Any, times: Any, static: Any) -> None:
    """No option is given that this kind of input would ignore."""
    given = {
        **{role if role != "static" else "static columns": name for role, name in layout.roles},
        **({"axes": layout.axes} if layout.axes != PLAIN.axes else {}),
        **({"lengths": lengths} if lengths is not None else {}),
        **({"times": times} if times is not None else {}),
    }
    for option in given:
        if kind not in USES[option]:
            raise InputError(
                f"{option} is given, but X is {kind}",
                f"{option} belongs to {' or '.join(sorted(USES[option]))}",
                f"Leave out {option}, or pass X in such a form",
            )
    if static is not None and layout.static:
        raise InputError(
            "static is given both as columns of X and as a table",
            "Static columns come from one place",
            "Join the table with X, or drop the columns from X",
        )
