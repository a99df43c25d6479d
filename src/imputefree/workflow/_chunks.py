"""Read a file piece by piece for a model: columns by their kinds, bad rows by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import Columns, Levels, parse_numbers
from ..errors import InputError, counted, shorten
from ..io import BadRows, RawRows, Reader, need_columns, twin_error
from ._file_times import Clock
from ._loaded_model import clock_of, file_inputs

MOST_UNSEEN = 10_000  # different unknown levels per column that are remembered
RAW_KINDS = {"id": "text", "time": "number"}  # as a reader knows them


@dataclass(frozen=True)
class Chunk:
    """Rows of a file.

    inputs : (n, columns) what the model reads; for series with id and time
    extra : (n, columns) other requested columns, as in the file
    lines : (n,) the line of each row
    series : (n,) the number of each row's series, if all rows of these series are here
    """

    inputs: pd.DataFrame
    extra: pd.DataFrame
    lines: np.ndarray
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
            len(self.lines),
        )

    def rows(self, rows: np.ndarray | slice) -> Chunk:
        """Only these rows; their series are no longer known."""
        return Chunk(
            self.inputs[rows].reset_index(drop=True),
            self.extra[rows].reset_index(drop=True),
            self.lines[rows],
        )

    @staticmethod
    def joined(parts: Sequence[Chunk]) -> Chunk:
        """One chunk of several."""
        if len(parts) == 1:
            return parts[0]
        return Chunk(
            pd.concat([part.inputs for part in parts], ignore_index=True),
            pd.concat([part.extra for part in parts], ignore_index=True),
            np.concatenate([part.lines for part in parts]),
        )


class Unseen:
    """Categories that training did not see, counted over the whole file."""

    def __init__(self) -> None:
        self._levels: dict[str, Counter[str]] = {}
        self._rows: Counter[str] = Counter()

    def add(self, column: str, cells: pd.Series) -> None:
        """Count these cells of unknown level."""
        self._rows[column] += len(cells)
        levels = self._levels.setdefault(column, Counter())
        for cell, count in cells.astype(str).value_counts().items():
            if cell in levels or len(levels) < MOST_UNSEEN:
                levels[str(cell)] += int(count)

    @property
    def notes(self) -> list[str]:
        """One sentence for all of them, or none.

        >>> unseen = Unseen()
        >>> unseen.add("ward", pd.Series(["Z", "Z", "Y"]))
        >>> unseen.notes
        ["Training never saw these, which count as missing: 'Z', 'Y' in column 'ward' (3 rows)."]
        """

        def described(name: str) -> str:
            levels = [level for level, _ in self._levels[name].most_common()]
            return f"{shorten(levels, 3)} in column {name!r} ({counted(self._rows[name], 'row')})"

        if not self._levels:
            return []
        columns = shorten(list(self._levels), word=described)
        return [f"Training never saw these, which count as missing: {columns}."]


class Chunks:
    """What a model reads from a file.

    Parameters
    ----------
    reader : the open file
    bad : collects bad rows, and decides whether to continue
    extra : other columns that are wanted, as in the file
    progress : called with the bytes read so far and in total
    """

    def __init__(
        self,
        model: Any,
        reader: Reader,
        bad: BadRows,
        extra: Sequence[str] = (),
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self.model, self.reader, self.bad, self.progress = model, reader, bad, progress
        self.unseen, self.count = Unseen(), 0
        self.extra = list(dict.fromkeys(extra))
        with _naming(bad.path):
            inputs = file_inputs(model, reader.names)
        need_columns(reader.names, self.extra, bad.path)
        twins = [name for name in [*inputs, *self.extra] if name in reader.twins]
        if twins:
            raise twin_error(bad.path, twins)
        self.kinds = {name: column.kind for name, column in inputs.items()}
        self._unnamed = any(name != column.name for name, column in inputs.items())
        self._levels = {name: Levels(map(str, column.known)) for name, column in inputs.items()}
        self._clock = Clock(clock_of(model))

    def __iter__(self) -> Iterator[Chunk]:
        raw_kinds = {name: RAW_KINDS.get(kind, kind) for name, kind in self.kinds.items()}
        raw_kinds |= dict.fromkeys(self.extra, "text")
        for raw in self.reader.rows(raw_kinds):
            chunk = self._interpreted(raw)
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

    def _interpreted(self, raw: RawRows) -> Chunk:
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
            values, bad, problem = self._values(cells, kind)
            columns[name] = pd.Series(values)
            for row in np.flatnonzero(bad & good).tolist():
                fact = f"column {name!r} {_content(cells.iloc[row])}, {problem}"
                wrong[int(raw.lines[row])] = fact
            good &= ~bad
        self.bad.report(wrong)
        for name, cells, unknown in unseen:
            if (unknown & good).any():
                self.unseen.add(name, cells[unknown & good])
        inputs = pd.DataFrame(columns)
        if self._unnamed:  # columns are taken in their order
            inputs = inputs.set_axis(range(inputs.shape[1]), axis=1)
        chunk = Chunk(inputs, raw.frame[self.extra], raw.lines)
        return chunk if good.all() else chunk.rows(good)

    def _values(self, cells: pd.Series, kind: str) -> tuple[np.ndarray, np.ndarray, str]:
        """Values of a column, which cells are bad, and what is wrong with them."""
        if kind == "number":
            return *parse_numbers(cells), "which is not a finite number"
        if kind == "time":
            with _naming(self.bad.path):
                return *self._clock.read(cells), self._clock.problem
        bad = cells.isna().to_numpy() & (kind == "id")
        return cells.astype(object).to_numpy(), bad, "but every row must belong to a series"


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the file's name into errors."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error.fact}", error.rule, error.remedy) from None


def _content(cell: Any) -> str:
    if isinstance(cell, float) and np.isinf(cell):
        return "is infinite"
    return "is empty" if pd.isna(cell) else f"holds {str(cell)[:60]!r}"


class SeenIds:
    """Ids that have appeared, in 8 bytes each: their hashes, in sorted arrays.

    In one of a million files with five million ids two share a hash; then a new one is refused.

    >>> seen = SeenIds()
    >>> seen.add(np.array(["a", "b"], dtype=object))
    >>> seen.has(np.array(["b", "c"], dtype=object))
    array([ True, False])
    """

    def __init__(self) -> None:
        self._sorted: list[np.ndarray] = []

    def has(self, ids: np.ndarray) -> np.ndarray:
        """(n,) -> (n,) bool."""
        keys, known = _hashes(ids), np.zeros(len(ids), dtype=bool)
        for hashes in self._sorted:
            at = np.minimum(np.searchsorted(hashes, keys), len(hashes) - 1)
            known |= hashes[at] == keys
        return known

    def add(self, ids: np.ndarray) -> None:
        """Remember these; (n,)."""
        new = np.sort(_hashes(ids))
        # Arrays of similar size are merged, so that there are few and each id moves rarely.
        while self._sorted and len(self._sorted[-1]) < 2 * len(new):
            new = np.sort(np.concatenate([self._sorted.pop(), new]))
        if len(new):
            self._sorted.append(new)


def _hashes(ids: np.ndarray) -> np.ndarray:
    return pd.util.hash_array(ids.astype(object), categorize=False)


def whole_series(
    chunks: Iterable[Chunk], id: str, time: str | None, bad: BadRows, in_memory: bool = False
) -> Iterator[Chunk]:
    """Chunks that hold all rows of their series, and say which row belongs to which series.

    id, time : columns of the inputs; a series has each time once
    in_memory : take all chunks at once, so that rows of a series may be anywhere
    """
    if in_memory:
        chunks = list(chunks)
        if chunks:
            yield _numbered(Chunk.joined(chunks), id, time, bad)
        return
    seen, waiting = SeenIds(), list[Chunk]()
    for chunk in chunks:
        ids = chunk.inputs[id].to_numpy(dtype=object)
        starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
        if waiting and ids[0] == waiting[-1].inputs[id].iloc[-1]:
            starts = starts[1:]
        begun = ids[starts]
        again = seen.has(begun) | pd.Series(begun, dtype=object).duplicated().to_numpy()
        if again.any():
            row = starts[again.argmax()]
            raise InputError(
                f"{bad.path}, {bad.word} {chunk.lines[row]}: the series {str(ids[row])!r}"
                " reappears after rows of other series",
                "Rows of one series must be adjacent when a file is read piece by piece",
                f"Sort the file by {id!r}, or read all of it at once with --in-memory",
            )
        seen.add(begun)
        if not len(starts):  # all of it belongs to the series before
            waiting.append(chunk)
            continue
        last = int(starts[-1])
        if waiting or last:
            before = [chunk.rows(slice(0, last))] if last else []
            yield _numbered(Chunk.joined([*waiting, *before]), id, time, bad)
        waiting = [chunk.rows(slice(last, None))]
    if waiting:
        yield _numbered(Chunk.joined(waiting), id, time, bad)


def _numbered(chunk: Chunk, id: str, time: str | None, bad: BadRows) -> Chunk:
    """Number series in order of appearance; a second row at the same time is a bad one."""
    codes, _ = pd.factorize(chunk.inputs[id].to_numpy(dtype=object))
    if time:
        repeated = chunk.inputs.assign(**{id: codes}).duplicated([id, time]).to_numpy()
        if repeated.any():
            rows = chunk.inputs[repeated]
            bad.report(
                {
                    line: f"the series {str(series)!r} already has a row at time {when}"
                    for line, series, when in zip(
                        chunk.lines[repeated].tolist(), rows[id], rows[time], strict=True
                    )
                }
            )
            chunk, codes = chunk.rows(~repeated), codes[~repeated]
    return replace(chunk, series=codes)
