"""`imputefree explain MODEL DATA`: what each value did, and what to measure next."""

from __future__ import annotations

import json
import os
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..data.words import shorten
from ..errors import InputError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

FIRST_ROWS, FIRST_SERIES = 200, 50  # explained where none are named
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
    from ..explain import SeriesExplanation, explain_rows
    from ..explain.lines import given_values, long_lines
    from ..own.files import read_frame
    from ..own.model import is_of_series, load_model, select_inputs

    fitted = load_model(model)
    frame, notes = read_frame(data)
    kept, _ = select_inputs(fitted, frame)
    series = is_of_series(fitted)
    if series:
        chosen, names, kept = _choose_series(fitted, kept, rows, id or [])
    else:
        chosen, names, kept = _choose_rows(kept, rows, id or [])
    for note in [*notes, *chosen]:
        typer.echo(note, err=True)
    how = {"single": len(names) == 1 if steps is None else steps} if series else {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = explain_rows(fitted, kept, of=of, **how)
        values, at_steps = given_values(fitted, kept)
    for text in dict.fromkeys(str(one.message) for one in told):
        typer.echo(text, err=True)
    if isinstance(found, SeriesExplanation):
        names = found.ids.tolist()
    kind = "id" if series else "row"
    written = []  # before anything is printed: a reader of stdout that goes away loses no file
    if csv is not None:
        text = long_lines(found, values, at_steps, names, kind).to_csv(index=False)
        _write(csv, lambda path: path.write_text(text, encoding="utf-8"))
        written.append(f"Lines: {csv}")
    if output is not None:
        from ..explain.picture import draw

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
    from ..explain.show import show_all, show_row
    from .show_results import console

    to = console()
    if len(names) == 1 or (named and len(names) <= EACH):
        for i, name in enumerate(names):
            show_row(found, i, f"{kind} {name}", values, to)
    else:
        show_all(found, to)


def _choose_rows(
    frame: pd.DataFrame, rows: str | None, ids: list[str]
) -> tuple[list[str], list[Any], pd.DataFrame]:
    """Notes, the numbers of the rows to explain, and these rows."""
    if ids:
        raise ParameterError(
            f"--id {ids[0]} was given for a model of tables",
            "It names series",
            "Name rows by --rows, such as --rows 0,5,7",
        )
    if rows is not None and rows.strip() != "all":
        chosen = _numbers(rows, len(frame))
        return [], chosen, frame.iloc[chosen]
    notes, count = [], len(frame)
    if rows is None and count > FIRST_ROWS:
        notes = [f"The first {FIRST_ROWS} of {count:,} rows; --rows all explains all."]
        count = FIRST_ROWS
    return notes, list(range(count)), frame.iloc[:count]


def _choose_series(
    model: Any, frame: pd.DataFrame, rows: str | None, ids: list[str]
) -> tuple[list[str], list[Any], pd.DataFrame]:
    """Notes, the ids of the series to explain, and their rows."""
    from ..data.encoding import as_texts
    from ..own.model import roles_of

    if rows is not None and rows.strip() != "all":
        raise ParameterError(
            f"--rows {rows} was given for a model of series",
            "Rows are of tables; a series has many",
            "Name series by --id, or pass --rows all",
        )
    column = frame[roles_of(model)["id"]]
    own = column.to_numpy()
    texts = as_texts(own if own.dtype.kind in "fO" else own.astype(object))
    whose = np.array([str(one) for one in texts], dtype=object)
    known = list(dict.fromkeys(whose[column.notna()]))
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
        kept = ids
    elif rows is None and len(known) > FIRST_SERIES:
        note = f"The first {FIRST_SERIES} of {len(known):,} series; --rows all explains all."
        kept = known[:FIRST_SERIES]
        return [note], kept, frame[np.isin(whose, kept)]
    else:
        return [], known, frame
    return [], kept, frame[np.isin(whose, kept)]


def _numbers(text: str, count: int) -> list[int]:
    """Row numbers out of a text; there are `count` rows.

    >>> _numbers("0,5-7,5", 100)
    [0, 5, 6, 7]
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else True)):
            raise ParameterError(
                f"--rows is {text!r}",
                "It lists row numbers, counted from 0, or spans of them",
                "Write it such as 0,5,7 or 0-9",
            )
        low, high = int(first), int(last or first)
        if not low <= high < count:
            raise ParameterError(
                f"--rows names {part.strip()}, but the rows are 0 to {count - 1}",
                "Rows are counted from 0, without the line of column names",
                "Name rows that are there",
            )
        found += range(low, high + 1)
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
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({(error.strerror or str(error)).lower()})",
            "It goes into an existing, writable folder",
            "Name another file",
        ) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
