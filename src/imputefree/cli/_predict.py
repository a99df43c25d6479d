"""`imputefree predict MODEL DATA`, and `evaluate MODEL DATA` for a file with known answers."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._progress import byte_progress
from ..errors import ParameterError, counted
from ._options import (
    FILE,
    Command,
    answers_option,
    coverage_option,
    data_argument,
    file_options,
    in_memory_option,
    join_option,
    json_option,
    model_argument,
    on_error_option,
    option,
    refuse_overwriting,
)
from ._printing import console, echo, figures_table

if TYPE_CHECKING:
    from ..workflow import Marks


@click.command("predict", cls=Command)
@model_argument
@data_argument
@option(
    "--output",
    "-o",
    default="-",
    help="A .csv, .csv.gz or .parquet file, or for a folder of parts a folder; - is stdout.",
)
@option("--keep", multiple=True, help="Columns of DATA to copy, separated by commas.")
@coverage_option(
    "Add an interval, or a set of classes, that holds the truth this often, such as 0.9."
)
@on_error_option
@in_memory_option
@join_option
@option(
    "--history",
    type=FILE,
    metavar="FILE",
    section="Series",
    help="Earlier steps of the same series; DATA is added to it. Need not exist at first.",
)
@option(
    "--last",
    is_flag=True,
    section="Series",
    help="For predictions per step: write only the last of each series.",
)
@file_options
def predict_command(
    model: Path,
    data: Path,
    marks: Marks,
    output: str,
    join: tuple[Path, ...],
    history: Path | None,
    **options: Any,
) -> None:
    """Predict every row, or series, of a file of any size, or of a folder of parts, in order.

    Writes `prediction` and, for classes, the probability of each as p_CLASS; for series the id
    first. Columns are found by name; columns unknown to the model are ignored. Empty cells are
    missing, as are words such as NA among numbers and categories that training never saw. For
    series, --keep copies the first known value.

    With --coverage also `low` and `high`, or `set`: its classes, separated by |.

    For growing series, with --history, DATA need only hold the new steps. They are predicted with
    the earlier steps of the same series in FILE (.csv, .csv.gz or .parquet), and added to it.

    The files of a folder, sorted by name, are one table; if the output is a folder too, each part
    is written under its own name.
    """
    if output != "-":
        inputs = [path for path in (model, data, *join, history) if path]
        refuse_overwriting(Path(output), inputs, ParameterError)
    from ..io import check_format, parts_of, table_output, write_frame
    from ..workflow import load_model, predict_file, read_joined_for

    if history is not None:
        refuse_overwriting(history, (model, data, *join), ParameterError)
        check_format(history, "--history")
    estimator, written, notes = load_model(model), 0, list[str]()
    joined = read_joined_for(estimator, [data, *join], history, marks) if join or history else None
    options |= {"may_be_empty": data.is_dir(), "joined": joined and joined.current, "marks": marks}
    pairs = [(data, output)]
    if Path(output).is_dir() and data.is_dir():
        pairs = [(part, str(Path(output) / part.name)) for part in parts_of(data)]
    try:
        for part, place in pairs:
            with table_output(place) as write, byte_progress(part.name) as progress:
                count, more = predict_file(estimator, part, write, progress=progress, **options)
            written, notes = written + count, [*notes, *more]
    except BrokenPipeError:
        # The reader of stdout has enough. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    if joined is not None and history is not None:  # after the predictions, so that none is lost
        write_frame(joined.frame, history)
    for note in [*(joined.notes if joined else ()), *notes]:
        echo(note, err=True)
    if output != "-":
        echo(f"{counted(written, 'prediction')}: {output}")


@click.command("evaluate", cls=Command)
@model_argument
@data_argument
@answers_option
@json_option
@on_error_option
@in_memory_option
@join_option
@file_options
def evaluate_command(
    model: Path,
    data: Path,
    marks: Marks,
    as_json: bool,
    join: tuple[Path, ...],
    **options: Any,
) -> None:
    """Compare predictions with the answers in a file.

    Prints scores with 95% confidence intervals (bootstrap over rows, or series), how much is
    missing, and what is unusual about the file. Rows without an answer are left out and counted.
    """
    from ..workflow import evaluate, load_model, read_joined_for

    estimator = load_model(model)
    joined = read_joined_for(estimator, [data, *join], None, marks) if join else None
    options |= {"joined": joined, "marks": marks}
    with byte_progress(data.name) as progress:
        result, notes = evaluate(estimator, data, progress=progress, **options)
    for note in [*(joined.notes if joined else ()), *notes]:
        echo(note, err=True)
    if as_json:
        echo(json.dumps({"model": str(model), "data": str(data)} | result, indent=1))
    else:
        _show(result, model, data)


def _show(result: dict[str, Any], model: Path, data: Path) -> None:
    count, unit = result["count"], result["unit"]
    units = f"{count} series" if unit == "series" else counted(count, unit)
    echo(f"{model.name} on {data.name}: {units}, target {result['target']!r}")
    if result["without"]:
        echo(f"Without an answer, left out: {result['without']}")
    if result["bad_rows"]:
        echo(f"Bad rows, left out: {result['bad_rows']}")
    echo(f"Missing: {result['share_missing']:.1%} of the cells")
    lines = []
    for name, figure in result["figures"].items():
        value, low, high = (_short(figure[part]) for part in ("value", "low", "high"))
        interval = f"{low} to {high}" if low else ""
        lines.append((name.replace("_", " "), value or "not defined", interval))
    console().print(figures_table(["figure", "value", "95% interval"], lines))


def _short(number: float | None) -> str:
    """Four significant digits, or a whole number from 1,000 on.

    >>> _short(0.123456), _short(27021.7), _short(None)
    ('0.1235', '27,022', '')
    """
    if number is None:
        return ""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
