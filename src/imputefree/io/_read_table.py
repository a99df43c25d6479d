"""`read_table`: a stranger's file as a frame to learn from, and what was understood of it."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd

from ._csv_rows import read_checked
from ._file_rows import PARQUET, open_file, read_parquet
from ._read_files import words_as_gaps
from ._understood import CATEGORY, KEY, NUMBER, ColumnReading, FileFormat, Understood

Source = str | os.PathLike[str] | bytes | IO[bytes] | pd.DataFrame


def read_table(
    source: Source,
    *,
    target: str | None = None,
    keys: Sequence[str] = (),
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    columns: Mapping[str, Any] | str | os.PathLike[str] | Understood | None = None,
    name: str | None = None,
) -> tuple[pd.DataFrame, Understood]:
    """Read a table as it is, and say what was understood.

    Returns the frame that `imputefree fit` would learn from: numbers as floats, categories as
    strings, gaps as NaN; and an `Understood`, which prints as a line for the file and a table of
    what each column was taken for.

    source : a CSV (also compressed), Excel or Parquet file, a folder of parts, "-" for standard
        input, the bytes of a file (an upload), an open binary file, or a frame
    target : the column to predict: it is never dropped, and codes in it are only shown
    keys : ids, times and groups: they are kept as they are
    sep, decimal, encoding : how a CSV file is written; found by themselves if None
    missing : cells that stand for a gap, such as [-9, "unknown"], in all columns, or by column as
        {"bmi": [0]}; they are added to those that are found
    columns : what columns are: {"ward": "category", "bmi": {"kind": "number", "missing": [0]}}, a
        YAML file that `Understood.save` wrote, or an `Understood`: then a new file is read as the
        first one was, whatever its separator
    name : of bytes or an open file, for messages, and for the format by its ending
    """
    label = name or ("frame" if isinstance(source, pd.DataFrame) else "table.csv")
    digest = ""
    if isinstance(source, pd.DataFrame):
        frame, kind = source.reset_index(drop=True), "frame"
    else:
        if isinstance(source, str | os.PathLike):
            path = Path(source)
            with open_file(path) as file:
                content = file.read()
        else:
            path, content = Path(label), source if isinstance(source, bytes) else source.read()
        label, digest = path.name, hashlib.sha256(content).hexdigest()
        kind = "Parquet" if path.suffix.lower() in PARQUET else "CSV"
        reader: Any = read_parquet if kind == "Parquet" else read_checked
        frame = reader(path, io.BytesIO(content) if kind == "Parquet" else content)
    frame.columns = frame.columns.astype(str)
    frame, notes = words_as_gaps(frame)
    readings = {
        str(column): ColumnReading(
            str(column),
            KEY if column in keys else NUMBER if values.dtype.kind in "iufb" else CATEGORY,
            gaps=float(values.isna().mean()),
        )
        for column, values in frame.items()
    }
    return frame, Understood(FileFormat(label, kind), readings, notes, len(frame), digest)
