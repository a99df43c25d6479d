"""Times of a file: numbers, or dates in one format that the model remembers."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import parse_numbers
from ..errors import InputError
from ..io import ISO, one_format, read_dates, unambiguous_format

WORDS = {"numbers": "numbers", "dates": "dates", "spans": "durations"}
EXAMPLE = pd.Timestamp("2024-12-31 13:45")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name into errors."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error.fact}", error.rule, error.remedy) from None


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
        example = "2024-12-31" if form == ISO else EXAMPLE.strftime(form)
        return f"which is not a time as in training, such as {example}"

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
        dates = read_dates(values, self.format)
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
            shown = values if learning else pd.Series([first], name=values.name)
            known = learning or trained
            self.format = unambiguous_format(first, shown) if known else one_format(first)


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
