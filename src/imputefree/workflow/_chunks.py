"""A file piece by piece as a model wants it: its columns by their kinds, bad rows told by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import Levels, parse_numbers
from ..errors import InputError, counted, shorten
from ..io import PARQUET, BadRows, RawRows, Reader, open_csv, open_parquet
from ._file_times import Clock
from ._loaded_model import (
    Input,
    choose_columns,
    clock_of,
    inputs_of,
    roles_of,
    select_inputs,
    static_names,
)

MOST_UNSEEN = 10_000  # different texts a column that are remembered
RAW_KINDS = {"id": "text", "time": "number"}  # as a reader knows them


@dataclass(frozen=True)
class Chunk:
    """Rows of a file.

    inputs : (n, columns) what the model reads; of series with id and time
    beside : (n, columns) other columns that were asked for, as they stand in the file
    lines : (n,) the line of each row
    series : (n,) the number of each row's series, where all rows of these series are here
    """

    inputs: pd.DataFrame
    beside: pd.DataFrame
    lines: np.ndarray
    series: np.ndarray | None = None

    def rows(self, which: np.ndarray | slice) -> Chunk:
        """Some rows alone; their series are not known any more."""
        return replace(
            self,
            inputs=self.inputs[which].reset_index(drop=True),
            beside=self.beside[which].reset_index(drop=True),
            lines=self.lines[which],
            series=None,
        )

    @staticmethod
    def joined(parts: Sequence[Chunk]) -> Chunk:
        """One after the other."""
        if len(parts) == 1:
            return parts[0]
        return Chunk(
            pd.concat([part.inputs for part in parts], ignore_index=True),
            pd.concat([part.beside for part in parts], ignore_index=True),
            np.concatenate([part.lines for part in parts]),
        )


class Unseen:
    """Categories that training did not see, counted over all of a file."""

    def __init__(self) -> None:
        self._found: dict[str, Counter[str]] = {}
        self._rows: Counter[str] = Counter()

    def add(self, column: str, cells: pd.Series) -> None:
        """cells : those of unknown level."""
        self._rows[column] += len(cells)
        found = self._found.setdefault(column, Counter())
        for cell, count in cells.astype(str).value_counts().items():
            if cell in found or len(found) < MOST_UNSEEN:
                found[str(cell)] += int(count)

    @property
    def notes(self) -> list[str]:
        """One for all of them, or none.

        >>> unseen = Unseen()
        >>> unseen.add("ward", pd.Series(["Z", "Z", "Y"]))
        >>> unseen.notes
        ["Training never saw these, which count as missing: 'Z', 'Y' in column 'ward' (3 rows)."]
        """

        def told(name: str) -> str:
            texts = [text for text, _ in self._found[name].most_common()]
            return f"{shorten(texts, 3)} in column {name!r} ({counted(self._rows[name], 'row')})"

        if not self._found:
            return []
        columns = shorten(list(self._found), word=told)
        return [f"Training never saw these, which count as missing: {columns}."]


def open_rows(path: Path) -> AbstractContextManager[Reader]:
    """A CSV, packed CSV or Parquet file to be read piece by piece."""
    return open_parquet(path) if path.suffix.lower() in PARQUET else open_csv(path)


class Chunks:
    """What a model reads of a file.

    Parameters
    ----------
    reader : the open file
    bad : is told of bad rows, and decides whether to go on
    beside : other columns that are wanted, as they stand in the file
    progress : called with the bytes done and in all
    """

    def __init__(
        self,
        model: Any,
        reader: Reader,
        bad: BadRows,
        beside: Sequence[str] = (),
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self.model, self.reader, self.bad, self.progress = model, reader, bad, progress
        self.unseen, self.count = Unseen(), 0
        self.beside = list(dict.fromkeys(beside))
        with _naming(bad.path):
            self.chosen = choose_columns(model, reader.names)
        self._check_names()
        meant = _meant(model, self.chosen)
        self.kinds = {name: one.kind for name, one in meant.items()}
        self._levels = {name: Levels(map(str, one.known)) for name, one in meant.items()}
        self._clock = Clock(clock_of(model))

    def __iter__(self) -> Iterator[Chunk]:
        raw_kinds = {name: RAW_KINDS.get(kind, kind) for name, kind in self.kinds.items()}
        raw_kinds |= dict.fromkeys(self.beside, "text")
        for raw in self.reader.rows(raw_kinds):
            chunk = self._understood(raw)
            self.count += len(chunk.lines)
            if self.progress:
                self.progress(raw.done, self.reader.size)
            if len(chunk.lines):
                yield chunk
        if not self.count and not self.bad.count:
            raise InputError(
                f"{self.bad.path} has column names but no rows",
                "There must be something to predict",
                "Check the file",
            )

    def _understood(self, raw: RawRows) -> Chunk:
        """Cells by the model's kinds; rows with bad ones are reported and left out."""
        columns, wrong = {}, dict(raw.wrong)
        good = np.ones(len(raw.lines), dtype=bool)
        unseen: list[tuple[str, pd.Series, np.ndarray]] = []
        for name, kind in self.kinds.items():
            cells = raw.frame[name]
            if kind == "category":
                values, unknown = self._levels[name].match(cells)
                if unknown.any():
                    unseen.append((name, cells, unknown))
                columns[name] = pd.Series(values, dtype=object)
                continue
            if kind == "number":
                values, bad = parse_numbers(cells)
                what = "which is no finite number"
            elif kind == "time":
                with _naming(self.bad.path):
                    values, bad = self._clock.read(cells)
                what = self._clock.what
            else:
                values = cells.astype(object).to_numpy()
                bad = cells.isna().to_numpy() & (kind == "id")
                what = "but every row must say whose it is"
            columns[name] = pd.Series(values)
            for row in np.flatnonzero(bad & good).tolist():
                wrong[int(raw.lines[row])] = f"column {name!r} {_holds(cells.iloc[row])}, {what}"
            good &= ~bad
        self.bad.report(wrong)
        for name, cells, unknown in unseen:
            if (unknown & good).any():
                self.unseen.add(name, cells[unknown & good])
        chunk = Chunk(pd.DataFrame(columns), raw.frame[self.beside], raw.lines)
        chunk = chunk if good.all() else chunk.rows(good)
        return replace(chunk, inputs=select_inputs(self.model, chunk.inputs)[0])

    def _check_names(self) -> None:
        lacking = [name for name in self.beside if name not in self.reader.names]
        if lacking:
            raise InputError(
                f"{self.bad.path} has no column {shorten(lacking)}",
                f"Its columns are {shorten(self.reader.names, limit=8)}",
                "Correct the column's name, or the file",
            )
        twice = [name for name in [*self.chosen, *self.beside] if name in self.reader.twins]
        if twice:
            raise InputError(
                f"{self.bad.path} has more than one column named {shorten(twice)}",
                "Columns are told apart by name",
                "Rename or remove the repeated columns",
            )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors about a file say which."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error.fact}", error.rule, error.remedy) from None


def _meant(model: Any, chosen: list[str]) -> dict[str, Input]:
    """What each chosen column is: its kind is also "id", "time" or "text"."""
    roles = {name: role for role, name in roles_of(model).items()}
    inputs = inputs_of(model)
    of_role = {"id": "id", "time": "time", "variable": "text", "value": "number"}
    if "variable" in roles.values():
        static = set(static_names(model))
        if any(one.kind != "number" for one in inputs if one.name not in static):
            raise InputError(
                "the model was trained on pairs of variable and value, some of them texts",
                "A column of values from a file must be numbers",
                "Predict from Python, or train with one column a variable",
            )
        inputs = [one for one in inputs if one.name in static]
    rest = iter(inputs)  # in the order of the chosen ones; by that alone if names are unknown
    return {
        name: Input(name, of_role[roles[name]], []) if name in roles else next(rest)
        for name in chosen
    }


def _holds(cell: Any) -> str:
    if isinstance(cell, float) and np.isinf(cell):
        return "is infinite"
    return "is empty" if pd.isna(cell) else f"holds {str(cell)[:60]!r}"
