"""`imputefree explain MODEL DATA`: the effect of each value, and what to measure next."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._files import saving
from ..errors import InputError, ParameterError, require_extra, shorten
from ._options import FILE, Command, console, data_argument, model_argument, option, output_option

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

FIRST_ROWS, FIRST_SERIES = 200, 50  # explained if none are named
MAX_SPAN = 1_000_000  # rows that one span may name
ONE_BY_ONE = 5  # up to so many named rows are shown one by one, more of them by column
PICTURES = (".png", ".pdf", ".svg")
Selection = tuple[list[str], list[Any], "pd.DataFrame"]  # notes, names of rows or series, rows


@click.command("explain", cls=Command)
@model_argument
@data_argument
@option("--rows", help="Rows of a table, counted from 0, such as 0,5,7 or 0-9; or all.")
@option("--id", multiple=True, help="Series to explain, separated by commas or repeated.")
@option("--of", help="The class; default: the second of two, or the predicted one.")
@option(
    "--steps/--no-steps",
    default=None,
    help="For series: also remove values one by one, not only whole columns; default: if there is"
    " one series.",
)
@option("--json", "as_json", is_flag=True, help="Print JSON, not tables.")
@output_option("A picture: .png, .pdf or .svg.")
@option("--csv", type=FILE, help="A file with one line per row and column.")
def explain_command(
    model: Path,
    data: Path,
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

    What to measure next is judged by the values of training: a ranking, not a promise.

    Up to five named rows are shown one by one, more of them by column.
    """
    _check_outputs(output, csv, [model, data])
    from ..inspection import SeriesExplanation, draw, explain_rows, input_values
    from ..workflow import is_of_series, load_model

    fitted = load_model(model)
    series = is_of_series(fitted)
    select = _select_series if series else _select_rows
    notes, names, selected = select(fitted, data, rows, id)
    for note in notes:
        click.echo(note, err=True)
    how = {"single": len(names) == 1 if steps is None else steps} if series else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explanation = explain_rows(fitted, selected, of=of, **how)
        values, at_steps = input_values(fitted, selected)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(text, err=True)
    if isinstance(explanation, SeriesExplanation):
        names = explanation.ids.tolist()
    kind = "id" if series else "row"
    written = []  # files first: they are complete even if stdout is closed early
    if csv is not None:
        lines = explanation.to_lines(values, at_steps, names, kind)
        with saving(csv) as place:
            lines.to_csv(place, index=False)
        written.append(f"Lines: {csv}")
    if output is not None:
        with saving(output) as place:
            draw(explanation, values, names, place, output.suffix[1:].lower())
        written.append(f"Picture: {output}")
    if as_json:
        plain = {f"{kind}s": names, **explanation.to_dict()}
        click.echo(json.dumps(plain, allow_nan=False, default=str))
    else:
        _show(explanation, values, names, kind, bool(rows not in (None, "all") or id))
    for line in written:
        click.echo(line, err=as_json)


def _show(explanation: Any, values: np.ndarray, names: list[Any], kind: str, named: bool) -> None:
    from ..inspection import show_all, show_row

    out = console()
    if len(names) == 1 or (named and len(names) <= ONE_BY_ONE):
        for i, name in enumerate(names):
            show_row(explanation, i, f"{kind} {name}", values, out)
    else:
        show_all(explanation, out)


def _read(model: Any, data: Path, enough: float) -> tuple[list[str], pd.DataFrame]:
    """Notes, and at least `enough` first rows of a file, read as `imputefree predict` does."""
    from ..io import open_rows
    from ..workflow import Chunk, Chunks

    parts, count = [], 0
    with open_rows(data) as reader:
        chunks = Chunks(model, reader, data)
        for chunk in chunks:
            parts.append(chunk)
            count += len(chunk.lines)
            if count >= enough:
                break
    return chunks.notes, Chunk.joined(parts).inputs


def _select_rows(model: Any, data: Path, rows: str | None, ids: tuple[str, ...]) -> Selection:
    """The rows of a table to explain, named by their numbers."""
    if ids:
        raise ParameterError(
            f"--id {ids[0]} was given for a model of tables",
            "It names series",
            "Name rows with --rows, such as --rows 0,5,7",
        )
    if rows is not None and rows.strip() != "all":
        numbers = _row_numbers(rows)
        notes, frame = _read(model, data, max(numbers) + 1)
        if max(numbers) >= len(frame):
            raise ParameterError(
                f"--rows names {max(numbers)}, but the rows are 0 to {len(frame) - 1}",
                "Rows are counted from 0, without the header",
                "Name existing rows",
            )
        return notes, numbers, frame.iloc[numbers]
    limit = FIRST_ROWS if rows is None else float("inf")
    notes, frame = _read(model, data, limit + 1)
    if len(frame) > limit:
        notes = [f"The first {FIRST_ROWS} rows; --rows all explains all.", *notes]
        frame = frame.iloc[:FIRST_ROWS]
    return notes, list(range(len(frame))), frame


def _select_series(model: Any, data: Path, rows: str | None, ids: tuple[str, ...]) -> Selection:
    """The series to explain, named by their ids."""
    from ..workflow import roles_of

    if rows is not None and rows.strip() != "all":
        raise ParameterError(
            f"--rows {rows} was given for a model of series",
            "Rows are for tables; a series has many",
            "Name series with --id, or pass --rows all",
        )
    notes, frame = _read(model, data, float("inf"))
    column = frame[roles_of(model)["id"]].astype(str)
    known = column.unique().tolist()
    chosen = known
    if ids:
        parts = [[name] if name in known else name.split(",") for name in ids]
        chosen = list(dict.fromkeys(name.strip() for part in parts for name in part))
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise ParameterError(
                f"there is no series {shorten(unknown)}",
                f"The column {column.name!r} has {shorten(known)}",
                "Name one of them",
            )
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
        first, dash, last = part.strip().partition("-")
        last = last if dash else first
        if (
            not (first.isdecimal() and last.isdecimal())
            or not int(first) <= int(last) < int(first) + MAX_SPAN
        ):
            raise ParameterError(
                f"--rows is {text!r}",
                f"It lists row numbers, counted from 0, or spans of up to {MAX_SPAN:,} of them",
                "Write, for example, 0,5,7 or 0-9",
            )
        numbers += range(int(first), int(last) + 1)
    return list(dict.fromkeys(numbers))


def _check_outputs(picture: Path | None, csv: Path | None, inputs: list[Path]) -> None:
    """Refuse outputs that cannot be written, before anything is computed."""
    for path in filter(None, (picture, csv)):
        if path.resolve() in [read.resolve() for read in inputs]:
            raise ParameterError(
                f"{path} is an input", "It would be overwritten", "Name another file to write"
            )
        if not path.parent.is_dir():
            raise InputError(
                f"the folder of {path} does not exist", "", "Create it, or name another file"
            )
    if picture is not None:
        if picture.suffix.lower() not in PICTURES:
            raise ParameterError(
                f"--output is {str(picture)!r}",
                f"A picture's file ends in {', '.join(PICTURES)}",
                "Name a file, such as why.png",
            )
        require_extra("bench", "matplotlib")
