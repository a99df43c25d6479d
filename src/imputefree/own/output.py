"""Where a command writes a table: a CSV or Parquet file, all of it or nothing; or stdout."""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from ..errors import ParameterError, ResultsError
from .files import PARQUET

STDOUT = "-"
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
    plain = path.is_file() or not path.exists()
    target = path.parent / f"{path.name}.{uuid.uuid4().hex}" if plain else path
    try:
        with contextlib.ExitStack() as stack:
            with _as_results_error(output):
                if path.suffix.lower() in PARQUET:
                    write, close = _parquet_writer(target, output)
                else:
                    file = open(target, "x" if plain else "w", encoding="utf-8", newline="")  # noqa: SIM115
                    write, close = _csv_writer(file, output), file.close
            stack.callback(_close_quietly, close)
            yield write
            with _as_results_error(output):
                close()
        if plain:
            with _as_results_error(output):
                os.replace(target, path)
    except BaseException:
        if plain:
            with contextlib.suppress(OSError):
                os.unlink(target)
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
