"""A Parquet file of any size as frames of whole rows, with the number of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ._raw_rows import RawRows

CELLS = 2**18  # read at once
MOST_ROWS = 2**15


class ParquetChunks:
    """An open Parquet file; see `raw.Reader`. Its rows are counted from 1."""

    word = "row"

    def __init__(self, path: Path, file: Any) -> None:
        self.path, self._file = path, file
        self.size: int | None = path.stat().st_size
        self.names = [str(name) for name in file.schema_arrow.names]
        self.twins = {name for name, count in Counter(self.names).items() if count > 1}

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """Frames of the columns in `kinds`, typed as in the file."""
        import pyarrow

        wanted, total, done = list(kinds), self._file.metadata.num_rows, 0
        size = self.size or 0
        at_once = int(np.clip(CELLS // max(len(wanted), 1), 1, MOST_ROWS))
        try:
            for batch in self._file.iter_batches(batch_size=at_once, columns=wanted):
                # Positions of nested columns are their fields': by name they are whole.
                table = pyarrow.Table.from_batches([batch]).select(wanted)
                lines = np.arange(done + 1, done + len(table) + 1)
                done += len(table)
                yield RawRows(_as_frame(table), lines, {}, size * done // total)
        except (pyarrow.ArrowException, OSError) as error:
            raise _unreadable(self.path, error) from None


def _as_frame(table: Any) -> Any:
    """A frame without dates as indices and without decimals, which pandas has as objects."""
    import pyarrow

    for i, column in enumerate(table.schema):
        if pyarrow.types.is_decimal(column.type):
            table = table.set_column(i, column.name, table.column(i).cast(pyarrow.float64()))
    return table.to_pandas(ignore_metadata=True)


@contextmanager
def open_parquet(path: Path) -> Iterator[ParquetChunks]:
    """The file, closed in the end; an InputError where it cannot be read."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{path} is a Parquet file, and pyarrow is not installed",
            "Parquet files are read by pyarrow",
            "Install it: pip install 'imputefree[data]'",
        ) from None
    try:
        # With a buffer, so that a single row group as large as the file is not read at once.
        file = parquet.ParquetFile(path, buffer_size=2**20, pre_buffer=False)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", "", "Correct the path") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None
    with file:
        yield ParquetChunks(path, file)


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path} is no Parquet file that can be read ({error})",
        "A table is a CSV or a Parquet file",
        "Correct or replace the file",
    )
