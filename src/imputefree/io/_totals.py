"""A last row that holds totals or means of the rows above, known piece by piece."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError
from ._cell_values import numbered, plain_numbers
from ._quantities import read_quantity

FEWEST = 5  # numbers above a total
TOTALS = {"total", "totals", "grand total", "sum", "subtotal", "average", "mean", "summe", "gesamt"}
TOTALS |= {"gesamtsumme", "insgesamt", "mittelwert", "durchschnitt", "somme", "totale", "moyenne"}
TOTALS |= {"sums", "means", "zwischensumme", "suma", "media", "promedio", "soma", "média", "totaal"}
TOTALS |= {"gemiddelde", "totalt", "summa", "medelvärde", "gesamtergebnis", "total général"}
SPELLED = [
    form + end
    for word in TOTALS
    for form in (word, word.capitalize(), word.title(), word.upper())
    for end in ("", ":")
]


class Totals:
    """Knows, after all pieces of a table, whether its last row is a row of totals.

    It is if a number of it is the sum of those above, in two columns or beside a word such as
    Total; beside a word a mean is enough. A word that occurs above too is a level.

    numbers : by column that holds numbers, the mark before decimals; all others may hold words

    >>> totals = Totals({"n": "."})
    >>> totals.add(pd.DataFrame({"who": ["a", "b", "c"], "n": ["1", "2", "3"]}))
    >>> totals.add(pd.DataFrame({"who": ["d", "e", "Total"], "n": ["4", "5", "15"]}))
    >>> totals.last
    'Total'
    """

    def __init__(self, numbers: Mapping[str, str]) -> None:
        self.numbers = dict(numbers)
        self._count = dict.fromkeys(numbers, 0)
        self._sum, self._most = (dict.fromkeys(numbers, 0.0) for _ in range(2))
        self._value: dict[str, float] = {}  # of the last row
        self._words: dict[str, Any] = {}
        self._above: dict[str, set[str]] = {}  # words for totals by column

    def add(self, frame: pd.DataFrame) -> None:
        """The next rows, cells as they are in the file."""
        if not len(frame):
            return
        for name, decimal in self.numbers.items():
            values = _numbers(frame[name], decimal)
            above = np.append(self._value.get(name, np.nan), values[:-1])
            above = above[np.isfinite(above)]
            if len(above):
                self._count[name] += len(above)
                with np.errstate(over="ignore"):  # an infinite sum is nobody's total
                    self._sum[name] += float(above.sum())
                self._most[name] = max(self._most[name], float(np.abs(above).max()))
            self._value[name] = float(values[-1])
        for column, cells in frame.items():
            name = str(column)
            if cells.dtype != object and not isinstance(cells.dtype, pd.StringDtype):
                continue
            words = cells.iloc[:-1]
            try:
                found = {*words[words.isin(SPELLED)], self._words.get(name)}
            except TypeError:  # lists, which are refused where the column is read
                continue
            self._above[name] = self._above.get(name, set()) | found
            self._words[name] = cells.iloc[-1]

    @property
    def last(self) -> str | None:
        """The word beside the totals, or "" if there is none; None if the last row has none."""
        labelled = [
            (name, word)
            for name, word in self._words.items()
            if isinstance(word, str) and word.strip(" :.").casefold() in TOTALS
        ]
        if any(word in self._above[name] for name, word in labelled):
            return None
        sums = sum(self._is_total(name, bool(labelled)) for name in self.numbers)
        if sums > 1 or (sums and labelled):
            return labelled[0][1] if labelled else ""
        return None

    def _is_total(self, name: str, labelled: bool) -> bool:
        """Whether a number is the sum of those above or, if labelled, their mean."""
        value, count, total = self._value.get(name, np.nan), self._count[name], self._sum[name]
        if np.isnan(value) or count < FEWEST or (not labelled and abs(value) <= self._most[name]):
            return False
        is_mean = labelled and np.isclose(total / count, value, rtol=1e-2, atol=0)
        return bool(is_mean or np.isclose(total, value, rtol=1e-3, atol=0))


def total_error(path: Path, word: str) -> InputError:
    """The error for a row of totals, with the word beside them."""
    fact = f"the last row of {path}{f' ({word!r})' * bool(word)} {HOLDS_TOTALS}"
    return InputError(fact, "Every row of a table is one case", "Remove that row")


HOLDS_TOTALS = "holds totals or means of the rows above"


def _numbers(cells: pd.Series, decimal: str) -> np.ndarray:
    """Numbers, also with units; NaN for other cells; (n,)."""
    if cells.dtype.kind in "iufb":
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    places, distinct = numbered(cells.astype(object))
    values = plain_numbers(np.asarray(distinct, dtype=object), decimal)
    for j in np.flatnonzero(np.isnan(values)).tolist():
        cell = distinct[j]
        quantity = read_quantity(cell, decimal) if isinstance(cell, str) else None
        values[j] = quantity.value if quantity is not None else np.nan
    return np.append(values, np.nan)[places]
