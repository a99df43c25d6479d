"""`imputefree explain MODEL DATA`: the effect of each value, and what to measure next."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._files import saving
from ..errors import ParameterError, shorten
from ._options import (
    FILE,
    PICTURES,
    Command,
    check_file,
    data_argument,
    file_options,
    json_option,
    model_argument,
    option,
    output_option,
    rows_option,
)
from ._printing import console, echo

if TYPE_CHECKING:
    import pandas as pd

    from ..workflow import Marks

FIRST_ROWS, FIRST_SERIES = 200, 50  # explained if none are named
MAX_SPAN = 1_000_000  # rows that one span may name
ONE_BY_ONE = 5  # up to this many rows are shown one by one, more of them by column
Selection = tuple[list[str], list[Any], "pd.DataFrame"]  # notes, names of rows or series, rows


@click.command("explain", cls=Command)
@model_argument
@data_argument
@rows_option
@option("--id", multiple=True, help="Series to explain, separated by commas or repeated.")
@option("--of", help="The class; default: the second of two, or the predicted one.")
@option(
    "--steps/--no-steps",
    default=None,
    help="For series: also remove values one by one, not only whole columns; default: if there is"
    " one series.",
)
@json_option
@output_option("A picture: .png, .pdf or .svg.")
@option("--csv", type=FILE, help="A file with one line per row and column.")
@file_options
def explain_command(
    model: Path,
    data: Path,
    marks: Marks,
    rows: str | None,
    id: tuple[str, ...],
    of: str | None,
    steps: bool | None,
    as_json: bool,
    output: Path | None,
    csv: Path | None,
) -> None:
    """Show the effect of each observed value on a prediction, and what to measure next.

    A value's effect is the prediction minus the one without it: about the model, not about causes.

    What to measure next is judged by the values seen in training: a ranking, not a promise.

    Up to five named rows are shown one by one, more of them by column.
    """
    if output is not None:
        check_file(output, [model, data], PICTURES)
    if csv is not None:
        check_lines_file(csv, [model, data])
    from .. import inspection
    from ..io import write_frame
    from ..workflow import load_model

    fitted = load_model(model)
    kind, names, selected = select(fitted, data, rows, id, marks)
    series = kind == "id"
    how = {"single": len(names) == 1 if steps is None else steps} if series else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explanation = inspection.explain_rows(fitted, selected, of=of, **how)
        values, at_steps = inspection.input_values(fitted, selected)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        echo(text, err=True)
    if isinstance(explanation, inspection.SeriesExplanation):
        names = explanation.ids.tolist()
    written = []  # files first: they are complete even if stdout is closed early
    if csv is not None:
        lines = explanation.to_lines(values, at_steps, names, kind)
        write_frame(lines, csv)
        written.append(f"Lines: {csv}")
    if output is not None:
        with saving(output) as place:
            suffix = output.suffix[1:].lower()
            inspection.draw(explanation, values, at_steps, names, place, suffix)
        written.append(f"Picture: {output}")
    if as_json:
        plain = {f"{kind}s": names, **explanation.to_dict()}
        echo(json.dumps(plain, allow_nan=False, default=str))
    elif len(names) == 1 or (len(names) <= ONE_BY_ONE and (id or rows not in (None, "all"))):
        for i, name in enumerate(names):
            inspection.show_row(explanation, i, f"{kind} {name}", values, console())
    else:
        inspection.show_all(explanation, console())
    for line in written:
        echo(line, err=as_json)


def read_first(
    model: Any, data: Path, enough: float, marks: Marks | None = None
) -> tuple[list[str], pd.DataFrame]:
    """Notes, and at least `enough` first rows of a file, read as `imputefree predict` does."""
    from ..io import open_rows
    from ..workflow import Chunk, Chunks, Marks

    parts, count, marks = [], 0, marks or Marks()
    with open_rows(data, **marks.of_rows) as reader:
        chunks = Chunks(model, reader, data, marks=marks)
        for chunk in chunks:
            parts.append(chunk)
            count += len(chunk.inputs)
            if count >= enough:
                break
    return [*reader.notes, *chunks.notes], Chunk.joined(parts).inputs.reset_index(drop=True)


def select(
    model: Any, data: Path, rows: str | None, ids: tuple[str, ...], marks: Marks
) -> tuple[str, list[Any], pd.DataFrame]:
    """What --rows and --id name: "row" or "id", the names of the rows or series, and their rows."""
    from ..workflow import is_of_series

    kind, choose = ("id", _select_series) if is_of_series(model) else ("row", _select_rows)
    notes, names, selected = choose(model, data, rows, ids, marks)
    for note in notes:
        echo(note, err=True)
    return kind, names, selected


def _select_rows(
    model: Any, data: Path, rows: str | None, ids: tuple[str, ...], marks: Marks
) -> Selection:
    """The rows of a table, named by their numbers."""
    if ids:
        fact, remedy = f"--id {ids[0]} was given for a model of tables", "Name rows with --rows"
        raise ParameterError(fact, "It names series", remedy)
    if rows is not None and rows.strip() != "all":
        numbers = _row_numbers(rows)
        notes, frame = read_first(model, data, max(numbers) + 1, marks)
        if max(numbers) >= len(frame):
            fact = f"--rows names {max(numbers)}, but the rows are 0 to {len(frame) - 1}"
            raise ParameterError(fact, "The header is not counted", "Name existing rows")
        return notes, numbers, frame.iloc[numbers]
    limit = FIRST_ROWS if rows is None else float("inf")
    notes, frame = read_first(model, data, limit + 1, marks)
    if len(frame) > limit:
        notes = [f"The first {FIRST_ROWS} rows; --rows all explains all.", *notes]
        frame = frame.iloc[:FIRST_ROWS]
    return notes, list(range(len(frame))), frame


def _select_series(
    model: Any, data: Path, rows: str | None, ids: tuple[str, ...], marks: Marks
) -> Selection:
    """The series of a file, named by their ids."""
    from ..workflow import roles_of, split_names

    if rows is not None and rows.strip() != "all":
        fact, remedy = f"--rows {rows} was given for a model of series", "Name series with --id"
        raise ParameterError(fact, "Rows are for tables; a series has many", remedy)
    notes, frame = read_first(model, data, float("inf"), marks)
    column = frame[roles_of(model)["id"]].astype(str)
    known = column.unique().tolist()
    chosen = known
    if ids:
        chosen = list(split_names(ids, known))
        unknown = [name for name in chosen if name not in known]
        if unknown:
            rule = f"The column {column.name!r} has {shorten(known)}"
            raise ParameterError(f"there is no series {shorten(unknown)}", rule, "Name one of them")
    elif rows is None and len(known) > FIRST_SERIES:
        cut = f"The first {FIRST_SERIES} of {len(known):,} series; --rows all explains all."
        notes, chosen = [cut, *notes], known[:FIRST_SERIES]
    return notes, chosen, frame[column.isin(chosen)].reset_index(drop=True)


def _row_numbers(text: str) -> list[int]:
    """Row numbers from a list of numbers and spans.

    >>> _row_numbers("0,5-7,5")
    [0, 5, 6, 7]
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,18})(?:-(\d{1,18}))?\s*", part)
        span = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        if not 0 < len(span) <= MAX_SPAN:
            rule = f"It lists row numbers, counted from 0, or spans of up to {MAX_SPAN:,} of them"
            raise ParameterError(f"--rows is {text!r}", rule, "Write, for example, 0,5,7 or 0-9")
        numbers += span
    return list(dict.fromkeys(numbers))


def check_lines_file(path: Path, inputs: list[Path]) -> None:
    """Refuse a file for lines that cannot be written, before anything is computed."""
    from ..io import check_format

    check_file(path, inputs)
    check_format(path, "--csv")
