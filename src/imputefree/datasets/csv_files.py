"""Read a CSV file as it is, or say in one sentence what is wrong with it."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pandas as pd

from ..data.words import shorten
from ..errors import InputError


def read_csv(path: Path) -> pd.DataFrame:
    """All of a file; only empty cells are gaps, so that a category "None" or "NA" stays one."""
    if not path.is_file():
        raise InputError(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}",
            "A table is read from a CSV file with a line of column names",
            "Correct the path",
        )
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)
    except pd.errors.EmptyDataError:
        raise _unreadable(path, "is empty") from None
    except (UnicodeDecodeError, pd.errors.ParserError, ValueError) as error:
        raise _unreadable(path, f"is no CSV text ({str(error).strip()})") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _unreadable(path, f"is truncated or corrupted ({error})") from None
    if frame.empty:
        raise _unreadable(
            path, "has column names but no rows" if len(frame.columns) else "is empty"
        )
    if any("\0" in str(name) for name in frame.columns):
        raise _unreadable(path, "is no CSV text (it holds zero bytes)")
    return frame


def need_columns(frame: pd.DataFrame, names: list[str], path: Path) -> None:
    """All of these columns must be there."""
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise InputError(
            f"{path} has no column {shorten(lacking)}",
            f"Its columns are {shorten([str(name) for name in frame.columns], limit=8)}",
            "Correct the column's name, or the file",
        )


def _unreadable(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} {what}",
        "A table is a CSV file: a line of column names, then a line a row",
        "Correct or replace the file",
    )
