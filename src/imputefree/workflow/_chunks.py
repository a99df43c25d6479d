"""A model, and the file that it reads piece by piece: columns by their kinds, bad rows by line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import Category, Columns, Levels, Outside, Plan
from ..errors import InputError, ModelFileError, closest, counted, shorten
from ..estimators import Engine
from ..io import (
    CATEGORY,
    CLOCKS,
    DATE,
    HOLDS_TOTALS,
    NUMBER,
    BadRows,
    ColumnReading,
    RawRows,
    Reader,
    Totals,
    Understood,
    cell_values,
    check_header,
    decimals_of,
    need_columns,
    total_error,
    twin_error,
)
from ._request import NO_MARKS, Marks
from ._series_files import Clock, in_words, naming

MOST_UNSEEN = 10_000  # different unknown levels per column that are remembered
KIND_OF_ROLE = {"id": "id", "time": "time", "variable": "text", "value": "number"}
RAW_KINDS = {"id": "text", "time": "number", DATE: "text"}  # as a reader knows them
Progress = Callable[[int, int | None], None]


def load_model(path: str | os.PathLike[str]) -> Any:
    """Any fitted estimator from its file; a ModelFileError says in one sentence what is wrong."""
    try:
        return Engine.load(path)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        fact = f"{os.fspath(path)!r} cannot be read ({error})"  # such as a path with a zero byte
        raise ModelFileError(fact, "", "Check the path") from None


def is_of_series(model: Any) -> bool:
    """Whether a model predicts series, not rows of a table."""
    return hasattr(model.encoder_, "steps")


def roles_of(model: Any) -> dict[str, str]:
    """For series: the columns with a role, {"id": name, "time": …, "variable": …, "value": …}.

    Roles that the model does not have are left out. A table has none.
    """
    layout = model.layout_ if is_of_series(model) else {}
    return {role: layout[role] for role in KIND_OF_ROLE if layout.get(role)}


def about(model: Any) -> dict[str, Any]:
    """What a model made by `imputefree fit` knows about itself; {} if it was saved from Python."""
    return getattr(model, "about_", None) or {}


def reading_of(model: Any) -> dict[str, ColumnReading]:
    """How the columns of a model's file were read, by name; {} if it was saved from Python."""
    plain = about(model).get("reading")
    return dict(Understood.from_dict(plain).columns) if plain else {}


def sources_of(model: Any) -> dict[str, str]:
    """The column of training's file from which an input was made, such as the month of a date."""
    return {part: col.name for col in reading_of(model).values() for part in col.parts}


def made_inputs(model: Any, names: Sequence[str]) -> dict[str, str]:
    """Inputs that are made from a column of a file, such as the month of a date; -> its name.

    names : of the file's columns; an input that the file has itself is not made
    """
    made = sources_of(model).items()
    return {part: name for part, name in made if name in names and part not in names}


def file_inputs(
    model: Any, names: Sequence[str], made: Collection[str] = ()
) -> dict[str, Plan | str]:
    """The columns of a file that the model reads, in its order; or an InputError.

    made : inputs that are made from columns of the file

    Each is described by its encoding in training, or by its kind if it has a role: "id", "time",
    "text" or "number". A model trained on an array has no names: then columns are taken in their
    order, if there are as many as in training.
    """
    roles, encoder = roles_of(model), model.encoder_
    wanted: dict[str, Plan | str] = {name: KIND_OF_ROLE[role] for role, name in roles.items()}
    series = is_of_series(model)
    if series and "id" not in roles:
        rule = "A file of series has a column that identifies the series"
        fact, remedy = "the model was trained on series without an id column", "Train with id="
        raise InputError(fact, rule, remedy)
    plans = encoder.plans
    if "variable" in roles:
        if any(isinstance(plan, Category) for plan in encoder.steps.plans):
            fact = "the model was trained on pairs of variable and value, some of them strings"
            rule, remedy = "A file's column of values must be numbers", "Predict from Python"
            raise InputError(fact, rule, remedy)
        plans = encoder.statics.plans if encoder.statics else []
    wanted |= {plan.name: plan for plan in plans if plan.name not in wanted}
    lacking = [name for name in wanted if name not in {*names, *made}]
    if lacking and not series and not encoder.named:
        if len(names) == len(wanted):
            return dict(zip(names, wanted.values(), strict=True))
        fact = f"there are {len(names)} columns where the model was trained on {len(wanted)}"
        rule = "A model trained without column names takes columns by their order"
        raise InputError(fact, rule, "Give it the columns of training")
    if lacking:
        sources = sources_of(model)
        needed = list(dict.fromkeys(sources.get(name, name) for name in lacking))
        rule = f"The model was trained with it; the columns here are {shorten(names, limit=8)}"
        near = closest(needed[0], names)
        remedy = f"Rename or add the columns; empty ones are allowed{f'. {near}' * bool(near)}"
        raise InputError(f"there is no column {shorten(needed)}", rule, remedy)
    return wanted


class Chunk(NamedTuple):
    """Rows of a file; the index of both frames is the line of each row.

    inputs : (n, columns) what the model reads; for series with id and time
    extra : (n, columns) other requested columns, as in the file
    series : (n,) the number of each row's series, if all rows of these series are here
    """

    inputs: pd.DataFrame
    extra: pd.DataFrame
    series: np.ndarray | None = None

    @property
    def columns(self) -> Columns:
        """The inputs of a table, whose cells need no second reading."""
        names = self.inputs.columns
        return Columns(
            [str(name) for name in names],
            all(isinstance(name, str) for name in names),
            [self.inputs[name].to_numpy() for name in names],
            [False] * len(names),
            len(self.inputs),
        )

    def rows(self, rows: np.ndarray | slice) -> Chunk:
        """Only these rows; their series are no longer known."""
        return Chunk(self.inputs.iloc[rows], self.extra.iloc[rows])

    @staticmethod
    def joined(parts: Sequence[Chunk]) -> Chunk:
        """One chunk of several."""
        if len(parts) == 1:
            return parts[0]
        return Chunk(pd.concat([p.inputs for p in parts]), pd.concat([p.extra for p in parts]))


class Chunks:
    """What a model reads from a file, piece by piece.

    reader : the open file
    path : its name, for errors
    extra : other columns that are wanted, as in the file
    skip : leave bad rows out and count them; otherwise the first one is an InputError
    progress : called with the bytes read so far and in total
    may_be_empty : whether a file without rows is none, not an InputError
    marks : how the file is written
    """

    def __init__(
        self,
        model: Any,
        reader: Reader,
        path: Path,
        extra: Sequence[str] = (),
        skip: bool = False,
        progress: Progress | None = None,
        may_be_empty: bool = False,
        marks: Marks = NO_MARKS,
    ) -> None:
        self.model, self.reader, self.progress = model, reader, progress
        self._may_be_empty, self._decimal = may_be_empty, marks.decimal
        self.bad = BadRows(path, skip, reader.word)
        self.extra = list(dict.fromkeys(extra))
        made = made_inputs(model, reader.names)
        inputs = self._find_inputs(path, made, [name for name in marks.missing if name != "*"])
        self._inputs = list(inputs)
        self._plans = {name: plan for name, plan in inputs.items() if not isinstance(plan, str)}
        self._unnamed = any(name != plan.name for name, plan in self._plans.items())
        self._kinds: dict[str, str] = {}  # by column of the file, or its role
        self._levels: dict[str, Levels] = {}
        for name, plan in inputs.items():
            if name in made:
                self._kinds[made[name]] = DATE
            elif isinstance(plan, Category):
                self._kinds[name], self._levels[name] = CATEGORY, Levels(plan.all_levels)
            else:
                self._kinds[name] = plan if isinstance(plan, str) else NUMBER
        self._readings = self._column_readings(marks)
        self._as_read = bool(reading_of(model) or marks.missing)
        self._clock = Clock((about(model).get("series") or {}).get("clock"))
        self._unseen: dict[str, Counter[str]] = {}  # by column, levels unknown to training
        self._outside = Outside()
        with naming(path):
            self._decided = self._find_decimals(reader.look(self._written))

    def _find_inputs(
        self, path: Path, made: Mapping[str, str], coded: Sequence[str]
    ) -> dict[str, Plan | str]:
        """As `file_inputs`; all columns that are wanted must be in the file, once each.

        made : inputs that are made from a column of the file; -> its name
        coded : columns with words for gaps of their own
        """
        names = self.reader.names
        if not {*names, *made} & {plan.name for plan in self.model.encoder_.plans}:
            check_header(self.reader.look(names), path)
        with naming(path, self.reader.format.sheet):
            inputs = file_inputs(self.model, names, made)
        need_columns(names, self.extra, path)
        wanted = [*(made.get(name, name) for name in inputs), *self.extra]
        twins = [name for name in wanted if name in self.reader.twins]
        if twins:
            raise twin_error(path, twins)
        need_columns(names, coded, path, option="--missing")
        return inputs

    def _column_readings(self, marks: Marks) -> dict[str, ColumnReading]:
        """How each column is read: as in training, and with the file's own words for gaps."""
        trained, everywhere = reading_of(self.model), marks.missing.get("*", ())
        readings = {}
        for name in dict.fromkeys([*self._kinds, *self.extra]):
            kind = self._kinds.get(name, "")
            reading = trained.get(name) or ColumnReading(name, kind)
            if kind in (NUMBER, CATEGORY):
                reading = replace(reading, kind=kind, parts=())
            missing = (*reading.missing, *everywhere, *marks.missing.get(name, ()))
            readings[name] = replace(reading, missing=missing)
        return readings

    @property
    def _written(self) -> list[str]:
        """Columns whose cells may be written as numbers."""
        return [name for name, reading in self._readings.items() if reading.kind == NUMBER]

    def _find_decimals(self, frame: pd.DataFrame) -> bool:
        """Find the marks before decimals, by column; -> whether any number shows one."""
        found, decided = decimals_of(frame, self.reader.format, self._decimal)
        self.reader.decimal = "," if "," in found.values() else "."
        self._decimals = dict.fromkeys(self._readings, self.reader.decimal) | found
        return decided

    def values(self, name: str, cells: pd.Series, kind: str = "") -> tuple[pd.Series, np.ndarray]:
        """A column as training read it, and which cells cannot be read; (n,) each.

        kind : what it is, if training did not read it
        """
        reading = self._readings[name]
        reading = reading if reading.kind else replace(reading, kind=kind)
        columns, bad = cell_values(cells, reading, self._decimals[name])
        return pd.Series(columns[name], index=cells.index, name=name, dtype=None), bad

    def __iter__(self) -> Iterator[Chunk]:
        raw_kinds = {name: RAW_KINDS.get(kind, kind) for name, kind in self._kinds.items()}
        other = [n for n in self._written if self._decimals[n] != self.reader.decimal]
        raw_kinds |= dict.fromkeys([*other, *self.extra], "text")
        count = 0
        for raw in self._without_totals(raw_kinds):
            chunk = self._interpreted(raw)
            count += len(chunk.inputs)
            if self.progress:
                self.progress(raw.done, self.reader.size)
            if len(chunk.inputs):
                yield chunk
        if not count and not self.bad.count and not self._may_be_empty:
            fact, rule = f"{self.bad.path} has column names but no rows", "Rows are predicted"
            raise InputError(fact, rule, "Check the file")

    def _without_totals(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """The rows of the file; totals in the last one are refused or left out, as other bad rows.

        The word beside them is looked for in the first column too, whether or not it is read.
        """
        first = self.reader.names[0]
        if self.reader.format.kind != "Parquet" and first not in self.reader.twins:
            kinds = {first: "text", **kinds}
        totals = Totals({name: self._decimals[name] for name in self._written})
        waiting = None
        for raw in self.reader.rows(kinds):
            if waiting is not None:
                yield waiting
            totals.add(raw.frame)
            waiting = raw
        if waiting is None:
            return
        word = totals.last
        if word is not None and not self.bad.skip:
            raise total_error(self.bad.path, word)
        if word is not None and len(waiting.lines):
            wrong = {**waiting.wrong, int(waiting.lines[-1]): HOLDS_TOTALS}
            waiting = replace(
                waiting, frame=waiting.frame[:-1], lines=waiting.lines[:-1], wrong=wrong
            )
        yield waiting

    @property
    def notes(self) -> list[str]:
        """Sentences about categories that training never saw, and about bad rows."""
        columns = []
        for name, levels in self._unseen.items():
            words = [level for level, _ in levels.most_common() if level]
            rows = counted(levels.total(), "row")
            columns.append(f"{shorten(words, 3)} in column {name!r} ({rows})")
        unseen = f"Training never saw these, which count as missing: {shorten(columns, word=str)}."
        outside = self._outside.sentence
        return [*[unseen] * bool(columns), *[outside] * bool(outside), *self.bad.notes]

    def _interpreted(self, raw: RawRows) -> Chunk:
        """Cells by the model's kinds; rows with bad ones are reported and left out."""
        columns, wrong = dict[str, Any](), dict(raw.wrong)
        good = np.ones(len(raw.lines), dtype=bool)
        unseen = {}
        strings = [n for n in self._written if raw.frame[n].dtype.kind not in "iufb"]
        if not self._decided and strings:
            with naming(self.bad.path):
                self._decided = self._find_decimals(raw.frame[strings])
        for name, kind in self._kinds.items():
            cells = raw.frame[name]
            if kind == CATEGORY:
                levels = self.values(name, cells)[0] if self._as_read else cells
                values, unseen[name] = self._levels[name].match(levels)
                columns[name] = pd.Series(values, dtype=object)
                continue
            made, bad, problem = self._values(name, cells, kind)
            columns |= {part: pd.Series(values) for part, values in made.items()}
            for row in np.flatnonzero(bad & good).tolist():
                fact = f"column {name!r} {_content(cells.iloc[row])}, {problem}"
                wrong[int(raw.lines[row])] = fact
            good &= ~bad
        self.bad.report(wrong)
        for name, plan in self._plans.items():
            self._outside.add(plan, columns[name].to_numpy()[good])
        for name, unknown in unseen.items():
            if (unknown & good).any():
                self._count_unseen(name, raw.frame[name][unknown & good])
        inputs = pd.DataFrame({name: columns[name] for name in self._inputs}).set_index(raw.lines)
        if self._unnamed:  # columns are taken in their order
            inputs = inputs.set_axis(range(inputs.shape[1]), axis=1)
        chunk = Chunk(inputs, raw.frame[self.extra].set_index(raw.lines))
        return chunk if good.all() else chunk.rows(good)

    def _values(
        self, name: str, cells: pd.Series, kind: str
    ) -> tuple[dict[str, np.ndarray], np.ndarray, str]:
        """What a column becomes, which cells are bad, and what is wrong with them."""
        if kind in (NUMBER, DATE):
            reading = self._readings[name]
            made = cell_values(cells, reading, self._decimals[name])
            unit = f" or a quantity in {reading.unit}" * bool(reading.unit)
            word = f"finite number{unit}"
            if kind == DATE:
                word = f"date as in training, {in_words(reading.format)}"
            if reading.format in CLOCKS:
                word = f"time as in training ({reading.format})"
            return *made, f"which is not a {word}"
        if kind == "time":
            with naming(self.bad.path):
                times, bad = self._clock.read(cells)
            return {name: times}, bad, self._clock.problem
        bad = cells.isna().to_numpy() & (kind == "id")
        objects = cells.astype(object).to_numpy()
        return {name: objects}, bad, "but every row must belong to a series"

    def _count_unseen(self, name: str, cells: pd.Series) -> None:
        levels = self._unseen.setdefault(name, Counter())
        for cell, count in cells.astype(str).value_counts().items():
            known = cell in levels or len(levels) < MOST_UNSEEN
            levels[str(cell) if known else ""] += int(count)  # an empty cell is never unseen


def _content(cell: Any) -> str:
    if isinstance(cell, float) and np.isinf(cell):
        return "is infinite"
    return "is empty" if pd.isna(cell) else f"holds {str(cell)[:60]!r}"
