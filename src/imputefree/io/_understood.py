"""What was understood of a table: how its file is written, and what each column was read as."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from .._files import saving
from ..errors import InputError, counted, shorten

NUMBER, CATEGORY, DATE, WORDS, KEY, DROP = "number", "category", "date", "words", "key", "drop"
YES_NO = "yes or no"  # how truth values, which are numbers, were written
CLOCK = "hours since midnight"  # how times of day, which are numbers, are read
SPAN, SPANS = "1.5 is 1:30", "1.5 is 1:30:00"  # and durations
CLOCKS = {CLOCK: CLOCK, SPAN: f"({SPAN})", SPANS: f"hours ({SPANS})"}  # in words, after a number
KINDS = (NUMBER, CATEGORY, DATE, WORDS, KEY, DROP)
HEAD = "# How a table is read. Edit the kinds (number, category, date, words, key, drop) and the"
HEAD += "\n# cells that stand for a gap (missing), and pass this file with columns= or --columns.\n"
MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
DECIMALS = {".": "decimal points", ",": "decimal commas"}
QUOTES = {'"': "double quotes", "'": "single quotes"}


@dataclass(frozen=True)
class FileFormat:
    """How a file is written.

    name : of the file
    kind : "CSV", "Excel", "Parquet" or "frame"
    sep, encoding, quote : of a CSV file; quote is "" if no cell is quoted
    decimal : the mark before decimals, where numbers are written as strings
    sheet : of a workbook
    note : more of it, such as the number of files
    unread : what was not read, such as lines above the names
    """

    name: str
    kind: str
    sep: str = ""
    decimal: str = ""
    encoding: str = ""
    quote: str = ""
    sheet: str = ""
    note: str = ""
    unread: str = ""

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.kind}"]
        parts += [f"sheet {self.sheet!r}"] * bool(self.sheet)
        if self.sep:
            parts.append(f"separated by {MARKS.get(self.sep, repr(self.sep))}")
        parts += [DECIMALS[self.decimal]] if self.decimal in DECIMALS else []
        parts += [self.encoding] * bool(self.encoding)
        if self.sep:
            parts.append(QUOTES.get(self.quote, "no quotes"))
        return ", ".join([*parts, *filter(None, (self.note, self.unread))])


@dataclass(frozen=True)
class ColumnReading:
    """What one column was taken for, and how its cells are read.

    kind : "number", "category", "date" (elapsed time, month and weekday), "words" (hashed), "key"
        (an id, a time or a group, kept as it is) or "drop"
    missing : cells that stand for a gap, besides empty ones
    suspects : cells that look like codes for a gap, and were kept as values
    spellings : levels that are also meant by their other forms in upper and lower case
    unit : what may follow a number, such as "mmHg"
    format : how dates are written; of numbers `YES_NO` if they are truth values, or one of
        `CLOCKS` if they are times of day or durations, whose zone is the unit
    since : the day from which time is counted
    parts : the columns that a date or words became
    gaps : the share of rows without a value
    note : what a user should know, or why the column was dropped
    loud : whether that may change what is learned, so that it must be read
    """

    name: str
    kind: str
    missing: tuple[float | str, ...] = ()
    suspects: tuple[float | str, ...] = ()
    spellings: tuple[str, ...] = ()
    unit: str = ""
    format: str = ""
    since: str = ""
    parts: tuple[str, ...] = ()
    gaps: float = 0.0
    note: str = ""
    loud: bool = False

    @property
    def plain(self) -> dict[str, Any]:
        """As JSON types, without what is empty."""
        values = {name: value for name, value in asdict(self).items() if value or name == "kind"}
        return {n: list(v) if isinstance(v, tuple) else v for n, v in values.items() if n != "name"}

    def dropped(self, note: str) -> ColumnReading:
        """The same column, dropped for a reason that must be read."""
        return replace(self, kind=DROP, note=note, loud=True)


@dataclass(frozen=True)
class Understood:
    """How a table was read: printed, it is a line for the file and a table of its columns.

    file : how the file is written
    columns : by name, in the order of the file, what each column was read as
    notes : what must be read, a sentence each
    n_rows : of the table
    digest : SHA-256 of the file's content; "" for a frame

    >>> reading = ColumnReading("bp", "number", missing=(-9,), note="-9 is a gap (3 rows)")
    >>> print(Understood(FileFormat("a.csv", "CSV", ";", ",", "cp1252"), {"bp": reading}))
    a.csv: CSV, separated by semicolons, decimal commas, cp1252, no quotes; 0 rows, 1 column
    column  read as  missing  note
    bp      number   0.0 %    -9 is a gap (3 rows)
    """

    file: FileFormat
    columns: Mapping[str, ColumnReading] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_rows: int = 0
    digest: str = ""

    def __str__(self) -> str:
        table = self.table()
        lines = [list(table.columns), *table.to_numpy().tolist()]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        rows = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in lines]
        return "\n".join([self.line, *rows, *self.notes])

    @property
    def line(self) -> str:
        """How the file is written, in one line."""
        return f"{self.file}; {self.n_rows:,} rows, {counted(len(self.columns), 'column')}"

    @property
    def dropped(self) -> dict[str, str]:
        """By name, why a column is not in the frame."""
        return {name: col.note for name, col in self.columns.items() if col.kind == DROP}

    def table(self) -> pd.DataFrame:
        """What each column was taken for, a row each."""
        rows = [(c.name, c.kind, f"{100 * c.gaps:.1f} %", c.note) for c in self.columns.values()]
        return pd.DataFrame(rows, columns=["column", "read as", "missing", "note"])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; what was not read is left out, as nobody needs it to read more."""
        known = asdict(replace(self.file, unread=""))
        file = {name: value for name, value in known.items() if value}
        columns = {name: column.plain for name, column in self.columns.items()}
        return {"file": file, "rows": self.n_rows, "columns": columns}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Understood:
        """The inverse of `to_dict`; an InputError names what is wrong in an edited one."""
        file = FileFormat(**({"name": "", "kind": ""} | dict(plain.get("file") or {})))
        return cls(file, column_readings(plain), n_rows=int(plain.get("rows") or 0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a small YAML file, which may be edited and passed to `read_table(columns=…)`."""
        import yaml

        with saving(Path(path)) as place:
            text = yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True)
            place.write_text(HEAD + text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Understood:
        """Read a file that `save` wrote."""
        return cls.from_dict(read_yaml(Path(path)))


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that says how columns are read."""
    import yaml

    rule, remedy = "It must be YAML with `columns:`, as Understood.save writes it", "Correct it"
    try:
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
        raise InputError(f"{path} cannot be read ({problem})", rule, remedy) from None
    if not isinstance(plain, dict) or not isinstance(plain.get("columns"), dict):
        raise InputError(f"{path} does not say how columns are read", rule, remedy)
    return plain


def column_readings(plain: Mapping[str, Any]) -> dict[str, ColumnReading]:
    """The columns of an edited description, checked."""
    return {
        name: ColumnReading(name, **{"kind": ""} | entries)
        for name, entries in column_entries(plain).items()
    }


def column_entries(plain: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What an edited description says of each column, checked; a kind alone is enough.

    >>> column_entries({"columns": {"age": "number"}})
    {'age': {'kind': 'number'}}
    >>> column_entries({"columns": {"ward": {"kind": "place"}}})
    Traceback (most recent call last):
    imputefree.errors.InputError: column 'ward' has the kind 'place'. A kind is 'number', \
'category', 'date', 'words', 'key', 'drop'. Choose one of them.
    """
    known = {item.name for item in fields(ColumnReading)} - {"name"}
    columns = {}
    for name, entry in (plain.get("columns") or {}).items():
        if not isinstance(entry, str | Mapping | None):
            fact, rule = f"column {name!r} is {entry!r}", "A column is a kind, or a map of entries"
            raise InputError(fact, rule, "Write a kind, such as number")
        values: dict[str, Any] = {"kind": entry} if isinstance(entry, str) else dict(entry or {})
        unknown = sorted(set(values) - known)
        if unknown:
            rule = f"A column has {shorten(sorted(known), len(known), str)}"
            fact = f"column {name!r} has the unknown entry {unknown[0]!r}"
            raise InputError(fact, rule, "Correct or remove it")
        if values.get("kind", "") not in ("", *KINDS):
            fact = f"column {name!r} has the kind {values['kind']!r}"
            rule = f"A kind is {shorten(KINDS, len(KINDS))}"
            raise InputError(fact, rule, "Choose one of them")
        for item in values.keys() & {"missing", "suspects", "spellings", "parts"}:
            values[item] = as_tuple(values[item])
        columns[str(name)] = values
    return columns


def as_tuple(values: Any) -> tuple[Any, ...]:
    """One value, or several, as a tuple."""
    several = isinstance(values, Sequence) and not isinstance(values, str)
    return tuple(values) if several else (values,)
