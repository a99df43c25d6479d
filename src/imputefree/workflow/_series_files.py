"""Files of series: times in one format that the model remembers, and several files joined by id."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import parse_numbers
from ..errors import InputError, counted, shorten
from ..io import (
    FileFormat,
    RawRows,
    Reader,
    format_of_dates,
    need_columns,
    one_format,
    open_rows,
    read_dates_or_iso,
    read_frame,
)
from ._request import NO_MARKS, Marks

WORDS = {"numbers": "numbers", "dates": "dates", "spans": "durations"}
EXAMPLE = pd.Timestamp("2024-12-31 13:45")


def in_words(form: str) -> str:
    """Examples of dates in this format, and in ISO.

    >>> in_words("%d.%m.%Y"), in_words("")
    ('such as 31.12.2024 or 2024-12-31', 'such as 2024-12-31')
    """
    example = f"{EXAMPLE.strftime(form)} or " if "%" in form else ""
    return f"such as {example}2024-12-31"


@contextmanager
def naming(path: Path, sheet: str = "") -> Iterator[None]:
    """Put the file's name into errors, and that of its sheet."""
    try:
        yield
    except InputError as error:
        place = f"{path}, sheet {sheet!r}" if sheet else str(path)
        raise InputError(f"{place}: {error.fact}", error.rule, error.remedy) from None


class Clock:
    """Reads the times of a file as training read them, even if the file is read in pieces.

    known : what training found, {"kind": "numbers", "dates" or "spans", "format": str or None};
        without it, the first time of the file decides both

    >>> clock = Clock({"kind": "dates", "format": "%d/%m/%Y"})
    >>> clock.read(pd.Series(["01/02/2024", "2/30/2024"]))[1]
    array([False,  True])
    >>> print(clock.read(pd.Series(["01/02/2024"]))[0].astype("datetime64[D]"))
    ['2024-02-01']
    """

    def __init__(self, known: Mapping[str, Any] | None = None) -> None:
        self.known = dict(known or {})
        self.kind: str | None = None  # of this file, once one of its times was seen
        self.format: str | None = self.known.get("format")

    @classmethod
    def learned(cls, values: pd.Series) -> Clock:
        """From all times of a file, which must show whether days or months come first.

        >>> Clock.learned(pd.Series(["01/02/2024", "13/02/2024"])).plain
        {'kind': 'dates', 'format': '%d/%m/%Y'}
        """
        clock = cls()
        clock._settle(_plain_cells(values), learning=True)
        return clock

    @property
    def plain(self) -> dict[str, Any]:
        """What a model remembers, as JSON types."""
        return {"kind": self.kind, "format": self.format}

    @property
    def problem(self) -> str:
        """What is wrong with a cell that is not a time."""
        form = self.known.get("format")
        if not form:
            return "which is not a time"
        return f"which is not a time as in training, {in_words(form)}"

    def read(self, values: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Numbers or datetime64, and which cells are not times; (n,) each."""
        values = _plain_cells(values)
        if self.kind is None:
            self._settle(values)
        if values.dtype.kind in "mM":
            return _without_zone(values), values.isna().to_numpy()
        if (self.kind or self.known.get("kind")) != "dates":
            numbers, bad = parse_numbers(values)
            return numbers, bad | np.isnan(numbers)
        dates = read_dates_or_iso(values, self.format)
        return _without_zone(dates), dates.isna().to_numpy()

    def _settle(self, values: pd.Series, learning: bool = False) -> None:
        """Decide by the first time of the file which kind its times are."""
        kind, first = _kind(values)
        trained = self.known.get("kind")
        if kind and trained and kind != trained:
            fact = f"the time column {values.name!r} holds {WORDS[kind]} such as {str(first)!r}"
            rule = f"The model was trained with {WORDS.get(trained, trained)} there"
            raise InputError(fact, rule, "Write times as in training")
        self.kind = kind
        if kind == "dates" and isinstance(first, str) and self.format is None:
            if learning or trained:
                shown = values.dropna() if learning else pd.Series([first], name=values.name)
                self.format = format_of_dates(shown)
            else:
                self.format = one_format(first)


def read_times(
    values: pd.Series,
    path: Path,
    option: str = "--time",
    known: Mapping[str, Any] | None = None,
    gaps: bool = False,
) -> tuple[np.ndarray, dict[str, Any]]:
    """A column as times (n,), whole numbers as they are, and what a model remembers of them.

    A cell that is not a time is an InputError.

    option : by which the user names the column
    known : how times were written in training; by default the column shows it
    gaps : whether cells may be missing
    """
    with naming(path):
        clock = Clock(known) if known else Clock.learned(values)
        times, bad = clock.read(values)
    bad = bad & (values.notna().to_numpy() | (not gaps))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"{path}: column {values.name!r} ({option}) is {values.iloc[row]!r} in row {row + 1}",
            "Times are numbers, such as hours, or dates in one format",
            "Correct these cells, or drop their rows; write dates such as 2024-12-31 13:45",
        )
    return (values.to_numpy() if values.dtype.kind in "iuf" else times), clock.plain


def _plain_cells(values: pd.Series) -> pd.Series:
    return values.astype(object) if isinstance(values.dtype, pd.CategoricalDtype) else values


def _kind(values: pd.Series) -> tuple[str | None, Any]:
    """The kind of the first time, and that time; None if no cell is a time."""
    cells = values.dropna()
    if not len(cells):
        return None, None
    if values.dtype.kind in "mM":
        return ("dates" if values.dtype.kind == "M" else "spans"), cells.iloc[0]
    if values.dtype.kind in "iufb":
        return "numbers", cells.iloc[0]
    for cell in cells:
        if isinstance(cell, datetime.date):
            return "dates", cell
        numbers, bad = parse_numbers(pd.Series([cell], dtype=object))
        if not bad[0] and not np.isnan(numbers[0]):
            return "numbers", cell
        if isinstance(cell, str) and one_format(cell):
            return "dates", cell
    return None, None


def _without_zone(dates: pd.Series) -> np.ndarray:
    if isinstance(dates.dtype, pd.DatetimeTZDtype):
        dates = dates.dt.tz_convert(None)
    return dates.to_numpy()


# ---- several files as one
class Joined(NamedTuple):
    """Files that were read whole and joined.

    frame : one row per step; `attrs` keep how times were written
    id : the column that identifies series
    static : columns that a file with one row per id brought
    new : (rows,) which steps are in the first files, not only in a history
    notes : what a user should know, a sentence each
    digest : SHA-256 of the contents
    """

    frame: pd.DataFrame
    id: str
    static: tuple[str, ...]
    new: np.ndarray
    notes: tuple[str, ...]
    digest: str

    @property
    def current(self) -> Joined:
        """Only the series that have new steps."""
        who = self.frame[self.id]
        kept = who.isin(who[self.new]).to_numpy()
        return self._replace(frame=self.frame[kept].reset_index(drop=True), new=self.new[kept])


def read_joined(
    paths: Sequence[Path],
    id: str,
    time: str | None,
    known_clock: Mapping[str, Any] | None = None,
    drop: Sequence[str] = (),
    history: Path | None = None,
    marks: Marks = NO_MARKS,
) -> Joined:
    """Files with the id column: those with the time column hold steps, others one row per id.

    Steps at the same time of the same series are one; files must not contradict each other.

    known_clock : how times were written in training; by default each file shows it
    drop : columns that may occur in several files, because they are not used
    history : a file of earlier steps, which need not exist; newer values replace those in it
    marks : how the files are written, where it is not to be found by itself
    """
    files = [read_frame(path, **marks.of_file) for path in paths]
    notes = [note for file in files for note in file.notes]
    steps: list[pd.DataFrame] = []
    of_steps: list[Path] = []
    tables: list[tuple[Path, pd.DataFrame]] = []
    clock: dict[str, Any] | None = None
    for path, file in zip(paths, files, strict=True):
        need_columns(file.frame, [id], path, option="--id")
        frame = _with_ids(file.frame, id, path)
        if time in frame if time else not steps:
            if time:
                times, plain = read_times(frame[time], path, known=known_clock)
                frame, clock = frame.assign(**{time: times}), clock or plain
            steps.append(frame)
            of_steps.append(path)
        else:
            tables.append((path, frame))
    if not steps:
        need_columns(files[0].frame, [str(time)], paths[0], option="--time")
    whole = steps[0]
    if len(steps) > 1:
        _refuse_contradictions(steps, id, str(time), of_steps, drop)
        whole = _merged(steps, id, str(time))
    whole, new = whole.reset_index(drop=True), np.ones(len(whole), dtype=bool)
    statics: list[str] = []
    for path, table in tables:
        table = table.drop(columns=[name for name in drop if name in table and name in whole])
        whole, more = _with_table(whole, table, id, path, time)
        statics += [str(name) for name in table if name != id]
        notes += more
    if history is not None and history.exists():
        whole, new = _after(history, whole, id, str(time))
    whole.attrs["clock"] = clock
    digest = hashlib.sha256("".join(file.digest for file in files).encode()).hexdigest()
    return Joined(whole, id, tuple(statics), new, tuple(notes), digest)


def refuse_gaps(ids: pd.Series, path: Path) -> None:
    """Refuse rows without an id."""
    without = np.flatnonzero(ids.isna())
    if len(without):
        rows = f"{counted(len(without), 'row')} (first: row {without[0] + 1})"
        raise InputError(
            f"{path} has no {ids.name!r} in {rows}",
            "Every row must belong to a series",
            "Fill the column, or drop these rows",
        )


def _with_ids(frame: pd.DataFrame, id: str, path: Path) -> pd.DataFrame:
    """The frame with ids that are the same in all files; a row without one is refused."""
    refuse_gaps(frame[id], path)
    return frame.assign(**{id: as_strings(frame[id])})


def as_strings(values: pd.Series) -> np.ndarray:
    """Names as strings; whole numbers are the same in files with and without gaps.

    >>> as_strings(pd.Series([7.0, 8.0])).tolist()
    ['7', '8']
    """
    if pd.api.types.is_float_dtype(values) and (values.abs() < 2**53).all():
        whole = values.astype("int64")
        values = whole if (whole == values).all() else values
    return values.astype(str).to_numpy(dtype=str)


def _merged(steps: Sequence[pd.DataFrame], id: str, time: str) -> pd.DataFrame:
    """Steps of all files, series by series in order of appearance, by time; one per id and time.

    Of several values at the same time, the last file's counts.
    """
    stacked = pd.concat(steps, ignore_index=True)
    merged = stacked.groupby([id, time], sort=False, dropna=False).last().reset_index()
    order = np.lexsort((merged[time].to_numpy(), pd.factorize(merged[id])[0]))
    return merged.iloc[order][list(stacked.columns)]


def _refuse_contradictions(
    steps: Sequence[pd.DataFrame], id: str, time: str, paths: Sequence[Path], drop: Sequence[str]
) -> None:
    """Refuse files that hold different values of a series at the same time."""
    stacked = pd.concat(steps, ignore_index=True).drop(columns=[*drop], errors="ignore")
    twice = stacked[stacked.duplicated([id, time], keep=False)]
    different = twice.groupby([id, time], sort=False, dropna=False).nunique() > 1
    if different.to_numpy().any():
        row, column = (int(at[0]) for at in np.nonzero(different.to_numpy()))
        (who, when), name = different.index[row], different.columns[column]
        holding = [path.name for path, file in zip(paths, steps, strict=True) if name in file]
        raise InputError(
            f"column {name!r} has two values at {time} {when} of {id} {who} in"
            f" {shorten(holding, word=str)}",
            "Steps at the same time are one, and must not contradict each other",
            "Correct one of them, or leave the column out with --drop",
        )


def _with_table(
    steps: pd.DataFrame, table: pd.DataFrame, id: str, path: Path, time: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Steps with the columns of a file that has one row per id, and notes on unmatched ids."""
    twice = table[id].duplicated()
    if twice.any():
        asked = f"a column {time!r} (--time)" if time else "--time"
        raise InputError(
            f"{path} has several rows for {id} {table[id][twice].iloc[0]} and no {asked}",
            "A file without times has one row per id",
            "Add the times, or keep one row per id",
        )
    both = [name for name in table if name in steps and name != id]
    if both:
        several = f"columns {shorten(both)} are" if len(both) > 1 else f"column {both[0]!r} is"
        fact = f"{several} in {path} and in another file"
        remedy = "Remove or rename it in one of them, or leave it out with --drop"
        raise InputError(fact, "A column is in one file, besides the id", remedy)
    series, listed = np.unique(steps[id]), table[id].to_numpy(dtype=str)
    alone, unmatched = np.setdiff1d(series, listed), np.setdiff1d(listed, series)
    if len(alone) == len(series):
        raise InputError(
            f"no {id} of {path} ({shorten(listed.tolist(), 3)}) is one of the steps'"
            f" ({shorten(series.tolist(), 3)})",
            "Files are joined by that column",
            "Write the ids alike in both files",
        )
    notes = []
    if len(alone):
        notes.append(f"{path.name} has no row for {len(alone):,} of {len(series):,} series.")
    if len(unmatched):
        notes.append(f"{path.name}: {len(unmatched):,} of {len(listed):,} ids have no steps.")
    return steps.merge(table, on=id, how="left", validate="many_to_one"), notes


def _after(history: Path, new: pd.DataFrame, id: str, time: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The steps of a history followed by new ones, and which rows are new."""
    old = read_frame(history).frame
    for option, name in {"--id": id, "--time": time}.items():
        need_columns(old, [name], history, option=option)
    old = _with_ids(old, id, history).assign(**{time: read_times(old[time], history)[0]})
    if (old[time].dtype.kind == "M") != (new[time].dtype.kind == "M"):
        fact = f"times of {history} and of the new rows are of different kinds"
        raise InputError(fact, "They continue each other", "Name another --history")
    whole = _merged([old, new], id, time).reset_index(drop=True)
    keys = pd.MultiIndex.from_frame(new[[id, time]])
    return whole, pd.MultiIndex.from_frame(whole[[id, time]]).isin(keys)


class FrameRows(Reader):
    """Joined files as an open file. Its rows are counted from 1."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame, form = frame, FileFormat("joined files", "frame")
        super().__init__(Path(form.name), [str(name) for name in frame.columns], form)

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """All rows at once."""
        yield RawRows(self.frame[list(kinds)], np.arange(1, len(self.frame) + 1))


@contextmanager
def open_joined(path: Path, joined: Joined | None, marks: Marks = NO_MARKS) -> Iterator[Reader]:
    """A file to be read piece by piece, or as it was read together with others."""
    if joined is not None:
        yield FrameRows(joined.frame)
        return
    with open_rows(path, **marks.of_rows) as reader:
        yield reader
