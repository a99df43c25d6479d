"""Read a file piece by piece for a model: columns by their kinds, bad rows by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import Category, Columns, Levels, parse_numbers
from ..errors import InputError, counted, shorten
from ..io import BadRows, RawRows, Reader, need_columns, twin_error
from ._file_times import Clock
from ._loaded_model import about, file_inputs, roles_of

MOST_UNSEEN = 10_000  # different unknown levels per column that are remembered
RAW_KINDS = {"id": "text", "time": "number"}  # as a reader knows them
Progress = Callable[[int, int | None], None]


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


class Chunks:
    """What a model reads from a file, piece by piece.

    Parameters
    ----------
    reader : the open file
    path : its name, for errors
    extra : other columns that are wanted, as in the file
    skip : leave bad rows out and count them; otherwise the first one is an InputError
    progress : called with the bytes read so far and in total
    """

    def __init__(
        self,
        model: Any,
        reader: Reader,
        path: Path,
        extra: Sequence[str] = (),
        skip: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.model, self.reader, self.progress = model, reader, progress
        self.bad = BadRows(path, skip, reader.word)
        self.extra = list(dict.fromkeys(extra))
        with self._naming():
            inputs = file_inputs(model, reader.names)
        need_columns(reader.names, self.extra, path)
        twins = [name for name in [*inputs, *self.extra] if name in reader.twins]
        if twins:
            raise twin_error(path, twins)
        self._kinds: dict[str, str] = {}
        self._levels: dict[str, Levels] = {}
        for name, plan in inputs.items():
            self._kinds[name] = plan if isinstance(plan, str) else "number"
            if isinstance(plan, Category):
                self._kinds[name] = "category"
                self._levels[name] = Levels([*plan.levels, *plan.rare_levels])
        plans = {name: plan for name, plan in inputs.items() if not isinstance(plan, str)}
        self._unnamed = any(name != plan.name for name, plan in plans.items())
        self._clock = Clock((about(model).get("series") or {}).get("clock"))
        self._unseen: dict[str, Counter[str]] = {}  # by column, levels unknown to training

    def __iter__(self) -> Iterator[Chunk]:
        raw_kinds = {name: RAW_KINDS.get(kind, kind) for name, kind in self._kinds.items()}
        raw_kinds |= dict.fromkeys(self.extra, "text")
        count = 0
        for raw in self.reader.rows(raw_kinds):
            chunk = self._interpreted(raw)
            count += len(chunk.lines)
            if self.progress:
                self.progress(raw.done, self.reader.size)
            if len(chunk.lines):
                yield chunk
        if not count and not self.bad.count:
            raise InputError(
                f"{self.bad.path} has column names but no rows",
                "There must be something to predict",
                "Check the file",
            )

    @property
    def notes(self) -> list[str]:
        """Sentences about categories that training never saw, and about bad rows."""
        columns = []
        for name, levels in self._unseen.items():
            words = [level for level, _ in levels.most_common() if level]
            rows = counted(levels.total(), "row")
            columns.append(f"{shorten(words, 3)} in column {name!r} ({rows})")
        unseen = f"Training never saw these, which count as missing: {shorten(columns, word=str)}."
        return [*[unseen] * bool(columns), *self.bad.notes]

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Put the file's name into errors."""
        try:
            yield
        except InputError as error:
            raise InputError(f"{self.bad.path}: {error.fact}", error.rule, error.remedy) from None

    def _interpreted(self, raw: RawRows) -> Chunk:
        """Cells by the model's kinds; rows with bad ones are reported and left out."""
        columns, wrong = {}, dict(raw.wrong)
        good = np.ones(len(raw.lines), dtype=bool)
        unseen = {}
        for name, kind in self._kinds.items():
            cells = raw.frame[name]
            if kind == "category":
                values, unseen[name] = self._levels[name].match(cells)
                columns[name] = pd.Series(values, dtype=object)
                continue
            values, bad, problem = self._values(cells, kind)
            columns[name] = pd.Series(values)
            for row in np.flatnonzero(bad & good).tolist():
                fact = f"column {name!r} {_content(cells.iloc[row])}, {problem}"
                wrong[int(raw.lines[row])] = fact
            good &= ~bad
        self.bad.report(wrong)
        for name, unknown in unseen.items():
            if (unknown & good).any():
                self._count_unseen(name, raw.frame[name][unknown & good])
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
            with self._naming():
                return *self._clock.read(cells), self._clock.problem
        bad = cells.isna().to_numpy() & (kind == "id")
        return cells.astype(object).to_numpy(), bad, "but every row must belong to a series"

    def _count_unseen(self, name: str, cells: pd.Series) -> None:
        levels = self._unseen.setdefault(name, Counter())
        for cell, count in cells.astype(str).value_counts().items():
            known = cell in levels or len(levels) < MOST_UNSEEN
            levels[str(cell) if known else ""] += int(count)  # an empty cell is never unseen


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


def whole_series(chunks: Chunks, in_memory: bool = False) -> Iterator[Chunk]:
    """Chunks that hold all rows of their series, and say which row belongs to which series.

    in_memory : take all chunks at once, so that rows of a series may be anywhere
    """
    bad, id = chunks.bad, roles_of(chunks.model)["id"]
    if in_memory:
        every = list(chunks)
        if every:
            yield _numbered(every, chunks)
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
            yield _numbered([*waiting, *before], chunks)
        waiting = [chunk.rows(slice(last, None))]
    if waiting:
        yield _numbered(waiting, chunks)


def _numbered(parts: list[Chunk], chunks: Chunks) -> Chunk:
    """Number series in order of appearance; a second row at the same time is a bad one."""
    chunk, roles = Chunk.joined(parts), roles_of(chunks.model)
    id, time = roles["id"], roles.get("time")
    codes, _ = pd.factorize(chunk.inputs[id].to_numpy(dtype=object))
    if time and "variable" not in roles:
        repeated = chunk.inputs.assign(**{id: codes}).duplicated([id, time]).to_numpy()
        wrong = {}
        for row in np.flatnonzero(repeated):
            series, when = chunk.inputs[id].iloc[row], chunk.inputs[time].iloc[row]
            fact = f"the series {str(series)!r} already has a row at time {when}"
            wrong[int(chunk.lines[row])] = fact
        chunks.bad.report(wrong)
        if wrong:
            chunk, codes = chunk.rows(~repeated), codes[~repeated]
    return replace(chunk, series=codes)
