"""Numbers that mean "missing", such as -9, -999, 9999 or an impossible 0, found by their shape.

A code looks like one (nines, or a negative number among others that are not) and stands apart: far
outside the rest, or as the only extreme that many rows share. Zero is a code only where the rest
keeps away from it. A code is `sure` if hardly anything else could look like it; other findings are
shown, and a user decides.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

NINES = [10.0**k - 1 for k in range(1, 10)]
NINES += [float(f"{10**k - 1}.{decimals}") for k in range(1, 6) for decimals in ("9", "99")]
REFUSED = [10.0**k - down for k in range(2, 5) for down in (2, 3, 4)]  # 98, 997, …: "not asked"
REFUSED += [float(digit * k) for digit in "78" for k in range(2, 5)]
FILLS = [-32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0]
SMALL = [-float(k) for k in range(1, 9)]
CODES = np.array([*NINES, *REFUSED, *(-code for code in (*NINES, *REFUSED)), *SMALL, *FILLS])
HUGE = 1e15
NEAR = 20  # different values next to one, to which its rows are compared
FEWEST = 8  # values besides codes, to know what the rest looks like
LONG_RUN = 4  # negative numbers that count down from zero are rarely so many codes
CLASSES = 20  # up to this many distinct numbers may be class codes: 9 may be one of them


class Code(NamedTuple):
    """A number that seems to mean "missing"."""

    value: float
    rows: int
    sure: bool


def find_codes(values: np.ndarray, elsewhere: Collection[float] = ()) -> list[Code]:
    """The codes among numbers (n,), most frequent first; NaN and infinities are passed over.

    elsewhere : codes of other columns of the table, which need to stand apart less

    >>> age = np.r_[np.arange(18, 80), [-9] * 5]
    >>> find_codes(age)
    [Code(value=-9.0, rows=5, sure=True)]
    >>> find_codes(np.r_[np.linspace(30, 50, 40), np.zeros(4)])
    [Code(value=0.0, rows=4, sure=False)]
    >>> find_codes(np.r_[np.arange(40), np.zeros(4)])
    []
    """
    known, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    looks = (np.isin(known, CODES) | (np.abs(known) >= HUGE)) & ~_counts_down(known)
    while True:  # until what is left looks like a column without them
        rest, places = known[~looks], np.flatnonzero(looks).tolist()
        apart = np.array([_apart(known, counts, j, rest, elsewhere) for j in places], dtype=np.int8)
        if apart.all() or not len(apart):
            break
        looks[looks] = apart > 0
    codes = [
        Code(float(known[j]), int(counts[j]), level == 2)
        for j, level in zip(places, apart.tolist(), strict=True)
    ]
    zero = np.flatnonzero(known == 0)
    if len(zero) and _impossible_zero(known[~looks], counts[~looks]):
        codes.append(Code(0.0, int(counts[zero[0]]), False))
    return sorted(codes, key=lambda code: -code.rows)


def _counts_down(known: np.ndarray) -> np.ndarray:
    """Which numbers are -1, -2, -3, … without a gap, at least to -4: whole numbers, not codes."""
    below = -known[known < 0][::-1]
    expected = np.arange(1, len(below) + 1)
    last = int((below == expected).cumprod().sum())
    return (known < 0) & (known >= -last) if last >= LONG_RUN else np.zeros(len(known), dtype=bool)


def _apart(
    known: np.ndarray, counts: np.ndarray, j: int, rest: np.ndarray, elsewhere: Collection[float]
) -> int:
    """How surely a number is a code, given the values that are not: 0, 1 or 2.

    known, counts : all different values, sorted, and their rows
    j : the number's place among them
    rest : those that do not look like codes
    """
    value, rows, total = float(known[j]), counts[j], counts.sum()
    nines, large = abs(value) in NINES, abs(value) >= 99.9
    strong = (nines and (large or value < 0)) or value in FILLS or abs(value) >= HUGE
    if not len(rest) or total - rows < min(FEWEST, total / 2):
        return 0
    low, high = float(rest[0]), float(rest[-1])
    gap, width = max(low - value, value - high), high - low
    if rows < 2:  # nothing that repeats: only what is beyond everything
        return int(strong and large and gap >= 10 * width)
    if low >= 0 > value:  # the only negative numbers
        return 2 if strong and (rows >= 3 or gap >= width) else 1 if gap >= _step(rest) else 0
    others = np.where((known == 0) | (known == value), 0, counts)  # many rows may share a zero
    spike = rows / max(others[max(0, j - NEAR) : j + 1 + NEAR].max(), 1)
    if not low < value < high:
        if gap >= width and nines and (strong or len(rest) > CLASSES):
            return 2
        if gap >= width and (nines or strong):
            return int(len(rest) <= 2 or spike >= 1)
        alone = nines and spike >= 5 and gap >= 2 * _step(rest)
        half = strong and gap >= 0.5 * width
        refused = abs(value) in REFUSED and gap >= 5 * width
        return int(rows >= 3 and (half or alone or refused or value in elsewhere))
    if value in elsewhere:
        return int(spike >= 2 and rows >= 3)
    return int(strong and rows >= 0.01 * total and spike >= 10 and rows >= 3 * others.max())


def _step(rest: np.ndarray) -> float:
    """The usual distance between the smallest of these values."""
    return float(np.median(np.diff(rest[: NEAR + 1]))) if len(rest) > 1 else 0.0


def _impossible_zero(known: np.ndarray, counts: np.ndarray) -> bool:
    """Whether zeros stand apart from values that are all positive and keep away from zero."""
    zeros = int(counts[known == 0].sum())
    rest, weight = known[known > 0], counts[known > 0]
    total = int(weight.sum())
    if (known < 0).any() or len(rest) < 5 or total < 20 or not 2 <= zeros <= total:
        return False
    at = np.cumsum(weight) / total
    twentieth, quarter, middle = rest[np.searchsorted(at, [0.05, 0.25, 0.5])]
    deviation = 1.48 * (middle - quarter)
    edge = twentieth - rest[0]  # what it takes to leave it, compared to the gap before it
    clear = (rest[0] >= edge and middle >= 2.3 * deviation) or (
        rest[0] >= 0.5 * edge and middle >= 4 * deviation
    )
    return bool(clear and rest[0] >= 7 * _step(rest))
