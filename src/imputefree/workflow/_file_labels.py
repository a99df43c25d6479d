"""The target of a user's file, one label per row or series, and which of them belong together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError, counted, shorten
from ..io import read_label_column
from ._request import Request

ONE_PER_SERIES = {"--target": "A series has one label", "--group": "A series is in one group"}
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
    unit, labels = np.arange(len(frame)), target
    if request.id:
        unit = _series_numbers(frame[request.id], path)
        labels = _one_per_series(target, unit, "--target", frame[request.id], path)
    known = labels.notna().to_numpy()
    y = read_label_column(labels[known], request.task, path)
    number = np.cumsum(known) - 1  # units are counted without those that have no label
    rows = known[unit]
    return frame[rows].reset_index(drop=True), number[unit[rows]], y, int((~known).sum())


def _series_numbers(ids: pd.Series, path: Path) -> np.ndarray:
    """The number of each row's series, in the order of their first appearance."""
    numbers, _ = pd.factorize(ids)
    without = np.flatnonzero(numbers < 0)
    if len(without):
        raise InputError(
            f"{path} has no {ids.name!r} in {counted(len(without), 'row')}"
            f" (first: row {without[0] + 1})",
            "Every row must belong to a series",
            "Fill the column, or drop these rows",
        )
    return numbers


def _one_per_series(
    values: pd.Series, unit: np.ndarray, option: str, ids: pd.Series, path: Path
) -> pd.Series:
    """The only value of each series, or a gap, in the column that an option names; (series,)."""
    groups = values.groupby(unit)
    different = groups.nunique()
    if different.max() > 1:
        row = int(np.flatnonzero(unit == different.idxmax())[0])
        raise InputError(
            f"column {values.name!r} ({option}) of {path} changes within a series"
            f" (first: {ids.name} {ids.iloc[row]})",
            ONE_PER_SERIES[option],
            f"Name a column with one value per series with {option}",
        )
    return groups.first()


def read_groups(
    frame: pd.DataFrame, unit: np.ndarray, request: Request, path: Path
) -> np.ndarray | None:
    """The group of each unit as a string; None without --group."""
    if request.group is None:
        return None
    values = frame[request.group]
    if request.id:
        values = _one_per_series(values, unit, "--group", frame[request.id], path)
    if values.isna().any():
        raise InputError(
            f"the group {request.group!r} of {path} is missing in"
            f" {counted(int(values.isna().sum()), 'place')}",
            "Every row belongs to a group",
            "Fill the column, for example with the row's number",
        )
    return as_strings(values)


def as_strings(values: pd.Series) -> np.ndarray:
    """Names as strings; whole numbers are the same in files with and without gaps.

    >>> as_strings(pd.Series([7.0, 8.0])).tolist()
    ['7', '8']
    """
    if pd.api.types.is_float_dtype(values) and (values.abs() < 2**53).all():
        whole = values.astype("int64")
        values = whole if (whole == values).all() else values
    return values.astype(str).to_numpy(dtype=str)


def refuse_shared(
    learned: np.ndarray, tested: np.ndarray, column: str, path: Path, data: Path
) -> None:
    """Refuse a test file that shares ids or groups with the training file; both (n,) strings."""
    shared = np.intersect1d(learned, tested)
    if len(shared):
        raise InputError(
            f"{path} shares {counted(len(shared), 'value')} of {column} with {data}"
            f" ({shorten(shared.tolist(), 3)})",
            "Test data must not have been trained on",
            "Leave these rows out of one of the files",
        )


def check_target(y: np.ndarray, request: Request) -> None:
    """Refuse a target from which nothing can be learned."""
    units = "series" if request.id else "rows"
    if len(y) < FEWEST:
        raise InputError(
            f"{request.data} has {_count_units(len(y), request)} with a target",
            f"There must be at least {FEWEST} to learn from",
            "Collect more data",
        )
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) == 1:
        raise InputError(
            f"the target {request.target!r} of {request.data} is {classes[0]} in all {units}",
            "There must be something to distinguish",
            "Name another column with --target",
        )
    if y.dtype.kind != "f" and (counts == 1).sum() > len(y) / 2:
        raise InputError(
            f"the target {request.target!r} of {request.data} has {len(classes):,} classes in"
            f" {len(y):,} {units}, most of them once",
            "A class must have several examples",
            "Name another column, or pass --task regression if these are numbers",
        )


def same_classes(y: np.ndarray, classes: np.ndarray, path: Path) -> np.ndarray:
    """Labels of a test file as those of training."""
    known = {str(label): label for label in classes.tolist()}
    new = sorted({str(label) for label in y} - set(known))
    if new:
        raise InputError(
            f"the target of {path} has the class {shorten(new, 3)}",
            f"The classes to learn are {shorten(list(known), 8)}",
            "Correct the file, or leave these rows out",
        )
    return np.array([known[str(label)] for label in y], dtype=classes.dtype)


def label_notes(n_without: int, y: np.ndarray, request: Request) -> list[str]:
    """Sentences about units without a label and about rare classes."""
    notes = without_label(n_without, request)
    if y.dtype.kind != "f":
        classes, counts = np.unique(y, return_counts=True)
        rare = [str(label) for label in classes[counts < FEWEST]]
        if rare:
            notes.append(f"Classes with fewer than {FEWEST} examples: {shorten(rare)}.")
    return notes


def without_label(count: int, request: Request) -> list[str]:
    """A sentence about units without a label, if there are any."""
    return [f"{_count_units(count, request)} without a target left out."] if count else []


def _count_units(count: int, request: Request) -> str:
    return f"{count} series" if request.id else counted(count, "row")
