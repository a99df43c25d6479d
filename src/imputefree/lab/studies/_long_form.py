"""A study as one frame, a row a step, as `imputefree fit` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ._study import Study

TARGET, ID, TIME, GROUP = "outcome", "id", "time", "group"


@dataclass(frozen=True)
class Long:
    """frame : the rows; options : what `imputefree fit` has to be told of its columns."""

    frame: pd.DataFrame
    options: list[str]


def long_form(study: Study) -> Long:
    """Rows of a table with their target; or series step by step: id, time, columns, static ones.

    Padding is left out. A static column that has the name of another gets a "_static" behind it,
    and where the target's name and its like are taken, they get a "_".

    >>> from imputefree.lab.studies import load
    >>> long = long_form(load("icu", n_series=40))
    >>> long.options[:6]
    ['--target', 'outcome', '--id', 'id', '--time', 'time']
    >>> long.frame["id"].nunique(), list(long.frame)[-2:]
    (40, ['age', 'outcome'])
    """
    lengths = _lengths(study)
    owner = np.repeat(np.arange(len(study.y)), lengths)
    values = _values(study)
    static = _static(study, values)
    taken = set(values.columns) | set(static.columns)
    names = {name: _free(name, taken) for name in (TARGET, ID, TIME, GROUP)}
    options = ["--target", names[TARGET]]
    parts: list[Any] = [values]
    if study.kind == "series":
        keys = {names[ID]: owner, names[TIME]: _times(study, lengths)}
        parts.insert(0, pd.DataFrame(keys))
        options += ["--id", names[ID], "--time", names[TIME]]
    parts.append(static.iloc[owner].reset_index(drop=True))
    options += ["--static", ",".join(static.columns)] if len(static.columns) else []
    if study.groups is not None:
        parts.append(pd.Series(np.asarray(study.groups)[owner], name=names[GROUP]))
        options += ["--group", names[GROUP]]
    parts.append(pd.Series(np.asarray(study.y)[owner], name=names[TARGET]))
    if study.kind == "table" and study.task == "regression":
        options += ["--task", "regression"]
    return Long(pd.concat(parts, axis=1), [*options, "-o", "model.imputefree"])


def _values(study: Study) -> pd.DataFrame:
    """The columns of X, (rows, d), with names."""
    if isinstance(study.X, pd.DataFrame):
        frame = study.X.reset_index(drop=True)
    elif isinstance(study.X, list) and isinstance(study.X[0], pd.DataFrame):
        frame = pd.concat(study.X, ignore_index=True)
    else:
        values = study.steps(study.X)
        names = study.columns or [f"x{j}" for j in range(values.shape[1])]
        frame = pd.DataFrame(values, columns=list(names))
    return frame.set_axis(frame.columns.astype(str), axis=1)


def _static(study: Study, values: pd.DataFrame) -> pd.DataFrame:
    """The static columns, (n, s), by names that no other column has."""
    if study.static is None:
        return pd.DataFrame(index=range(len(study.y)))
    taken = set(values.columns)
    names = {name: f"{name}{'_static' * (str(name) in taken)}" for name in study.static.columns}
    return study.static.rename(columns=names)


def _lengths(study: Study) -> np.ndarray:
    """Rows of each unit."""
    if study.kind == "table":
        return np.ones(len(study.y), dtype=int)
    if study.lengths is not None:
        return np.asarray(study.lengths)
    return np.array([len(one) for one in study.X])


def _times(study: Study, lengths: np.ndarray) -> np.ndarray:
    """When each step was; else its number."""
    if study.times is None:
        return np.concatenate([np.arange(length) for length in lengths]).astype(np.float64)
    each = zip(study.times, lengths, strict=True)
    return np.concatenate([np.asarray(times)[:length] for times, length in each]).astype(float)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
