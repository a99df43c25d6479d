"""The different cells of a column, and what each looks like."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..data import NEVER_LEVELS, is_gap_word
from ..errors import counted, shorten
from ._cell_values import gap_tests, plain_numbers
from ._quantities import Quantity, read_quantity
from ._written_times import NEVER

MOSTLY = 0.95  # a column of which such a share are numbers, or dates, holds numbers, or dates
SHOWN = 4  # words that a note names
MOST_WORDS = 100  # words that are remembered as gaps of one column


@dataclass(frozen=True)
class Cells:
    """The cells of a column of strings, each different one once.

    distinct : (m,) cells, which may be of any type
    rows : (m,) in how many rows each occurs
    decimal : the mark before decimals
    missing : words that the user says stand for a gap
    """

    distinct: np.ndarray
    rows: np.ndarray
    decimal: str
    missing: Collection[Any] = ()

    @classmethod
    def of(cls, cells: pd.Series, decimal: str, missing: Collection[Any] = ()) -> Cells:
        places, distinct = pd.factorize(cells)
        rows = np.bincount(places[places >= 0], minlength=len(distinct))
        return cls(np.asarray(distinct, dtype=object), rows, decimal, missing)

    @cached_property
    def strings(self) -> list[str]:
        """The cells as strings."""
        return [str(cell) for cell in self.distinct]

    @cached_property
    def gaps(self) -> np.ndarray:
        """(m,) which are words that always stand for a gap."""
        words, _ = gap_tests(self.missing)
        words |= {*NEVER_LEVELS, *NEVER}
        return self.which(lambda text: text.casefold() in words)

    @cached_property
    def maybe(self) -> np.ndarray:
        """(m,) which are words that stand for a gap among numbers."""
        return self.which(is_gap_word) & ~self.gaps

    @cached_property
    def known(self) -> np.ndarray:
        """(m,) which are not gaps, among numbers either."""
        return ~self.gaps & ~self.maybe

    @cached_property
    def plain(self) -> np.ndarray:
        """(m,) numbers without anything else, NaN for other cells."""
        return np.where(self.known, plain_numbers(self.distinct, self.decimal), np.nan)

    @cached_property
    def quantities(self) -> dict[int, Quantity]:
        """By place, other cells that hold a number."""
        places = np.flatnonzero(np.isnan(self.plain) & self.known).tolist()
        read = {j: read_quantity(self.strings[j], self.decimal) for j in places}
        return {j: quantity for j, quantity in read.items() if quantity is not None}

    def which(self, test: Callable[[str], bool]) -> np.ndarray:
        """(m,) for which strings a test holds."""
        return np.array([test(text) for text in self.strings], dtype=bool)

    def at(self, places: Collection[int]) -> np.ndarray:
        """(m,) which cells are at these places."""
        chosen = np.zeros(len(self.distinct), dtype=bool)
        chosen[[*places]] = True
        return chosen

    def share(self, chosen: np.ndarray) -> float:
        """The share of rows that these cells have, of those that are not gaps."""
        rows = self.rows * self.known
        return float(rows[chosen].sum() / max(rows.sum(), 1))

    def named(self, chosen: np.ndarray) -> str:
        """These cells with their rows, the most frequent first."""
        order = np.flatnonzero(chosen)[np.argsort(-self.rows[chosen], kind="stable")]
        return shorten(
            [f"{self.strings[j]!r} ({counted(int(self.rows[j]), 'row')})" for j in order],
            SHOWN,
            str,
        )


def joined(*notes: str) -> str:
    """Notes as one."""
    return "; ".join(note for note in notes if note)


def are(cells: np.ndarray, one: str, many: str) -> str:
    """That these cells are something, one or many of them."""
    return f"is {one}" if cells.sum() == 1 else f"are {many}"
