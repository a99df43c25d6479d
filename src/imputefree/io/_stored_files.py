"""Files that need not fit into memory: one pass over their rows, into a `RowStore` on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from .._files import write_errors
from ..data import RowStore, parse_numbers, to_strings
from ..errors import InputError, counted, listed
from ._file_rows import BadRows, ParquetRows, RawRows, Reader, twin_error
from ._read_files import need_columns, open_rows, parts_of, read_label_column
from ._read_table import decimals_of

MOST_LEVELS = 2**20  # different strings per column
REMEDY = "Name a folder on a larger disk with store="


class StoredRows(NamedTuple):
    """The rows of files that have a target.

    store : the inputs
    target : (n,) numbers, or class numbers
    classes : the sorted classes, or None for numbers
    weight : (n,) or None
    groups : of each row, or None
    n_without : rows that were left out, as they have no target
    """

    store: RowStore
    target: np.ndarray
    classes: np.ndarray | None
    weight: np.ndarray | None
    groups: Any
    n_without: int


@contextmanager
def stored_rows(
    path: Path,
    target: str,
    *,
    classes: bool,
    weight: str | None = None,
    groups: str | None = None,
    drop: Sequence[str] = (),
    folder: Path | None = None,
) -> Iterator[StoredRows]:
    """The rows of a file, or of a folder of files with the same columns, in a temporary store.

    Numbers and strings keep their kinds: those of the first part, as its schema or the first rows
    of a CSV file tell. The store is a file without a name, which ends with the block, or with the
    process, whatever ends it.

    classes : whether the target is classes, or else numbers
    weight, groups : columns with a role
    drop : columns to leave out
    folder : where to put the store; default: where temporary files go
    """
    roles = {"target": target, "sample_weight": weight, "groups": groups}
    reading = _Reading(path, {k: v for k, v in roles.items() if v}, classes, drop)
    place = folder or Path(tempfile.gettempdir())
    with write_errors(place, remedy=REMEDY):
        file = tempfile.TemporaryFile(dir=place)  # without a name: gone with the process  # noqa: SIM115
    with file:
        reading.run(file, place)
        yield reading.finish(file)


class _Levels:
    """Different cells, numbered as they appear."""

    def __init__(self, label: str) -> None:
        self.label, self.numbers = label, dict[Any, int]()

    def codes(self, cells: np.ndarray) -> np.ndarray:
        """The number of each cell, NaN where missing; (n,) float64."""
        local, distinct = pd.factorize(cells)
        known = [self.numbers.setdefault(cell, len(self.numbers)) for cell in distinct.tolist()]
        if len(self.numbers) > MOST_LEVELS:
            raise InputError(
                f"{self.label} holds more than {MOST_LEVELS:,} different strings",
                "A category has fewer; names and free text are not categories",
                "Leave the column out with drop=",
            )
        return np.array([*known, np.nan])[local]


class _Reading:
    """One pass over the parts: inputs go to a file, and what belongs to each row stays here."""

    def __init__(
        self, path: Path, roles: Mapping[str, str], classes: bool, drop: Sequence[str]
    ) -> None:
        self.parts, self.roles, self.classes = parts_of(path), dict(roles), classes
        first = self.parts[0]
        with open_rows(first) as reader:
            self.file_names = list(reader.names)
            if reader.twins:
                raise twin_error(first, sorted(reader.twins))
            for role, name in roles.items():
                need_columns(reader.names, [name], first, drop, option=role)
            need_columns(reader.names, [], first, drop)
            self.names = [n for n in reader.names if n not in drop and n not in roles.values()]
            _refuse_commas(reader, first)
            kinds = _kinds(reader, first, self.names)
        of_role = {"target": "text" if classes else "number", "sample_weight": "number"}
        of_role["groups"] = "category"
        self.kinds = kinds | {name: of_role[role] for role, name in roles.items()}
        if not self.names:
            fact = f"{first} has no column to learn from besides the target"
            raise InputError(fact, "There must be something to learn from", "Check the file")
        words = [name for name, kind in self.kinds.items() if kind != "number"]
        self.levels = {name: _Levels(f"column {name!r}") for name in words}
        self.kept: dict[str, list[np.ndarray]] = {role: [] for role in roles}
        self.n_without = 0

    def run(self, out: IO[bytes], place: Path) -> None:
        """Read all parts, and write the inputs of rows with a target to a file in a folder."""
        for part in self.parts:
            with open_rows(part) as reader:
                self._check_names(reader, part)
                bad = BadRows(part, word=reader.word)
                for raw in reader.rows(self.kinds):
                    bad.report(raw.wrong)
                    block = self._keep(raw, part, bad)
                    with write_errors(place, remedy=REMEDY):
                        out.write(block.tobytes())
                        out.flush()

    def _check_names(self, reader: Reader, part: Path) -> None:
        lacking = [name for name in self.file_names if name not in set(reader.names)]
        extra = [name for name in reader.names if name not in set(self.file_names)]
        if lacking or extra or reader.twins:
            differ = listed(("missing here", lacking), ("not there", extra))
            raise InputError(
                f"{part} has other columns than {self.parts[0].name}: {differ}",
                "The parts of a table have the same columns, in any order",
                "Correct the file, or take it out of the folder",
            )

    def _keep(self, raw: RawRows, part: Path, bad: BadRows) -> np.ndarray:
        """Keep what belongs to the rows that have a target; -> their inputs, (n, C)."""
        values = {
            name: self._values(raw.frame[name], raw.lines, part, bad)
            for name in [*self.names, *self.roles.values()]
        }
        known = ~np.isnan(values[self.roles["target"]])
        self.n_without += int((~known).sum())
        for role, name in self.roles.items():
            codes = role == "groups" or (role == "target" and self.classes)
            kept = values[name][known]
            if np.isnan(kept).any():
                line = raw.lines[known][np.isnan(kept)][0]
                fact = f"{part}, {bad.word} {line}: {name!r} ({role}) is missing"
                raise InputError(fact, "Every row needs one", "Fill the column, or drop the row")
            self.kept[role].append(kept.astype(np.int32) if codes else kept)
        return np.column_stack([values[name] for name in self.names])[known]

    def _values(self, cells: pd.Series, lines: np.ndarray, part: Path, bad: BadRows) -> np.ndarray:
        """A column as numbers; (n,) float64."""
        name = str(cells.name)
        if self.kinds[name] != "number":
            if cells.dtype.kind in "iufb" and name in self.names and cells.notna().any():
                fact, wanted = f"column {name!r} of {part} holds numbers", "strings"
                raise InputError(fact, *_kept_kind(self.parts[0], wanted))
            if name in self.names or name == self.roles.get("groups"):
                return self.levels[name].codes(to_strings(np.asarray(cells, dtype=object), name))
            return self.levels[name].codes(np.asarray(cells, dtype=object))
        if isinstance(cells.dtype, pd.CategoricalDtype) or cells.dtype.kind in "mM":
            fact = f"column {name!r} of {part} holds {cells.dtype} values"
            raise InputError(fact, *_kept_kind(self.parts[0], "numbers"))
        numbers, odd = parse_numbers(cells)
        if odd.any():
            row = int(np.argmax(odd))
            fact = f"{part}, {bad.word} {lines[row]}: column {name!r} holds {cells.iloc[row]!r}"
            raise InputError(fact, *_kept_kind(self.parts[0], "finite numbers"))
        return numbers

    def finish(self, file: IO[bytes]) -> StoredRows:
        """What was read."""
        kept = {role: np.concatenate(self.kept.pop(role) or [np.empty(0)]) for role in self.roles}
        count, width = len(kept["target"]), len(self.names)
        if not count:
            fact = f"{self.parts[0]} and its folder hold no row with a target"
            raise InputError(fact, "There must be something to learn from", "Check the files")
        matrix: Any = np.memmap(file, np.float64, "r", shape=(count, width))
        levels = {
            j: [*self.levels[n].numbers] for j, n in enumerate(self.names) if n in self.levels
        }
        store = RowStore(matrix, self.names, True, [j in levels for j in range(width)], levels)
        target, classes = kept["target"], None
        if self.classes:
            target, classes = self._classes(kept.pop("target"))
        groups = None
        if "groups" in kept:
            names = np.array([*self.levels[self.roles["groups"]].numbers], dtype=str)
            order = np.argsort(names)
            categories: Any = names[order]
            groups = pd.Categorical.from_codes(np.argsort(order)[kept["groups"]], categories)
        weight = kept.get("sample_weight")
        return StoredRows(store, target, classes, weight, groups, self.n_without)

    def _classes(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Class numbers, (n,), and the sorted classes; numbers may be written as strings."""
        cells = pd.Series([*self.levels[self.roles["target"]].numbers], name=self.roles["target"])
        numbers = pd.to_numeric(cells, errors="coerce")
        labels = cells if numbers.isna().any() or cells.dtype == bool else numbers
        if labels.dtype.kind == "f" and (labels != labels.round()).any():
            fact = f"the target {cells.name!r} holds numbers that are not whole"
            remedy = "Use a regressor for measurements"
            raise InputError(fact, "Classes are strings or whole numbers", remedy)
        known = read_label_column(labels, "classification", self.parts[0])
        classes, number = np.unique(known, return_inverse=True)
        return number.astype(np.int32)[codes], classes


def _refuse_commas(reader: Reader, path: Path) -> None:
    """Refuse decimal commas, which would be read as categories."""
    marks, _ = decimals_of(reader.look(reader.names), reader.format, None)
    name = next((name for name, mark in marks.items() if mark == ","), None)
    if name is not None:
        fact = f"column {name!r} of {path} has commas before decimals"
        rule = "Files that are read once, into a store, have points there"
        raise InputError(fact, rule, "Write points, or fit a file that fits in memory")


def _kept_kind(first: Path, wanted: str) -> tuple[str, str]:
    rule = f"The first part, {first.name}, has {wanted} there, and a column keeps its kind"
    return rule, "Correct the file, or leave the column out with drop="


def _kinds(reader: Reader, path: Path, names: Sequence[str]) -> dict[str, str]:
    """Which columns hold numbers and which categories: by schema, or by the first rows."""
    if isinstance(reader, ParquetRows):
        return {name: _arrow_kind(reader.file.schema_arrow.field(name), path) for name in names}
    first = next(iter(reader.rows(dict.fromkeys(names, "text"))), None)
    if first is None:
        return dict.fromkeys(names, "number")
    odd = {name: parse_numbers(first.frame[name])[1].any() for name in names}
    return {name: "category" if odd[name] else "number" for name in names}


def _arrow_kind(field: Any, path: Path) -> str:
    """The kind of a column of a Parquet file."""
    from pyarrow import types

    def is_a(*kinds: str) -> bool:
        return any(getattr(types, f"is_{kind}")(field.type) for kind in kinds)

    if is_a("string", "large_string", "string_view", "dictionary", "binary"):
        return "category"
    if is_a("integer", "floating", "boolean", "decimal", "null"):
        return "number"
    fact = f"column {field.name!r} of {path} holds {field.type} values"
    remedy = "Convert it to numbers, or leave it out with drop="
    raise InputError(fact, "Inputs are numbers or categories", remedy)


def left_out(rows: StoredRows) -> str:
    """A sentence on rows without a target; "" if there are none."""
    count = counted(rows.n_without, "row")
    return f"{count} without a target left out." if rows.n_without else ""
