"""Where the records of a CSV text begin and end, how many fields each has, and in which line."""

from __future__ import annotations

import csv
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

QUOTE, COMMA, NEWLINE, RETURN = (ord(mark) for mark in '",\n\r')
AFTER_FIELD = np.array([COMMA, NEWLINE, RETURN])


@dataclass(frozen=True)
class Records:
    """Records of a text, those of nothing but spaces left out, as pandas does.

    Shapes: starts, ends (n,) offsets into the text, an end counts its line break; lines (n,) lines
    of the text before each record; widths (n,) how many fields.

    length : how much of the text whole records and blank lines take
    n_lines : how many lines that is
    unclosed : the line in which a field opens whose quote does not close in this text, or None
    """

    starts: np.ndarray
    ends: np.ndarray
    lines: np.ndarray
    widths: np.ndarray
    length: int
    n_lines: int
    unclosed: int | None

    def kept(self, keep: np.ndarray) -> Records:
        """Those that are True in keep (n,) alone."""
        starts, ends, lines = self.starts[keep], self.ends[keep], self.lines[keep]
        return replace(self, starts=starts, ends=ends, lines=lines, widths=self.widths[keep])

    def texts(self, text: bytes) -> list[bytes]:
        """The text of each."""
        return [
            text[start:end]
            for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]

    def joined(self, text: bytes) -> bytes:
        """The text of all of them, without what stands between."""
        begins = np.flatnonzero(self.starts[1:] != self.ends[:-1]) + 1
        if not len(begins):
            return text[self.starts[0] : self.ends[-1]]
        starts = self.starts[np.concatenate([[0], begins])].tolist()
        ends = self.ends[np.concatenate([begins - 1, [-1]])].tolist()
        return b"".join(text[start:end] for start, end in zip(starts, ends, strict=True))


def find_records(text: bytes, last: bool) -> Records:
    """Take a text apart; `last`: it ends with the file, so that its last line needs no break.

    >>> found = find_records(b'a,"two\\nlines"\\n\\nb,c\\nd', last=False)
    >>> found.lines, found.widths, found.length
    (array([0, 3]), array([2, 2]), 19)
    """
    if last and text and not text.endswith((b"\n", b"\r")):
        text += b"\n"
    marks = np.frombuffer(text, dtype=np.uint8)
    breaks = marks == NEWLINE
    if b"\r" in text:  # alone it ends a line; before a newline it is a part of that
        alone = marks == RETURN
        alone[:-1] &= marks[1:] != NEWLINE
        alone[-1:] &= last
        breaks |= alone
    physical, commas = np.flatnonzero(breaks), marks == COMMA
    if b'"' in text:
        quotes = np.flatnonzero(marks == QUOTE)
        if not _regular(marks, quotes):
            return _find_exactly(text, physical)
        # Every other quote opens, so an odd number of them lies before what is quoted.
        quoted = (np.cumsum(marks == QUOTE) & 1).astype(bool)
        breaks, commas = breaks & ~quoted, commas & ~quoted
        unclosed = bool(len(quotes) & 1)
    else:
        unclosed = False
    ends = np.flatnonzero(breaks) + 1
    starts = np.concatenate([[0], ends[:-1]])[: len(ends)]
    fields = np.diff(np.searchsorted(np.flatnonzero(commas), ends), prepend=0) + 1
    length = int(ends[-1]) if len(ends) else 0
    lines = np.searchsorted(physical, starts)
    n_lines = int(np.searchsorted(physical, length))
    return _without_blanks(
        Records(starts, ends, lines, fields, length, n_lines, n_lines if unclosed else None),
        marks,
    )


def _regular(marks: np.ndarray, quotes: np.ndarray) -> bool:
    """Whether quotes stand only around fields, or doubled in them."""
    opening, closing = quotes[::2], quotes[1::2]
    before = opening[opening > 0]
    after = closing[closing < len(marks) - 1]
    return bool(
        (np.isin(marks[before - 1], AFTER_FIELD) | (marks[before - 1] == QUOTE)).all()
        and (np.isin(marks[after + 1], AFTER_FIELD) | (marks[after + 1] == QUOTE)).all()
    )


def _without_blanks(found: Records, marks: np.ndarray) -> Records:
    single = np.flatnonzero(found.widths == 1)
    if not len(single):
        return found
    ink = np.concatenate([[0], np.cumsum(marks > ord(" "))])
    blank = np.zeros(len(found.starts), dtype=bool)
    blank[single] = ink[found.ends[single]] == ink[found.starts[single]]
    return found.kept(~blank) if blank.any() else found


def _find_exactly(text: bytes, physical: np.ndarray) -> Records:
    """The same, record by record, for texts with a quote in the middle of a field."""
    line_ends = np.concatenate([[0], physical + 1])
    lines = [
        text[start:end].decode("utf-8", "replace")
        for start, end in zip(line_ends[:-1].tolist(), line_ends[1:].tolist(), strict=True)
    ]
    beyond = "(beyond)"  # a record of its own, unless a quote is still open before it
    reader = csv.reader(chain(lines, [beyond]))
    at, found = 0, []
    with suppress(csv.Error):  # a field longer than any: its quote does not close
        for fields in reader:
            if reader.line_num > len(lines):
                break
            if any(line.strip() for line in lines[at : reader.line_num]):
                found.append((at, reader.line_num, len(fields)))
            at = reader.line_num
    n_lines, unfinished = at, at < len(lines)
    first, after, widths = np.array(found, dtype=int).reshape(-1, 3).T
    return Records(
        line_ends[first],
        line_ends[after],
        first,
        widths,
        int(line_ends[n_lines]),
        n_lines,
        n_lines if unfinished else None,
    )
