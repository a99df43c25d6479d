"""A Parquet file: read piece by piece, with the number of each row, or whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ..errors import InputError, require_extra
from ._file_rows import RawRows, open_file, twin_error, unreadable

PARQUET = (".parquet", ".pq")
CELLS = 2**18  # read at once
MOST_ROWS = 2**15
INDEX = re.compile(r"__index_level_\d+__")  # pandas' name for an index without a name


class ParquetRows:
    """An open Parquet file; see `Reader`. Its rows are counted from 1."""

    word = "row"

    def __init__(self, path: Path, raw: IO[bytes]) -> None:
        with _parquet_errors(path):
            from pyarrow import parquet

            # With a buffer, so that a single row group as large as the file is not read at once.
            self._file = parquet.ParquetFile(raw, buffer_size=2**20, pre_buffer=False)
        self.path = path
        self.size: int | None = path.stat().st_size
        self.names = [str(name) for name in self._file.schema_arrow.names]
        self.twins = {name for name, count in Counter(self.names).items() if count > 1}

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """Pieces of the columns in `kinds`, typed as in the file."""
        wanted, total, done = list(kinds), self._file.metadata.num_rows, 0
        at_once = int(np.clip(CELLS // max(len(wanted), 1), 1, MOST_ROWS))
        with _parquet_errors(self.path):
            import pyarrow

            for batch in self._file.iter_batches(batch_size=at_once, columns=wanted):
                # Positions of nested columns are their fields': by name they are whole.
                table = pyarrow.Table.from_batches([batch]).select(wanted)
                lines = np.arange(done + 1, done + len(table) + 1)
                done += len(table)
                yield RawRows(_to_frame(table), lines, {}, (self.size or 0) * done // total)

    def all(self) -> pd.DataFrame:
        """All columns and rows at once."""
        with _parquet_errors(self.path):
            return self._file.read().to_pandas(ignore_metadata=True)


@contextmanager
def open_parquet(path: Path) -> Iterator[ParquetRows]:
    """The file, closed after the block; an InputError if it cannot be read."""
    with open_file(path) as raw:
        yield ParquetRows(path, raw)


def read_parquet(path: Path, content: IO[bytes]) -> pd.DataFrame:
    """All of a Parquet file.

    A named index is a column like others; an unnamed one only numbers the rows.
    """
    reader = ParquetRows(path, content)
    if reader.twins:
        raise twin_error(path, sorted(reader.twins))
    frame = reader.all()
    return frame.drop(columns=[name for name in frame if INDEX.fullmatch(str(name))])


def _to_frame(table: Any) -> pd.DataFrame:
    """A frame without dates as indices and without decimals, which pandas has as objects."""
    import pyarrow

    for i, column in enumerate(table.schema):
        if pyarrow.types.is_decimal(column.type):
            table = table.set_column(i, column.name, table.column(i).cast(pyarrow.float64()))
    return table.to_pandas(ignore_metadata=True)


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    require_extra("data", "pyarrow")
    try:
        yield
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        if isinstance(error, InputError):
            raise
        raise unreadable(path, f"is not a Parquet file that can be read ({error})") from None
