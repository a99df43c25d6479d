"""Read a CSV file as it is, or say in one sentence what is wrong with it."""

from __future__ import annotations

import lzma
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..data import GAP_WORDS
from ..errors import InputError, ParameterError, counted, shorten

PACKED = {".gz", ".bz2", ".xz", ".zip", ".zst", ".tar"}
ARCHIVES = (zipfile.BadZipFile, tarfile.TarError)
SEPARATORS = {";": "semicolons", "\t": "tabs"}


def read_csv(path: Path) -> pd.DataFrame:
    """All of a file; only empty cells are gaps, so that a category "None" or "NA" stays one.

    See `words_as_gaps` for numbers.
    """
    if not path.is_file():
        raise InputError(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}",
            "A table is read from a CSV file with a line of column names",
            "Correct the path",
        )
    with path.open("rb") as file:
        plain = path.suffix not in PACKED
        if plain and b"\0" in file.read(4096):
            raise _unreadable(path, "is no CSV text (it holds zero bytes)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # Without index_col=False one value too many in every line would move all columns.
            frame = pd.read_csv(
                path, keep_default_na=False, na_values=[""], low_memory=False, index_col=False
            )
    except pd.errors.ParserWarning:
        raise _unreadable(path, "has lines with more values than there are column names") from None
    except pd.errors.EmptyDataError:
        raise _unreadable(path, "is empty") from None
    except (UnicodeDecodeError, pd.errors.ParserError, ValueError) as error:
        raise _unreadable(path, f"is no CSV text ({str(error).strip()})") from None
    except ImportError as error:
        raise _unreadable(
            path, f"is packed as {path.suffix}, which cannot be read ({error})"
        ) from None
    except (EOFError, zlib.error, lzma.LZMAError, OSError, *ARCHIVES) as error:
        raise _unreadable(path, f"is truncated or corrupted ({error})") from None
    if frame.empty:
        raise _unreadable(
            path, "has column names but no rows" if len(frame.columns) else "is empty"
        )
    if any("\0" in str(name) for name in frame.columns):
        raise _unreadable(path, "is no CSV text (it holds zero bytes)")
    for mark, word in SEPARATORS.items():
        if len(frame.columns) == 1 and mark in frame.columns[0]:
            raise _unreadable(path, f"seems to have {word} between its columns, not commas")
    return frame


def words_as_gaps(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Words for "missing" in columns that hold numbers otherwise become gaps; and notes of it.

    In a column of texts such a word may be a category and stays one.

    >>> words_as_gaps(pd.DataFrame({"age": ["31", "NA"], "ward": ["B", "None"]}))[1]
    ("In column 'age' 'NA' (1 row) was taken for a gap.",)
    """
    frame, notes = frame.copy(), []
    for name in frame.select_dtypes(exclude=["number", "bool"]).columns:
        texts = frame[name]
        numbers = pd.to_numeric(texts, errors="coerce")
        odd = texts[numbers.isna() & texts.notna()].astype(str)
        if len(odd) and len(odd) < texts.notna().sum() and set(odd) <= GAP_WORDS:
            found = shorten(sorted(set(odd)))
            notes.append(
                f"In column {name!r} {found} ({counted(len(odd), 'row')}) was taken for a gap."
            )
            frame[name] = numbers
    return frame, tuple(notes)


def need_columns(
    frame: pd.DataFrame, names: list[str], path: Path, drop: Sequence[str] = ()
) -> None:
    """All of these columns must be there, and those to drop, which are others."""
    both = [name for name in names if name in drop]
    if both:
        raise ParameterError(
            f"column {shorten(both)} is needed and to be dropped",
            "What is dropped cannot be used",
            "Leave it out of drop",
        )
    names = [*names, *drop]
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
