"""Names of columns as a user writes them on the command line, held against those of a file."""

from __future__ import annotations

import difflib
import lzma
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ..data import shorten
from ..errors import InputError
from ..io import ARCHIVES, PARQUET


def split_names(given: Sequence[str] | None, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Names by commas, repeated options or both, each once; a column's name may hold a comma.

    >>> split_names(["age, sex", "ward"])
    ('age', 'sex', 'ward')
    >>> split_names(["pixel 0,1"], columns=["pixel 0,1"])
    ('pixel 0,1',)
    """
    found: list[str] = []
    for one in given or ():
        found += [one] if one in columns else [part.strip() for part in one.split(",")]
    return tuple(dict.fromkeys(name for name in found if name))


def need_names(columns: Sequence[str], wanted: Mapping[str, Sequence[str]], path: Path) -> None:
    """Every column that an option names must be there; a near miss is suggested.

    >>> need_names(["age", "outcome"], {"--target": ["Outcome"]}, Path("data.csv"))
    Traceback (most recent call last):
    imputefree.errors.InputError: data.csv has no column 'Outcome' (--target). Its columns are \
'age', 'outcome'. Perhaps you mean 'outcome'.
    """
    for option, names in wanted.items():
        lacking = [name for name in names if name not in columns]
        if lacking:
            near = _near(lacking[0], columns)
            raise InputError(
                f"{path} has no column {shorten(lacking)} ({option})",
                f"Its columns are {shorten(list(columns), limit=8)}",
                f"Perhaps you mean {' or '.join(map(repr, near))}" if near else "Correct the name",
            )


def _near(name: str, columns: Sequence[str]) -> list[str]:
    lower = {column.lower(): column for column in columns}
    close = difflib.get_close_matches(name.lower(), list(lower), n=2, cutoff=0.6)
    return [lower[one] for one in close]


def refuse_twins(path: Path) -> None:
    """Two columns of one name: pandas would rename the second in silence."""
    twice = [name for name, count in Counter(header(path)).items() if count > 1]
    if twice:
        raise InputError(
            f"{path} has more than one column named {shorten(twice)}",
            "Columns are told apart by name",
            "Rename or remove the repeated columns",
        )


def header(path: Path) -> list[str]:
    """The names of a file's columns; [] of a file that whoever reads all of it will refuse."""
    try:
        return _first_line(path)
    except (OSError, EOFError, ValueError, ImportError, zlib.error, lzma.LZMAError, *ARCHIVES):
        return []


def _first_line(path: Path) -> list[str]:
    if path.suffix.lower() in PARQUET:
        from pyarrow import ArrowException, parquet

        try:
            return list(parquet.read_schema(path).names)
        except ArrowException as error:
            raise ValueError from error
    first = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False)
    return [str(name) for name in first.iloc[0]]
