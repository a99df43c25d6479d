"""Tables and series from CSV files: real tables with natural gaps by name, or your own file.

The named tables are CSV files in a folder `tabular`; identifiers and columns that give the target
away are left out. Most come from the UCI Machine Learning Repository. They have no public address
in this form, so `imputefree data get` does not know them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..._rules import check_value, choice, or_the_word
from ...data import Panel, Splits, first_steps
from ...errors import InputError, ParameterError, counted, shorten
from ...io import (
    KEY,
    TASKS,
    Understood,
    need_columns,
    read_csv,
    read_label_column,
    read_raw,
    understand,
)
from ._data_files import Root, find, packaged
from ._study import Study, by_series

NO_TARGET = "No target was named: y is constant."


class Known(NamedTuple):
    """A table that is known by name, as known_tables.toml describes it."""

    target: str
    rows: Sequence[int]  # per file
    source: str
    drop: Sequence[str] = ()
    task: str = "classification"
    licence: str = "CC BY 4.0"
    test: str = ""  # a second file, the test part
    none: Sequence[str] = ()  # columns in which an empty cell means "none"
    note: str = ""


KNOWN = {
    name: Known(**about) for name, about in tomllib.loads(packaged("known_tables.toml")).items()
}


def study(
    name: str,
    root: Root = None,
    target: str | None = None,
    drop: Sequence[str] = (),
    task: str | None = None,
    sheet: str | None = None,
) -> Study:
    """A table as a study: X a frame (n, d) with gaps, y (n,) classes or numbers.

    Parameters
    ----------
    name : one of `KNOWN`, or the path of a file, which is read as `read_table` reads it
    root : the folder with the known tables, or its parent
    target : the column to predict; known tables have one. Without a target, y is constant
    drop : columns to leave out: identifiers, and those that give the target away
    task : "classification" or "regression"; by default strings and up to 20 different integers are
        classes
    sheet : of a workbook; None: the first with a table
    """
    check_value("task", task, or_the_word(None, choice(*TASKS)))
    if isinstance(drop, str):
        raise ParameterError(
            f"drop is the string {drop!r}", "It must be a list of columns", f"Pass drop=[{drop!r}]"
        )
    if name in KNOWN:
        return _known(name, root, target, drop, task)
    path = Path(name)
    if not path.is_file() and not path.suffix:
        raise ParameterError(
            f"there is no table {name!r}",
            f"Known tables are {shorten(list(KNOWN), limit=20)}",
            "Name one of them, or the path of a CSV file",
        )
    frame, understood = _read(path, [target] if target else [], drop, sheet, target=target)
    X, y, notes = _inputs_and_target(frame, target, drop, task, path)
    notes += _reading_notes(understood)
    return _from_file(f"table:{path.name}", path, X.reset_index(drop=True), y, notes)


def _read(
    path: Path, needed: Sequence[str], drop: Sequence[str], sheet: str | None, **roles: Any
) -> tuple[pd.DataFrame, Understood]:
    """A file as `fit` reads it; columns to drop are kept as they are."""
    raw, file, digest = read_raw(path, sheet=sheet)
    need_columns(raw, needed, path, drop)
    return understand(raw, file, digest, columns=dict.fromkeys(drop, KEY) or None, **roles)


def _reading_notes(understood: Understood) -> list[str]:
    """What was read as a gap, and what was left out, a sentence each."""
    words = [c for c in understood.columns.values() if " is a gap" in c.note or "gaps" in c.note]
    gaps = [f"Column {column.name!r}: {column.note}." for column in words]
    left_out = [f"Column {name!r} left out: {why}." for name, why in understood.dropped.items()]
    return list(dict.fromkeys([*understood.notes, *gaps, *left_out]))


def _from_file(name: str, path: Path, X: Any, y: np.ndarray, notes: Any, **more: Any) -> Study:
    about: Any = {"citation": f"your file {path.name}", "licence": "known to you"}
    return Study(name, X, y, notes=tuple(notes), simulated=False, **about, **more)


def _known(
    name: str, root: Root, target: str | None, drop: Sequence[str], task: str | None
) -> Study:
    about = KNOWN[name]
    files = [f"{name}_train.csv", f"{about.test}.csv"] if about.test else [f"{name}.csv"]
    home = find(
        f"the table {name!r}",
        ["tabular"],
        [(file,) for file in files],
        root=root,
        remedy=f"Save it as CSV with its header, target {about.target!r}, from {about.source}",
    )
    frames = [read_csv(home / file) for file in files]
    for file, frame, rows in zip(files, frames, about.rows, strict=True):
        if len(frame) != rows:
            raise InputError(
                f"{home / file} has {len(frame):,} rows",
                f"The table {name!r} has {rows:,}",
                "Replace the file, or load a table of your own as table:FILE.csv",
            )
    target, task = target or about.target, task or (None if target else about.task)
    frame = pd.concat(frames, ignore_index=True)
    none = [column for column in about.none if column in frame and column != target]
    frame[none] = frame[none].fillna("none")
    if name == "adult" and target == about.target:  # the test file ends its labels with a full stop
        frame[target] = frame[target].str.rstrip(".")
    drop = [*(column for column in about.drop if column != target), *drop]
    X, y, notes = _inputs_and_target(frame, target, drop, task, home / files[0])
    return Study(
        f"table:{name}",
        X.reset_index(drop=True),
        y,
        citation=about.source,
        licence=about.licence,
        simulated=False,
        splits=Splits(test_rows=np.flatnonzero(X.index >= len(frames[0])) if about.test else None),
        notes=(*([about.note] if about.note else []), *notes),
    )


def _inputs_and_target(
    frame: pd.DataFrame, target: str | None, drop: Sequence[str], task: str | None, path: Path
) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    """Inputs and target of the labelled rows, without dropped columns; and what was left out."""
    need_columns(frame, [] if target is None else [target], path, drop)
    frame = frame.drop(columns=list(drop))
    y, notes = np.zeros(len(frame), int), [NO_TARGET]
    if target is not None:
        labelled = frame[target].notna()
        if not labelled.any():
            raise InputError(
                f"the target {target!r} of {path} is empty in all rows",
                "There must be something to predict",
                "Name another column as target",
            )
        lost = counted(int((~labelled).sum()), "row")
        notes = [] if labelled.all() else [f"{lost} without a label left out."]
        frame = frame[labelled]
        y = read_label_column(frame.pop(target), task, path)
    if frame.shape[1] == 0:
        raise InputError(
            f"{path} has no column besides the target",
            "There must be at least one column to learn from",
            "Name fewer columns to drop, or check the file's separator: it must be a comma",
        )
    return frame, y, notes


def series_study(
    name: str,
    id: str,
    time: str | None = None,
    target: str | None = None,
    drop: Sequence[str] = (),
    sheet: str | None = None,
) -> Study:
    """Series from a file with one row per step: a list of frames (T_i, d).

    Series are in the order in which they first appear in the file.

    name : the path of a file, which is read as `read_table` reads it
    id : the column that identifies the series
    time : the column with the time of a step, numbers or dates; without one, rows keep their order
    target : a column with one label per series, the same in all its rows or missing in some of them
    sheet : of a workbook; None: the first with a table
    """
    path = Path(name)
    named = [column for column in (id, time, target) if column]
    frame, understood = _read(path, named, drop, sheet, id=id, keys=named[1:])
    frame = frame.drop(columns=list(drop))
    try:
        panel = Panel.from_long(frame, id=id, time=time, labels=target or ())
        labels = panel.labels(target) if target else pd.Series(0, index=panel.ids)
    except InputError as error:
        raise type(error)(f"{path}: {error.fact}", error.rule, error.remedy) from None
    if labels.isna().any():
        raise InputError(
            f"{labels.isna().sum()} series of {path} have no {target!r}",
            "Every series must have a label",
            f"Label or drop them (the first are {shorten(labels.index[labels.isna()], 3)})",
        )
    y = read_label_column(labels, None, path)
    begins = first_steps(panel.lengths)
    frames = by_series(frame.drop(columns=named).iloc[panel.source], begins)
    times = by_series(panel.times, begins) if time else None
    notes = [*([] if target else [NO_TARGET]), *_reading_notes(understood)]
    return _from_file(path.name, path, frames, y, notes, times=times)
