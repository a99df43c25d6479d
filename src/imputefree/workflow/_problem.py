"""A user's file as a problem to learn: inputs, target, and which rows belong together."""

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
from ..io import TASKS, digest, read_frame
from ._column_kinds import Column, take_for
from ._file_labels import (
    as_texts,
    check_target,
    label_notes,
    lost_words,
    read_groups,
    read_labels,
    refuse_shared,
    same_classes,
)
from ._file_times import Clock
from ._names import need_names, refuse_twins
from ._request import Request

COMPATIBLE = {("--id", "--group"), ("--static", "--category")}


@dataclass(frozen=True, eq=False)
class Problem:
    """What there is to learn. A unit is a row of a table, or a series.

    frame : inputs, and of series the columns id and time too; rows in the order of the file
    unit : (rows,) the number of each row's unit
    y : (units,) classes as texts or whole numbers, or numbers as floats
    columns : all columns of the file but target, id, time and group
    groups : (units,) what stays together, or None; group : the column that says so
    id, time : names of columns, of series
    notes : what a user should know, a sentence each
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
        """Those of them that do not change within a series."""
        return [column.name for column in self.used if column.static]

    @cached_property
    def classes(self) -> np.ndarray:
        """The classes, sorted."""
        return np.unique(self.y)

    @property
    def truth(self) -> np.ndarray:
        """Numbers of classes, or numbers; (units,)."""
        return self.y if self.task == TASKS[1] else np.searchsorted(self.classes, self.y)

    def units(self, count: int) -> str:
        """A count of them in words.

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
        """What `fit` of a sequence estimator is told of columns."""
        if not self.id:
            return {}
        return {"id": self.id, "time": self.time, "static": self.statics or None}


def read_problem(request: Request) -> Problem:
    """The file that was asked for, checked; nothing is learned yet."""
    frame, notes = _read(request.data)
    _check_names(frame, request, request.data)
    if request.id:
        frame = _timed(frame, request, request.data)
    whole = frame
    frame, unit, y, lost = read_labels(frame, request, request.data)
    check_target(y, request)
    apart = _apart(request)
    series = unit if request.id else None
    columns = [
        Column(name, "", float(frame[name].isna().mean()), left_out="as you asked")
        if name in request.drop
        else take_for(
            frame[name],
            forced=name in request.category,
            series=series,
            static=name in request.static,
            whole=whole[name],
        )
        for name in frame.columns
        if name not in apart
    ]
    groups = read_groups(frame, unit, request, request.data)
    problem = Problem(
        request.data.name,
        _inputs(frame, columns, request),
        unit,
        y,
        request.target,
        columns,
        groups,
        request.group,
        request.id,
        request.time,
        (*notes, *label_notes(lost, y, request)),
    )
    _check_inputs(problem, request.data)
    return problem


def read_other(path: Path, request: Request, like: Problem) -> Problem:
    """Another file with the same columns, to be scored on; nothing in it was learned from."""
    frame, _ = _read(path)
    if digest(path) == digest(request.data):
        raise InputError(
            f"{path} holds the same as {request.data}",
            "What is scored on was never learned from",
            "Name another file with --test, or a share such as --test 0.2",
        )
    keys = {"--target": request.target, "--id": request.id, "--time": request.time}
    keys["--group"] = request.group
    wanted = {option: [name] for option, name in keys.items() if name}
    wanted[f"of {request.data.name}"] = [one.name for one in like.used]
    need_names(list(frame.columns), wanted, path)
    if request.id:
        frame = _timed(frame, request, path, like)
    frame, unit, y, lost = read_labels(frame, replace(request, task=like.task), path)
    if request.id:
        one, two = as_texts(like.frame[request.id]), as_texts(frame[request.id])
        refuse_shared(one, two, f"{request.id!r} (--id)", path, request.data)
    groups = read_groups(frame, unit, request, path)
    if groups is not None and like.groups is not None:
        named = f"{request.group!r} (--group)"
        refuse_shared(like.groups, groups, named, path, request.data)
    if like.task == TASKS[0]:
        y = same_classes(y, like.classes, path)
    notes = (f"{path.name}: {lost_words(lost, request)}",) if lost else ()
    other = replace(
        like,
        file=path.name,
        frame=_inputs(frame, like.columns, request),
        unit=unit,
        y=y,
        groups=groups,
        notes=notes,
    )
    other.__dict__["classes"] = like.classes
    _check_inputs(other, path)
    return other


def _read(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    refuse_twins(path)
    frame, notes = read_frame(path)
    frame.columns = frame.columns.astype(str)
    return frame, notes


def _apart(request: Request) -> set[str | None]:
    """Columns that are no inputs because they mean something else."""
    return {request.target, request.id, request.time, request.group}


def _check_names(frame: pd.DataFrame, request: Request, path: Path) -> None:
    """Columns that options name must be there, and mean one thing each."""
    single = {"--target": request.target, "--id": request.id, "--time": request.time}
    single["--group"] = request.group
    wanted: dict[str, Sequence[str]] = {
        option: [name] if name else [] for option, name in single.items()
    }
    wanted |= {"--static": request.static, "--drop": request.drop, "--category": request.category}
    need_names(list(frame.columns), wanted, path)
    meaning: dict[str, str] = {}
    for option, names in wanted.items():
        for name in names:
            before = meaning.setdefault(name, option)
            if before != option and (before, option) not in COMPATIBLE:
                raise InputError(
                    f"column {name!r} is named by {before} and {option}",
                    "A column means one thing",
                    "Leave it out of one of them",
                )


def _timed(
    frame: pd.DataFrame, request: Request, path: Path, like: Problem | None = None
) -> pd.DataFrame:
    """Times that are written as texts become dates; `attrs` keep how they were written.

    like : the problem of training, whose times are of the same kind and written alike
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
        odd = np.flatnonzero(bad & frame[time].notna().to_numpy())
        if len(odd):
            raise InputError(
                f"the time {time!r} of {path} is {frame[time].iloc[odd[0]]!r} in row {odd[0] + 1}",
                "Times are numbers, such as hours, or dates that are all written alike",
                "Correct these cells, or drop their rows; write dates such as 2024-12-31 13:45",
            )
        frame = frame.assign(**{time: times})
    frame.attrs["clock"] = clock.plain
    return frame


def _inputs(frame: pd.DataFrame, columns: list[Column], request: Request) -> pd.DataFrame:
    """What estimators see; forced categories say so by their dtype, to all methods alike."""
    keys = [name for name in (request.id, request.time) if name]
    found = frame[[*keys, *(one.name for one in columns if one.kind)]]
    forced = {n: "category" for n in request.category if n in found}
    return found.astype(forced)


def _check_inputs(problem: Problem, path: Path) -> None:
    """Read once as an estimator will, so that what is wrong shows before hours are spent."""
    if not problem.used:
        raise InputError(
            f"{path} has no column to learn from beside the target",
            "There must be at least one that is not constant, a name or a date",
            "Check what was left out, and the file's separator: it must be a comma",
        )
    if problem.id is None:
        read_columns(problem.frame)
        return
    layout = Layout(id=problem.id, time=problem.time, static=tuple(problem.statics))
    read_panel(problem.frame, layout)
