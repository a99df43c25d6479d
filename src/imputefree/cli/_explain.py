"""`imputefree explain MODEL DATA`: what each value did, and what to measure next."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from .._files import replacing
from ..data import shorten
from ..errors import InputError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

FIRST_ROWS, FIRST_SERIES = 200, 50  # explained where none are named
MOST_NAMED = 1_000_000  # rows that one span may name
EACH = 5  # so many named rows are shown one by one, more of them by column
PICTURES = (".png", ".pdf", ".svg")


def explain_command(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A model that `imputefree fit` or `save` wrote."),
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A CSV, packed CSV (.gz) or Parquet file.")
    ],
    rows: Annotated[
        str | None,
        typer.Option(help="Rows of a table, counted from 0, such as 0,5,7 or 0-9; or all."),
    ] = None,
    id: Annotated[
        list[str] | None,
        typer.Option(help="Of series: whose to explain; by commas or repeated."),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(help="The class; else the second of two, or the one predicted."),
    ] = None,
    steps: Annotated[
        bool | None,
        typer.Option(
            help="Of series: remove values one by one too, not only whole columns.",
            show_default="for one series",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not tables.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A picture: .png, .pdf or .svg.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="A file with a line a row and column.")] = None,
) -> None:
    """Show what each observed value did to a prediction, and which missing one to measure next.

    A value's effect is the prediction minus that without it: about the model, not about causes.

    What to measure next goes by the values of training: a ranking, not a promise.

    Up to five rows that are named are shown one by one, more of them by column.
    """
    _check_outputs(output, csv, [model, data])
    from ..inspection import SeriesExplanation, explain_rows, input_values
    from ..workflow import is_of_series, load_model

    fitted = load_model(model)
    series = is_of_series(fitted)
    if series:
        notes, names, kept = _choose_series(fitted, data, rows, id or [])
    else:
        notes, names, kept = _choose_rows(fitted, data, rows, id or [])
    for note in notes:
        typer.echo(note, err=True)
    how = {"single": len(names) == 1 if steps is None else steps} if series else {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = explain_rows(fitted, kept, of=of, **how)
        values, at_steps = input_values(fitted, kept)
    for text in dict.fromkeys(str(one.message) for one in told):
        typer.echo(text, err=True)
    if isinstance(found, SeriesExplanation):
        names = found.ids.tolist()
    kind = "id" if series else "row"
    written = []  # before anything is printed: a reader of stdout that goes away loses no file
    if csv is not None:
        text = found.to_lines(values, at_steps, names, kind).to_csv(index=False)
        _write(csv, lambda path: path.write_text(text, encoding="utf-8"))
        written.append(f"Lines: {csv}")
    if output is not None:
        from ..inspection import draw

        ending = output.suffix[1:].lower()
        _write(output, lambda path: draw(found, values, names, path, ending))
        written.append(f"Picture: {output}")
    if as_json:
        answer = {f"{kind}s": names, **found.to_dict()}
        typer.echo(json.dumps(answer, allow_nan=False, default=str))
    else:
        _show(found, values, names, kind, bool(rows not in (None, "all") or id))
    for line in written:
        typer.echo(line, err=as_json)


def _show(found: Any, values: np.ndarray, names: list[Any], kind: str, named: bool) -> None:
    from ..inspection import show_all, show_row
    from ._show_results import console

    to = console()
    if len(names) == 1 or (named and len(names) <= EACH):
        for i, name in enumerate(names):
            show_row(found, i, f"{kind} {name}", values, to)
    else:
        show_all(found, to)


def _read(model: Any, data: Path, enough: float) -> tuple[list[str], pd.DataFrame]:
    """Notes and the first rows of a file, as `imputefree predict` reads them; `enough` or more."""
    from ..io import BadRows
    from ..workflow import Chunk, Chunks, open_rows

    parts, count = [], 0
    with open_rows(data) as reader:
        chunks = Chunks(model, reader, BadRows(data, word=reader.word))
        for chunk in chunks:
            parts.append(chunk)
            count += len(chunk.lines)
            if count >= enough:
                break
    return chunks.unseen.notes, Chunk.joined(parts).inputs


def _choose_rows(
    model: Any, data: Path, rows: str | None, ids: list[str]
) -> tuple[list[str], list[Any], pd.DataFrame]:
    """Notes, the numbers of the rows to explain, and these rows."""
    if ids:
        raise ParameterError(
            f"--id {ids[0]} was given for a model of tables",
            "It names series",
            "Name rows by --rows, such as --rows 0,5,7",
        )
    if rows is not None and rows.strip() != "all":
        chosen = _numbers(rows)
        notes, frame = _read(model, data, max(chosen) + 1)
        if max(chosen) >= len(frame):
            raise ParameterError(
                f"--rows names {max(chosen)}, but the rows are 0 to {len(frame) - 1}",
                "Rows are counted from 0, without the line of column names",
                "Name rows that are there",
            )
        return notes, chosen, frame.iloc[chosen]
    most = FIRST_ROWS if rows is None else np.inf
    notes, frame = _read(model, data, most + 1)
    if len(frame) > most:
        notes = [f"The first {FIRST_ROWS} rows; --rows all explains all.", *notes]
        frame = frame.iloc[:FIRST_ROWS]
    return notes, list(range(len(frame))), frame


def _choose_series(
    model: Any, data: Path, rows: str | None, ids: list[str]
) -> tuple[list[str], list[Any], pd.DataFrame]:
    """Notes, the ids of the series to explain, and their rows."""
    from ..workflow import roles_of

    if rows is not None and rows.strip() != "all":
        raise ParameterError(
            f"--rows {rows} was given for a model of series",
            "Rows are of tables; a series has many",
            "Name series by --id, or pass --rows all",
        )
    notes, frame = _read(model, data, np.inf)
    column = frame[roles_of(model)["id"]]
    whose = column.astype(str).to_numpy(dtype=object)
    known = list(dict.fromkeys(whose))
    if ids:
        parts = [[one] if one in set(known) else one.split(",") for one in ids]
        ids = [one.strip() for some in parts for one in some]  # an id may hold a comma
        strange = [one for one in ids if one not in set(known)]
        if strange:
            raise ParameterError(
                f"there is no series {shorten(strange)}",
                f"The column {column.name!r} has {shorten(known)}",
                "Name one of them",
            )
        known = list(dict.fromkeys(ids))
    elif rows is None and len(known) > FIRST_SERIES:
        told = f"The first {FIRST_SERIES} of {len(known):,} series; --rows all explains all."
        notes, known = [told, *notes], known[:FIRST_SERIES]
    return notes, known, frame[np.isin(whose, known)].reset_index(drop=True)


def _numbers(text: str) -> list[int]:
    """Row numbers out of a text.

    >>> _numbers("0,5-7,5")
    [0, 5, 6, 7]
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if (
            not (first.isdecimal() and (last.isdecimal() if dash else True))
            or not int(first) <= int(last or first) < int(first) + MOST_NAMED
        ):
            raise ParameterError(
                f"--rows is {text!r}",
                f"It lists row numbers, counted from 0, or spans of up to {MOST_NAMED:,} of them",
                "Write it such as 0,5,7 or 0-9",
            )
        found += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(found))


def _check_outputs(picture: Path | None, csv: Path | None, read: list[Path]) -> None:
    """Say before the work, not after it, what cannot be written."""
    for path in (picture, csv):
        if path is not None and path.resolve() in [one.resolve() for one in read]:
            raise ParameterError(
                f"{path} is what is read", "It would be lost", "Name another file to write"
            )
        if path is not None and not path.parent.is_dir():
            raise InputError(
                f"the folder of {path} does not exist", "", "Make it, or name another file"
            )
    if picture is None:
        return
    if picture.suffix.lower() not in PICTURES:
        raise ParameterError(
            f"--output is {str(picture)!r}",
            f"A picture's file ends in {', '.join(PICTURES)}",
            "Name one such as why.png",
        )
    if find_spec("matplotlib") is None:
        raise ParameterError(
            "matplotlib is not installed",
            "The picture needs it",
            "pip install 'imputefree[bench]', or leave --output out",
        )


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """The whole file or, where that fails, what was there before."""
    try:
        with replacing(path) as place:
            write(place)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({(error.strerror or str(error)).lower()})",
            "It goes into an existing, writable folder",
            "Name another file",
        ) from None
