"""Series of your own from one CSV file: a row a step, a column that says whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...data import shorten
from ...errors import InputError
from ...io import need_columns, read_csv, read_label_column, words_as_gaps
from ._study import Study
from ._table_studies import need_inputs


def study(
    name: str,
    id: str,
    time: str | None = None,
    target: str | None = None,
    drop: Sequence[str] = (),
) -> Study:
    """A list of frames (T_i, d), in the order in which series first appear in the file.

    name : the path of a CSV file
    id, time : whose a row is, and when; without a time rows keep their order
    target : a column with one label a series, the same in all its rows or missing in some of them
    """
    path = Path(name)
    frame, words = words_as_gaps(read_csv(path))
    named = [id, *([time] if time else []), *([target] if target else [])]
    need_columns(frame, named, path, drop)
    frame = frame.drop(columns=list(drop))
    if frame[id].isna().any():
        at = int(np.flatnonzero(frame[id].isna())[0])
        raise InputError(
            f"{path} has no {id!r} in line {at + 2}",
            "Every row must say whose it is",
            "Fill the column, or drop these rows",
        )
    numbers, owners = pd.factorize(frame[id])
    if time:
        if not pd.api.types.is_numeric_dtype(frame[time]) or frame[time].isna().any():
            raise InputError(
                f"the time {time!r} of {path} is not a number in every row",
                "Times are numbers, such as hours since the first row of a series",
                "Turn dates into hours, and fill or drop rows without a time",
            )
        frame = frame.sort_values(time, kind="stable")
    owner = numbers[frame.index]  # the index still numbers the lines of the file
    y, notes = np.zeros(len(owners), int), ["No target was named: y is constant."]
    if target:
        y, notes = read_label_column(_labels(frame[target], owner, path), None, path), []
    inputs = frame.drop(columns=named)
    need_inputs(inputs, path)
    parts = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner))[:-1])
    return Study(
        path.name,
        [inputs.iloc[rows].reset_index(drop=True) for rows in parts],
        y,
        citation=f"a file of your own, {path.name}",
        licence="yours to know",
        simulated=False,
        times=[frame[time].to_numpy(float)[rows] for rows in parts] if time else None,
        notes=(*notes, *words),
    )


def _labels(values: pd.Series, owner: np.ndarray, path: Path) -> pd.Series:
    """The one label of each series."""
    seen = pd.DataFrame({"owner": owner, "label": values.to_numpy()}).dropna()
    if seen.groupby("owner")["label"].nunique().max() > 1:
        raise InputError(
            f"the target {values.name!r} of {path} changes within a series",
            "A series has one label",
            "Name a column with one label a series",
        )
    found = seen.drop_duplicates("owner").set_index("owner")["label"].sort_index()
    without = np.setdiff1d(owner, found.index)
    if len(without):
        raise InputError(
            f"{len(without)} series of {path} have no {values.name!r}",
            "Every series must have a label",
            f"Label or drop them (the first are number {shorten(without, 3, str)})",
        )
    found.name = values.name
    return found
