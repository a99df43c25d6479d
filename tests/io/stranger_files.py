"""More dirty files, as programs of several countries and trades write them.

Unlike the traps of `dirty_files.py` each is a file of its own. What should come out was decided
before the file was first read. `stranger_exports.py`, `stranger_surveys.py`, `stranger_dumps.py`,
`stranger_times.py` and `stranger_books.py` hold them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tests.io.dirty_files import Dirty

ROWS = 24
AGES = [31, 42, 57, 64, 28, 73, 45, 39, 81, 52, 66, 35]
SIZES = [3.5, 12.25, 7.0, 41.5, 5.75, 18.0, 29.5, 2.25, 33.0, 14.5, 9.75, 22.0]
LARGE = [1234.5, 980.25, 12600.0, 7450.5, 2310.75, 860.5, 5125.0, 1999.5, 640.25, 3075.0]
DAYS = pd.to_datetime("2024-01-05") + pd.to_timedelta([0, 40, 9, 101, 63, 17, 150, 88], unit="D")
GAP = np.nan
DROPPED: list = []


def cycled(cells: Sequence) -> list:
    """So many rows of these cells, again and again."""
    return [cells[i % len(cells)] for i in range(ROWS)]


def comma(number: float, digits: int | None = None) -> str:
    """A number with a decimal comma."""
    return (str(number) if digits is None else f"{number:.{digits}f}").replace(".", ",")


def german(number: float) -> str:
    """A number such as 1.234,50."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def spaced(number: float, space: str) -> str:
    """A number such as 1 234,50."""
    return f"{number:,.2f}".replace(",", space).replace(".", ",")


def dates(name: str, days: Sequence) -> dict[str, list]:
    """What a column of dates becomes; None is a gap."""
    stamps = pd.Series(pd.to_datetime(list(days)))
    since = stamps.min().normalize()
    parts = {
        f"{name}: days": (stamps - since) / pd.Timedelta(days=1),
        f"{name}: month": stamps.dt.month,
        f"{name}: weekday": stamps.dt.day_of_week,
    }
    return {part: values.astype(float).tolist() for part, values in parts.items()}


def text_of(columns: dict[str, Sequence], sep: str = ";", end: str = "\n", **how) -> str:
    """Columns as a text; every file has classes besides."""
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if how.get("quoted") else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=sep, lineterminator=end, quoting=quoting)
    writer.writerow([*columns, "class"])
    rows = [cycled(cells) for cells in (*columns.values(), ["a", "b"])]
    writer.writerows(zip(*rows, strict=True))
    return text.getvalue()


def frame_of(meaning: dict[str, Sequence]) -> pd.DataFrame:
    """What should come out."""
    return pd.DataFrame({name: cycled(cells) for name, cells in meaning.items() if len(cells)})


def csv_file(
    name: str, columns: dict[str, Sequence], meaning: dict[str, Sequence] | None, **how
) -> Dirty:
    """A file, and what its columns mean, or that it is refused."""
    refused, whole = how.pop("refused", ()), how.pop("whole", False)
    encoding, before, after = (
        how.pop(k, d) for k, d in (("encoding", "utf-8"), ("before", ""), ("after", ""))
    )
    change = how.pop("change", lambda text: text)
    content = (before + change(text_of(columns, **how)) + after).encode(encoding)
    frame = frame_of(meaning | {"class": ["a", "b"]}) if meaning is not None else None
    return Dirty(f"{name}.csv", content, frame, refused, whole)
