"""Read users' files, whole or piece by piece, in the format that the ending of the name says."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from ..data import MOST_CLASSES
from ..errors import ImputefreeError, InputError, ParameterError, closest, shorten
from ._cell_values import EXACT
from ._csv_rows import CsvRows
from ._dialects import check_marks
from ._excel_rows import ExcelRows, is_workbook
from ._file_rows import PARQUET, ParquetRows, Reader, open_file
from ._unpacking import PACKED, open_packed, read_packed

WORKBOOKS = (".xlsx", ".xlsm", ".xls")
TABLES = (*PARQUET, *WORKBOOKS, ".csv", ".tsv", *(f".csv{ending}" for ending in PACKED))
TASKS = ("classification", "regression")


def parts_of(path: Path) -> list[Path]:
    """The files of a table: itself, or the tables of a folder sorted by name.

    Names that begin with a dot or an underscore are not parts, as engines write notes under them.
    """
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file())
    parts = [f for f in files if f.name.lower().endswith(TABLES) and f.name[0] not in "._"]
    if not parts:
        rule = "A folder holds the parts of one table, as CSV, Excel or Parquet files"
        raise InputError(f"{path} holds no table", rule, "Correct the path")
    return parts


@contextmanager
def open_rows(path: Path, **how: str | None) -> Iterator[Reader]:
    """A CSV, Excel or Parquet file to be read piece by piece, closed after the block.

    how : sep, encoding and sheet, as for `reader_of`
    """
    with open_file(path) as raw:
        yield reader_of(path, raw, **how)


def reader_of(
    path: Path,
    raw: IO[bytes],
    sep: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Reader:
    """The reader of an open file, by what the file begins with, or else by its name.

    sep, encoding : of a CSV file; detected if None
    sheet : of a workbook; None: the first that holds a table
    """
    sep = check_marks(sep)
    begin = raw.read(4) if raw.seekable() else b""
    if begin:
        raw.seek(0)
    if begin == b"PAR1" or path.suffix.lower() in PARQUET:
        return ParquetRows(path, raw)
    if is_workbook(raw) or path.suffix.lower() in WORKBOOKS:
        return ExcelRows(path, raw, sheet)
    return CsvRows(path, raw, sep, encoding)


def unpack(path: Path, content: bytes, most: int) -> bytes:
    """The bytes of a compressed CSV file, at most so many; those of other files as they are."""
    if content.startswith(b"PAR1") or is_workbook(io.BytesIO(content)):
        return content
    return read_packed(path, open_packed(path, io.BytesIO(content)), most)


def header(path: Path, **how: str | None) -> list[str]:
    """The names of a file's columns; [] for a file that will be refused when it is read."""
    try:
        with open_rows(path, **how) as reader:
            return reader.names
    except (ImputefreeError, OSError):
        return []


def need_columns(
    columns: Iterable[Any],
    names: Sequence[str],
    path: Path,
    drop: Sequence[str] = (),
    option: str = "",
) -> None:
    """Raise an error unless these columns exist, and those to drop, and no column is in both.

    columns : names of the file's columns, or a frame
    option : the option that names the columns, for the error, which suggests a near miss

    >>> need_columns(["age", "outcome"], ["Outcome"], Path("data.csv"), option="--target")
    Traceback (most recent call last):
    imputefree.errors.InputError: data.csv has no column 'Outcome' (--target). Its columns are \
'age', 'outcome'. Perhaps you mean 'outcome'.
    """
    both = [name for name in names if name in drop]
    if both:
        fact = f"column {shorten(both)} is both used and dropped"
        raise ParameterError(fact, "A dropped column cannot be used", "Leave it out of drop")
    known = [str(column) for column in columns]
    lacking = [name for name in [*names, *drop] if name not in known]
    if lacking:
        fact = f"{path} has no column {shorten(lacking)}" + (f" ({option})" if option else "")
        remedy = closest(lacking[0], known) or "Correct the name, or the file"
        raise InputError(fact, f"Its columns are {shorten(known, limit=8)}", remedy)


def read_label_column(values: pd.Series, task: str | None, path: Path) -> np.ndarray:
    """The target column of a file: classes as strings or whole numbers, or numbers as floats.

    task : "classification", "regression", or None: up to 20 different whole numbers are classes
    """

    def refused(problem: str, rule: str, remedy: str) -> InputError:
        return InputError(f"the target {values.name!r} of {path} holds {problem}", rule, remedy)

    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        if task == "regression":
            remedy = "Predict classes instead, or name another target"
            raise refused("strings", "Regression needs numbers", remedy)
        return values.astype(str).to_numpy(dtype=str)
    array = values.to_numpy(dtype=float)
    if not np.isfinite(array).all():
        raise refused(
            "an infinite number", "A label is a class or a finite number", "Correct these rows"
        )
    whole = bool((array == np.round(array)).all())
    exact = bool((np.abs(array) < EXACT).all())
    if task is None:
        task = TASKS[0] if whole and exact and len(np.unique(array)) <= MOST_CLASSES else TASKS[1]
    if task == "regression":
        return array
    if not exact:
        raise refused(
            "numbers beyond 2^53",
            "Such numbers are not exact, and classes must be",
            "Write the classes as strings, or as smaller numbers",
        )
    return array.astype(int) if whole else array.astype(str)
