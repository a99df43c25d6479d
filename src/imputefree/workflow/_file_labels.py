"""The target of a user's file: one label a row, or a series; and which of them belong together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ..data import counted, shorten
from ..errors import InputError
from ..io import read_label_column
from ._request import Request

ONE_EACH = {"--target": "A series has one label", "--group": "A series is in one group"}
FEWEST = 10  # rows or series: an estimate from fewer says nothing


def read_labels(
    frame: pd.DataFrame, request: Request, path: Path
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, int]:
    """Rows whose unit has a label, the unit of each, the labels, and how many units had none."""
    target = frame[request.target]
    if target.isna().all():
        raise InputError(
            f"the target {request.target!r} of {path} is empty in all rows",
            "There must be something to predict",
            "Name another column with --target",
        )
    if not request.id:
        known = target.notna().to_numpy()
        frame = frame[known].reset_index(drop=True)
        y = read_label_column(frame[request.target], request.task, path)
        return frame, np.arange(len(frame)), y, int((~known).sum())
    owner = _owner(frame, request.id, path)
    labels = _one_each(target, owner, "--target", frame[request.id], path)
    known = labels.notna().to_numpy()
    kept = known[owner]
    number = np.cumsum(known) - 1  # series are counted anew without those that have no label
    y = read_label_column(labels[known], request.task, path)
    return frame[kept].reset_index(drop=True), number[owner[kept]], y, int((~known).sum())


def _owner(frame: pd.DataFrame, id: str, path: Path) -> np.ndarray:
    """The number of each row's series, in the order of their first appearance."""
    owner, _ = pd.factorize(frame[id])
    without = np.flatnonzero(owner < 0)
    if len(without):
        raise InputError(
            f"{path} has no {id!r} in {counted(len(without), 'row')} (first: row {without[0] + 1})",
            "Every row must say whose it is",
            "Fill the column, or drop these rows",
        )
    return owner


def _one_each(
    values: pd.Series, owner: np.ndarray, option: str, ids: pd.Series, path: Path
) -> pd.Series:
    """The one value of each series, or a gap, of the column that an option names; (series,)."""
    groups = values.groupby(owner)
    several = groups.nunique()
    if several.max() > 1:
        at = int(np.flatnonzero(owner == several.idxmax())[0])
        raise InputError(
            f"column {values.name!r} ({option}) of {path} changes within a series"
            f" (first: {ids.name} {ids.iloc[at]})",
            ONE_EACH[option],
            f"Name a column with one value a series with {option}",
        )
    return groups.first()


def read_groups(
    frame: pd.DataFrame, unit: np.ndarray, request: Request, path: Path
) -> np.ndarray | None:
    if request.group is None:
        return None
    values = frame[request.group]
    if request.id and request.group != request.id:
        values = _one_each(values, unit, "--group", frame[request.id], path)
    elif request.id:
        values = values.groupby(unit).first()
    if values.isna().any():
        raise InputError(
            f"the group {request.group!r} of {path} is missing in"
            f" {counted(int(values.isna().sum()), 'place')}",
            "Every row belongs to a group",
            "Fill the column, for example with the row's number",
        )
    return as_texts(values)


def as_texts(values: pd.Series) -> np.ndarray:
    """Names as texts, alike in files where the column is whole numbers and where it had gaps.

    >>> as_texts(pd.Series([7.0, 8.0])).tolist()
    ['7', '8']
    """
    if pd.api.types.is_float_dtype(values) and (values.abs() < 2**53).all():
        whole = values.astype("int64")
        values = whole if (whole == values).all() else values
    return values.astype(str).to_numpy(dtype=str)


def refuse_shared(one: np.ndarray, other: np.ndarray, what: str, path: Path, data: Path) -> None:
    """Names in a test file (other) that were learned from; both (n,) texts."""
    shared = np.intersect1d(one, other)
    if len(shared):
        raise InputError(
            f"{path} shares {counted(len(shared), 'value')} of {what} with {data}"
            f" ({shorten(shared.tolist(), 3)})",
            "What is scored on was never learned from",
            "Leave these rows out of one of the files",
        )


def check_target(y: np.ndarray, request: Request) -> None:
    what = "series" if request.id else "rows"
    if len(y) < FEWEST:
        raise InputError(
            f"{request.data} has {len(y)} {what if len(y) > 1 or request.id else 'row'} with a"
            " target",
            f"There must be at least {FEWEST} to learn from",
            "Collect more data",
        )
    found, counts = np.unique(y, return_counts=True)
    if len(found) == 1:
        raise InputError(
            f"the target {request.target!r} of {request.data} is {found[0]} in all {what}",
            "There must be something to tell apart",
            "Name another column with --target",
        )
    if y.dtype.kind != "f" and (counts == 1).sum() > len(y) / 2:
        raise InputError(
            f"the target {request.target!r} of {request.data} has {len(found):,} classes in"
            f" {len(y):,} {what}, most of them once",
            "A class must have several examples",
            "Name another column, or pass --task regression if these are numbers",
        )


def same_classes(y: np.ndarray, classes: np.ndarray, path: Path) -> np.ndarray:
    """Labels of another file as those of the first."""
    known = {str(label): label for label in classes.tolist()}
    new = sorted({str(label) for label in y} - set(known))
    if new:
        raise InputError(
            f"the target of {path} has the class {shorten(new, 3)}",
            f"The classes to learn are {shorten(list(known), 8)}",
            "Correct the file, or leave these rows out",
        )
    return np.array([known[str(label)] for label in y], dtype=classes.dtype)


def label_notes(lost: int, y: np.ndarray, request: Request) -> list[str]:
    notes = [lost_words(lost, request)] if lost else []
    if y.dtype.kind != "f":
        found, counts = np.unique(y, return_counts=True)
        few = [str(label) for label in found[counts < 10]]
        if few:
            notes.append(f"Classes with fewer than 10 examples: {shorten(few)}.")
    return notes


def lost_words(lost: int, request: Request) -> str:
    what = f"{lost} series" if request.id else counted(lost, "row")
    return f"{what} without a target left out."
