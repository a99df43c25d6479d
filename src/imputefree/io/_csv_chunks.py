"""A CSV file of any size as frames of whole rows, with the line in which each row begins."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pandas as pd

from ..data import GAP_WORDS
from ..errors import InputError
from ._csv_files import SEPARATORS
from ._csv_records import Records, find_records
from ._raw_rows import RawRows

BLOCK = 2 * 2**20  # bytes read at once
LONGEST = 64 * 2**20  # bytes of one row; more are a quote that nobody closed
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
OTHERS = {".zip", ".zst", ".tar", ".7z"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GAPS = {"number": ["", *GAP_WORDS], "category": [""], "text": [""]}
# As texts: pandas' own categories would be numbers where all of a piece look so, 01 being 1.
# Numbers are as they look, and checked later.
TYPES = {"category": "str", "text": "str"}


class CsvChunks:
    """An open CSV file: `names` of its columns, then `rows` with some of them.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("id,age\\n7,31\\n8,\\n")
    >>> with open_csv(path) as file:
    ...     for rows in file.rows({"age": "number"}):
    ...         print(rows.frame["age"].tolist(), rows.lines)
    [31.0, nan] [2 3]
    """

    word = "line"

    def __init__(self, path: Path, raw: IO[bytes], stream: IO[bytes]) -> None:
        self.path, self._raw, self._stream = path, raw, stream
        self.size = path.stat().st_size or None
        self._blocks = self._read_blocks()
        first = next(self._blocks, None)
        if first is None:
            raise _unreadable(path, "is empty")
        text, found, line = first
        header = text[found.starts[0] : found.ends[0]]
        if b"\0" in header:
            raise _unreadable(path, "is no CSV text (it holds zero bytes)")
        self.names, self.twins = self._read_names(header)
        self._first = text, found.kept(np.arange(len(found.starts)) > 0), line

    def rows(self, kinds: Mapping[str, str]) -> Iterator[RawRows]:
        """Frames of the columns in `kinds`, in the order of the file.

        Numbers are numbers where all of a piece are, words for gaps being gaps; else texts.
        Categories and texts are as they stand in the file; empty cells are gaps.
        """
        yield self._parsed(*self._first, kinds)
        for text, found, line in self._blocks:
            yield self._parsed(text, found, line, kinds)

    def _read_names(self, header: bytes) -> tuple[list[str], set[str]]:
        try:
            text = header.decode("utf-8")
            names = [str(name) for name in pd.read_csv(io.StringIO(text), nrows=0).columns]
        except (UnicodeDecodeError, ValueError) as error:
            raise _unreadable(self.path, f"is no CSV text ({str(error).strip()})") from None
        for mark, word in SEPARATORS.items():
            if len(names) == 1 and mark in names[0]:
                raise _unreadable(
                    self.path, f"seems to have {word} between its columns, not commas"
                )
        as_written = Counter(next(csv.reader(io.StringIO(text, newline="")), []))
        return names, {name for name, count in as_written.items() if count > 1}

    def _read_blocks(self) -> Iterator[tuple[bytes, Records, int]]:
        """Texts of whole records, the records in them, and the number of their first line."""
        rest, line, size, begun = b"", 1, BLOCK, False
        while True:
            new = self._read(size)
            text, last = rest + new, not new
            if not begun:
                text, begun = text.removeprefix(BYTE_ORDER_MARK), True
            found = find_records(text, last)
            if found.unclosed is not None and (last or len(text) - found.length > LONGEST):
                raise InputError(
                    f"{self.path}, line {line + found.unclosed}: a quote opens a field and is"
                    " never closed",
                    "What follows cannot be told from the text of that field",
                    "Correct the line",
                )
            if not last and len(text) - found.length > LONGEST:
                raise _unreadable(self.path, f"has more than {LONGEST:,} bytes in line {line}")
            if len(found.starts):
                yield text[: found.length], found, line
            if last:
                return
            rest, line = text[found.length :], line + found.n_lines
            size = max(BLOCK, len(rest))  # doubled while a row does not end

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            raise _unreadable(self.path, f"is truncated or corrupted ({error})") from None

    def _parsed(self, text: bytes, found: Records, line: int, kinds: Mapping[str, str]) -> RawRows:
        wrong: dict[int, str] = {}

        def leave_out(places: np.ndarray, what: str) -> None:
            nonlocal found
            wrong.update({int(line + found.lines[i]): what.format(found.widths[i]) for i in places})
            found = found.kept(~np.isin(np.arange(len(found.starts)), places))

        expected = len(self.names)
        odd = np.flatnonzero(found.widths != expected)
        if len(odd):
            leave_out(odd, f"has {{}} fields where the names are {expected}")
        if b"\0" in text:
            zero = [i for i, record in enumerate(found.texts(text)) if b"\0" in record]
            leave_out(np.array(zero, dtype=int), "holds a zero byte")
        try:
            frame = self._frame(text, found, kinds)
        except UnicodeDecodeError:
            foreign = [i for i, record in enumerate(found.texts(text)) if not _is_utf8(record)]
            leave_out(np.array(foreign, dtype=int), "is no UTF-8 text")
            frame = self._frame(text, found, kinds)
        return RawRows(frame, line + found.lines, wrong, self._raw.tell())

    def _frame(self, text: bytes, found: Records, kinds: Mapping[str, str]) -> pd.DataFrame:
        """The records as a frame, by pandas' fast reader."""
        if not len(found.starts):
            return pd.DataFrame({name: pd.Series(dtype=object) for name in kinds})
        try:
            frame = pd.read_csv(
                io.BytesIO(found.joined(text)),
                header=None,
                names=self.names,
                usecols=list(kinds),
                index_col=False,
                dtype={name: TYPES[kind] for name, kind in kinds.items() if kind in TYPES},
                keep_default_na=False,
                na_values={name: GAPS[kind] for name, kind in kinds.items()},
                low_memory=False,
            )
        except pd.errors.ParserError:
            frame = None
        if frame is None or len(frame) != len(found.starts):
            frame = self._frame_by_record(text, found, kinds)
        return frame

    def _frame_by_record(
        self, text: bytes, found: Records, kinds: Mapping[str, str]
    ) -> pd.DataFrame:
        """The same, slowly, where pandas sees other records than we do."""
        rows = [
            next(csv.reader(io.StringIO(record.decode("utf-8"), newline="")))
            for record in found.texts(text)
        ]
        frame = pd.DataFrame(rows, columns=self.names, dtype=object)[list(kinds)]
        return frame.where(frame != "", None)


@contextmanager
def open_csv(path: Path) -> Iterator[CsvChunks]:
    """The file, closed in the end; an InputError where it cannot be read."""
    suffix = path.suffix.lower()
    if suffix in OTHERS:
        raise _unreadable(path, f"is packed as {suffix}, which cannot be read piece by piece")
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", "", "Correct the path") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})", "", "Check it") from None
    with raw:
        packed = OPENERS.get(suffix)
        yield CsvChunks(path, raw, cast(IO[bytes], packed(raw) if packed else raw))


def _is_utf8(record: bytes) -> bool:
    try:
        record.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _unreadable(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} {what}",
        "A table is a CSV file, plain or packed as .gz: a line of column names, then a line a row",
        "Correct or replace the file",
    )
