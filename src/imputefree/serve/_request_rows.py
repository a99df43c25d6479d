"""Rows and series of a request, held to the model's columns: every refusal names its field."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..errors import counted, shorten
from ._bodies import Word, shown
from ._model_inputs import ROWS, Column, Inputs
from ._refusals import RequestError

MOST_NOTES = 50
NAMED_COLUMNS = 40
COMPARED_COLUMNS = 300  # with a name that is unknown: looking for the nearest takes time


@dataclass
class Notes:
    """What was taken otherwise than sent, or lies beyond training; the first of them."""

    kept: list[dict[str, str]] = field(default_factory=list)
    count: int = 0

    def add(self, place: str, note: str) -> None:
        """One more, about the field at `place`."""
        self.count += 1
        if self.count <= MOST_NOTES:
            self.kept.append({"field": place, "note": note})

    def listed(self) -> list[dict[str, str]]:
        """All that were kept, and a last one that counts the others."""
        more = self.count - len(self.kept)
        last = {"field": "", "note": f"And {counted(more, 'note')} more."}
        return [*self.kept, last] if more else list(self.kept)


def read_rows(body: Any, inputs: Inputs, most: int) -> tuple[list[Any], bool]:
    """The rows (or series) of a body, one or many, and whether they came as a batch."""
    batch = isinstance(body, dict) and isinstance(body.get(ROWS), list)
    own = {column.name for column in inputs.columns} if not inputs.series else set()
    if not batch:
        if isinstance(body, dict) and ROWS in body and ROWS not in own:
            raise RequestError(
                422,
                ROWS,
                f"{ROWS} is {shown(body[ROWS])}",
                "It is a list of rows",
                f'Send {{"{ROWS}": [row, …]}}, or one row alone',
            )
        return [body], False
    extra = [name for name in body if name != ROWS]
    if extra:
        raise RequestError(
            422,
            extra[0],
            f"{shown(extra[0])} stands beside {ROWS}",
            f"A batch holds {ROWS} and nothing else",
            f"Put it into each of the {ROWS}, or leave it out",
        )
    rows = body[ROWS]
    if not rows:
        raise RequestError(
            422, ROWS, f"{ROWS} is empty", "There must be something to predict", "Send a row"
        )
    if len(rows) > most:
        raise too_many(len(rows), most, "row")
    return rows, True


def too_many(count: int, most: int, what: str) -> RequestError:
    """More rows, or steps of all series together, than the server takes at a time."""
    return RequestError(
        413,
        ROWS,
        f"the body has {count:,} {what}s",
        f"At most {most:,} {what}s are taken at a time (the server's --max-rows)",
        "Send them in several requests",
    )


def table_frame(rows: Sequence[Any], batch: bool, inputs: Inputs, notes: Notes) -> pd.DataFrame:
    """Rows of a table as the model reads them; (rows, columns)."""
    reader = RowReader(inputs.columns, notes)
    lists = [
        reader.read(row, f"{ROWS}[{i}]" if batch else "", "a row") for i, row in enumerate(rows)
    ]
    return reader.frame(lists)


class RowReader:
    """Reads objects of plain values against columns, in the columns' order."""

    def __init__(self, columns: Sequence[Column], notes: Notes) -> None:
        self.columns, self.notes = columns, notes
        self.places = {column.name: j for j, column in enumerate(columns)}

    def read(self, row: Any, path: str, what: str, apart: str | None = None) -> list[Any]:
        """One row as a list of floats, texts and None; `apart` is a field that is no column."""
        if not isinstance(row, dict):
            raise RequestError(
                422,
                path or None,
                f"{path or 'the body'} is {shown(row)}",
                f"{what.capitalize()} is an object with a field a column",
                "GET /schema has an example",
            )
        found: list[Any] = [None] * len(self.columns)
        for name, value in row.items():
            if name == apart:
                continue
            place = self.places.get(name)
            if place is None:
                raise self._unknown(name, f"{path}.{name}" if path else name, apart)
            if value is not None:
                found[place] = self._value(self.columns[place], value, path)
        return found

    def frame(self, rows: list[list[Any]]) -> pd.DataFrame:
        """Rows that were read; (rows, columns)."""
        arrays: dict[str, np.ndarray] = {}
        for j, column in enumerate(self.columns):
            values = [row[j] for row in rows]
            if column.kind == "number":
                arrays[column.name] = np.array(values, dtype=np.float64)  # None becomes NaN
            else:
                arrays[column.name] = np.array([*values, None], dtype=object)[:-1]
        return pd.DataFrame(arrays)

    def _value(self, column: Column, value: Any, path: str) -> float | str | None:
        place = f"{path}.{column.name}" if path else column.name
        if column.kind == "number":
            number = read_number(value, place)
            if column.is_beyond(number):
                self.notes.add(
                    place,
                    f"{number:g} lies beyond what training saw"
                    f" ({column.low:g} to {column.high:g}).",
                )
            return number
        _check_level(value, place)
        level: str | None = column.known.find(value)[0]
        if level is None:
            self.notes.add(
                place, f"{shown(value)} was never seen in training; it counts as missing."
            )
        return level

    def _unknown(self, name: str, place: str, apart: str | None) -> RequestError:
        names = [column.name for column in self.columns]
        near = difflib.get_close_matches(name[:100], names[:COMPARED_COLUMNS], n=1)
        names = [*([apart] if apart else []), *names]
        return RequestError(
            422,
            place,
            f"{shown(name)} is no column of the model",
            f"The columns are {shorten(names, NAMED_COLUMNS)}",
            f"Write {near[0]!r}, or leave it out" if near else "Correct the name, or leave it out",
        )


def read_number(value: Any, place: str) -> float:
    """A finite float; true and false count as 1 and 0, as in training."""
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
        raise _not_finite(place, "a number beyond 1e308")
    if isinstance(value, Word):
        raise _not_finite(place, value.text)
    what = f"the text {shown(value)}" if isinstance(value, str) else shown(value)
    raise RequestError(
        422,
        place,
        f"{place} holds {what}",
        "It must be a number, or null where it is missing",
        'Send a number without quotes, such as 1.5 and not "1.5"'
        if isinstance(value, str)
        else "Send a number, or null",
    )


def _check_level(value: Any, place: str) -> None:
    """A text, a finite number, true or false; which level it is, `cells.Levels` knows."""
    if isinstance(value, int | float):
        read_number(value, place)
    if isinstance(value, str | int | float):
        return
    if isinstance(value, Word):
        raise _not_finite(place, value.text)
    raise RequestError(
        422,
        place,
        f"{place} holds {shown(value)}",
        "It must be a text, or null where it is missing",
        "Send a text",
    )


def _not_finite(place: str, what: str) -> RequestError:
    return RequestError(
        422,
        place,
        f"{place} holds {what}",
        "A number is finite; null stands for a missing value",
        "Send null, or leave the field out",
    )
