"""Columns of categories: words among the levels that stand for a gap, and levels that are one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data import MAX_LEVELS, MAYBE_LEVELS
from ..errors import counted, shorten
from ._cell_values import gap_tests
from ._distinct_cells import SHOWN, Cells, are, joined
from ._understood import ColumnReading

SMALL = {"y", "n", "j", "m", "f", "w", "ja", "no", "si"}  # short words of which the case is nothing


def learn_levels(look: Cells, reading: ColumnReading, target: bool) -> ColumnReading:
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
