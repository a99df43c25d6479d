"""What a column is taken for: a number, a category, dates, words, or nothing to learn from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import MAX_LEVELS, MAYBE_LEVELS, TRUTH
from ..errors import counted, shorten
from ._cell_values import EXACT, HASHED, LEADING_ZERO, OR, cell_values, gap_tests, stripped
from ._distinct_cells import MOST_WORDS, MOSTLY, SHOWN, Cells, are, joined
from ._missing_codes import find_codes
from ._quantities import THOUSANDS, unit_name
from ._time_columns import are_seasons, form_of_days, learn_clock, learn_dates
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
SMALL = {"y", "n", "j", "m", "f", "w", "ja", "no", "si"}  # short words of which the case is nothing
KEEP = "to keep it, call it a number or a category (--columns)"


def learn_column(
    cells: pd.Series,
    entries: Mapping[str, Any] | None = None,
    *,
    decimal: str = ".",
    missing: Collection[Any] = (),
    elsewhere: Collection[float] = (),
    target: bool = False,
    series: np.ndarray | None = None,
) -> ColumnReading:
    """What a column is taken for.

    cells : (n,) strings, or typed
    entries : what the user says of it: entries of a `ColumnReading`
    decimal : the mark before decimals
    missing : cells that the user says stand for a gap
    elsewhere : codes for a gap in other columns of the table
    target : whether it is to be predicted: then it is kept, and codes are only shown
    series : (n,) the number of each row's series, if there are series

    >>> learn_column(pd.Series(["145 mmHg", "130 mmHg", "?", "118"], name="bp")).note
    "'145 mmHg' is read as 145; '?' (1 row) is a gap"
    """
    entries, name = dict(entries or {}), str(cells.name)
    if entries.get("kind") == DROP:
        return ColumnReading(name, DROP, note=str(entries.get("note") or "as requested"))
    cells = stripped(cells)
    missing = (*entries.get("missing", ()), *missing)
    reading = ColumnReading(
        name, entries.get("kind") or "", missing, unit=entries.get("unit") or ""
    )
    if reading.kind == KEY:
        return reading
    if not cells.notna().any() and not reading.kind:
        return replace(reading, kind=CATEGORY if target else DROP, note="empty")
    look = Cells.of(cells, decimal, missing) if cells.dtype == object else None
    reading = _kind(cells, look, reading, target)
    if reading.kind == DATE:
        reading = learn_dates(cells, reading, entries)
    if reading.kind == NUMBER:
        codes = None if "missing" in entries else elsewhere
        reading = _learn_numbers(cells, look, reading, codes, target, decimal)
    if reading.kind == CATEGORY:
        reading = _learn_levels(look or Cells.of(cells, decimal), reading, target)
    if reading.kind == WORDS:
        parts = tuple(f"{name}: words {j + 1}" for j in range(HASHED))
        reading = replace(reading, parts=parts, note=f"{HASHED} columns of hashed words")
    if reading.kind == DROP or target or entries.get("kind"):
        return reading
    first = next(iter(cell_values(cells, reading, decimal).columns.values()))
    reason = _nothing_to_learn(first, reading, series)
    return replace(reading, kind=DROP, note=reason, parts=()) if reason else reading


def _kind(
    cells: pd.Series, look: Cells | None, reading: ColumnReading, target: bool
) -> ColumnReading:
    """The kind by the form of the cells, with the unit of numbers."""
    if reading.kind in (CATEGORY, WORDS, DATE):
        return reading
    if look is None:
        return reading if reading.kind else _kind_of_typed(cells, reading)
    if not reading.kind and all(hasattr(cell, "year") for cell in look.distinct):
        return replace(reading, kind=DATE)
    if look.known.any() and look.which(lambda text: text in TRUTH)[look.known].all():
        kind = reading.kind or (CATEGORY if target else NUMBER)
        return replace(reading, kind=kind, format=YES_NO if kind == NUMBER else "")
    numbers = ~np.isnan(look.plain)
    if not reading.kind and look.share(numbers) >= MOSTLY:
        zeros = [text for text in look.strings if LEADING_ZERO.fullmatch(text)]
        if zeros:
            note = f"codes such as {zeros[0]!r}, whose zeros matter"
            return replace(reading, kind=CATEGORY, note=note)
        if form := form_of_days(pd.Series(look.plain[numbers]), reading.name):
            return replace(reading, kind=DATE, format=form)
        return replace(reading, kind=NUMBER)
    if clock := learn_clock(look, reading):
        return clock
    if not reading.kind and look.share(look.which(looks_like_a_date)) >= MOSTLY:
        return replace(reading, kind=CATEGORY if are_seasons(look.strings) else DATE)
    pairs = look.which(lambda text: PAIR.fullmatch(text) is not None)
    if not reading.kind and look.share(pairs) >= MOSTLY and pairs.sum() > FEWEST and not target:
        pair = look.strings[int(np.argmax(pairs))]
        return reading.dropped(f"two numbers in a cell, such as {pair!r}: make a column of each")
    return _kind_of_quantities(look, reading, numbers)


def _kind_of_typed(cells: pd.Series, reading: ColumnReading) -> ColumnReading:
    """The kind by the type of a column that does not hold objects."""
    kind = cells.dtype.kind
    if kind == "M":
        return replace(reading, kind=DATE)
    if kind == "m":
        return replace(reading, kind=NUMBER, format=SPANS, note="durations, in hours")
    if kind not in "iufb":
        return reading.dropped(f"{cells.dtype} values; convert them to numbers")
    if form := form_of_days(cells.dropna(), reading.name):
        return replace(reading, kind=DATE, format=form)
    return replace(reading, kind=NUMBER, format=YES_NO if kind == "b" else "")


def _kind_of_quantities(look: Cells, reading: ColumnReading, numbers: np.ndarray) -> ColumnReading:
    """Numbers with a unit or as bounds, numbers among words, or levels of a category.

    numbers : (m,) which cells are numbers without anything else
    """
    rows: dict[str, int] = {}  # by unit
    spelled: dict[str, str] = {}
    for j, quantity in look.quantities.items():
        unit = unit_name(quantity.unit)
        rows[unit] = rows.get(unit, 0) + int(look.rows[j])
        spelled.setdefault(unit, quantity.unit)
    units = sorted((unit for unit in rows if unit), key=lambda unit: -rows[unit])
    unit = units[0] if units else ""
    as_number = replace(reading, kind=NUMBER, unit=reading.unit or spelled.get(unit, ""))
    if reading.kind:
        return as_number
    if len(units) > 1 and FLAGS.issuperset(units) and numbers.any():
        return replace(as_number, unit=OR.join(sorted(spelled[flag] for flag in units)))
    if {*units} in ({"n", "s"}, {"e", "w"}):
        return reading.dropped(
            "north and south, or east and west: write south and west as negative numbers"
        )
    written = numbers | look.at(look.quantities)
    bounds = look.at([j for j, quantity in look.quantities.items() if quantity.bound])
    other = look.at([j for j, q in look.quantities.items() if unit_name(q.unit) not in ("", unit)])
    exact = int((written & ~bounds & ~other).sum())
    words, share = int((look.known & ~written).sum()), look.share(written)
    among = share >= 0.5 and exact >= FEWEST and words <= SHOWN + 1
    if exact < 3 or not (share >= MOSTLY or among):
        return replace(reading, kind=CATEGORY)
    if look.share(other) > 1 - MOSTLY:
        if exact < FEWEST:
            return replace(reading, kind=CATEGORY)
        shown = shorten([spelled[name] for name in units], 3)
        return reading.dropped(f"quantities in more than one unit ({shown}): convert them to one")
    if unit in THOUSANDS and (numbers.any() or rows.get("")):
        return reading.dropped(
            f"some numbers with {spelled[unit]!r} and some without: write them out"
        )
    shares = np.abs(look.plain[numbers & np.isfinite(look.plain)])
    if unit == "%" and (shares % 1 > 0).any() and shares.max() <= 1:
        return reading.dropped(
            f"percentages and shares such as {shares.max():g}: write all in one way"
        )
    return as_number


def _learn_numbers(
    cells: pd.Series,
    look: Cells | None,
    reading: ColumnReading,
    elsewhere: Collection[float] | None,
    target: bool,
    decimal: str,
) -> ColumnReading:
    """Words and codes that stand for a gap; elsewhere: None if the user has said all of them."""
    if look is not None:
        reading = _learn_words(look, reading, decimal)
    if elsewhere is None:
        return reading
    values = cell_values(cells, reading, decimal).columns[reading.name]
    codes = find_codes(values, elsewhere)
    sure = [code for code in codes if code.sure and not target]
    shown = [code for code in codes if code not in sure]
    taken, kept = (tuple(_short(code.value) for code in some) for some in (sure, shown))
    notes = [
        f"{_short(code.value)} ({counted(code.rows, 'row')}) {verb} a code for a gap"
        for some, verb in ((sure, "is"), (shown, "may be"))
        for code in some
    ]
    missing, note = (*reading.missing, *taken), joined(reading.note, *notes)
    return replace(reading, missing=missing, suspects=kept, note=note)


def _learn_words(look: Cells, reading: ColumnReading, decimal: str) -> ColumnReading:
    """How numbers or times are written, and words among them that stand for a gap."""
    odd = cell_values(pd.Series(look.distinct, name=reading.name), reading, decimal).bad
    notes, maybe, loud = list[str](), list[str](), reading.loud
    noun, nouns = "a time", "times"
    if reading.format not in CLOCKS:
        noun, nouns = "a number", "numbers"
        odd &= ~np.isinf(look.plain)
        if look.quantities:
            j, quantity = next(iter(look.quantities.items()))
            bounds = sum(int(look.rows[k]) for k, q in look.quantities.items() if q.bound)
            more = f" ({counted(bounds, 'bound')})" * bool(bounds)
            notes.append(f"{look.strings[j]!r} is read as {quantity.value:g}{more}")
        gaps = ~look.known & (look.rows > 0)
        if gaps.any():
            notes.append(f"{look.named(gaps)} {are(gaps, 'a gap', 'gaps')}")
        if pair := _one_number(look):
            notes.append(f"{pair[0]!r} and {pair[1]!r} are one number; if not, it is a category")
            loud = True
        maybe = [look.strings[j] for j in np.flatnonzero(look.maybe)]
    if odd.any():
        loud = True
        verb = are(odd, f"not {noun}: read as a gap", f"not {nouns}: read as gaps")
        notes.append(f"{look.named(odd)} {verb}")
    words = [look.strings[j] for j in np.flatnonzero(odd)[:MOST_WORDS]]
    missing = (*reading.missing, *words, *maybe)
    return replace(reading, missing=missing, note=joined(reading.note, *notes), loud=loud)


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
    return int(number) if number == round(number) and abs(number) < EXACT else number


def _learn_levels(look: Cells, reading: ColumnReading, target: bool) -> ColumnReading:
    """Words among levels that stand for a gap, or may."""
    words = {text: text.casefold() for text in look.strings}
    levels = [
        t for t, gap in zip(look.strings, look.gaps, strict=True) if not gap and words[t] != "na"
    ]
    lands = len(levels) > 2 and all(len(text) == 2 and text.isupper() for text in levels)
    said, _ = gap_tests(reading.missing)
    doubtful = [t for t in look.strings if words[t] in MAYBE_LEVELS and words[t] not in said]
    if "+" in look.strings:  # whose opposite it is
        doubtful = [text for text in doubtful if text != "-"]
    taken = [t for t in doubtful if words[t] == "na" and not lands and not target]
    kept = [t for t in doubtful if t not in taken and words[t] != "none"]
    spellings, merged = _spellings(look, levels)
    count = len(levels) - len(merged) + lands * ("NA" in look.strings)
    notes = [reading.note, counted(count, "level")]
    if merged:
        notes.append(f"{shorten(merged, SHOWN)} merged with levels that differ only in case")
    if len(levels) > MAX_LEVELS:
        notes.append(f"the {MAX_LEVELS} most frequent are kept, the others merged")
    gaps = look.gaps | np.isin(look.strings, taken)
    if gaps.any():
        notes.append(f"{look.named(gaps)} {are(gaps, 'a gap', 'gaps')}")
    for text in kept:
        rows = counted(int(look.rows[look.strings.index(text)]), "row")
        notes.append(f"{text!r} ({rows}) may be a word for a gap")
    missing = (*reading.missing, *taken)
    more: Any = {"missing": missing, "suspects": tuple(kept), "spellings": spellings}
    return replace(reading, note=joined(*notes), **more)


def _spellings(look: Cells, levels: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Levels that occur in other forms of upper and lower case, the most frequent form of each; and
    these other forms. Not of short strings: AA, Aa and aa are genotypes."""
    rows = dict(zip(look.strings, look.rows.tolist(), strict=True))
    forms: dict[str, list[str]] = {}
    for text in levels:
        usual = text in (text.lower(), text.upper(), text.capitalize(), text.title())
        if usual and (len(text) > 2 or text.casefold() in SMALL):
            forms.setdefault(text.casefold(), []).append(text)
    kept = [max(group, key=lambda text: rows[text]) for group in forms.values() if len(group) > 1]
    merged = [t for group in forms.values() for t in group if len(group) > 1 and t not in kept]
    if len(levels) - len(merged) < 2:
        return (), []
    return tuple(kept), merged


def _nothing_to_learn(values: np.ndarray, reading: ColumnReading, series: np.ndarray | None) -> str:
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
        return _like_ids(reading.name, values, known, n_distinct)
    return ""


def _like_ids(name: str, values: np.ndarray, known: np.ndarray, n_distinct: int) -> str:
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
    """Whether a column is constant, or empty, within every series, and some have several rows."""
    groups = values.groupby(series)
    if len(values) == groups.ngroups or groups.nunique().max() > 1:
        return False
    known = groups.count()
    return bool(((known == 0) | (known == groups.size())).all())
