"""Files that need not fit into memory: a look at their first rows, then one pass into a store.

What the first rows of the parts are understood as is what all rows are read as, as `read_table`
would read them; a cell that does not fit is an error with its part and line.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from .._files import write_errors
from ..data import BLOCK, RowStore
from ..errors import InputError, counted, shorten
from ._cell_values import are_gap_words, cell_values
from ._file_rows import RawRows, Reader
from ._missing_codes import find_codes
from ._quantities import read_quantity
from ._read_files import need_columns, open_rows, parts_of, read_label_column
from ._read_table import check_parts, decimals_of, understand
from ._understood import CATEGORY, DROP, KEY, NUMBER, ColumnReading, FileFormat, Understood

MOST_LEVELS = 2**20  # different strings per column
LOOKED_AT, MOST_PARTS = 20_000, 50  # rows, and parts that they are from, to understand the columns
FEWEST, SHOWN = 10, 100  # cells of a part that show its kind, and different ones that are looked at
REMEDY = "Name a folder on a larger disk with store="


class StoredRows(NamedTuple):
    """The rows of files that have a target.

    store : the inputs
    target : (n,) numbers, or class numbers
    classes : the sorted classes, or None for numbers
    weight : (n,) or None
    groups : of each row, or None
    n_without : rows that were left out, as they have no target
    understood : how the files were read
    """

    store: RowStore
    target: np.ndarray
    classes: np.ndarray | None
    weight: np.ndarray | None
    groups: Any
    n_without: int
    understood: Understood

    @property
    def notes(self) -> list[str]:
        """What must be read, and how many rows were left out, a sentence each."""
        left_out = f"{counted(self.n_without, 'row')} without a target left out."
        return [*self.understood.notes, *[left_out] * bool(self.n_without)]


@contextmanager
def stored_rows(
    path: Path,
    target: str,
    *,
    task: str | None = None,
    weight: str | None = None,
    groups: str | None = None,
    drop: Sequence[str] = (),
    folder: Path | None = None,
    **how: Any,
) -> Iterator[StoredRows]:
    """The rows of a file, or of a folder of files with the same columns, in a temporary store.

    The store is a file without a name, which ends with the block, or with the process, whatever
    ends it.

    task : "classification", "regression", or None: see `read_label_column`
    weight, groups : columns with a role
    drop : columns to leave out
    folder : where to put the store; default: where temporary files go
    how : sep, decimal, encoding, sheet, missing and columns as for `read_table`
    """
    roles = {"target": target, "sample_weight": weight, "groups": groups}
    reading = _Reading(path, {k: v for k, v in roles.items() if v}, task, drop, **how)
    place = folder or Path(tempfile.gettempdir())
    with write_errors(place, remedy=REMEDY):
        file = tempfile.TemporaryFile(dir=place)  # without a name: gone with the process  # noqa: SIM115
    with file:
        reading.run(file, place)
        yield reading.finish(file)


class _Reading:
    """One pass over the parts: inputs go to a file, and what belongs to each row stays here."""

    def __init__(
        self,
        path: Path,
        roles: Mapping[str, str],
        task: str | None,
        drop: Sequence[str],
        sep: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        missing: Any = None,
        columns: Any = None,
    ) -> None:
        self.parts, self.roles, self.task = parts_of(path), dict(roles), task
        self.marks = {"sep": sep, "encoding": encoding, "sheet": sheet}
        self.described = set(columns) if isinstance(columns, Mapping) else set()
        sample, file = self._sample(path, drop)
        options: Any = {"decimal": decimal, "missing": missing, "columns": columns}
        keys = [name for role, name in roles.items() if role != "target"]
        _, self.understood = understand(sample, file, target=roles["target"], keys=keys, **options)
        marks, _ = decimals_of(sample, file, decimal)
        self.decimal = "," if "," in marks.values() else "."
        readings = self.understood.columns
        self.columns = {name: col for name, col in readings.items() if col.kind != DROP}
        for role, name in roles.items():
            if role != "target":
                kind = CATEGORY if role == "groups" else NUMBER
                self.columns[name] = replace(self.columns[name], kind=kind)
        self.by_mark = {name: marks[name] for name in self.columns}
        self.strings = {name for name in self.columns if sample[name].dtype == object}
        inputs = [col for name, col in self.columns.items() if name not in roles.values()]
        self.names = [part for column in inputs for part in column.parts or (column.name,)]
        if not self.names:
            fact = f"{path} has no column to learn from besides the target"
            raise InputError(fact, "There must be something to learn from", "Check the file")
        words = [name for name, column in self.columns.items() if column.kind in (CATEGORY, KEY)]
        self.levels: dict[str, dict[Any, int]] = {name: {} for name in words}  # with their numbers
        self.kept: dict[str, list[np.ndarray]] = {role: [] for role in roles}
        self.n_without = 0

    def _sample(self, path: Path, drop: Sequence[str]) -> tuple[pd.DataFrame, FileFormat]:
        """The first rows of parts from all over the folder, and how the first part is written."""
        places = np.linspace(0, len(self.parts) - 1, min(len(self.parts), MOST_PARTS)).astype(int)
        formats, heads = list[FileFormat](), dict[Path, pd.DataFrame]()
        for part in [self.parts[place] for place in places]:
            with open_rows(part, **self.marks) as reader:
                if not formats:
                    self.file_names = list(reader.names)
                    need_columns(reader.names, [], part, drop, option="drop")
                    for role, name in self.roles.items():
                        need_columns(reader.names, [name], part, drop, option=role)
                self._check_names(reader, part)
                wanted = [name for name in self.file_names if name not in drop]
                heads[part] = _first_rows(reader, wanted, LOOKED_AT // len(places))
                formats.append(reader.format)
        filled = {part: head for part, head in heads.items() if len(head)}
        if not filled:
            fact = f"{path} holds no row"
            raise InputError(fact, "There must be something to learn from", "Check the files")
        for name in wanted:
            if name not in self.described:
                _check_kinds({part: head[name] for part, head in filled.items()})
        sample = pd.concat([*filled.values()], ignore_index=True)
        many = f"{counted(len(self.parts), 'file')}, {len(sample):,} rows looked at"
        return sample, replace(formats[0], name=path.resolve().name, note=many)

    def run(self, out: IO[bytes], place: Path) -> None:
        """Read all parts, and write the inputs of rows with a target to a file in a folder."""
        kinds = {
            name: "number" if col.kind == NUMBER and self.by_mark[name] == self.decimal else "text"
            for name, col in self.columns.items()
        }
        for part in self.parts:
            with open_rows(part, **self.marks) as reader:
                self._check_names(reader, part)
                reader.decimal = self.decimal
                for raw in reader.good_rows(kinds):
                    block = self._keep(raw, part, reader.word)
                    with write_errors(place, remedy=REMEDY):
                        out.write(block.tobytes())
                        out.flush()

    def _check_names(self, reader: Reader, part: Path) -> None:
        reader.refuse_twins()
        check_parts(reader.names, self.file_names, part, self.parts[0])

    def _keep(self, raw: RawRows, part: Path, word: str) -> np.ndarray:
        """Keep what belongs to the rows that have a target; -> their inputs, (n, C)."""
        values: dict[str, np.ndarray] = {}
        for name in self.columns:
            values |= self._values(raw.frame[name], raw.lines, f"{part}, {word}")
        known = ~np.isnan(values[self.roles["target"]])
        self.n_without += int((~known).sum())
        for role, name in self.roles.items():
            kept = values[name][known]
            if np.isnan(kept).any():
                line = raw.lines[known][np.isnan(kept)][0]
                fact = f"{part}, {word} {line}: {name!r} ({role}) is missing"
                raise InputError(fact, "Every row needs one", "Fill the column, or drop the row")
            self.kept[role].append(kept.astype(np.int32) if name in self.levels else kept)
        return np.column_stack([values[name] for name in self.names])[known]

    def _values(self, cells: pd.Series, lines: np.ndarray, where: str) -> dict[str, np.ndarray]:
        """What a column becomes, as numbers; (n,) float64 each."""
        name, reading = str(cells.name), self.columns[str(cells.name)]
        typed = cells.dtype.kind in "iufb" and cells.notna().any()
        if typed and name in self.levels and name in self.strings and reading.kind == CATEGORY:
            raise self._other_kind(f"{where} {lines[0]}: column {name!r} holds numbers", reading)
        columns, bad = cell_values(cells, reading, self.by_mark[name])
        if bad.any():
            row = int(np.argmax(bad))
            fact = f"{where} {lines[row]}: column {name!r} holds {cells.iloc[row]!r}"
            raise self._other_kind(fact, reading)
        return {name: self._codes(name, columns[name])} if name in self.levels else columns

    def _codes(self, name: str, cells: np.ndarray) -> np.ndarray:
        """The number of each cell, in the order of appearance, NaN where missing; (n,) float64."""
        levels = self.levels[name]
        places, distinct = pd.factorize(cells)
        codes = [levels.setdefault(cell, len(levels)) for cell in distinct.tolist()]
        if len(levels) > MOST_LEVELS:
            fact = f"column {name!r} holds more than {MOST_LEVELS:,} different strings"
            rule = "A category has fewer; names and free text are not categories"
            raise InputError(fact, rule, "Leave the column out with drop=")
        return np.array([*codes, np.nan])[places]

    def _other_kind(self, fact: str, reading: ColumnReading) -> InputError:
        rule = f"In the rows that were looked at first it is a {reading.kind}"
        remedy = f"Correct the file, say what the cell is (--missing {reading.name}=…, --columns),"
        return InputError(fact, rule, f"{remedy} or leave the column out (--drop)")

    def finish(self, file: IO[bytes]) -> StoredRows:
        """What was read."""
        kept = {role: np.concatenate(self.kept.pop(role) or [np.empty(0)]) for role in self.roles}
        count, width = len(kept["target"]), len(self.names)
        if not count:
            fact = f"{self.parts[0]} and its folder hold no row with a target"
            raise InputError(fact, "There must be something to learn from", "Check the files")
        matrix: Any = np.memmap(file, np.float64, "r+", shape=(count, width))
        levels = {j: [*self.levels[n]] for j, n in enumerate(self.names) if n in self.levels}
        store = RowStore(matrix, self.names, True, [j in levels for j in range(width)], levels)
        late = self._take_late_codes(store)
        target, classes = self._target(kept.pop("target"))
        groups = None
        if "groups" in kept:
            names = np.array([*self.levels[self.roles["groups"]]], dtype=str)
            order = np.argsort(names)
            categories: Any = names[order]
            groups = pd.Categorical.from_codes(np.argsort(order)[kept["groups"]], categories)
        understood = replace(
            self.understood,
            columns=dict(self.understood.columns) | late,
            n_rows=count + self.n_without,
            notes=self.understood.notes + tuple(f"{n!r}: {col.note}." for n, col in late.items()),
        )
        weight = kept.get("sample_weight")
        return StoredRows(store, target, classes, weight, groups, self.n_without, understood)

    def _take_late_codes(self, store: RowStore) -> dict[str, ColumnReading]:
        """Make gaps of codes that the first rows did not show; -> how these columns are read."""
        rows = np.unique(np.linspace(0, store.n_rows - 1, LOOKED_AT).astype(np.int64))
        sample, late = store.read(rows), dict[str, ColumnReading]()
        for j, name in enumerate(self.names):
            reading = self.columns.get(name)
            if reading is None or reading.kind != NUMBER:
                continue
            new = [c.value for c in find_codes(sample[:, j]) if c.sure]
            new = [code for code in new if code not in reading.suspects]
            if new:
                for begin in range(0, store.n_rows, BLOCK):  # all at once, they would be in memory
                    cells = store.matrix[begin : begin + BLOCK, j]
                    cells[np.isin(cells, new)] = np.nan
                    store.release()
                note = f"{shorten(new, word='{:g}'.format)} was read as a gap in later rows"
                late[name] = replace(reading, missing=(*reading.missing, *new), note=note)
        return late

    def _target(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Numbers, or class numbers and the sorted classes."""
        name, codes = self.roles["target"], None
        if name in self.levels:
            codes, values = values, np.array([*self.levels[name]], dtype=object)
        labels = pd.Series(values, name=name)
        if codes is None and self.task == "classification" and (labels != labels.round()).any():
            fact = f"the target {name!r} holds numbers that are not whole"
            remedy = "Use a regressor for measurements"
            raise InputError(fact, "Classes are strings or whole numbers", remedy)
        known = read_label_column(labels, self.task, self.parts[0])
        if known.dtype.kind == "f":
            return known, None
        classes, number = np.unique(known, return_inverse=True)
        return (number if codes is None else number[codes]).astype(np.int32), classes


def _first_rows(reader: Reader, names: list[str], most: int) -> pd.DataFrame:
    """These columns of so many rows, or of all that there are."""
    pieces, count = [pd.DataFrame(columns=names)], 0
    for raw in reader.good_rows(dict.fromkeys(names, "text")):
        pieces.append(raw.frame[: most - count])
        count += len(pieces[-1])
        if count >= most:
            break
    return pd.concat(pieces[1:] or pieces)


def _check_kinds(columns: Mapping[Path, pd.Series]) -> None:
    """Refuse a column that holds nothing but numbers in one part and no number in another."""
    shown: dict[bool, tuple[Path, Any]] = {}
    for part, cells in columns.items():
        known = cells[~are_gap_words(cells)].dropna()
        distinct = list(map(str, pd.unique(known)[:SHOWN])) if len(known) >= FEWEST else []
        numbers = {bool(read_quantity(text, ".") or read_quantity(text, ",")) for text in distinct}
        if known.dtype.kind in "iufb" and distinct:
            numbers = {True}
        if len(numbers) != 1:
            continue
        shown[numbers.pop()] = part, distinct[0]
        if len(shown) == 2:
            (first, number), (other, string) = shown[True], shown[False]
            raise InputError(
                f"column {cells.name!r} holds numbers such as {number!r} in {first}, and strings"
                f" such as {string!r} in {other}",
                "A column is of the same kind in all parts",
                "Correct the files, say what the column is (--columns), or leave it out (--drop)",
            )
