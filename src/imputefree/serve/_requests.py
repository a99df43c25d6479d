"""Read a request: JSON is validated by pydantic against types made for the model's columns."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, Required

import numpy as np
from pydantic import ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError, WithJsonSchema
from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from ..data import Columns, Panel, read_cell
from ..errors import InputError, counted, shorten
from ._limits import RequestError
from ._model_schema import ROWS, STATIC, STEPS, Column, Schema, Series, Time

MOST_NOTES = 50
LONGEST_INTEGER = 400  # digits; longer ones are infinite as a float, and slow to read
COMPARED_COLUMNS = 300  # with an unknown name: finding the most similar one takes time
HOUR = 3600.0
Path = tuple[str | int, ...]
Notes = list[dict[str, str]]


class Constant(str):
    """NaN, Infinity or -Infinity: Python reads them, but they are not JSON."""


class Cell(NamedTuple):
    """A validated value, None if missing, and what to note about it."""

    value: float | str | None = None
    note: str | None = None


def read_json(body: bytes) -> Any:
    """Parse a body into dicts, lists, strings, numbers, booleans, None and `Constant`.

    >>> read_json(b'{"age": 31, "sex": null}')
    {'age': 31, 'sex': None}
    >>> read_json(b'{"age": 31, "age": 32}')
    Traceback (most recent call last):
    imputefree.serve._limits.RequestError: 'age' is given twice. A field has one value. Leave one \
out.
    """
    try:
        return json.loads(
            body.decode(),
            parse_constant=Constant,
            parse_int=lambda digits: (int if len(digits) <= LONGEST_INTEGER else float)(digits),
            object_pairs_hook=_unique,
        )
    except UnicodeDecodeError as error:
        fact = f"byte {error.start} of the body is not UTF-8"
    except json.JSONDecodeError as error:
        fact = f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        fact = "the body is nested too deeply"
    raise RequestError(400, fact, "A body is JSON in UTF-8", "GET /schema has an example")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        fact = f"{shown(name)} is given twice"
        raise RequestError(422, fact, "A field has one value", "Leave one out", name)
    return fields


def shown(value: Any, limit: int = 60) -> str:
    """A value in an error: short, and without the contents of lists and objects.

    >>> shown("ab"), shown([1, [2]]), shown(None), shown(True)
    ("'ab'", 'a list', 'null', 'true')
    """
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = str(value) if isinstance(value, Constant) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"


def joined(*parts: str | int) -> str:
    """The path of a field.

    >>> joined("rows", 1, "home.dest")
    'rows[1].home.dest'
    """
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return path.removeprefix(".")


class RequestReader:
    """Reads bodies for one model; makes the types that describe and validate them."""

    def __init__(self, schema: Schema, most_rows: int) -> None:
        self.schema, self.most_rows = schema, most_rows
        fields: dict[str, Any] = {column.name: _cell_type(column) for column in schema.columns}
        if (series := schema.series) is not None:
            if (time := series.time) is not None:
                kind = _time_type(time)
                fields = {time.name: Required[kind] if time.required else kind, **fields}
            fields = {STEPS: Required[self._list_of(_object("Step", fields))]}
            if series.static:
                static = {column.name: _cell_type(column) for column in series.static}
                fields = {STATIC: _object("Static", static) | None, **fields}
        self.row_type = _object("Row", fields)
        self.batch_type = _object("Batch", {ROWS: Required[self._list_of(self.row_type)]})
        self._row, self._batch = TypeAdapter(self.row_type), TypeAdapter(self.batch_type)

    def _list_of(self, item: Any) -> Any:
        return Annotated[list[item], Field(min_length=1, max_length=self.most_rows)]

    def read(self, body: bytes) -> tuple[Columns | Panel, Notes]:
        """Rows or series as the estimator takes them, and notes."""
        payload = read_json(body)
        batch = isinstance(payload, dict) and (
            isinstance(payload.get(ROWS), list) or (ROWS in payload and ROWS not in self._names())
        )
        try:
            valid = (self._batch if batch else self._row).validate_python(payload)
        except ValidationError as error:
            raise self._refusal(error, batch) from None
        rows = valid[ROWS] if batch else [valid]
        paths: list[Path] = [(ROWS, i) for i in range(len(rows))] if batch else [()]
        notes: Notes = []
        X: Columns | Panel
        if self.schema.series is None:
            X = _columns(rows, self.schema.columns, paths, notes)
        else:
            X = self._panel(rows, self.schema.series, paths, notes)
        more = len(notes) - MOST_NOTES
        if more > 0:
            notes[MOST_NOTES:] = [{"field": "", "note": f"And {counted(more, 'note')} more."}]
        return X, notes

    def _panel(self, rows: list[Any], series: Series, paths: list[Path], notes: Notes) -> Panel:
        if (total := sum(len(row[STEPS]) for row in rows)) > self.most_rows:
            raise self._too_many(total, "step")
        frames, times = [], []
        for row, path in zip(rows, paths, strict=True):
            places: list[Path] = [(*path, STEPS, i) for i in range(len(row[STEPS]))]
            times.append(_times(row[STEPS], places, series.time, notes))
            frames.append(_columns(row[STEPS], self.schema.columns, places, notes).to_frame())
        static = None
        if series.static:
            places = [(*path, STATIC) for path in paths]
            constants = [row.get(STATIC) or {} for row in rows]
            static = _columns(constants, series.static, places, notes).to_frame()
        return Panel.from_list(frames, times=times, static=static)

    def _names(self, *place: str | int) -> list[str]:
        """The fields that are allowed at this place."""
        series, columns = self.schema.series, [column.name for column in self.schema.columns]
        if series is None:
            return columns
        if STEPS in place[:-1]:
            return columns if series.time is None else [series.time.name, *columns]
        static = [column.name for column in series.static]
        if STATIC in place[:-1]:
            return static
        return [STATIC, STEPS] if static else [STEPS]

    def _refusal(self, error: ValidationError, batch: bool) -> RequestError:
        """The first thing that is wrong, in our words."""
        detail = error.errors(include_url=False)[0]
        kind, loc, value = detail["type"], detail["loc"], detail["input"]
        place, remedy = joined(*loc), "GET /schema has an example"
        cause = detail.get("ctx", {}).get("error")
        if isinstance(cause, InputError):
            return RequestError(422, f"{place} {cause.fact}", cause.rule, cause.remedy, place)
        if kind == "too_long":
            return self._too_many(len(value), "row" if loc[-1] == ROWS else "step")
        if kind == "extra_forbidden":
            names = [ROWS] if batch and len(loc) == 1 else self._names(*loc)
            word = "field" if names[-1] in (ROWS, STEPS) else "column"
            near = difflib.get_close_matches(str(loc[-1])[:100], names[:COMPARED_COLUMNS], n=1)
            fact, rule = f"{shown(loc[-1])} is not a {word} here", f"Allowed: {shorten(names, 40)}"
            remedy = f"Write {near[0]!r}" if near else "Correct the name"
            return RequestError(422, fact, rule, f"{remedy}, or leave it out", place)
        if kind == "missing":
            fact, rule = "is missing", "It is required"
        elif kind == "string_unicode":
            fact, rule = "has a field whose name is not valid Unicode", "Names are those of columns"
        else:
            fact, rule = f"is {'empty' if value == [] else shown(value)}", "It must be an object"
            if kind in ("list_type", "too_short"):
                rule = "It must be a list with at least one item"
        return RequestError(422, f"{place or 'the body'} {fact}", rule, remedy, place or None)

    def _too_many(self, count: int, unit: str) -> RequestError:
        fact = f"the body has {count:,} {unit}s"
        rule = f"At most {self.most_rows:,} {unit}s are taken at a time (the server's --max-rows)"
        return RequestError(413, fact, rule, "Send them in several requests", ROWS)


def _object(name: str, fields: dict[str, Any]) -> Any:
    """The type of a JSON object with these fields and no others."""
    kind = TypedDict(name, fields, total=False)  # type: ignore[misc]
    kind.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
    return kind


def _cell_type(column: Column) -> Any:
    """The type of a value of this column; it is validated into a `Cell`."""

    def read(value: Any) -> Cell:
        known, unseen = _read(value, column)
        if unseen:
            return Cell(None, f"{shown(value)} was never seen in training; it counts as missing.")
        if isinstance(known, float) and column.beyond(known) > 0:
            seen = column.range_text
            return Cell(known, f"{known:g} is outside the range of training ({seen}).")
        return Cell(known)

    if column.kind == "category":
        levels = column.levels or []
        names = shorten([*levels, *[""] * ((column.n_levels or 0) - len(levels))], 20, str)
        described = {
            "type": ["string", "number", "boolean", "null"],
            "description": f"Levels of training: {names or 'none'}. Any other counts as missing.",
            "examples": [*levels[:3], None],
        }
    else:
        words = "A number; true and false count as 1 and 0."
        if column.low is not None:
            words = f"In training {column.range_text}."
        described = {
            "type": ["number", "boolean", "null"],
            "description": words,
            "examples": [column._usual[1], None],
        }
    return Annotated[Any, PlainValidator(read), WithJsonSchema(described)]


def _read(value: Any, column: Column | None = None) -> tuple[float | str | None, bool]:
    if isinstance(value, Constant):
        raise InputError(f"holds {value}", "Numbers must be finite", "Send null if it is missing")
    return read_cell(value, column._known if column else None)


def _time_type(time: Time) -> Any:
    """The type of a time; it is validated into a float, a datetime or None."""

    def read(value: Any) -> float | datetime | None:
        if value is None and time.required:
            raise InputError("is null", "Every step has its time", "Send a number or a date")
        if not isinstance(value, str) or isinstance(value, Constant):
            number, _ = _read(value)
            return None if number is None else float(number)
        try:
            when = datetime.fromisoformat(value)
            return when if when.tzinfo else when.replace(tzinfo=UTC)
        except ValueError:
            rule = "A time is a number without quotes, or a date such as 2024-05-31T14:00"
            raise InputError(f"is {shown(value)}", rule, "Write it like this") from None

    described = {
        "type": ["number", "string", *["null"] * (not time.required)],
        "description": "When the step was, later than the one before: a number in the unit of"
        f" training (steps were usually {time.unit:g} apart), or a date such as 2024-05-31T14:00,"
        " which counts in hours.",
    }
    return Annotated[Any, PlainValidator(read), WithJsonSchema(described)]


def _columns(
    rows: Sequence[dict[str, Any]], columns: list[Column], paths: list[Path], notes: Notes
) -> Columns:
    """Validated rows as columns: a frame of one row takes longer to make and read than to predict.

    Cells are numbers or names of levels already.
    """
    for row, path in zip(rows, paths, strict=True):
        for name, cell in row.items():
            if isinstance(cell, Cell) and cell.note is not None:
                notes.append({"field": joined(*path, name), "note": cell.note})
    gap, arrays = Cell(), []
    for column in columns:
        values = [row.get(column.name, gap).value for row in rows]
        kind: Any = np.float64 if column.kind == "number" else object
        arrays.append(np.array(values, dtype=kind))  # None becomes NaN among numbers
    names = [column.name for column in columns]
    return Columns(names, True, arrays, [False] * len(names), len(rows))


def _times(
    steps: list[dict[str, Any]], paths: list[Path], time: Time | None, notes: Notes
) -> np.ndarray:
    """When the steps were, strictly increasing; (steps,) float64."""
    values: list[Any] = [] if time is None else [step.get(time.name) for step in steps]
    if time is None or all(value is None for value in values):
        return np.arange(len(steps), dtype=np.float64)
    for i, value in enumerate(values):
        rule = None
        if value is None:
            fact, rule = "is missing", "Either all steps have a time, or none has"
        elif type(value) is not type(values[0]):
            fact, rule = "differs in kind from the first", "Times are all numbers, or all dates"
        elif i and not value > values[i - 1]:
            fact, rule = "is not after the step before", "Times must be strictly increasing"
        if rule is not None:
            place = joined(*paths[i], time.name)
            raise RequestError(422, f"{place} {fact}", rule, "Correct the times", place)
    if not isinstance(values[0], datetime):
        return np.array(values, dtype=np.float64)
    note = f"Dates count as hours; steps in training were usually {time.unit:g} apart."
    notes.append({"field": joined(*paths[0], time.name), "note": note})
    return np.array([(value - values[0]).total_seconds() for value in values]) / HOUR
