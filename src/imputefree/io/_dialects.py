"""How a CSV file is written: its encoding, separator and quotes are detected."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from ._file_rows import unreadable
from ._not_data import MOST_ABOVE, are_title

SEPARATORS = ("\t", ";", "|", ",")  # in this order: commas may be before decimals
LOOKED_AT = 2**17  # characters, and at most so many rows:
ROWS = 300
DIGITS = re.compile(r"\W*[\d.,\s'’]+([eE]\S+)?\W*")  # a number, with a comma or more
BELOW = 50  # lines that tell whether the first of them holds names
DIRECTIVE = re.compile(r'"?sep=([^\r\n"\'])"?\r?\n')  # Excel's first line
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# No Western language has so many accents in a row, or a word of two and nothing else
FOREIGN = re.compile(rb"[\x80-\xff]{3,}|(?<![^\s\"';,|])[\x80-\xff]{2}(?![^\s\"';,|])")
# What Polish and others look like if they are read as Western: W\xb3ochy, \xa3\xf3d\x9f
INSIDE = re.compile(
    rb"[a-zA-Z][\x80-\x91\x93-\x9f][a-zA-Z]"  # marks of cp1252 are between words
    rb"|[a-z\xdf-\xff][\x8a\x8c\x8e\x8f\x9f](?![A-Z])"  # capitals end no word
    rb"|[a-zA-Z\xc0-\xff][\xa1-\xa9\xaf\xb1-\xb3\xb6\xb8\xb9\xbc-\xbf][a-zA-Z\xc0-\xff]"
    rb"|(?<![^\s\"';,|])[\xa3\xa5\xaf\xb3\xb9](?=[a-z\xe0-\xff])"
)


@dataclass(frozen=True)
class Dialect:
    """How the rows of a text are written.

    quote : the mark around cells that hold a separator
    padded : whether spaces follow separators
    quoted : whether any cell is quoted, as far as was looked
    """

    sep: str = ","
    quote: str = '"'
    padded: bool = False
    quoted: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Of `csv.reader`."""
        names = {"delimiter": self.sep, "quotechar": self.quote}
        return names | {"skipinitialspace": self.padded}

    def rows(self, text: str) -> Iterator[list[str]]:
        """The rows of a text as lists of strings."""
        return csv.reader(io.StringIO(text, newline=""), **self.options)


def find_dialect(text: str, sep: str | None = None) -> Dialect:
    """The dialect of a text, which begins with the line of names.

    The separator is the one that gives all rows as many cells as there are names; if several do,
    the one that leaves the fewest others within cells.

    >>> find_dialect("weight, kg;height\\n70,5;1,8\\n").sep
    ';'
    >>> find_dialect("a, b\\n'x, y', 1\\n'z', 2\\n")
    Dialect(sep=',', quote="'", padded=True, quoted=True)
    """
    text = text[:LOOKED_AT]
    cut = len(text) == LOOKED_AT
    best, best_share, best_strain = Dialect(sep or ","), -1.0, 1.0
    for mark in [sep] if sep else SEPARATORS:
        dialect = _quotes(text, mark)
        try:
            rows = [row for row in islice(dialect.rows(text), ROWS) if row]
        except csv.Error:
            continue
        rows = rows[:-1] if cut and len(rows) < ROWS else rows
        width = len(rows[0]) if rows else 0
        share = sum(len(row) == width for row in rows) / len(rows) if rows else 0.0
        if share < best_share or not (sep or width > 1):
            continue
        strain = _strain(rows[1:BELOW], mark)
        if share > best_share or strain < best_strain:
            best, best_share, best_strain = dialect, share, strain
            if share == 1 and strain == 0:
                break
    return best


def _strain(rows: list[list[str]], sep: str) -> float:
    """The share of cells that hold another separator, and are not numbers.

    >>> _strain([["31,A1", "B2,X,x"]], ";"), _strain([["31", "A1;B2", "X", "x"]], ",")
    (1.0, 0.25)
    """
    others = set(SEPARATORS) - {sep}
    cells = [cell for row in rows for cell in row]
    split = [c for c in cells if others & set(c) and not DIGITS.fullmatch(c)]
    return len(split) / max(len(cells), 1)


def lines_above(text: bytes, sep: str | None = None) -> tuple[int, int]:
    r"""How many lines stand above the column names, such as a title or comments; and their bytes.

    >>> lines_above(b"# of 2024\nage;ward\n31;B\n42;C\n")
    (1, 10)
    """
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n|$)", text[:LOOKED_AT])
    for k in range(min(MOST_ABOVE, len(lines) - 1)):
        rest = b"".join(lines[k : k + BELOW]).decode("utf-8", "replace")
        dialect = find_dialect(rest, sep)
        try:
            rows = [row for row in dialect.rows(rest) if row]
        except csv.Error:
            return 0, 0
        below = [len(row) for row in rows[1:-1] or rows[1:]]
        if not rows or are_title(rows[0], len(rows[0])) or len(rows[0]) == 1:
            continue
        if k == 0 and not below:
            return 0, 0
        if below and sum(n == len(rows[0]) for n in below) >= (0.9 if k else 1) * len(below):
            above = [line.decode("utf-8", "replace").strip() for line in lines[:k]]
            fine = all(
                line.startswith("#") or are_title(next(dialect.rows(line), []), len(rows[0]))
                for line in above
            )
            return (k, sum(map(len, lines[:k]))) if fine else (0, 0)
    return 0, 0


def _quotes(text: str, sep: str) -> Dialect:
    """The quotes that cells between these separators have."""
    edge, padded = re.escape(sep), text.count(f"{sep} ") > 0.5 * text.count(sep) > 0
    for quote in "\"'":
        begun = len(re.findall(rf"(?:^|{edge}) *{quote}", text, re.MULTILINE))
        ended = len(re.findall(rf"{quote} *(?:$|{edge}|\r)", text, re.MULTILINE))
        if begun and (quote == '"' or 2 <= begun == ended):
            return Dialect(sep, quote, padded, True)
    return Dialect(sep, '"', padded)


def find_encoding(sample: bytes, path: Path) -> str:
    """The encoding of a text, from a part that holds a byte which is not ASCII.

    UTF-8 if it is valid, UTF-16 by its zero bytes, or else cp1252 (Latin-1 with typographic marks),
    unless the bytes do not look like a Western language.
    """
    for mark, name in MARKS.items():
        if sample.startswith(mark):
            return name
    halves = [sample[k::2].count(0) / max(len(sample[k::2]), 1) for k in (0, 1)]
    if max(halves) > 0.3 and min(halves) < 0.1:
        return "utf-16-le" if halves[1] > halves[0] else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # which may end within a character
    except UnicodeDecodeError as error:
        text = sample.decode("utf-8", "replace")
        damaged = text.count("\ufffd")
        if sum(character > "\x7f" for character in text) > 2 * damaged:
            return "utf-8"  # with lines that will be named
        high = sum(byte > 127 for byte in sample)
        foreign = sum(map(len, FOREIGN.findall(sample)))
        if max(foreign, 2 * len(INSIDE.findall(sample))) * 2 > high:
            shown = sample[max(error.start - 10, 0) : error.start + 10]
            fact = f"is written in an encoding that does not show ({shown!r})"
            remedy = "Name it with encoding= (--encoding), such as cp1251, mac_roman or gb18030"
            raise unreadable(path, fact, remedy) from None
        return "cp1252" if not set(sample) & set(b"\x81\x8d\x8f\x90\x9d") else "latin-1"
    return "utf-8"


class Decoder:
    """Bytes of any encoding as UTF-8, piece by piece; `encoding` is "" while all is ASCII."""

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path, self.encoding = path, _known(encoding) if encoding else ""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._begun = False

    def feed(self, new: bytes) -> bytes:
        """The next bytes, b"" at the end of the file."""
        if not self.encoding and (not new.isascii() or b"\0" in new):
            self.encoding = find_encoding(new, self.path)
        if self.encoding in ("", "utf-8"):
            begun, self._begun = self._begun, True
            return new if begun else new.removeprefix(codecs.BOM_UTF8)
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
        try:
            return self._decoder.decode(new, final=not new).removeprefix("\ufeff").encode()
        except UnicodeError as error:
            fact = f"cannot be read as {self.encoding} ({error})"
            raise unreadable(self.path, fact, "Name its encoding with --encoding") from None


def _known(encoding: str) -> str:
    """The usual name of an encoding."""
    try:
        codec = codecs.lookup(encoding)
        if not codec._is_text_encoding:  # "hex" and others from bytes to bytes
            raise LookupError
    except (LookupError, ValueError):
        rule, remedy = "It must be the name of an encoding", "Write utf-8, cp1252 or utf-16"
        raise ParameterError(f"encoding is {encoding!r}", rule, remedy) from None
    return {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}.get(codec.name, codec.name)


def check_marks(sep: str | None, decimal: str | None = None) -> str | None:
    r"""The separator, which may be written as a word; or a ParameterError.

    >>> check_marks("tab", ","), check_marks("\\t", None), check_marks(";", ".")
    ('\t', '\t', ';')
    """
    words: dict[str, str] = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ","}
    sep = words.get(sep, sep) if sep else sep
    if sep is not None and (len(sep) != 1 or sep in "\r\n\"'" or not sep.isascii()):
        rule = "It must be one character, or tab"
        raise ParameterError(f"sep is {sep!r}", rule, "Write one, such as ';'")
    if decimal not in (None, ".", ","):
        rule = "It must be a point or a comma"
        raise ParameterError(f"decimal is {decimal!r}", rule, "Write '.' or ','")
    return sep


def split_directive(text: bytes) -> tuple[str | None, bytes]:
    """The separator that Excel's first line `sep=;` names, and the text after it."""
    match = DIRECTIVE.match(text[:20].decode("latin-1"))
    return (match[1], text[match.end() :]) if match else (None, text)
