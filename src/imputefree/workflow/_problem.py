"""The file as a learning problem: inputs, target, groups, and what a user should know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import Layout, read_columns, read_panel, tenths
from ..errors import InputError, counted, shorten
from ..inspection import target_traps
from ..io import (
    TASKS,
    FileFormat,
    Understood,
    check_header,
    check_rows,
    decimals_of,
    need_columns,
    read_raw,
    understand,
)
from ._problem_columns import (
    FEWEST,
    Column,
    columns_of,
    read_groups,
    read_labels,
    read_spans,
    read_trusted,
)
from ._request import Request
from ._series_files import as_strings, read_joined, read_times

COMPATIBLE = {("--id", "--group"), ("--time", "--by-time"), ("--static", "--category")}


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learned. A unit is a row of a table, or a series.

    request : which columns have which roles, and all other options
    file : the file's name
    frame : inputs, and for series the columns id and time too; rows in the order of the file
    unit : (rows,) the number of each row's unit
    y : (labels,) classes as strings or whole numbers, or numbers as floats; one per unit, or per
        step that has a label
    steps : (labels,) the row of each label; None if units have labels
    spans : (units, 2) when each begins and ends, to hold out the latest; or None
    columns : all columns of the file but target, id, time and group
    groups : (units,) what stays together, as strings, or None
    trusted : (units,) bool, which judge what the others teach and are scored, or None
    notes : what a user should know, a sentence each
    understood : how the file was read
    """

    request: Request
    file: str
    frame: pd.DataFrame
    unit: np.ndarray
    y: np.ndarray
    columns: list[Column]
    groups: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    understood: Understood | None = None
    steps: np.ndarray | None = None
    spans: np.ndarray | None = None
    trusted: np.ndarray | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return "" if self.understood is None else self.understood.digest

    @property
    def task(self) -> str:
        """ "classification" or "regression"."""
        return TASKS[1] if self.y.dtype.kind == "f" else TASKS[0]

    @property
    def used(self) -> list[Column]:
        """The columns that the model learns from."""
        return [column for column in self.columns if column.kind]

    @property
    def sources(self) -> list[str]:
        """The columns of the file that they are read from."""
        used = {column.name for column in self.used}
        columns = self.understood.columns.values() if self.understood else ()
        return [c.name for c in columns if used & {c.name, *c.parts}]

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

    @property
    def n_units(self) -> int:
        """How many rows of a table, or series, there are."""
        return len(self.y) if self.steps is None else int(self.unit.max()) + 1

    @cached_property
    def strata(self) -> np.ndarray:
        """What splits keep in proportion: classes, or tenths of the numbers; (units,).

        A series with a label per step counts by the rarest of its classes, or by their mean.
        Trusted rows are kept in proportion too.
        """
        if self.steps is None:
            by_target = self.truth if self.task == TASKS[0] else tenths(self.y)
            return by_target if self.trusted is None else 2 * by_target + self.trusted
        labels = pd.Series(self.truth).groupby(self.unit[self.steps])
        if self.task == TASKS[1]:
            return tenths(labels.mean().to_numpy())
        rarest = np.argsort(-np.bincount(self.truth), kind="stable")  # the most frequent first
        rank = np.argsort(rarest)
        return rarest[pd.Series(rank[self.truth]).groupby(self.unit[self.steps]).max()]

    def rows(self, units: np.ndarray) -> pd.DataFrame:
        """The rows of these units, in the order of the file."""
        return self.frame[self._chosen(units)[self.unit]]

    def labels(self, units: np.ndarray) -> np.ndarray:
        """The numbers of these units' labels; if steps have labels, of their steps, sorted."""
        if self.steps is None:
            return units
        return np.flatnonzero(self._chosen(units)[self.unit[self.steps]])

    @cached_property
    def label_column(self) -> pd.Series:
        """The label of each row: of its unit or, if steps have labels, its own or none."""
        if self.steps is None:
            return pd.Series(self.y[self.unit])
        return pd.Series(self.y, index=self.steps).reindex(range(len(self.unit)))

    def _chosen(self, units: np.ndarray) -> np.ndarray:
        chosen = np.zeros(self.n_units, dtype=bool)
        chosen[units] = True
        return chosen

    def owners(self, units: np.ndarray) -> list[Any]:
        """The ids of these series, in their order."""
        first = np.unique(self.unit, return_index=True)[1]
        return self.frame[self.request.id].iloc[first[units]].tolist()


def read_problem(request: Request) -> Problem:
    """The requested file, checked; nothing is learned yet."""
    path = request.data
    whole, understood, static = _read(path, request)
    whole = _with_times(whole, request, path)
    _refuse_repeated_times(whole, request, path)
    frame, unit, y, steps, without = read_labels(whole, request, path)
    rare = _check_target(y, request)
    roles = {name for names in _key_columns(request).values() for name in names}
    series, constant = unit if request.id else None, {*request.static, *static}
    columns = [
        column
        for name, reading in understood.columns.items()
        if name not in roles
        for column in columns_of(reading, frame, series, name in constant)
    ]
    problem = Problem(
        request,
        file=" + ".join(part.name for part in (path, *request.join)),
        frame=_inputs(frame, columns, request),
        unit=unit,
        y=y,
        columns=columns,
        groups=read_groups(frame, unit, request, path),
        notes=(*understood.notes, *without, *rare),
        understood=understood,
        steps=steps,
        spans=read_spans(frame, unit, request, path),
        trusted=read_trusted(frame, y, request, path),
    )
    _check_inputs(problem, path)
    return problem


def read_other(path: Path, like: Problem) -> Problem:
    """Another file with the same columns, to score on; it must not share data with training."""
    request = like.request
    frame, understood, _ = _read(path, request, like)
    if understood.digest == like.digest:
        fact, rule = f"{path} holds the same as {request.data}", "Test data must be new"
        raise InputError(fact, rule, "Name another file with --test, or a share such as 0.2")
    frame = _with_times(frame, request, path, like)
    _refuse_repeated_times(frame, request, path)
    frame, unit, y, steps, notes = read_labels(frame, replace(request, task=like.task), path)
    if request.id:
        ids = as_strings(like.frame[request.id]), as_strings(frame[request.id])
        _refuse_shared(*ids, f"{request.id!r} (--id)", path, request.data)
    groups = read_groups(frame, unit, request, path)
    if groups is not None and like.groups is not None:
        _refuse_shared(like.groups, groups, f"{request.group!r} (--group)", path, request.data)
    if like.task == TASKS[0]:
        y = _same_classes(y, like.classes, path)
    other = replace(
        like,
        file=path.name,
        frame=_inputs(frame, like.columns, request),
        unit=unit,
        y=y,
        groups=groups,
        notes=tuple(f"{path.name}: {note}" for note in notes),
        understood=understood,
        steps=steps,
        trusted=None,  # all rows of a file to score on are like those to predict
    )
    other.__dict__["classes"] = like.classes
    _check_inputs(other, path)
    return other


def _read(
    path: Path, request: Request, like: Problem | None = None
) -> tuple[pd.DataFrame, Understood, tuple[str, ...]]:
    """A file, with those it is to be joined with: rows, how they were read, and static columns.

    like : the problem of training, if this is another file
    """
    marks = request.marks
    notes, static, attrs = tuple[str, ...](), tuple[str, ...](), dict[Any, Any]()
    if request.join:
        paths, id = [path, *request.join], str(request.id)
        joined = read_joined(paths, id, request.time, drop=request.drop, marks=marks)
        raw, file, digest = joined.frame, FileFormat(path.name, "frame"), joined.digest
        notes, static, attrs = joined.notes, joined.static, joined.frame.attrs
    else:
        raw, file, digest = read_raw(path, **marks.of_rows)
    options: Any = {"decimal": marks.decimal, "missing": marks.missing}
    if like is None:
        check_header(raw, path)  # before a column that is not there
        try:
            _check_names(raw.columns.tolist(), request)
        except InputError:  # the names may be in the row below, as of merged headers
            check_rows(raw, decimals_of(raw, file, marks.decimal)[0], path)
            raise
        options |= request.roles
    else:
        wanted = _key_columns(replace(request, trusted=None)) | {
            f"of {request.data.name}": like.sources
        }
        for option, names in wanted.items():
            need_columns(raw, names, path, option=option)
        options["columns"] = like.understood
    frame, understood = understand(raw, file, digest, **options)
    frame.attrs = attrs
    return frame, replace(understood, notes=(*notes, *understood.notes)), static


def _key_columns(request: Request) -> dict[str, Sequence[str]]:
    """Columns with a role, by the option that names them."""
    keys = {"--target": request.target, "--id": request.id, "--time": request.time}
    keys |= {"--group": request.group, "--by-time": request.by_time}
    keys |= {"--trusted": request.trusted}
    return {option: [name] for option, name in keys.items() if name}


def _check_names(columns: Sequence[str], request: Request) -> None:
    """Columns that options name must exist, and have one meaning each."""
    wanted = _key_columns(request)
    wanted |= {"--static": request.static, "--drop": request.drop, "--category": request.category}
    meaning: dict[str, str] = {}
    for option, names in wanted.items():
        need_columns(columns, names, request.data, option=option)
        for name in names:
            before = meaning.setdefault(name, option)
            if before != option and (before, option) not in COMPATIBLE:
                fact = f"column {name!r} is named by {before} and {option}"
                raise InputError(fact, "A column has one meaning", "Leave it out of one of them")


def _refuse_repeated_times(frame: pd.DataFrame, request: Request, path: Path) -> None:
    """Refuse a second step of a series at the same time."""
    if not (request.id and request.time):
        return
    keys = frame[[request.id, request.time]]
    again = (keys.duplicated() & keys.notna().all(axis=1)).to_numpy()
    if again.any():
        second = int(again.argmax())
        who, when = keys.iloc[second]
        first = int((keys == keys.iloc[second]).all(axis=1).to_numpy().argmax())
        copies = frame.iloc[first].equals(frame.iloc[second])
        raise InputError(
            f"{path}: the series {who!r} has two rows at time {when} (rows {first + 1} and"
            f" {second + 1}){', which are equal' * copies}",
            "A series has one row per time",
            "Remove the copy" if copies else "Merge them to one row, or remove one of them",
        )


def _with_times(
    frame: pd.DataFrame, request: Request, path: Path, like: Problem | None = None
) -> pd.DataFrame:
    """Times that are written as strings become dates; `attrs` keep how they were written.

    like : the problem of training, whose times are of the same kind and format
    """
    time = request.time
    if not time or frame.attrs.get("clock"):  # joined files were read by their times
        return frame
    known = like.frame.attrs.get("clock") if like else None
    times, clock = read_times(frame[time], path, known=known, gaps=True)
    frame = frame.assign(**{time: times})
    frame.attrs["clock"] = clock
    return frame


def _refuse_shared(
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


def _check_target(y: np.ndarray, request: Request) -> list[str]:
    """Refuse a target from which nothing can be learned; -> a note on rare classes."""
    target, other = f"the target {request.target!r} of {request.data}", "Name another column"
    if len(y) < FEWEST:
        fact = f"{request.data} has {request.labels(len(y))} with a target"
        raise InputError(fact, f"Learning needs at least {FEWEST}", "Collect more data")
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) == 1:
        fact = f"{target} is {classes[0]} in all {request.labels(len(y))}"
        raise InputError(fact, "There must be something to distinguish", f"{other} with --target")
    for trap in target_traps(y):
        fact = f"{target} is {classes[counts.argmax()]} in {counts.max():,} of {len(y):,}"
        rule = "Nothing can be learned from so few others"
        raise InputError(fact, rule, trap.remedy.removesuffix("."))
    if y.dtype.kind == "f":
        return []
    if (counts == 1).sum() > len(y) / 2:
        raise InputError(
            f"{target} has {len(classes):,} classes in {request.labels(len(y))}, most of them once",
            "A class must have several examples",
            f"{other}, or pass --task regression if these are numbers",
        )
    rare = [str(label) for label in classes[counts < FEWEST]]
    return [f"Classes with fewer than {FEWEST} examples: {shorten(rare)}."] if rare else []


def _same_classes(y: np.ndarray, classes: np.ndarray, path: Path) -> np.ndarray:
    """Labels of a test file as those of training."""
    known = {str(label): label for label in classes.tolist()}
    new = sorted({str(label) for label in y} - set(known))
    if new:
        fact = f"the target of {path} has the class {shorten(new, 3)}"
        rule = f"The classes to learn are {shorten(list(known), 8)}"
        raise InputError(fact, rule, "Correct the file, or leave these rows out")
    return np.array([known[str(label)] for label in y], dtype=classes.dtype)


def _inputs(frame: pd.DataFrame, columns: list[Column], request: Request) -> pd.DataFrame:
    """What estimators see."""
    keys = [name for name in (request.id, request.time) if name]
    return frame[[*keys, *(column.name for column in columns if column.kind)]]


def _check_inputs(problem: Problem, path: Path) -> None:
    """Refuse early what an estimator would refuse after hours."""
    request = problem.request
    if not problem.used:
        rule = "There must be at least one that is not constant, a name or a date"
        remedy = "Check what was left out, and the separator (--sep)"
        raise InputError(f"{path} has no column to learn from besides the target", rule, remedy)
    if request.id is None:
        read_columns(problem.frame)
    else:
        layout = Layout(id=request.id, time=request.time, static=tuple(problem.statics))
        read_panel(problem.frame, layout)
