"""A user's file as a learning problem: inputs, target, and which rows belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import Layout, read_columns, read_panel
from ..errors import InputError
from ..io import TASKS, need_columns, read_frame
from ._column_kinds import Column, infer_column
from ._file_labels import (
    as_strings,
    check_target,
    label_notes,
    read_groups,
    read_labels,
    refuse_shared,
    same_classes,
    without_label,
)
from ._file_times import Clock
from ._request import Request

COMPATIBLE = {("--id", "--group"), ("--static", "--category")}


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learned. A unit is a row of a table, or a series.

    frame : inputs, and for series the columns id and time too; rows in the order of the file
    unit : (rows,) the number of each row's unit
    y : (units,) classes as strings or whole numbers, or numbers as floats
    columns : all columns of the file but target, id, time and group
    groups : (units,) what stays together, or None; group : the column that says so
    id, time : names of columns, for series
    notes : what a user should know, a sentence each
    digest : SHA-256 of the file
    """

    file: str
    frame: pd.DataFrame
    unit: np.ndarray
    y: np.ndarray
    target: str
    columns: list[Column]
    groups: np.ndarray | None = None
    group: str | None = None
    id: str | None = None
    time: str | None = None
    notes: tuple[str, ...] = ()
    digest: str = ""

    @property
    def task(self) -> str:
        """ "classification" or "regression"."""
        return TASKS[1] if self.y.dtype.kind == "f" else TASKS[0]

    @property
    def kind(self) -> str:
        """ "table" or "series"."""
        return "series" if self.id else "table"

    @property
    def used(self) -> list[Column]:
        """The columns that the model learns from."""
        return [column for column in self.columns if column.kind]

    @property
    def statics(self) -> list[str]:
        """Those of them that are constant within a series."""
        return [column.name for column in self.used if column.static]

    @cached_property
    def classes(self) -> np.ndarray:
        """The classes, sorted."""
        return np.unique(self.y)

    @property
    def truth(self) -> np.ndarray:
        """Class numbers, or numbers; (units,)."""
        return self.y if self.task == TASKS[1] else np.searchsorted(self.classes, self.y)

    def units(self, count: int) -> str:
        """A count of units in words.

        >>> Problem("a.csv", pd.DataFrame(), np.empty(0), np.empty(0), "y", []).units(2000)
        '2,000 rows'
        """
        return f"{count:,} series" if self.id else f"{count:,} row{'s' * (count != 1)}"

    def rows(self, units: np.ndarray) -> pd.DataFrame:
        """The rows of these units, in the order of the file."""
        chosen = np.zeros(len(self.y), dtype=bool)
        chosen[units] = True
        return self.frame[chosen[self.unit]]

    def owners(self, units: np.ndarray) -> list[Any]:
        """The ids of these series, in their order."""
        first = np.unique(self.unit, return_index=True)[1]
        return self.frame[self.id].iloc[first[units]].tolist()

    @property
    def how(self) -> dict[str, Any]:
        """The roles of columns, for a sequence estimator."""
        if not self.id:
            return {}
        return {"id": self.id, "time": self.time, "static": self.statics or None}


def read_problem(request: Request) -> Problem:
    """The requested file, checked; nothing is learned yet."""
    path = request.data
    whole, notes, digest = read_frame(path)
    _check_names(whole, request, path)
    whole = _with_times(whole, request, path)
    frame, unit, y, n_without = read_labels(whole, request, path)
    check_target(y, request)
    apart = {request.target, request.id, request.time, request.group}
    columns = [
        Column(name, "", float(frame[name].isna().mean()), left_out="as requested")
        if name in request.drop
        else infer_column(
            frame[name],
            forced=name in request.category,
            series=unit if request.id else None,
            static=name in request.static,
            whole=whole[name],
        )
        for name in frame.columns
        if name not in apart
    ]
    problem = Problem(
        path.name,
        _inputs(frame, columns, request),
        unit,
        y,
        request.target,
        columns,
        read_groups(frame, unit, request, path),
        request.group,
        request.id,
        request.time,
        (*notes, *label_notes(n_without, y, request)),
        digest,
    )
    _check_inputs(problem, path)
    return problem


def read_other(path: Path, request: Request, like: Problem) -> Problem:
    """Another file with the same columns, to score on; it must not share data with training."""
    frame, _, digest = read_frame(path)
    if digest == like.digest:
        raise InputError(
            f"{path} holds the same as {request.data}",
            "Test data must not have been trained on",
            "Name another file with --test, or a share such as --test 0.2",
        )
    wanted = _key_columns(request) | {f"of {request.data.name}": [col.name for col in like.used]}
    for option, names in wanted.items():
        need_columns(frame, names, path, option=option)
    frame = _with_times(frame, request, path, like)
    frame, unit, y, n_without = read_labels(frame, replace(request, task=like.task), path)
    if request.id:
        ids = as_strings(like.frame[request.id]), as_strings(frame[request.id])
        refuse_shared(*ids, f"{request.id!r} (--id)", path, request.data)
    groups = read_groups(frame, unit, request, path)
    if groups is not None and like.groups is not None:
        refuse_shared(like.groups, groups, f"{request.group!r} (--group)", path, request.data)
    if like.task == TASKS[0]:
        y = same_classes(y, like.classes, path)
    other = replace(
        like,
        file=path.name,
        frame=_inputs(frame, like.columns, request),
        unit=unit,
        y=y,
        groups=groups,
        notes=tuple(f"{path.name}: {note}" for note in without_label(n_without, request)),
        digest=digest,
    )
    other.__dict__["classes"] = like.classes
    _check_inputs(other, path)
    return other


def _key_columns(request: Request) -> dict[str, Sequence[str]]:
    """Columns with a role, by the option that names them."""
    keys = {"--target": request.target, "--id": request.id, "--time": request.time}
    keys["--group"] = request.group
    return {option: [name] for option, name in keys.items() if name}


def _check_names(frame: pd.DataFrame, request: Request, path: Path) -> None:
    """Columns that options name must exist, and have one meaning each."""
    wanted = _key_columns(request)
    wanted |= {"--static": request.static, "--drop": request.drop, "--category": request.category}
    meaning: dict[str, str] = {}
    for option, names in wanted.items():
        need_columns(frame, names, path, option=option)
        for name in names:
            before = meaning.setdefault(name, option)
            if before != option and (before, option) not in COMPATIBLE:
                raise InputError(
                    f"column {name!r} is named by {before} and {option}",
                    "A column has one meaning",
                    "Leave it out of one of them",
                )


def _with_times(
    frame: pd.DataFrame, request: Request, path: Path, like: Problem | None = None
) -> pd.DataFrame:
    """Times that are written as strings become dates; `attrs` keep how they were written.

    like : the problem of training, whose times are of the same kind and format
    """
    time = request.time
    if not time:
        return frame
    known = like.frame.attrs.get("clock") if like else None
    try:
        clock = Clock(known) if known else Clock.learned(frame[time])
        times, bad = clock.read(frame[time])
    except InputError as error:
        raise InputError(f"{path}: {error.fact}", error.rule, error.remedy) from None
    if frame[time].dtype.kind not in "iufbmM":
        rows = np.flatnonzero(bad & frame[time].notna().to_numpy())
        if len(rows):
            raise InputError(
                f"the time {time!r} of {path} is {frame[time].iloc[rows[0]]!r} in row"
                f" {rows[0] + 1}",
                "Times are numbers, such as hours, or dates in one format",
                "Correct these cells, or drop their rows; write dates such as 2024-12-31 13:45",
            )
        frame = frame.assign(**{time: times})
    frame.attrs["clock"] = clock.plain
    return frame


def _inputs(frame: pd.DataFrame, columns: list[Column], request: Request) -> pd.DataFrame:
    """What estimators see; forced categories have that dtype, for all methods alike."""
    keys = [name for name in (request.id, request.time) if name]
    inputs = frame[[*keys, *(column.name for column in columns if column.kind)]]
    return inputs.astype({name: "category" for name in request.category if name in inputs})


def _check_inputs(problem: Problem, path: Path) -> None:
    """Refuse early what an estimator would refuse after hours."""
    if not problem.used:
        raise InputError(
            f"{path} has no column to learn from besides the target",
            "There must be at least one that is not constant, a name or a date",
            "Check what was left out, and the file's separator: it must be a comma",
        )
    if problem.id is None:
        read_columns(problem.frame)
        return
    layout = Layout(id=problem.id, time=problem.time, static=tuple(problem.statics))
    read_panel(problem.frame, layout)


def split_names(values: Sequence[str] | None, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Column names by commas, repeated options or both, each once; a name may hold a comma.

    >>> split_names(["age, sex", "ward", "age"])
    ('age', 'sex', 'ward')
    >>> split_names(["pixel 0,1"], columns=["pixel 0,1"])
    ('pixel 0,1',)
    """
    names: list[str] = []
    for value in values or ():
        names += [value] if value in columns else [part.strip() for part in value.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))
