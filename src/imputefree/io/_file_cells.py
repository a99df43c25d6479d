"""What the cells of a file mean to a model: by the kinds it was trained with, never by guesses.

Every cell is understood by itself, so that it makes no difference where a large file is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError
from ._csv_files import GAP_WORDS

TRUTH = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}


def as_numbers(values: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with NaN for gaps, and which cells are none (texts, infinity); (n,) each.

    >>> as_numbers(pd.Series(["1.5", "NA", None, "True", "old", "inf"]))
    (array([1.5, nan, nan, 1. , nan, inf]), array([False, False, False, False,  True,  True]))
    """
    dtype = values.dtype
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)  # truth values are numbers
        return numbers, np.isinf(numbers)
    if dtype.kind in "mM":
        raise InputError(
            f"column {values.name!r} holds dates or times",
            "The model was trained with numbers there",
            "Turn them into numbers as was done for training",
        )
    cells = values.astype(object)
    numbers = np.array(pd.to_numeric(cells, errors="coerce"), dtype=np.float64)
    bad = np.isinf(numbers)
    words = np.flatnonzero(np.isnan(numbers) & cells.notna().to_numpy())
    if len(words):
        codes, texts = pd.factorize(cells.iloc[words].astype(str))
        numbers[words] = np.array([TRUTH.get(text, np.nan) for text in texts])[codes]
        meant = {"", *GAP_WORDS, *TRUTH}
        bad[words] = np.array([text not in meant for text in texts])[codes]
    return numbers, bad


class Levels:
    """The texts that a column of categories may hold, and which of them a cell stands for.

    A cell is the level of the same text. Failing that, it is compared as a number: training may
    have read the column as numbers, where "1", "1.0" and "01" are one level; and in a column of
    numbers True is 1.

    known : texts, each with what it stands for (by default itself)

    >>> levels = Levels(["1", "2", "A"])
    >>> levels.match(pd.Series(["1", "2.0", "A", None, "B"]))
    (array(['1', '2', 'A', None, None], dtype=object), array([False, False, False, False,  True]))
    """

    def __init__(self, known: Iterable[str] | Mapping[str, Any]) -> None:
        self.known = dict(known) if isinstance(known, Mapping) else {text: text for text in known}

    def match(self, values: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """What each cell stands for, None for gaps; and which cells are no known level; (n,)."""
        try:
            codes, cells = pd.factorize(values)
        except TypeError:
            raise InputError(
                f"column {values.name!r} holds values such as lists",
                "A category is a text or a number",
                "Take the part you need into a column of its own",
            ) from None
        found = np.empty(len(cells) + 1, dtype=object)  # the last is for gaps, whose code is -1
        unseen = np.zeros(len(cells) + 1, dtype=bool)
        for i, cell in enumerate(np.asarray(cells, dtype=object)):
            found[i], unseen[i] = self.find(cell)
        return found[codes], unseen[codes]

    def find(self, cell: Any) -> tuple[Any, bool]:
        """What one cell that is no gap stands for, or None; and whether it is no known level."""
        texts = _readings(cell)
        text = next((text for text in texts if text in self.known), None)
        if text is None:
            return None, texts[0] != "" and texts[0] not in GAP_WORDS
        return self.known[text], False


def _readings(cell: Any) -> list[str]:
    """The texts under which a level may be known, the likeliest first."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", errors="replace")
    if isinstance(cell, bool | np.bool_):
        return [str(bool(cell)), str(int(cell))]
    if not isinstance(cell, str):
        exact = [str(int(cell))] if isinstance(cell, int | np.integer) else []
        try:
            return [*exact, _shortest(float(cell))]
        except (TypeError, ValueError, OverflowError):
            return [str(cell)]
    if cell in TRUTH:
        return [cell, str(int(TRUTH[cell]))]
    try:
        return [cell, _shortest(float(cell))] if "_" not in cell else [cell]
    except (ValueError, OverflowError):
        return [cell]


def _shortest(number: float) -> str:
    """As `data.encoding.as_texts` writes it; infinity has no such text."""
    return str(int(number)) if number.is_integer() else str(number)
