"""What a column is taken for: a number, a category, dates, words, or nothing to learn from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import TRUTH
from ..errors import counted, shorten
from ._cell_values import (
    EXACT,
    HASHED,
    LEADING_ZERO,
    OR,
    cell_values,
    stripped,
)
from ._clock_columns import learn_clock
from ._date_columns import are_seasons, form_of_days, learn_dates
from ._distinct_cells import MOST_WORDS, MOSTLY, SHOWN, Cells, are, joined
from ._level_columns import learn_levels
from ._missing_codes import find_codes
from ._quantities import THOUSANDS, unit_name
from ._understood import (
    CATEGORY,
    CLOCKS,
    DATE,
    DROP,
    KEY,
    NUMBER,
    SPANS,
    WORDS,
    YES_NO,
    ColumnReading,
)
from ._written_times import looks_like_a_date

NAMES = 0.9  # strings of which a larger share are different are names, not categories
FEWEST = 10  # values needed to conclude that
FEW = 20  # strings that may be codes, not measurements
TEXT = 4  # words in the usual cell of a free text
UNNAMED = re.compile(r"(Unnamed: \d+)?")  # pandas' name for such columns
ID = re.compile(r"(?i:(.*[\W_])?(id|ids|nr|key|uuid|guid|mrn|ssn|index|row))|.*[a-z]I[Dd]")
PAIR = re.compile(r"\d+(?:[.,]\d+)? ?[/|] ?\d+(?:[.,]\d+)?")  # such as 120/80
FLAGS = {"h", "l", "hh", "ll", "n", "high", "low", "normal", "critical"}  # of a laboratory
KEEP = "to keep it, call it a number or a category (--columns)"


def learn_column(
    cells: pd.Series,
    given: Mapping[str, Any] | None = None,
    *,
    decimal: str = ".",
    missing: Collection[Any] = (),
    elsewhere: Collection[float] = (),
    target: bool = False,
    series: np.ndarray | None = None,
) -> ColumnReading:
    """What a column is taken for.

    cells : (n,) strings, or typed
    given : what the user says of it: entries of a `ColumnReading`
    decimal : the mark before decimals
    missing : cells that the user says stand for a gap
    elsewhere : codes for a gap in other columns of the table
    target : whether it is to be predicted: then it is kept, and codes are only shown
    series : (n,) the number of each row's series, if there are series

    >>> learn_column(pd.Series(["145 mmHg", "130 mmHg", "?", "118"], name="bp")).note
    "'145 mmHg' is read as 145; '?' (1 row) is a gap"
    """
    given, name = dict(given or {}), str(cells.name)
    if given.get("kind") == DROP:
        return ColumnReading(name, DROP, note=str(given.get("note") or "as requested"))
    cells = stripped(cells)
    missing = tuple(given.get("missing", ())) + tuple(missing)
    reading = ColumnReading(name, given.get("kind") or "", missing, unit=given.get("unit") or "")
    if reading.kind == KEY:
        return reading
    if not cells.notna().any() and not reading.kind:
        return replace(reading, kind=CATEGORY if target else DROP, note="empty")
    look = Cells.of(cells, decimal, missing) if cells.dtype == object else None
    reading = _kind(cells, look, reading, target)
    if reading.kind == DATE:
        reading = learn_dates(cells, reading, given)
    if reading.kind == NUMBER:
        codes = None if "missing" in given else elsewhere
        reading = _learn_numbers(cells, look, reading, codes, target, decimal)
    if reading.kind == CATEGORY:
        reading = learn_levels(look or Cells.of(cells, decimal), reading, target)
    if reading.kind == WORDS:
        parts = tuple(f"{name}: words {j + 1}" for j in range(HASHED))
        reading = replace(reading, parts=parts, note=joined(f"{HASHED} columns of hashed words"))
    if reading.kind == DROP or target or given.get("kind"):
        return reading
    first = next(iter(cell_values(cells, reading, decimal).columns.values()))
    reason = _nothing_to_learn(cells, first, reading, series)
    return replace(reading, kind=DROP, note=reason, parts=()) if reason else reading


def _kind(
    cells: pd.Series, look: Cells | None, reading: ColumnReading, target: bool
) -> ColumnReading:
    """The kind by the form of the cells, with the unit of numbers."""
    if look is None:
        if reading.kind:
            return reading
        if cells.dtype.kind == "M":
            return replace(reading, kind=DATE)
        if cells.dtype.kind == "m":
            return replace(reading, kind=NUMBER, format=SPANS, note="durations, in hours")
        if cells.dtype.kind not in "iufb":
            fact = f"{cells.dtype} values; convert them to numbers"
            return replace(reading, kind=DROP, note=fact, loud=True)
        known = cells.dropna()
        if form := form_of_days(known, reading.name):
            return replace(reading, kind=DATE, format=form)
        return replace(reading, kind=NUMBER, format=YES_NO if cells.dtype.kind == "b" else "")
    if not any(isinstance(cell, str) for cell in look.distinct):
        kinds = {type(cell) for cell in look.distinct}
        if all(hasattr(kind, "year") for kind in kinds) and not reading.kind:
            return replace(reading, kind=DATE)
    numbers = ~np.isnan(look.plain)
    written = numbers | np.isin(np.arange(len(numbers)), [*look.quantities])
    known = ~look.gaps & ~look.maybe
    if reading.kind in (CATEGORY, WORDS, DATE):
        return reading
    truths = np.array([text in TRUTH for text in look.strings], dtype=bool)
    if truths[known].all() and known.any():
        kind = reading.kind or (CATEGORY if target else NUMBER)
        return replace(reading, kind=kind, format=YES_NO if kind == NUMBER else "")
    zeros = [text for text in look.strings if LEADING_ZERO.fullmatch(text)]
    if not reading.kind and zeros and look.share(numbers) >= MOSTLY:
        note = f"codes such as {zeros[0]!r}, whose zeros matter"
        return replace(reading, kind=CATEGORY, note=note)
    if not reading.kind and look.share(numbers) >= MOSTLY:
        if form := form_of_days(pd.Series(look.plain[numbers]), reading.name):
            return replace(reading, kind=DATE, format=form)
        return replace(reading, kind=NUMBER)
    if clock := learn_clock(look, reading):
        return clock
    dates = np.array([looks_like_a_date(text) for text in look.strings], dtype=bool)
    if not reading.kind and look.share(dates) >= MOSTLY:
        return replace(reading, kind=CATEGORY if are_seasons(look.strings) else DATE)
    pairs = np.array([PAIR.fullmatch(text) is not None for text in look.strings], dtype=bool)
    if not reading.kind and look.share(pairs) >= MOSTLY and pairs.sum() > FEWEST and not target:
        pair = look.strings[int(np.argmax(pairs))]
        note = f"two numbers in a cell, such as {pair!r}: make a column of each"
        return replace(reading, kind=DROP, note=note, loud=True)
    return _kind_of_quantities(look, reading, numbers, written)


def _kind_of_quantities(
    look: Cells, reading: ColumnReading, numbers: np.ndarray, written: np.ndarray
) -> ColumnReading:
    """Numbers with a unit or as bounds, numbers among words, or levels of a category."""
    units: dict[str, int] = {}
    spelled: dict[str, str] = {}
    bounds = np.zeros(len(numbers), dtype=bool)
    for j, quantity in look.quantities.items():
        unit = unit_name(quantity.unit)
        units[unit] = units.get(unit, 0) + int(look.rows[j])
        spelled.setdefault(unit, quantity.unit)
        bounds[j] = quantity.bound
    flags = {unit for unit in units if unit in FLAGS}
    if len(flags) > 1 and flags == {*units} - {""} and numbers.any() and not reading.kind:
        return replace(reading, kind=NUMBER, unit=OR.join(sorted(spelled[f] for f in flags)))
    if not reading.kind and {*units} - {""} in ({"n", "s"}, {"e", "w"}):
        note = "north and south, or east and west: write south and west as negative numbers"
        return replace(reading, kind=DROP, note=note, loud=True)
    named = sorted((unit for unit in units if unit), key=lambda unit: -units[unit])
    unit = named[0] if named else ""
    other = np.zeros(len(numbers), dtype=bool)
    other[[j for j, q in look.quantities.items() if unit_name(q.unit) not in ("", unit)]] = True
    exact = int((written & ~bounds & ~other).sum())
    share = look.share(written)
    if not reading.kind:
        words = int((~written & ~look.gaps & ~look.maybe).sum())
        among = share >= 0.5 and exact >= FEWEST and words <= SHOWN + 1
        if exact < 3 or not (share >= MOSTLY or among):
            return replace(reading, kind=CATEGORY)
        if look.share(other) > 1 - MOSTLY:
            if exact < FEWEST:
                return replace(reading, kind=CATEGORY)
            shown = shorten([spelled[name] for name in named], 3)
            note = f"quantities in more than one unit ({shown}): convert them to one"
            return replace(reading, kind=DROP, note=note, loud=True)
        if unit in THOUSANDS and (numbers.any() or units.get("")):
            note = f"some numbers with {spelled[unit]!r} and some without: write them out"
            return replace(reading, kind=DROP, note=note, loud=True)
        parts = np.abs(look.plain[numbers])
        parts = parts[np.isfinite(parts)]
        if unit == "%" and (parts % 1 > 0).any() and parts.max() <= 1:
            note = f"percentages and shares such as {parts.max():g}: write all in one way"
            return replace(reading, kind=DROP, note=note, loud=True)
    return replace(reading, kind=NUMBER, unit=reading.unit or spelled.get(unit, ""))


def _learn_numbers(
    cells: pd.Series,
    look: Cells | None,
    reading: ColumnReading,
    elsewhere: Collection[float] | None,
    target: bool,
    decimal: str,
) -> ColumnReading:
    """Words and codes that stand for a gap; elsewhere: None if the user has said all of them."""
    notes, words, loud = [], [], False
    if look is not None and reading.format in CLOCKS:
        odd = cell_values(pd.Series(look.distinct, name=reading.name), reading, decimal).bad
        words = [look.strings[j] for j in np.flatnonzero(odd)[:MOST_WORDS]]
        loud = bool(words)
        notes += [
            f"{look.named(odd)} {are(odd, 'not a time: read as a gap', 'not times: read as gaps')}"
        ] * loud
    elif look is not None:
        written = next(iter(look.quantities.items()), None)
        if written is not None:
            value = f"{written[1].value:g}"
            bounds = sum(int(look.rows[j]) for j, q in look.quantities.items() if q.bound)
            more = f" ({counted(bounds, 'bound')})" * bool(bounds)
            notes.append(f"{look.strings[written[0]]!r} is read as {value}{more}")
        odd = cell_values(pd.Series(look.distinct, name=reading.name), reading, decimal).bad
        odd &= ~np.isinf(look.plain)
        gaps = (look.gaps | look.maybe) & (look.rows > 0)
        if gaps.any():
            notes.append(f"{look.named(gaps)} {are(gaps, 'a gap', 'gaps')}")
        if pair := _one_number(look):
            notes.append(f"{pair[0]!r} and {pair[1]!r} are one number; if not, it is a category")
            loud = True
        if odd.any():
            loud, words = True, [look.strings[j] for j in np.flatnonzero(odd)[:MOST_WORDS]]
            verb = are(odd, "not a number: read as a gap", "not numbers: read as gaps")
            notes.append(f"{look.named(odd)} {verb}")
        words += [look.strings[j] for j in np.flatnonzero(look.maybe)]
    reading = replace(reading, missing=(*reading.missing, *words))
    if elsewhere is not None:
        values = cell_values(cells, reading, decimal).columns[reading.name]
        codes = find_codes(values, elsewhere)
        sure = [code for code in codes if code.sure and not target]
        shown = [code for code in codes if code not in sure]
        taken = tuple(_short(code.value) for code in sure)
        kept = tuple(_short(code.value) for code in shown)
        reading = replace(reading, missing=(*reading.missing, *taken), suspects=kept)
        for found, verb in ((sure, "is a code for a gap"), (shown, "may be a code for a gap")):
            said = [f"{_short(c.value)} ({counted(c.rows, 'row')}) {verb}" for c in found]
            notes += said
    return replace(reading, note=joined(reading.note, *notes), loud=loud or reading.loud)


def _one_number(look: Cells) -> tuple[str, ...]:
    """Two of few strings that are the same number, and may be chapters: 1.1 and 1.10; or ()."""
    if len(look.distinct) > FEW:
        return ()
    first: dict[float, str] = {}
    for text, value in zip(look.strings, look.plain.tolist(), strict=True):
        other = first.setdefault(value, text)
        if other != text and "." in text and "." in other and {text[-1], other[-1]} != {"0"}:
            return other, text
    return ()


def _short(number: float) -> float | int:
    return int(number) if number == round(number) and abs(number) < 2**53 else number


def _nothing_to_learn(
    cells: pd.Series, values: np.ndarray, reading: ColumnReading, series: np.ndarray | None
) -> str:
    """Why a column is dropped: it is constant, an id, a name of each row or a free text; or ""."""
    known = values[pd.notna(values)]
    if not len(known):
        return "empty"
    n_distinct = len(pd.unique(known))
    if n_distinct == 1 and len(known) == len(values) and len(reading.parts) < 2:
        only = repr(known[0]) if isinstance(known[0], str) else f"{known[0]:g}"
        return f"constant: always {only}"
    if reading.kind == CATEGORY:
        n = len(known)
        if series is not None and is_steady(pd.Series(values), series):
            n = len(np.unique(series[pd.notna(values)]))
        if n < FEWEST or n_distinct <= NAMES * n:
            return ""
        if np.median([len(str(text).split()) for text in known[:1000]]) >= TEXT:
            return "free text; to use it, call it words (--columns)"
        return f"strings, {'almost ' * (n_distinct != n)}all different, like names; {KEEP}"
    if reading.kind == NUMBER:
        return _numbers_rows(reading.name, values, known, n_distinct)
    return ""


def _numbers_rows(name: str, values: np.ndarray, known: np.ndarray, n_distinct: int) -> str:
    """Why whole numbers are ids: they count the rows, or are all different and named so."""
    if len(known) < FEWEST or (known != np.round(known)).any():
        return ""
    if np.isfinite(known).all() and np.median(np.abs(known)) >= EXACT:
        return f"whole numbers of 16 digits and more, like ids; {KEEP}"
    if n_distinct < len(known):
        return ""
    unnamed = UNNAMED.fullmatch(name) is not None
    in_order = len(known) == len(values) and bool((np.diff(known) == 1).all())
    if in_order and (known[0] in (0, 1) or unnamed):
        return f"numbers the rows; {KEEP}"
    if ID.fullmatch(name) and np.abs(known).max() >= len(known):
        return f"whole numbers, all different, named like an id; {KEEP}"
    return ""


def is_steady(values: pd.Series, series: np.ndarray) -> bool:
    """Whether a column has one value, or none, in all rows of a series; and some have several."""
    groups = values.groupby(series)
    if len(values) == groups.ngroups or groups.nunique().max() > 1:
        return False
    known = groups.count()
    return bool(((known == 0) | (known == groups.size())).all())
