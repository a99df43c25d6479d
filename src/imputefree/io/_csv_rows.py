"""A CSV file of any size, read piece by piece, with the line in which each row begins."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import GAP_WORDS
from ..errors import InputError
from ._dialects import Decoder, Dialect, find_dialect, lines_above, split_directive
from ._file_rows import (
    NAMES_AGAIN,
    NOT_UTF_8,
    RawRows,
    Reader,
    are_names,
    check_width,
    column_names,
    open_file,
    unreadable,
)
from ._formulas import unmark_formula, unmark_formulas
from ._not_data import said_above
from ._understood import FileFormat
from ._unpacking import open_packed, read_packed, refuse_other_kinds

BLOCK = 2**20  # bytes read at once
HEAD = 2**18  # bytes that show how a file is written
LONGEST = 64 * 2**20  # bytes of one row
GAPS = {"number": ["", *GAP_WORDS], "category": [""], "text": [""]}
# Left to itself, pandas would read 01 as 1 in a piece where all cells look like numbers.
TYPES = {"category": "str", "text": "str"}


class Records(NamedTuple):
    """Where the records of a text are, without blank lines, which pandas also skips."""

    spans: np.ndarray  # (n, 4) offsets of start and end, lines before it, number of fields
    length: int  # bytes of these records and blank lines
    n_lines: int  # and their lines
    too_long: bool = False  # whether a field follows that is longer than the csv module allows


def find_records(text: bytes, last: bool, dialect: Dialect = Dialect()) -> Records:  # noqa: B008
    """Find all whole records; `last`: the file ends here, so the last line needs no line break.

    >>> find_records(b'a,"two\\nlines"\\n\\nb,c\\nd', last=False).spans
    array([[ 0, 14,  0,  2],
           [15, 19,  3,  2]])
    """
    if last and text and not text.endswith((b"\n", b"\r")):
        text += b"\n"
    marks = np.frombuffer(text, dtype=np.uint8)
    breaks = marks == ord("\n")
    if b"\r" in text:  # alone it ends a line; before a newline it is a part of that
        alone = marks == ord("\r")
        alone[:-1] &= ~breaks[1:]
        alone[-1:] &= last
        breaks |= alone
    edges = np.concatenate([[0], np.flatnonzero(breaks) + 1])  # of lines
    too_long = False
    if dialect.quote.encode() in text:
        first, after, widths, too_long = _quoted_records(text, edges, dialect)
        n_lines = int(after[-1]) if len(after) else 0
    else:
        n_lines = len(edges) - 1
        first, after = np.arange(n_lines), np.arange(1, n_lines + 1)
        separators = np.flatnonzero(marks == ord(dialect.sep))
        widths = np.diff(np.searchsorted(separators, edges)) + 1
    starts, ends, single = edges[first], edges[after], widths <= 1
    if single.any():
        ink = np.cumsum(marks > ord(" "), dtype=np.uint32)
        filled = ~single | (ink[ends - 1] > ink[starts] - (marks[starts] > ord(" ")))
        starts, ends, first, widths = starts[filled], ends[filled], first[filled], widths[filled]
    spans = np.column_stack([starts, ends, first, widths])
    return Records(spans, int(edges[n_lines]), n_lines, too_long)


def _quoted_records(
    text: bytes, edges: np.ndarray, dialect: Dialect
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """First line, line after and fields of each record, where quotes may hold line breaks."""
    lines = io.StringIO(text[: edges[-1]].decode("utf-8", "replace"), newline="")
    # An open quote at the end takes in "(end)", which else is a record by itself.
    reader = csv.reader(chain(lines, ["(end)"]), **dialect.options)
    after, widths, too_long = array("q"), array("q"), False
    try:
        for fields in reader:
            if reader.line_num >= len(edges):
                break
            after.append(reader.line_num)
            widths.append(len(fields))
    except csv.Error:  # a field longer than csv.field_size_limit()
        too_long = True
    ends = np.array(after, dtype=int)
    return np.append(0, ends[:-1])[: len(ends)], ends, np.array(widths, dtype=int), too_long


class CsvRows(Reader):
    """An open CSV file, which is read only as far as rows are asked for."""

    word = "line"

    def __init__(
        self, path: Path, raw: IO[bytes], sep: str | None = None, encoding: str | None = None
    ) -> None:
        self.path, self._raw, self._stream = path, raw, open_packed(path, raw)
        self._decoder = Decoder(path, encoding)
        begin = read_packed(path, self._stream, HEAD)
        refuse_other_kinds(path, begin)
        directive, head = split_directive(self._decoder.feed(begin))
        above, size = lines_above(head, sep or directive)
        self.dialect = find_dialect(head[size:].decode("utf-8", "replace"), sep or directive)
        self.first_line = 1 + (directive is not None) + above  # which holds the names
        self._blocks = self._read_blocks(head[size:], self.first_line)
        text, spans, line = next(self._blocks, (b"", np.empty((0, 4), int), 0))
        if not len(spans):
            raise unreadable(path, "is empty")
        check_width(int(spans[0, 3]), path)  # before there is a string per column
        header = text[spans[0, 0] : spans[0, 1]]
        if b"\0" in header:
            raise unreadable(path, "is not CSV text (it holds zero bytes)")
        try:
            cells = next(self.dialect.rows(header.decode()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise unreadable(path, f"is not CSV text ({error})") from None
        on_disk = path.stat().st_size or None if path.is_file() else None
        quote = self.dialect.quote if self.dialect.quoted else ""
        form = FileFormat(path.name, "CSV", self.dialect.sep, quote=quote, unread=said_above(above))
        super().__init__(path, column_names(map(unmark_formula, cells)), form, on_disk)
        self._header = header.rstrip(b"\r\n") if are_names(self.names) else None
        self._first = text, spans[1:], line

    @property
    def format(self) -> FileFormat:
        """How the file is written, as far as it was read."""
        return replace(self._format, encoding=self._decoder.encoding or "utf-8")

    def look(self, names: Sequence[str]) -> pd.DataFrame:
        """These columns of the first rows as strings; nothing is used up."""
        text, spans, _ = self._first
        fitting = spans[spans[:, 3] == len(self.names)]
        if _problem(text):
            readable = [not _problem(text[start:end]) for start, end, *_ in fitting.tolist()]
            fitting = fitting[np.array(readable, dtype=bool)]
        return self._frame(text, fitting, dict.fromkeys(names, "text"))

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """Pieces of the columns in `kinds`, in the order of the file.

        Numbers are numbers where all of a piece are, with words for gaps as gaps; else strings.
        Other cells are as in the file; empty cells are gaps.
        """
        for text, spans, line in chain([self._first], self._blocks):
            wrong: dict[int, str] = {}
            width, every = len(self.names), set(spans[:, 3].tolist())
            more = ", as all rows have: a name is missing" * (
                every == {width + 1} and len(spans) > 2
            )
            for *_, at, fields in spans[spans[:, 3] != width].tolist():
                wrong[line + at] = f"has {fields} fields, but there are {width} column names{more}"
            wrong |= dict.fromkeys((line + self._headers(text, spans)).tolist(), NAMES_AGAIN)
            if _problem(text):
                for start, end, at, _ in spans.tolist():
                    if problem := _problem(text[start:end]):
                        wrong[line + at] = problem
            if wrong:
                spans = spans[~np.isin(line + spans[:, 2], list(wrong))]
            frame = self._frame(text, spans, kinds)
            done = self._raw.tell() if self._raw.seekable() else 0
            yield RawRows(frame, line + spans[:, 2], wrong, done)

    def _headers(self, text: bytes, spans: np.ndarray) -> np.ndarray:
        """Where the line of names comes again, as in files that were put together."""
        if self._header is None:
            return spans[:0, 2]
        longer = spans[:, 1] - spans[:, 0] - len(self._header)
        alike = spans[(longer >= 0) & (longer <= len("\r\n"))]
        again = [text.startswith(self._header, start) for start in alike[:, 0].tolist()]
        return alike[np.array(again, dtype=bool), 2]

    def _read_blocks(self, head: bytes, line: int) -> Iterator[tuple[bytes, np.ndarray, int]]:
        """Text that holds whole records, their spans, and the number of its first line.

        head : text that was read before, which begins with this line
        """
        rest, size, quote = b"", BLOCK, self.dialect.quote.encode()
        while True:
            new, head = head[:size], head[size:]
            if not new:
                raw = read_packed(self.path, self._stream, size)
                new = self._decoder.feed(raw)
            text, last = rest + new, not new and not raw
            records = find_records(text, last, self.dialect)
            unfinished = text[records.length :]
            too_long = len(unfinished) > LONGEST
            if records.too_long or (quote in unfinished and (last or too_long)):
                raise InputError(
                    f"{self.path}, line {line + records.n_lines}: a quote opens a field and is"
                    " never closed",
                    f"A field has at most {csv.field_size_limit():,} characters",
                    "Correct the line",
                )
            if too_long:
                raise unreadable(self.path, f"has more than {LONGEST:,} bytes in line {line}")
            if len(records.spans):
                yield text[: records.length], records.spans, line
            if last:
                return
            rest, line = unfinished, line + records.n_lines
            size = max(BLOCK, len(rest))  # doubled while a row does not end

    def _frame(self, text: bytes, spans: np.ndarray, kinds: Mapping[str, str]) -> pd.DataFrame:
        """The records as a frame, by pandas' fast reader."""
        if not len(spans) or not kinds:
            return pd.DataFrame(np.empty((0, len(kinds)), dtype=object), columns=list(kinds))
        numbers = {name: j for j, name in enumerate(self.names)}
        places: dict[Any, str] = {numbers[name]: kind for name, kind in kinds.items()}
        records = [text[start:end] for start, end in _joined(spans)]
        try:
            frame = pd.read_csv(
                io.BytesIO(b"".join(records)),
                header=None,
                usecols=list(places),
                index_col=False,
                sep=self.dialect.sep,
                quotechar=self.dialect.quote,
                skipinitialspace=self.dialect.padded,
                decimal=self.decimal,
                dtype={j: TYPES[kind] for j, kind in places.items() if kind in TYPES},
                keep_default_na=False,
                na_values={j: GAPS[kind] for j, kind in places.items()},
                low_memory=False,
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError):
            frame = None
        if frame is None or len(frame) != len(spans):  # pandas sees other records than we do
            rows = [
                next(self.dialect.rows(text[start:end].decode()))
                for start, end, *_ in spans.tolist()
            ]
            frame = pd.DataFrame(rows, dtype=object)
            frame = frame.where(frame != "", None)
        frame = unmark_formulas(frame[list(places)], text)
        return frame.set_axis(list(kinds), axis=1)


def read_csv(path: Path) -> pd.DataFrame:
    """All of a CSV file, with columns typed by pandas.

    Only empty cells are gaps, so that a category "None" or "NA" stays one. Lines that `predict`
    refuses are refused here too: pandas would fill short ones with gaps.
    """
    with open_file(path) as file:
        content = file.read()
    reader = CsvRows(path, io.BytesIO(content))
    if not sum(len(rows.lines) for rows in reader.good_rows({})):
        raise unreadable(path, "has column names but no rows")
    reader.refuse_twins()
    try:
        frame = pd.read_csv(
            open_packed(path, io.BytesIO(content)),
            skiprows=reader.first_line - 1,
            sep=reader.dialect.sep,
            quotechar=reader.dialect.quote,
            encoding=reader.format.encoding,
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
            index_col=False,
        )
    except ValueError as error:
        raise unreadable(path, f"is not CSV text ({error})") from None
    return unmark_formulas(frame.set_axis(reader.names, axis=1))


def _problem(text: bytes) -> str | None:
    """Why this cannot be text."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return NOT_UTF_8
    return "holds a zero byte" if b"\0" in text else None


def _joined(spans: np.ndarray) -> list[list[int]]:
    """Start and end of each run of records that follow one another directly."""
    begins = np.flatnonzero(np.append(True, spans[1:, 0] != spans[:-1, 1]))
    ends = np.append(begins[1:], len(spans)) - 1
    return np.column_stack([spans[begins, 0], spans[ends, 1]]).tolist()
