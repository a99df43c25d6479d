"""Values outside the range of training: counted by column, reported in one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import OutsideRangeWarning, counted, shorten
from ._column_plans import Number, Plan
from ._columns import FEW_ROWS

FAR = 1.0  # widths of the range of training beyond which a number is far outside
OFTEN, FEWEST = 0.1, 10  # share and number of values outside the range that are reported


def beyond(values: Any, low: float, high: float) -> Any:
    """How far numbers are outside a range, in widths of that range; 0 inside, NaN for NaN.

    >>> beyond(np.array([10.0, 30.0, 130.0]), 20.0, 60.0)
    array([0.25, 0.  , 1.75])
    """
    width = high / 2 - low / 2 or max(abs(high), 1.0) / 2  # halves, so that nothing overflows
    with np.errstate(over="ignore"):  # infinitely many widths
        return np.maximum(np.maximum(low / 2 - values / 2, values / 2 - high / 2), 0.0) / width


@dataclass
class _Count:
    """Of one column: values seen, outside the range and far outside, and the extremes."""

    plan: Number
    values: int = 0
    outside: int = 0
    far: int = 0
    low: float = np.inf
    high: float = -np.inf

    @property
    def is_worth_a_word(self) -> bool:
        often = self.outside >= max(FEWEST, OFTEN * self.values)
        return bool(self.far) or often

    @property
    def phrase(self) -> str:
        extremes = [self.low] * (self.low < (self.plan.low or 0.0))
        extremes += [self.high] * (self.high > (self.plan.high or 0.0))
        reached = " and ".join(f"{value:g}" for value in extremes)
        known = f"training: {self.plan.low:g} to {self.plan.high:g}"
        return f"{self.plan.name!r} reaches {reached} in {counted(self.outside, 'row')} ({known})"


class Outside:
    """Counts values outside the range of training, column by column.

    A value is far outside if it is farther from the range than the range is wide. A single such
    value is reported; values just outside are reported if there are many.

    >>> age = Number.learn("age", np.array([20.0, 30.0, 60.0]))
    >>> outside = Outside()
    >>> outside.add(age, np.array([61.0, np.nan, 25.0]))
    >>> outside.sentence
    ''
    >>> outside.add(age, np.array([999.0]))
    >>> print(outside.sentence)
    Outside the range of training: 'age' reaches 999 in 2 rows (training: 20 to 60).
    """

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    def add(self, plan: Any, values: np.ndarray) -> None:
        """Count the values of a column, (n,); of a category, or if no range is known, nothing."""
        if not isinstance(plan, Number) or plan.low is None or plan.high is None or not len(values):
            return
        low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
        count = self._counts.setdefault(plan.name, _Count(plan))
        count.values += len(values)
        if not (low < plan.low or high > plan.high):
            return
        distance = beyond(values, plan.low, plan.high)
        count.outside += int((distance > 0).sum())
        count.far += int((distance > FAR).sum())
        count.low, count.high = min(count.low, low), max(count.high, high)

    @property
    def sentence(self) -> str:
        """Which columns were outside, how far and how often; "" if there is nothing to report."""
        phrases = [count.phrase for count in self._counts.values() if count.is_worth_a_word]
        if not phrases:
            return ""
        return f"Outside the range of training: {shorten(phrases, word=str)}."

    def warn(self) -> None:
        """Warn the caller of `predict`, if there is something to say."""
        if sentence := self.sentence:
            warnings.warn(sentence, OutsideRangeWarning, stacklevel=4)


class Ranges:
    """The lowest and highest number of each column in training, of those where it is known."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans: dict[int, Any] = {
            j: plan
            for j, plan in enumerate(plans)
            if isinstance(plan, Number) and plan.low is not None and plan.high is not None
        }
        known = self._plans.values()
        self._low = np.array([plan.low for plan in known])[:, None]  # (columns, 1)
        self._high = np.array([plan.high for plan in known])[:, None]

    def count(self, arrays: Sequence[np.ndarray], outside: Outside) -> None:
        """Count the values that are outside, in columns that have some; arrays as in training."""
        places = [j for j in self._plans if arrays[j].dtype != object]
        few = bool(places) and len(arrays[places[0]]) <= FEW_ROWS
        if few and len(places) == len(self._plans):  # all columns at once
            rows = np.array([arrays[j] for j in places])
            is_outside = ((rows < self._low) | (rows > self._high)).any(1)
            places = [places[i] for i in np.flatnonzero(is_outside)]
        for j in places:
            outside.add(self._plans[j], arrays[j])
