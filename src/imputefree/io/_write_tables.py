"""Where tables are written: a CSV or Parquet file, all of it or nothing; or stdout."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pandas as pd

from .._files import replacing, write_errors
from .._printable import printable
from ..errors import ParameterError, ResultsError, require_extra
from ._file_rows import PARQUET
from ._formulas import mark_formulas

STDOUT = "-"
PLAIN, PACKED = ("", ".csv", ".txt"), (".gz", ".csv.gz", ".txt.gz")
Write = Callable[[pd.DataFrame], None]


@contextmanager
def table_output(output: str) -> Iterator[Write]:
    """Yields a function that takes frames of the same columns, to be written one after the other.

    A file appears when all is written; after a failure, an older file stays. On stdout ("-"),
    a device or a pipe, rows appear as they come.
    """
    if output == STDOUT:
        yield _csv_writer(sys.stdout, output)
        with write_errors(output):
            sys.stdout.flush()
        return
    path = Path(os.path.realpath(output))
    check_format(output)
    with ExitStack() as stack:
        place = stack.enter_context(replacing(path)) if _is_plain(path) else path
        opened = ExitStack()
        stack.callback(_close_quietly, opened)
        with write_errors(output):
            if path.suffix.lower() in PARQUET:
                write = _parquet_writer(place, output, opened)
            else:
                packed = _is_plain(path) and _ending(path) in PACKED
                write = _csv_writer(_open_text(place, packed, opened), output)
        yield write
        with write_errors(output):
            opened.close()
            stack.close()  # moves the file into place


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write all rows; a failure leaves an older file as it was."""
    with table_output(str(path)) as write:
        write(frame)


def check_format(output: str | Path, option: str = "--output") -> None:
    """Refuse, before any work, a path to which no table can be written; option : that named it."""
    path = Path(os.path.realpath(output))
    if path.is_dir():
        raise ParameterError(f"{option} is {output}, a folder", "It must be a file", "Name one")
    if _is_plain(path) and _ending(path) not in (*PLAIN, *PACKED, *PARQUET):
        fact = f"{option} is {output}, of a kind that cannot be written"
        rule = f"Its name must end in {', '.join([*PLAIN[1:], *PACKED[1:], *PARQUET])}"
        raise ParameterError(fact, rule, "Name such a file")
    if path.suffix.lower() in PARQUET:
        require_extra("data", "pyarrow")


def _is_plain(path: Path) -> bool:
    """Whether a path is, or could become, a regular file, not a device or a pipe."""
    return path.is_file() or not path.exists()


def _ending(path: Path) -> str:
    """The ending by which a file's format is chosen; for compressed ones the last two.

    >>> _ending(Path("a.CSV.gz")), _ending(Path("of.may.csv")), _ending(Path("a"))
    ('.csv.gz', '.csv', '')
    """
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() + last if last == ".gz" else last


def _open_text(place: Path, packed: bool, stack: ExitStack) -> IO[str]:
    """A text file; a compressed one does not depend on the time of writing."""
    if not packed:
        return stack.enter_context(open(place, "w", encoding="utf-8", newline=""))
    raw = stack.enter_context(place.open("wb"))
    # GzipFile does not close the file below it: the stack does.
    file = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))
    text: Any = file
    return stack.enter_context(io.TextIOWrapper(text, encoding="utf-8", newline=""))


def _csv_writer(file: IO[str], output: str) -> Write:
    begun = False

    def write(frame: pd.DataFrame) -> None:
        nonlocal begun
        safe = mark_formulas(frame)
        text = safe.to_csv(index=False, header=not begun, lineterminator="\n")
        if file.isatty():
            text = printable(text)
        begun = True
        with write_errors(output):
            file.write(text)

    return write


def _parquet_writer(place: Path, output: str, stack: ExitStack) -> Write:
    import pyarrow
    from pyarrow import parquet

    file = stack.enter_context(place.open("wb"))
    writer: Any = None

    def write(frame: pd.DataFrame) -> None:
        nonlocal writer
        schema = None if writer is None else writer.schema
        try:
            table = pyarrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
        except pyarrow.ArrowException as error:
            rule, remedy = "A column of a Parquet file has one type", "Write a .csv file"
            raise ResultsError(f"{output} cannot be written ({error})", rule, remedy) from None
        table = table.replace_schema_metadata(None)
        with write_errors(output):
            if writer is None:
                fields = [
                    # A column that is empty so far may hold strings later.
                    field.with_type(pyarrow.string()) if field.type == pyarrow.null() else field
                    for field in table.schema
                ]
                writer = stack.enter_context(parquet.ParquetWriter(file, pyarrow.schema(fields)))
            writer.write_table(table.cast(writer.schema))

    return write


def _close_quietly(opened: ExitStack) -> None:
    with suppress(Exception):
        opened.close()
