"""`imputefree predict MODEL DATA`, and `evaluate MODEL DATA` for a file with known answers."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._progress import byte_progress
from ..errors import counted
from ._options import (
    Command,
    console,
    data_argument,
    in_memory_option,
    model_argument,
    on_error_option,
    option,
)

if TYPE_CHECKING:
    from ..workflow import Evaluation


@click.command("predict", cls=Command)
@model_argument
@data_argument
@option("--output", "-o", default="-", help="A .csv, .csv.gz or .parquet file; - is stdout.")
@option("--keep", multiple=True, help="Columns of DATA to copy, separated by commas.")
@on_error_option
@in_memory_option
def predict_command(
    model: Path, data: Path, output: str, keep: tuple[str, ...], on_error: str, in_memory: bool
) -> None:
    """Predict every row, or series, of a file of any size, in order.

    Writes `prediction` and, for classes, the probability of each as p_CLASS; for series the id
    first. Columns are found by name; columns unknown to the model are ignored. Empty cells are
    missing, as are words such as NA among numbers and categories that training never saw. For
    series, --keep copies the first known value.
    """
    import pandas as pd

    from ..io import STDOUT, BadRows, table_output
    from ..workflow import (
        Chunks,
        columns_to_keep,
        load_model,
        open_rows,
        output_frame,
        output_names,
        predict_chunks,
        split_names,
    )

    estimator = load_model(model)
    written = 0
    try:
        with open_rows(data) as reader:
            kept = columns_to_keep(estimator, list(split_names(keep, reader.names)))
            bad = BadRows(data, skip=on_error == "skip", word=reader.word)
            with (
                table_output(output, never=(model, data)) as write,
                byte_progress(True, data.name) as progress,
            ):
                chunks = Chunks(estimator, reader, bad, kept, progress)
                for chunk, prediction in predict_chunks(estimator, chunks, bad, in_memory):
                    frame = output_frame(estimator, chunk, prediction, kept)
                    write(frame)
                    written += len(frame)
                if not written:  # all rows were left out: a header without rows
                    write(pd.DataFrame(columns=[*kept, *output_names(estimator)], dtype=object))
    except BrokenPipeError:
        # The reader of stdout has enough. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    for note in [*chunks.unseen.notes, *bad.notes]:
        click.echo(note, err=True)
    if output != STDOUT:
        click.echo(f"{counted(written, 'prediction')}: {output}")


@click.command("evaluate", cls=Command)
@model_argument
@data_argument
@option("--target", help="Column with the answers; default: the target of training.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@on_error_option
@in_memory_option
def evaluate_command(
    model: Path, data: Path, target: str | None, as_json: bool, on_error: str, in_memory: bool
) -> None:
    """Compare predictions with the answers in a file.

    Prints scores with 95% confidence intervals (bootstrap over rows, or series), how much is
    missing, and what is unusual about the file. Rows without an answer are left out and counted.
    """
    from ..io import BadRows
    from ..workflow import Chunks, evaluate, load_model, open_rows, target_of

    estimator = load_model(model)
    answers = target_of(estimator, target)
    with open_rows(data) as reader, byte_progress(True, data.name) as progress:
        bad = BadRows(data, skip=on_error == "skip", word=reader.word)
        chunks = Chunks(estimator, reader, bad, [answers], progress)
        result = evaluate(estimator, chunks, answers, bad, in_memory)
    for note in [*chunks.unseen.notes, *bad.notes, *result.notes]:
        click.echo(note, err=True)
    if as_json:
        files = {"model": str(model), "data": str(data)}
        plain = files | asdict(result) | {"share_missing": result.share_missing}
        click.echo(json.dumps(plain, indent=1))
    else:
        _show(result, model, data)


def _show(result: Evaluation, model: Path, data: Path) -> None:
    from rich.table import Table

    of_series = result.unit == "series"
    units = f"{result.count} series" if of_series else counted(result.count, result.unit)
    click.echo(f"{model.name} on {data.name}: {units}, target {result.target!r}")
    if result.without:
        click.echo(f"Without an answer, left out: {result.without}")
    if result.bad_rows:
        click.echo(f"Bad rows, left out: {result.bad_rows}")
    click.echo(f"Missing: {result.share_missing:.1%} of the cells")
    table = Table("figure")
    for title in ("value", "95% interval"):
        table.add_column(title, justify="right")
    for name, figure in result.figures.items():
        if figure["value"] is None:
            table.add_row(name.replace("_", " "), "not defined", "")
            continue
        value, low, high = (_short(figure[part]) for part in ("value", "low", "high"))
        table.add_row(name.replace("_", " "), value, f"{low} to {high}" if low else "")
    console().print(table)


def _short(number: float | None) -> str:
    """Four significant digits, or a whole number from 1,000 on.

    >>> _short(0.123456), _short(27021.7), _short(None)
    ('0.1235', '27,022', '')
    """
    if number is None:
        return ""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
