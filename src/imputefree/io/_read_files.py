"""A user's file as a frame: CSV, packed CSV or Parquet."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from ..errors import InputError
from ._csv_chunks import CsvChunks, open_csv
from ._csv_files import read_csv, words_as_gaps

PARQUET = (".parquet", ".pq")
INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name


def read_frame(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """All rows of a file, and notes on what was taken for a gap.

    Rows are numbered 0, 1, …; only empty cells are gaps, and words such as "NA" in columns that
    hold numbers otherwise.
    """
    if path.suffix.lower() in PARQUET:
        return words_as_gaps(_read_parquet(path))
    frame = read_csv(path)
    _check_lines(path)
    return words_as_gaps(frame)


def digest(path: Path) -> str:
    """What tells a file's content from any other."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_lines(path: Path) -> None:
    """Refuse what `predict` refuses: pandas would fill lines that are too short with gaps."""
    with _opened(path) as file:
        for rows in file.rows({file.names[0]: "text"}):
            for line, what in sorted(rows.wrong.items()):
                raise InputError(
                    f"{path}, line {line}: {what}",
                    "Every line has a field for every column, be it empty",
                    "Correct the line",
                )


@contextmanager
def _opened(path: Path) -> Iterator[CsvChunks]:
    if path.suffix.lower() != ".zip":
        with open_csv(path) as file:
            yield file
        return
    with path.open("rb") as raw, zipfile.ZipFile(raw) as whole:
        # The only one in it: pandas refuses archives of several.
        yield CsvChunks(path, raw, whole.open(whole.namelist()[0]))


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow
    from pyarrow import parquet

    try:
        # An index that has a name is a column like others; one without only numbers the rows.
        frame = parquet.read_table(path).to_pandas(ignore_metadata=True)
        return frame.drop(columns=[name for name in frame if INDEX.fullmatch(str(name))])
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", "", "Correct the path") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is no Parquet file that can be read ({error})",
            "A table is a CSV or a Parquet file",
            "Correct or replace the file",
        ) from None
