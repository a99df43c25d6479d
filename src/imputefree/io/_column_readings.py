"""What a column is taken for: a number, a category, dates, words, or nothing to learn from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..data import (
    ISO,
    MAX_LEVELS,
    MAYBE_LEVELS,
    NEVER,
    NEVER_LEVELS,
    THOUSANDS,
    TRUTH,
    Quantity,
    find_codes,
    is_gap_word,
    looks_like_a_date,
    read_quantity,
    unambiguous_format,
)
from ..errors import InputError, counted, shorten
from ._cell_values import (
    EXACT,
    EXCEL,
    HASHED,
    LEADING_ZERO,
    PARTS,
    are_gap_words,
    cell_values,
    gap_tests,
    plain_numbers,
    stripped,
)
from ._understood import CATEGORY, DATE, DROP, KEY, NUMBER, WORDS, YES_NO, ColumnReading

MOSTLY = 0.95  # a column of which such a share are numbers, or dates, holds numbers, or dates
NAMES = 0.9  # strings of which a larger share are different are names, not categories
FEWEST = 10  # values needed to conclude that
TEXT = 4  # words in the usual cell of a free text
SHOWN = 4  # words that a note names
MOST_WORDS = 100  # words that are remembered as gaps of one column
UNNAMED = re.compile(r"(Unnamed: \d+)?")  # pandas' name for such columns
ID = re.compile(r"(?i:(.*[\W_])?(id|ids|nr|key|uuid|guid|mrn|ssn|index|row))|.*[a-z]I[Dd]")
DATED = re.compile(r"(?i)(?<![^\W\d_])(date|dat|datum|dt)(?![^\W\d_])|[a-z]date|datum")
EXCEL_DAYS = (20_000, 60_000)  # of the years 1954 to 2064
PAIR = re.compile(r"\d+(?:[.,]\d+)? ?[/|] ?\d+(?:[.,]\d+)?")  # such as 120/80
SMALL = {"y", "n", "j", "m", "f", "w", "ja", "no", "si"}  # short words of which the case is nothing
KEEP = "to keep it, call it a number or a category (--columns)"


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
        return np.array([text.casefold() in words for text in self.strings], dtype=bool)

    @cached_property
    def maybe(self) -> np.ndarray:
        """(m,) which are words that stand for a gap among numbers."""
        return np.array([is_gap_word(text) for text in self.strings], dtype=bool) & ~self.gaps

    @cached_property
    def plain(self) -> np.ndarray:
        """(m,) numbers without anything else, NaN for other cells."""
        numbers = plain_numbers(self.distinct, self.decimal)
        return np.where(self.gaps | self.maybe, np.nan, numbers)

    @cached_property
    def quantities(self) -> dict[int, Quantity]:
        """By place, other cells that hold a number."""
        open_ones = np.flatnonzero(np.isnan(self.plain) & ~self.gaps & ~self.maybe).tolist()
        found = {j: read_quantity(self.strings[j], self.decimal) for j in open_ones}
        return {j: quantity for j, quantity in found.items() if quantity is not None}

    def share(self, chosen: np.ndarray) -> float:
        """The share of rows that these cells have, of those that are not gaps."""
        known = ~self.gaps & ~self.maybe
        return float(self.rows[chosen & known].sum() / max(self.rows[known].sum(), 1))

    def named(self, chosen: np.ndarray) -> str:
        """These cells with their rows, the most frequent first."""
        order = np.flatnonzero(chosen)[np.argsort(-self.rows[chosen], kind="stable")]
        return shorten(
            [f"{self.strings[j]!r} ({counted(int(self.rows[j]), 'row')})" for j in order],
            SHOWN,
            str,
        )


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
        reading = _learn_dates(cells, reading, given)
    if reading.kind == NUMBER:
        codes = None if "missing" in given else elsewhere
        reading = _learn_numbers(cells, look, reading, codes, target, decimal)
    if reading.kind == CATEGORY:
        reading = _learn_levels(look or Cells.of(cells, decimal), reading, target)
    if reading.kind == WORDS:
        parts = tuple(f"{name}: words {j + 1}" for j in range(HASHED))
        reading = replace(reading, parts=parts, note=_joined(f"{HASHED} columns of hashed words"))
    if reading.kind == DROP or target or given.get("kind"):
        return reading
    first = next(iter(cell_values(cells, reading, decimal).columns.values()))
    reason = _nothing_to_learn(cells, first, reading, series)
    return replace(reading, kind=DROP, note=reason, parts=()) if reason else reading


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _kind(
    cells: pd.Series, look: Cells | None, reading: ColumnReading, target: bool
) -> ColumnReading:
    """The kind by the form of the cells, with the unit of numbers."""
    if look is None:
        if reading.kind:
            return reading
        if cells.dtype.kind == "M":
            return replace(reading, kind=DATE)
        if cells.dtype.kind not in "iufb":
            fact = f"{cells.dtype} values; convert them to numbers"
            return replace(reading, kind=DROP, note=fact, loud=True)
        known = cells.dropna()
        if form := _form_of_days(known, reading.name):
            return replace(reading, kind=DATE, format=form)
        return replace(reading, kind=NUMBER, format=YES_NO if cells.dtype.kind == "b" else "")
    if not any(isinstance(cell, str) for cell in look.distinct):
        kinds = {type(cell) for cell in look.distinct}
        if all(hasattr(kind, "strftime") for kind in kinds) and not reading.kind:
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
        if form := _form_of_days(pd.Series(look.plain[numbers]), reading.name):
            return replace(reading, kind=DATE, format=form)
        return replace(reading, kind=NUMBER)
    dates = np.array([looks_like_a_date(text) for text in look.strings], dtype=bool)
    if not reading.kind and look.share(dates) >= MOSTLY:
        return replace(reading, kind=DATE)
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
        unit = quantity.unit.casefold()
        units[unit] = units.get(unit, 0) + int(look.rows[j])
        spelled.setdefault(unit, quantity.unit)
        bounds[j] = quantity.bound
    named = sorted((unit for unit in units if unit), key=lambda unit: -units[unit])
    unit = named[0] if named else ""
    other = np.zeros(len(numbers), dtype=bool)
    other[[j for j, q in look.quantities.items() if q.unit.casefold() not in ("", unit)]] = True
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
        if unit == "%" and (parts % 1 > 0).any() and parts.max() <= 1:
            note = f"percentages and shares such as {parts.max():g}: write all in one way"
            return replace(reading, kind=DROP, note=note, loud=True)
    return replace(reading, kind=NUMBER, unit=reading.unit or spelled.get(unit, ""))


def _form_of_days(numbers: pd.Series, name: str) -> str:
    """The format of numbers that are dates, such as 20240131, or 45322 in a column called date."""
    if len(numbers) < 3:
        return ""
    if numbers.between(*EXCEL_DAYS).all() and DATED.search(name):
        return EXCEL
    if not numbers.between(19000101, 21001231).all():
        return ""
    strings = numbers.astype("int64").astype(str)
    days = pd.to_datetime(strings, format="%Y%m%d", errors="coerce")
    return "%Y%m%d" if days.notna().all() else ""


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
    if look is not None:
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
            notes.append(f"{look.named(gaps)} {_are(gaps, 'a gap', 'gaps')}")
        if odd.any():
            loud, words = True, [look.strings[j] for j in np.flatnonzero(odd)[:MOST_WORDS]]
            verb = _are(odd, "not a number: read as a gap", "not numbers: read as gaps")
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
    return replace(reading, note=_joined(reading.note, *notes), loud=loud or reading.loud)


def _are(cells: np.ndarray, one: str, many: str) -> str:
    return f"is {one}" if cells.sum() == 1 else f"are {many}"


def _short(number: float) -> float | int:
    return int(number) if number == round(number) and abs(number) < 2**53 else number


def _learn_dates(cells: pd.Series, reading: ColumnReading, given: dict[str, Any]) -> ColumnReading:
    """The format of dates, the first of them and what they become."""
    form, words = str(given.get("format") or reading.format), list[str]()
    known = cells.dropna()
    if not form and known.dtype == object:
        strings = known.astype(str)
        written = known[~(are_gap_words(strings) | strings.isin(NEVER))]
        strings = written[[isinstance(cell, str) for cell in written]]
        dated = strings[[looks_like_a_date(text) for text in strings]]
        words = sorted(set(strings) - set(dated))[:MOST_WORDS]
        try:
            form = (unambiguous_format(dated.iloc[0], dated) or "") if len(dated) else ISO
        except InputError as error:
            note = (
                f"dates: {error.fact.partition(' holds ')[2]}; say which with format: (--columns)"
            )
            return replace(reading, kind=DROP, note=note, loud=True)
        if not form:
            note = f"dates such as {dated.iloc[0]!r}, whose format is not clear: write them as"
            note += " 2024-12-31, or say the format: (--columns)"
            return replace(reading, kind=DROP, note=note, loud=True)
    parts = tuple(f"{reading.name}: {part}" for part in PARTS)
    since = str(given.get("since") or "1970-01-01")
    trial = replace(
        reading, format=form, since=since, parts=parts, missing=(*reading.missing, *words)
    )
    values = cell_values(cells, trial)
    if values.bad.mean() > 1 - MOSTLY:
        cell = cells[values.bad].iloc[0]
        note = f"dates in more than one format, such as {str(cell)!r}; write them in one"
        return replace(reading, kind=DROP, note=note, loud=True)
    odd = sorted({str(cell) for cell in cells[values.bad]})
    missing = tuple(dict.fromkeys((*trial.missing, *odd)))
    if given.get("parts"):
        return replace(trial, missing=missing, parts=tuple(given["parts"]))
    days = values.columns[parts[0]]
    if not given.get("since") and np.isfinite(days).any():
        first = pd.Timestamp("1970-01-01") + pd.Timedelta(days=float(np.floor(np.nanmin(days))))
        since = str(first.date())
    vary = tuple(p for p in parts if len(np.unique(values.columns[p][~np.isnan(days)])) > 1)
    note = f"days since {since}" + ", month, weekday" * (len(vary) == len(PARTS))
    if missing[len(reading.missing) :]:
        note += f"; {shorten(missing[len(reading.missing) :], SHOWN)} read as a gap"
    loud = bool(odd or words)
    return replace(
        trial, missing=missing, since=since, parts=vary or parts[:1], note=note, loud=loud
    )


def _learn_levels(look: Cells, reading: ColumnReading, target: bool) -> ColumnReading:
    """Words among levels that stand for a gap, or may."""
    folded = [text.casefold() for text in look.strings]
    words = dict(zip(look.strings, folded, strict=True))
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
        notes.append(f"{look.named(gaps)} {_are(gaps, 'a gap', 'gaps')}")
    for text in kept:
        rows = counted(int(look.rows[look.strings.index(text)]), "row")
        notes.append(f"{text!r} ({rows}) may be a word for a gap")
    missing = (*reading.missing, *taken)
    more: Any = {"missing": missing, "suspects": tuple(kept), "spellings": spellings}
    return replace(reading, note=_joined(*notes), **more)


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
