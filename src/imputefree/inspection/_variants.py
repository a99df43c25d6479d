"""Which entries are changed to what: one variant an entry that is removed or given a value.

A variant is three whole numbers: a row (or series), a column, and a choice, which is the number of
a plausible value of that column or REMOVED.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data import Plan

REMOVED = -1


@dataclass(frozen=True)
class Variants:
    """m of them, in the order of columns; row, column and choice are (m,) int64 each."""

    row: np.ndarray
    column: np.ndarray
    choice: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def part(self, span: slice) -> Variants:
        """Some of them."""
        return Variants(self.row[span], self.column[span], self.choice[span])


def removals(observed: np.ndarray, first_row: int = 0) -> Variants:
    """Each observed entry removed; observed (n, d), whose first row has this number."""
    column, row = np.nonzero(observed.T)
    return Variants(row + first_row, column, np.full(len(row), REMOVED))


def measured(observed: np.ndarray, choices: np.ndarray, first_row: int = 0) -> Variants:
    """Each missing entry given every plausible value; choices (d,) says how many there are.

    >>> measured(np.array([[True, False]]), np.array([3, 2])).choice
    array([0, 1])
    """
    column, row = np.nonzero(~observed.T)
    each = choices[column]
    ahead = np.repeat(np.cumsum(each) - each, each)
    return Variants(
        np.repeat(row, each) + first_row,
        np.repeat(column, each),
        np.arange(each.sum()) - ahead,
    )


class NextValue:
    """Gathers what plausible values would do: mean change, lowest and highest; (n, d) each."""

    def __init__(self, observed: np.ndarray, prediction: np.ndarray, plans: list[Plan]) -> None:
        plausible = [plan.plausible() for plan in plans]
        self.values = [values for values, _ in plausible]
        self.choices = np.array([len(values) for values in self.values], dtype=np.int64)
        shares = [shares for _, shares in plausible]
        self._shares = np.concatenate(shares) if shares else np.empty(0)
        self._first = np.cumsum(self.choices) - self.choices
        self._prediction = prediction
        gap = np.where(observed, np.nan, 0.0)
        self.change = gap
        # A column of which training saw nothing has no plausible value: it changes nothing.
        known = np.where(self.choices > 0, np.inf, prediction[:, None]) + gap
        self.low, self.high = known, np.where(np.isinf(known), -np.inf, known)

    def add(self, which: Variants, found: np.ndarray) -> None:
        """What was predicted for these variants; (m,)."""
        place = which.row, which.column
        share = self._shares[self._first[which.column] + which.choice]
        np.add.at(self.change, place, share * np.abs(found - self._prediction[which.row]))
        np.minimum.at(self.low, place, found)
        np.maximum.at(self.high, place, found)


def in_parts(which: Variants, size: int, predict: Callable[[Variants], np.ndarray]) -> np.ndarray:
    """Predictions for all variants, so many at a time; (m,)."""
    found = np.empty(len(which))
    for at in range(0, len(which), size):
        span = slice(at, at + size)
        found[span] = predict(which.part(span))
    return found
