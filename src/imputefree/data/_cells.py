"""What a cell of a file or of JSON means: a number, a string or missing.

- Missing: None and NaN. In a file also an empty cell and, where a column holds numbers or a
  category unknown to training, one of `GAP_WORDS`.
- A number: bool, int, float or Decimal (True is 1). In a file also a string that reads as one.
- A category: compared by its string, see `level_name`.

JSON values are read by `read_cell`, and cells of a file, which may all be strings, by
`parse_numbers` and `Levels.match`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError, InputTypeError
from ._columns import NUMBERS, factorized, level_name

# Words for "missing": those that are never a category, and those that may be one.
NEVER_LEVELS = {
    *("?", "??", "\\n", ".", "..", "--", "---", "n/a", "n.a.", "#n/a", "nan", "<na>", "null"),
    *("nul", "(null)", "#nv", "#n/v", "#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?"),
}
MAYBE_LEVELS = {
    *("na", "none", "-", "–", "—", "unknown", "missing", "not available", "not known", "undefined"),
    *("no data", "not recorded", "not measured", "not done", "nd", "n.d.", "n/d", "k.a.", "k. a."),
    *("keine angabe", "keine angaben", "unbekannt", "n.b.", "n. b.", "nicht bekannt", "fehlend"),
    *("nicht erhoben", "nicht bestimmt", "fehlt", "inconnu", "inconnue", "non renseigné"),
    *("manquant", "desconocido", "sconosciuto"),
}
GAP_WORDS = {
    form
    for word in (*NEVER_LEVELS, *MAYBE_LEVELS)
    for form in (word, word.upper(), word.capitalize(), word.title())
} | {"NaN", "NaT"}
NOTHING = re.compile(r"[-–—_.:?]{2,}")  # "--:--", "__.__"
_FOLDED = NEVER_LEVELS | MAYBE_LEVELS
TRUTH = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}


def is_gap_word(text: str) -> bool:
    """Whether a string, in upper or lower case, means "missing" among numbers.

    >>> [is_gap_word(text) for text in ("k.A.", "n/A", "nb", "--:--")]
    [True, True, False, True]
    """
    return text in GAP_WORDS or text.casefold() in _FOLDED or NOTHING.fullmatch(text) is not None


def read_cell(value: Any, levels: Levels | None = None) -> tuple[float | str | None, bool]:
    """Read one JSON value by the kind that its column had in training.

    levels : the known levels of a category; None for a column of numbers

    Returns the number or the level (None: missing), and whether the value is a category that
    training never saw, which counts as missing. A value that the column cannot hold is an
    InputError whose fact begins with a verb ("holds …"), so that callers can put the name of the
    field before it. Unlike a cell of a file, a string is never read as a number.

    >>> read_cell(31), read_cell(None), read_cell(True)
    ((31.0, False), (None, False), (1.0, False))
    >>> read_cell("f", Levels(["f", "m"])), read_cell("x", Levels(["f", "m"]))
    (('f', False), (None, True))
    >>> read_cell("31")
    Traceback (most recent call last):
    imputefree.errors.InputTypeError: holds the string '31'. It must be a number, or missing. \
Send it without quotes.
    """
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None, False
    if isinstance(value, NUMBERS):
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        if not np.isfinite(number):
            raise InputError(
                "holds a number beyond 1e308", "Numbers must be finite", "Leave it out if missing"
            )
        return (number, False) if levels is None else levels.find(value)
    if isinstance(value, str) and levels is not None:
        return levels.find(value)
    rule = f"It must be a {'number' if levels is None else 'string'}, or missing"
    if isinstance(value, str):
        fact = f"holds the string {value[:60]!r}"
        raise InputTypeError(fact, rule, "Send it without quotes")
    kinds: dict[Any, str] = {list: "a list", dict: "an object"}
    fact = f"holds {kinds.get(type(value), type(value).__name__)}"
    raise InputTypeError(fact, rule, "Send one value")


def coerced(cells: Any) -> np.ndarray:
    """Cells as numbers: NaN for other cells, infinite for integers beyond all floats; (n,).

    >>> coerced(["1.5", 10**400, -(10**400), "old", None])
    array([ 1.5,  inf, -inf,  nan,  nan])
    """
    cells = pd.Series(cells, dtype=object)
    try:
        numbers = pd.to_numeric(cells, errors="coerce")
    except OverflowError:
        numbers = pd.to_numeric(cells.map(_within_floats), errors="coerce")
    return np.array(numbers, dtype=np.float64)


def _within_floats(cell: Any) -> Any:
    if isinstance(cell, int) and abs(cell) > sys.float_info.max:
        return math.inf if cell > 0 else -math.inf
    return cell


def parse_numbers(cells: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a file with NaN where missing, and which cells are not finite numbers; (n,) each.

    Each cell is read by itself, so it does not matter where a large file is cut.

    >>> parse_numbers(pd.Series(["1.5", "NA", None, "True", "old", "inf"]))
    (array([1.5, nan, nan, 1. , nan, inf]), array([False, False, False, False,  True,  True]))
    """
    dtype = cells.dtype
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        numbers = cells.to_numpy(dtype=np.float64, na_value=np.nan)  # booleans are numbers
        return numbers, np.isinf(numbers)
    if dtype.kind in "mM":
        fact = f"column {cells.name!r} holds dates or times"
        remedy = "Convert them to numbers as was done for training"
        raise InputError(fact, "The model was trained with numbers there", remedy)
    objects = cells.astype(object)
    numbers = coerced(objects)
    odd = np.isinf(numbers)
    words = np.flatnonzero(np.isnan(numbers) & objects.notna().to_numpy())
    if len(words):
        codes, strings = pd.factorize(objects.iloc[words].astype(str))
        numbers[words] = np.array([TRUTH.get(word, np.nan) for word in strings])[codes]
        valid = [word in TRUTH or not word or is_gap_word(word) for word in strings]
        odd[words] = ~np.array(valid)[codes]
    return numbers, odd


class Levels:
    """The levels of a category column, and which of them a cell represents.

    A cell is the level of the same string. Failing that, it is compared as a number: training may
    have read the column as numbers, where "1", "1.0" and "01" are one level and True is 1.

    known : the levels, or a mapping from each level to what it represents

    >>> levels = Levels(["1", "2", "A"])
    >>> levels.match(pd.Series(["1", "2.0", "A", None, "B"]))
    (array(['1', '2', 'A', None, None], dtype=object), array([False, False, False, False,  True]))
    """

    def __init__(self, known: Iterable[str] | Mapping[str, Any] = ()) -> None:
        self.known = dict(known) if isinstance(known, Mapping) else {name: name for name in known}

    def match(self, cells: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """What each cell represents, None where missing; and which are unknown levels; (n,)."""
        try:
            codes, distinct = factorized(cells)
        except TypeError:
            fact = f"column {cells.name!r} holds values such as lists"
            rule = "A category is a string or a number"
            raise InputError(fact, rule, "Extract the part you need into a column") from None
        matched = np.empty(len(distinct) + 1, dtype=object)  # the last is for gaps: code -1
        unseen = np.zeros(len(distinct) + 1, dtype=bool)
        for i, cell in enumerate(np.asarray(distinct, dtype=object)):
            matched[i], unseen[i] = self.find(cell)
        return matched[codes], unseen[codes]

    def find(self, cell: Any) -> tuple[Any, bool]:
        """What a cell that is not missing represents, or None; and whether it is unknown."""
        names = _possible_names(cell)
        name = next((name for name in names if name in self.known), None)
        if name is None:
            return None, names[0] != "" and not is_gap_word(names[0])
        return self.known[name], False


def _possible_names(cell: Any) -> list[str]:
    """The names under which a level may be known, the likeliest first."""
    if isinstance(cell, bool | np.bool_):
        return [str(bool(cell)), level_name(cell)]
    if isinstance(cell, str) and cell in TRUTH:
        return [cell, level_name(TRUTH[cell])]
    try:
        names = [level_name(cell)]
    except TypeError:
        return [str(cell)]
    if "_" in names[0]:  # Python would read 1_000 as a number
        return names
    try:
        return [*names, level_name(float(names[0]))]
    except (ValueError, OverflowError):
        return names
