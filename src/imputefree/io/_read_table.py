"""`read_table`: a stranger's file as a frame to learn from, and what was understood of it."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from ..data import TRUTH, coerced, is_gap_word
from ..errors import InputError, InputTypeError, counted, listed, shorten
from ._cell_values import cell_values, numbered, stripped, typed
from ._column_readings import learn_column
from ._dialects import check_marks
from ._file_rows import INDEX, Reader, open_file, twin_error, unreadable
from ._not_data import check_header, check_rows
from ._quantities import decimal_marks, read_quantity
from ._read_files import need_columns, parts_of, reader_of
from ._understood import (
    CATEGORY,
    DROP,
    KEY,
    NUMBER,
    ColumnReading,
    FileFormat,
    Understood,
    as_tuple,
    column_entries,
    read_yaml,
)

STDIN = "-"
EVERY = "*"  # stands for all columns
LOOKED_AT = 2000  # different cells of a column, for their decimal mark
Source = str | os.PathLike[str] | bytes | IO[bytes] | pd.DataFrame


def read_table(
    source: Source,
    *,
    target: str | None = None,
    id: str | None = None,
    keys: Sequence[str] = (),
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    missing: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    columns: Mapping[str, Any] | str | os.PathLike[str] | Understood | None = None,
    name: str | None = None,
) -> tuple[pd.DataFrame, Understood]:
    """Read a table as it is, and say what was understood.

    Returns the frame that `imputefree fit` would learn from: numbers as floats, categories as
    strings, gaps as NaN; and an `Understood`, which prints as a line for the file and a table of
    what each column was read as.

    source : a CSV (also compressed), Excel or Parquet file, a folder of parts, "-" for standard
        input, the bytes of a file (an upload), an open binary file, or a frame
    target : the column to predict: it is never dropped, and codes in it are only shown
    id : the column that identifies series, if rows are steps of series; it is kept as it is
    keys : other columns that are kept as they are, such as times and groups
    sep, decimal, encoding : how a CSV file is written; detected if None
    sheet : of Excel workbooks; None: the first that shows and holds a table
    missing : cells that stand for a gap, such as [-9, "unknown"], in all columns, or by column as
        {"bmi": [0], "*": [-9]}, where * is all columns; they are added to those that are found
    columns : what columns are: {"ward": "category", "bmi": {"kind": "number", "missing": [0]}}, a
        YAML file that `Understood.save` wrote, or an `Understood`: then a new file is read as the
        first one was, whatever its separator
    name : of bytes or an open file, for messages, and for the format by its ending
    """
    check_marks(sep, decimal)
    raw, file, digest = read_raw(source, name, sep, encoding, sheet)
    options: Any = {"target": target, "id": id, "keys": keys, "decimal": decimal}
    return understand(raw, file, digest, missing=missing, columns=columns, **options)


def understand(
    raw: pd.DataFrame,
    file: FileFormat,
    digest: str = "",
    *,
    target: str | None = None,
    id: str | None = None,
    keys: Sequence[str] = (),
    decimal: str | None = None,
    missing: Any = None,
    columns: Any = None,
) -> tuple[pd.DataFrame, Understood]:
    """As `read_table`, from cells as they are in a file (see `read_raw`)."""
    path, known = Path(file.name), columns if isinstance(columns, Understood) else None
    kept = [name for name in (id, *keys) if name is not None]
    if known is None:
        check_header(raw, path)
    need_columns(raw, [*kept, *([] if target is None else [target])], path)
    if known is not None:
        raw = raw[[column for column in raw if column in known.columns]]
    marks, _ = decimals_of(raw, file, decimal)
    check_rows(raw, marks, path, known is not None)
    shared, by_column = _missing(missing, raw, path)
    entries = _entries(columns, raw, path) | {name: {"kind": KEY} for name in kept}
    series = pd.factorize(raw[id])[0] if id else None

    def learn(column: str, elsewhere: Sequence[float] = (), words: Sequence[str] = ()) -> Any:
        codes = (*shared, *by_column.get(column, ()), *words)
        if known is not None and column not in kept:
            reading = known.columns[column]
            note = reading.note if reading.kind == DROP else ""
            return replace(reading, missing=(*reading.missing, *codes), suspects=(), note=note)
        return learn_column(
            raw[column],
            entries.get(column),
            decimal=marks[column],
            missing=codes,
            elsewhere=elsewhere,
            target=column == target,
            series=series,
        )

    readings = {str(column): learn(str(column)) for column in raw}
    if known is None:
        _second_look(readings, learn, target)
    if target is not None and readings[target].kind not in (NUMBER, CATEGORY, KEY):
        fact = f"the target {target!r} of {path} is read as {readings[target].kind}"
        note = f" ({readings[target].note})" * bool(readings[target].note)
        remedy = "Name another column, or say what it is: a number or a category (--columns)"
        raise InputError(fact + note, "Classes or numbers are predicted", remedy)
    frame, gaps = _frame(raw, readings, marks, known is not None, path)
    readings = {name: replace(reading, gaps=gaps[name]) for name, reading in readings.items()}
    if file.kind == "CSV":
        used = list(marks.values())
        file = replace(file, decimal=max(set(used), key=used.count))
    notes = () if known is not None else tuple(_sentences(readings))
    return frame, Understood(file, readings, notes, len(raw), digest)


class TableFile(NamedTuple):
    """A whole file, whose cells are not interpreted beyond numbers."""

    frame: pd.DataFrame  # its rows, numbered 0, 1, …
    notes: tuple[str, ...]  # what was read as a gap, a sentence each
    digest: str  # SHA-256, which identifies the content


def read_frame(path: Path, decimal: str | None = None, **how: str | None) -> TableFile:
    """All rows of a file; columns that hold nothing but numbers, and words for gaps, are numbers.

    decimal : of a CSV file; detected if None
    how : sep, encoding and sheet, as for `read_table`
    """
    check_marks(how.get("sep"), decimal)
    raw, file, digest = read_raw(path, **how)
    marks, _ = decimals_of(raw, file, decimal)
    columns, notes = {}, list[str]()
    for name, mark in marks.items():
        columns[name], more = _with_words_as_gaps(typed(stripped(raw[name]), mark))
        notes += more
    return TableFile(pd.DataFrame(columns), tuple(notes), digest)


def _with_words_as_gaps(cells: pd.Series) -> tuple[pd.Series, list[str]]:
    """Words for "missing" in a column that otherwise holds numbers become gaps, with a note.

    In a column of strings such a word may be a category and stays one.

    >>> _with_words_as_gaps(pd.Series(["31", "NA"], name="age", dtype=object))[1]
    ["In column 'age' 'NA' (1 row) was read as a gap."]
    """
    if cells.dtype == object:
        truths = cells.map(TRUTH)
        if not truths.isna().any():
            return truths.astype(bool), []
        cells = pd.Series(cells.tolist(), name=cells.name)
    if pd.api.types.is_numeric_dtype(cells):
        return cells, []
    numbers = coerced(cells)
    words = cells[np.isnan(numbers) & cells.notna()].astype(str)
    if not 0 < len(words) < cells.notna().sum() or not all(map(is_gap_word, set(words))):
        return cells, []
    shown, rows = shorten(sorted(set(words))), counted(len(words), "row")
    note = f"In column {cells.name!r} {shown} ({rows}) was read as a gap."
    return pd.Series(numbers, name=cells.name), [note]


def read_raw(
    source: Source,
    name: str | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> tuple[pd.DataFrame, FileFormat, str]:
    """Cells as they are, how they are written, and the digest of the file."""
    if isinstance(source, pd.DataFrame):
        frame = source.reset_index(drop=True)
        frame.columns = frame.columns.astype(str)
        twins = frame.columns[frame.columns.duplicated()].tolist()
        if twins:
            raise twin_error(Path(name or "the frame"), twins)
        return frame, FileFormat(name or "frame", "frame"), ""
    if isinstance(source, str | os.PathLike) and str(source) != STDIN:
        parts = parts_of(Path(source))
        if len(parts) > 1 or Path(source).is_dir():
            return _joined(parts, Path(source), sep=sep, encoding=encoding, sheet=sheet)
        with open_file(parts[0]) as file:
            content, path = file.read(), parts[0]
    else:
        if isinstance(source, str | os.PathLike):
            source, name = sys.stdin.buffer, name or "standard input"
        content = source if isinstance(source, bytes | bytearray) else source.read()
        path = Path(name or "table")
        if not isinstance(content, bytes | bytearray):
            fact, rule = "the open file gives strings", "Its encoding is found from its bytes"
            raise InputTypeError(fact, rule, "Open it with mode 'rb'")
    reader = reader_of(path, io.BytesIO(content), sep, encoding, sheet)
    return _whole(reader), reader.format, hashlib.sha256(content).hexdigest()


def _whole(reader: Reader) -> pd.DataFrame:
    """All rows of a file; a row that cannot be read is an InputError."""
    reader.refuse_twins()
    names = [name for name in reader.names if not INDEX.fullmatch(name)]
    pieces = [raw.frame for raw in reader.good_rows(dict.fromkeys(names, "text"))]
    frame = pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame()
    if frame.empty:
        raise unreadable(reader.path, "has column names but no rows")
    return frame


def _joined(
    parts: list[Path], folder: Path, **how: str | None
) -> tuple[pd.DataFrame, FileFormat, str]:
    """The rows of all parts, which must have the same columns."""
    frames: list[pd.DataFrame] = []
    formats, digest = list[FileFormat](), hashlib.sha256()
    for part in parts:
        frame, file, content = read_raw(part, **how)
        digest.update(content.encode())
        frames.append(frame)
        formats.append(file)
        check_parts([*map(str, frame)], [*map(str, frames[0])], part, parts[0])
    file = replace(formats[0], name=folder.name, note=counted(len(parts), "file"))
    return pd.concat(frames, ignore_index=True)[list(frames[0])], file, digest.hexdigest()


def check_parts(names: list[str], wanted: list[str], part: Path, first: Path) -> None:
    """Refuse a part of a folder that has other columns than the first."""
    lacking, extra = (sorted({*a} - {*b}) for a, b in ((wanted, names), (names, wanted)))
    if lacking or extra:
        raise InputError(
            f"{part} has other columns than {first.name}: "
            + listed(("missing here", lacking), ("not there", extra)),
            "The parts of a table have the same columns, in any order",
            "Correct the file, or take it out of the folder",
        )


def _entries(columns: Any, raw: pd.DataFrame, path: Path) -> dict[str, dict[str, Any]]:
    """What the user says of columns, by name, as entries of a `ColumnReading`."""
    if columns is None or isinstance(columns, Understood):
        return {}
    by_file = isinstance(columns, str | os.PathLike)
    entries = column_entries(read_yaml(Path(columns)) if by_file else {"columns": columns})
    need_columns(raw, list(entries), path, option="columns")
    return entries


def _missing(
    missing: Any, frame: pd.DataFrame, path: Path
) -> tuple[tuple[Any, ...], dict[str, tuple[Any, ...]]]:
    """Cells that stand for a gap in all columns, and by column."""
    if missing is None:
        return (), {}
    if not isinstance(missing, Mapping):
        return as_tuple(missing), {}
    by_column = {str(name): as_tuple(codes) for name, codes in missing.items()}
    shared = by_column.pop(EVERY, ())
    need_columns(frame, list(by_column), path, option="missing")
    return shared, by_column


def decimals_of(
    frame: pd.DataFrame, file: FileFormat, decimal: str | None
) -> tuple[dict[str, str], bool]:
    """The mark before decimals in each column, and whether any number shows it.

    It is what the column's numbers show, or else those of others.

    decimal : the mark, if the user names it
    """
    if decimal:
        return dict.fromkeys(map(str, frame), decimal), True
    shown: dict[str, set[str]] = {}
    doubt: dict[str, str] = {}
    for name, cells in frame.items():
        marks: set[str] = set()
        if cells.dtype == object or isinstance(cells.dtype, pd.StringDtype):
            strings = [c for c in numbered(cells)[1][:LOOKED_AT] if isinstance(c, str)]
            numbers = [t for t in strings if read_quantity(t, ".") or read_quantity(t, ",")]
            if 2 * len(numbers) >= len(strings) > 0:
                marks, either = decimal_marks(numbers)
                if len(marks) > 1:
                    pair = [next(t for t in numbers if decimal_marks([t])[0] == {m}) for m in ",."]
                    fact = f"column {name!r} of {file.name} holds {pair[0]!r} and {pair[1]!r}"
                    rule = "A column has one decimal mark, a point or a comma"
                    raise InputError(fact, rule, "Correct the column, or name it with --decimal")
                if either:
                    doubt[str(name)] = either
        shown[str(name)] = marks
    found = set().union(*shown.values())
    usual = next(iter(found)) if len(found) == 1 else "."
    for name, text in doubt.items():
        comma = "," in text
        settled = len(found) == 1 or file.sep == "," or (not comma and file.sep != ";")
        if not settled:
            other = "2370" if comma else "1234"
            raise InputError(
                f"column {name!r} of {file.name} holds {text!r}, which may have thousands or"
                f" decimals{'' if found else ', and no other number shows which'}",
                f"Thousands are written as in 2,370 (which is {other}) or as in 2.370",
                "Say which mark is before decimals, with decimal='.' or ',' (--decimal)",
            )
    marks_by_name = {name: next(iter(marks), usual) for name, marks in shown.items()}
    return marks_by_name, bool(found)


def _second_look(readings: dict[str, ColumnReading], learn: Any, target: str | None) -> None:
    """Codes and words of some columns are looked for in the others."""
    numbers = [reading for reading in readings.values() if reading.kind == NUMBER]
    codes = [c for reading in numbers for c in reading.missing if not isinstance(c, str)]
    common = sorted({code for code in codes if codes.count(code) > 1})
    words = {
        word.casefold() for reading in numbers for word in reading.missing if isinstance(word, str)
    }
    for name, reading in readings.items():
        if reading.kind == NUMBER and common:
            readings[name] = learn(name, elsewhere=common)
        elif name != target:
            known = [w for w in reading.suspects if isinstance(w, str) and w.casefold() in words]
            if known:
                readings[name] = learn(name, words=known)


def _frame(
    raw: pd.DataFrame,
    readings: Mapping[str, ColumnReading],
    marks: Mapping[str, str],
    strict: bool,
    path: Path,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """The columns as values, and the share of gaps by column of the file."""
    columns: dict[str, Any] = {}
    gaps = {}
    for name, reading in readings.items():
        values, bad = cell_values(raw[name], reading, marks[name])
        infinite = [v.dtype.kind == "f" and np.isinf(v[bad]).all() for v in values.values()]
        if bad.any() and strict and not any(infinite):
            row = int(np.argmax(bad))
            fact = f"{path}: column {name!r} holds {str(raw[name].iloc[row])!r} in row {row + 1}"
            rule = f"It is read as a {reading.kind}, as in the first table"
            raise InputError(fact, rule, "Correct the cell, or name it with missing=")
        columns |= values
        first = next(iter(values.values()), raw[name].to_numpy())
        gaps[name] = float(pd.isna(first).mean())
    return pd.DataFrame(columns, index=raw.index), gaps


def _sentences(readings: Mapping[str, ColumnReading]) -> list[str]:
    """What must be read, a sentence each; columns with the same code share one."""
    taken: dict[str, list[str]] = {}
    kept: dict[str, list[str]] = {}
    loud = []
    for name, reading in readings.items():
        if reading.kind == DROP:
            loud += [f"Column {name!r} is dropped: {reading.note}."] * reading.loud
            continue
        for code in reading.missing:
            if not isinstance(code, str):
                taken.setdefault(str(code), []).append(name)
        for code in reading.suspects:
            kept.setdefault(str(code), []).append(name)
        loud += [f"Column {name!r}: {reading.note}."] * reading.loud
    lines = [f"{code} was read as a gap in {shorten(names)}." for code, names in taken.items()]
    for code, names in kept.items():
        said = f"--missing {names[0]}={code}"
        lines.append(
            f"{code} in {shorten(names)} looks like a code for a gap, and was kept as a value:"
            f" if it is one, say so ({said})."
        )
    return [*lines, *loud]
