"""What all formats share: the `Reader` interface, rows as read and bad rows; and Parquet files."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ..errors import InputError, counted, require_extra, shorten
from ._understood import FileFormat

PARQUET = (".parquet", ".pq")
MOST_COLUMNS = 50_000
CELLS, MOST_ROWS = 2**18, 2**15  # of a Parquet file, read at once
INDEX = re.compile(r"__index_level_\d+__")  # pandas' name for an index without a name
NOT_UTF_8 = "is not UTF-8 text"
NAMES_AGAIN = "holds the column names again"
FIRST, LAST = -62_135_000_000, 253_402_000_000  # seconds, about the years 1 and 9999
SHOWN = 10  # bad rows that are described; the others are counted


@dataclass(frozen=True)
class RawRows:
    """A piece of a file, read but not yet interpreted."""

    frame: pd.DataFrame  # (n, columns) cells as the file has them
    lines: np.ndarray  # (n,) the line in which each row begins; the first line of a file is 1
    wrong: dict[int, str] = field(default_factory=dict)  # by line, why a row is not in the frame
    done: int = 0  # position in the file, in bytes


class Reader(ABC):
    """An open file of any format.

    path : of the file, for messages
    names : of its columns
    form : how it is written
    size : bytes, if they are known
    """

    word = "row"  # what its rows are counted in: "line" or "row"
    decimal = "."  # the mark before decimals, where numbers are written as strings

    def __init__(
        self, path: Path, names: list[str], form: FileFormat, size: int | None = None
    ) -> None:
        self.path, self.names, self.size, self._format = path, names, size, form
        check_width(len(names), path)
        self.twins = {name for name, count in Counter(names).items() if count > 1}

    @property
    def format(self) -> FileFormat:
        """How the file is written, as far as it was read."""
        return self._format

    @property
    def notes(self) -> list[str]:
        """What was not read, as a sentence."""
        return [f"{self.path}: {self.format.unread}."] if self.format.unread else []

    @abstractmethod
    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """Its rows in order; kinds: the wanted columns, as "number", "category" or "text"."""

    def look(self, names: Sequence[str]) -> pd.DataFrame:
        """These columns of the first rows, as they are; nothing is used up."""
        first = next(self.rows(dict.fromkeys(names, "")), None)
        return pd.DataFrame(columns=list(names)) if first is None else first.frame

    def good_rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """As `rows`; one that is not a row is an InputError."""
        for raw in self.rows(kinds):
            if raw.wrong:
                line = min(raw.wrong)
                raise _bad_row(f"{self.path}, {self.word} {line}", raw.wrong[line])
            yield raw

    def refuse_twins(self) -> None:
        """Refuse columns of the same name."""
        if self.twins:
            raise twin_error(self.path, sorted(self.twins))


def _bad_row(where: str, problem: str) -> InputError:
    fact = f"{where}: {problem}"
    if problem == NOT_UTF_8:
        remedy = "Correct the line, or name the encoding with --encoding, such as cp1252"
        return InputError(fact, "A file is written in one encoding", remedy)
    rule = "Below the names, every row has a cell for every column, even if it is empty"
    if "a name is missing" in problem:
        return InputError(fact, rule, "Add the name to the first line")
    remedy = "Correct or remove the row, or name the separator with --sep"
    return InputError(fact, rule, remedy)


class BadRows:
    """Collects bad rows by line number: stops at the first, or skips and counts them.

    path : the file, for messages
    skip : leave bad rows out; otherwise the first one is an InputError
    word : what rows are counted in: "line" for text, where the names are line 1, or "row"

    >>> bad = BadRows(Path("a.csv"), skip=True)
    >>> bad.report({7: "has 2 fields, not 3", 4: "column 'age' holds 'old', not a number"})
    >>> print(*bad.notes, sep="\\n")
    a.csv: 2 lines were left out.
      line 4: column 'age' holds 'old', not a number
      line 7: has 2 fields, not 3
    """

    def __init__(self, path: Path, skip: bool = False, word: str = "line") -> None:
        self.path, self.skip, self.word = path, skip, word
        self.count = 0
        self.first: list[tuple[int, str]] = []

    def report(self, wrong: Mapping[int, str]) -> None:
        """Add bad rows; wrong: by line, what is wrong with it."""
        if not wrong:
            return
        if not self.skip:
            line = min(wrong)
            fact = f"{self.path}, {self.word} {line}: {wrong[line]}"
            remedy = f"Correct it, or leave such {self.word}s out with --on-error skip"
            raise InputError(fact, "Every row must be like those of training", remedy)
        self.count += len(wrong)
        self.first = sorted([*self.first, *wrong.items()])[:SHOWN]

    @property
    def notes(self) -> list[str]:
        """How many rows were left out, and what was wrong with the first ten."""
        if not self.count:
            return []
        was = "was" if self.count == 1 else "were"
        lines = [f"{self.path}: {counted(self.count, self.word)} {was} left out."]
        lines += [f"  {self.word} {line}: {problem}" for line, problem in self.first]
        more = self.count - len(self.first)
        return [*lines, f"  … and {more} more"] if more else lines


def open_file(path: Path) -> IO[bytes]:
    """The open file, or an InputError."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        problem = "does not exist"
    except IsADirectoryError:
        problem = "is a folder"
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    raise InputError(f"{path} {problem}", "A table is a file", "Correct the path")


def column_names(cells: Iterable[str]) -> list[str]:
    """The names in a row of cells, with single spaces; empty ones are named as pandas does it.

    Characters of no width are left out; people type the others, or copy them.
    """
    visible = (cell.replace("\ufeff", "").replace("\u200b", "") for cell in cells)
    names = [" ".join(cell.split()) for cell in visible]
    return [name or f"Unnamed: {j}" for j, name in enumerate(names)]


def are_names(names: Sequence[str]) -> bool:
    """Whether a row that holds these strings can only be that of the column names."""
    numbers = pd.to_numeric(pd.Series(names, dtype=object), errors="coerce")
    return len(names) > 1 and bool(numbers.isna().any())


def check_width(count: int, path: Path) -> None:
    """Refuse more columns than can be read."""
    if count > MOST_COLUMNS:
        fact, rule = f"{path} has {count:,} columns", f"At most {MOST_COLUMNS:,} are read"
        raise InputError(fact, rule, "Leave out columns, or name the separator")


def twin_error(path: Path, names: list[str]) -> InputError:
    """The error for columns of the same name; pandas would rename the second silently."""
    rule, remedy = "Columns are identified by name", "Rename or remove the repeated columns"
    return InputError(f"{path} has more than one column named {shorten(names)}", rule, remedy)


def unreadable(path: Path, problem: str, remedy: str = "") -> InputError:
    """The error for a file that is not a table."""
    rule = "A table is a CSV, Excel or Parquet file: a row of column names, then the rows"
    return InputError(f"{path} {problem}", rule, remedy or "Correct or replace the file")


class ParquetRows(Reader):
    """An open Parquet file. Its rows are counted from 1."""

    def __init__(self, path: Path, raw: IO[bytes]) -> None:
        with _parquet_errors(path):
            import pyarrow
            from pyarrow import parquet

            # With a buffer, so that a single row group as large as the file is not read at once;
            # but what is in memory is not copied: a damaged page may say that it has gigabytes.
            whole = isinstance(raw, io.BytesIO)
            source = pyarrow.BufferReader(raw.getvalue()) if whole else raw  # type: ignore[attr-defined]
            size = 0 if whole else 2**20
            self.file = parquet.ParquetFile(source, buffer_size=size, pre_buffer=False)
            names = [str(name) for name in self.file.schema_arrow.names]
        on_disk = path.stat().st_size if path.is_file() else None
        super().__init__(path, names, FileFormat(path.name, "Parquet"), on_disk)

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """Pieces of the columns in `kinds`, typed as in the file."""
        wanted, total, done = list(kinds), self.file.metadata.num_rows, 0
        at_once = int(np.clip(CELLS // max(len(wanted), 1), 1, MOST_ROWS))
        with _parquet_errors(self.path):
            import pyarrow

            for batch in self.file.iter_batches(batch_size=at_once, columns=wanted):
                # Positions of nested columns are their fields': by name they are whole.
                table = pyarrow.Table.from_batches([batch]).select(wanted)
                table.validate(full=True)  # strings that are none, levels that are not there
                for i, column in enumerate(table.schema):
                    if pyarrow.types.is_timestamp(column.type):
                        _check_years(table.column(i), column)
                    # Decimals are objects to pandas, and half floats overflow.
                    kind = column.type
                    if pyarrow.types.is_decimal(kind) or pyarrow.types.is_float16(kind):
                        floats = table.column(i).cast(pyarrow.float64())
                        table = table.set_column(i, column.name, floats)
                lines = np.arange(done + 1, done + len(table) + 1)
                done += len(table)
                frame = table.to_pandas(ignore_metadata=True)  # without dates as indices
                yield RawRows(frame, lines, {}, (self.size or 0) * done // max(total, 1))


def _check_years(moments: Any, column: Any) -> None:
    """Refuse times of which pandas cannot make dates."""
    from pyarrow import compute, int64

    ticks = compute.min_max(moments.cast(int64())).as_py()
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
    if ticks["min"] is not None and not (
        ticks["min"] // per_second > FIRST and ticks["max"] // per_second < LAST
    ):
        raise ValueError(f"column {column.name!r} holds times outside the years 1 to 9999")


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    require_extra("data", "pyarrow")
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # whatever a damaged file leads to
        raise unreadable(path, f"is not a Parquet file that can be read ({error})") from None
