"""Where a command writes a table: a CSV or Parquet file, all of it or nothing; or stdout."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd

from .._files import replacing
from ..errors import ParameterError, ResultsError
from ._read_files import PARQUET

STDOUT = "-"
PLAIN, PACKED = ("", ".csv", ".txt"), (".gz", ".csv.gz", ".txt.gz")
Write = Callable[[pd.DataFrame], None]


@contextmanager
def table_output(output: str, never: tuple[Path, ...] = ()) -> Iterator[Write]:
    """Gives a function that takes frames of the same columns, to be written one after the other.

    A file appears when all is written; whatever goes wrong before leaves what was there. On stdout
    ("-"), a device or a pipe, rows appear as they come.

    never : files that must not be overwritten
    """
    if output == STDOUT:
        yield _csv_writer(sys.stdout, output)
        with _as_results_error(output):
            sys.stdout.flush()
        return
    path = Path(os.path.realpath(output))
    _check(path, output, never)
    plain, whole = path.is_file() or not path.exists(), False
    packed = plain and _ending(path) in PACKED
    try:
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(replacing(path)) if plain else path
            with _as_results_error(output):
                if path.suffix.lower() in PARQUET:
                    write, close = _parquet_writer(place, output)
                else:
                    file = _open_text(place, packed)
                    write, close = _csv_writer(file, output), file.close
            stack.callback(_close_quietly, close)
            yield write
            with _as_results_error(output):
                close()
            whole = True
    except OSError:
        if not whole:  # of whoever writes, not ours
            raise
        with _as_results_error(output):
            raise


def _check(path: Path, output: str, never: tuple[Path, ...]) -> None:
    if path.is_dir():
        raise ParameterError(f"--output is {output}, a folder", "It must be a file", "Name one")
    for other in never:
        if path.exists() and other.exists() and path.samefile(other):
            raise ParameterError(
                f"--output is {output}, which is the file that is read",
                "It would be overwritten",
                "Name another file",
            )
    plain = path.is_file() or not path.exists()
    if plain and _ending(path) not in (*PLAIN, *PACKED, *PARQUET):
        raise ParameterError(
            f"--output is {output}, of a kind that cannot be written",
            f"A table is written as {', '.join([*PLAIN[1:], *PACKED[1:], *PARQUET])}",
            "Name such a file",
        )


def _ending(path: Path) -> str:
    """What says how a file is written; of packed ones with what is packed.

    >>> _ending(Path("a.CSV.gz")), _ending(Path("of.may.csv")), _ending(Path("a"))
    ('.csv.gz', '.csv', '')
    """
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() + last if last == ".gz" else last


def _open_text(place: Path, packed: bool) -> IO[str]:
    """A text file; a packed one is the same bytes whenever it is written."""
    if not packed:
        return open(place, "w", encoding="utf-8", newline="")
    raw = open(place, "wb")  # noqa: SIM115 (closed with the text)
    return _Packed(raw)


class _Packed(io.TextIOWrapper):
    """Text into a gzip file, which does not close the file below it by itself."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
        super().__init__(cast(Any, packed), encoding="utf-8", newline="")

    def close(self) -> None:
        """All of it."""
        try:
            super().close()
        finally:
            self._raw.close()


def _csv_writer(file: IO[str], output: str) -> Write:
    begun = False

    def write(frame: pd.DataFrame) -> None:
        nonlocal begun
        text = frame.to_csv(index=False, header=not begun, lineterminator="\n")
        begun = True
        with _as_results_error(output):
            file.write(text)

    return write


def _parquet_writer(target: Path, output: str) -> tuple[Write, Callable[[], None]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ResultsError(
            f"{output} is to be a Parquet file, and pyarrow is not installed",
            "Parquet files are written by pyarrow",
            "Install it: pip install 'imputefree[data]', or name a .csv file",
        ) from None
    file = open(target, "wb")  # noqa: SIM115 (closed by the function that is returned)
    writer: Any = None

    def write(frame: pd.DataFrame) -> None:
        nonlocal writer
        with _as_results_error(output):
            schema = None if writer is None else writer.schema
            try:
                table = pyarrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
            except pyarrow.ArrowException as error:
                raise ResultsError(
                    f"{output} cannot be written ({error})",
                    "A column of a Parquet file has one type",
                    "Write a .csv file",
                ) from None
            table = table.replace_schema_metadata(None)
            if writer is None:
                writer = parquet.ParquetWriter(file, _without_nulls(pyarrow, table.schema))
            writer.write_table(table.cast(writer.schema))

    def close() -> None:
        if writer is not None:
            writer.close()
        file.close()

    return write, close


def _without_nulls(pyarrow: Any, schema: Any) -> Any:
    """A column that is empty so far may hold texts later."""
    return pyarrow.schema(
        [
            one.with_type(pyarrow.string()) if pyarrow.types.is_null(one.type) else one
            for one in schema
        ]
    )


@contextmanager
def _as_results_error(output: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads on, which is no failure
    except OSError as error:
        raise ResultsError(
            f"{output} cannot be written ({error.strerror or error})",
            "Predictions are written into an existing, writable folder",
            "Choose another path, or make room",
        ) from None


def _close_quietly(close: Callable[[], None]) -> None:
    with contextlib.suppress(Exception):
        close()
