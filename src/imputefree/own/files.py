"""A user's file as a frame: CSV, packed CSV or Parquet."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..datasets.csv_files import read_csv, words_as_gaps
from ..errors import InputError

PARQUET = (".parquet", ".pq")


def read_frame(path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """All rows of a file, and notes on what was taken for a gap.

    Rows are numbered 0, 1, …; only empty cells are gaps, and words such as "NA" in columns that
    hold numbers otherwise.
    """
    if path.suffix.lower() in PARQUET:
        return words_as_gaps(_read_parquet(path))
    return words_as_gaps(read_csv(path))


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_table(path).to_pandas().reset_index(drop=True)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", "", "Correct the path") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is no Parquet file that can be read ({error})",
            "A table is a CSV or a Parquet file",
            "Correct or replace the file",
        ) from None
