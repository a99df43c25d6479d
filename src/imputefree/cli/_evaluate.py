"""`imputefree evaluate MODEL DATA`: how well a model does on a file that has the answers."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._progress import byte_progress
from ..data import counted
from ._predict import InMemory, ModelFile, OnError, OnErrorOption

if TYPE_CHECKING:
    from ..workflow import Evaluation


def evaluate_command(
    model_file: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A CSV, packed CSV (.gz) or Parquet file."),
    ],
    target: Annotated[
        str | None,
        typer.Option(help="The column with the answers; else the one the model was trained for."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    on_error: OnErrorOption = OnError.stop,
    in_memory: InMemory = False,
) -> None:
    """Hold predictions against the answers in a file.

    Prints figures with 95% confidence intervals (bootstrap over rows, or series), how much is
    missing, and what is odd about the file. Rows without an answer are left out and counted.
    """
    from ..io import BadRows
    from ..workflow import Chunks, evaluate, load_model, open_rows, target_of

    model = load_model(model_file)
    answers = target_of(model, target)
    with open_rows(data) as reader, byte_progress(True, data.name) as progress:
        bad = BadRows(data, skip=on_error is OnError.skip, word=reader.word)
        chunks = Chunks(model, reader, bad, [answers], progress)
        found = evaluate(model, chunks, answers, bad, in_memory)
    for note in [*chunks.unseen.notes, *bad.notes, *found.notes]:
        typer.echo(note, err=True)
    if as_json:
        typer.echo(json.dumps(as_plain(found, model_file, data), indent=1))
    else:
        _show(found, model_file, data)


def as_plain(found: Evaluation, model_file: Path, data: Path) -> dict[str, Any]:
    """What is printed as JSON."""
    named = {"model": str(model_file), "data": str(data)}
    return named | asdict(found) | {"share_missing": found.share_missing}


def _show(found: Evaluation, model_file: Path, data: Path) -> None:
    from rich.table import Table

    from ._show_results import console

    units = f"{found.count} series" if found.unit == "series" else counted(found.count, found.unit)
    typer.echo(f"{model_file.name} on {data.name}: {units}, target {found.target!r}")
    if found.without:
        typer.echo(f"Without an answer, left out: {found.without}")
    if found.bad_rows:
        typer.echo(f"Bad rows, left out: {found.bad_rows}")
    typer.echo(f"Missing: {found.share_missing:.1%} of the cells")
    table = Table()
    table.add_column("figure")
    for title in ("value", "95% interval"):
        table.add_column(title, justify="right")
    for name, figure in found.figures.items():
        if figure["value"] is None:
            table.add_row(name, "not defined", "")
            continue
        value, low, high = (_short(figure[part]) for part in ("value", "low", "high"))
        table.add_row(name.replace("_", " "), value, f"{low} to {high}" if low else "")
    console().print(table)


def _short(number: float | None) -> str:
    """Four digits, or all before the point.

    >>> _short(0.123456), _short(27021.7), _short(None)
    ('0.1235', '27,022', '')
    """
    if number is None:
        return ""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
