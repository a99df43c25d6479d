"""`imputefree predict MODEL DATA`: predictions for a file of any size."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .._progress import byte_progress

EPILOG = "A model comes from `imputefree fit`, or from the save method of an estimator."


class OnError(StrEnum):
    """What to do about a row that cannot be read."""

    stop = "stop"
    skip = "skip"


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
OnErrorOption = Annotated[
    OnError,
    typer.Option(
        "--on-error",
        help="Of a row that cannot be read: stop, naming its line, or skip it and count.",
    ),
]
InMemory = Annotated[
    bool,
    typer.Option(
        "--in-memory",
        help="Read all of the file at once; rows of one series may then stand anywhere.",
    ),
]


def predict_command(
    model_file: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A CSV, packed CSV (.gz) or Parquet file of any size."),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="A .csv, .csv.gz or .parquet file, whole or not at all; - is stdout.",
        ),
    ] = "-",
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Columns of DATA to copy, by commas; of series, the first known value."),
    ] = None,
    on_error: OnErrorOption = OnError.stop,
    in_memory: InMemory = False,
) -> None:
    """Predict every row, or series, of a file, in order.

    Writes `prediction` and, for classes, the probability of each, as p_CLASS; of series the id
    first. Columns are found by name; those the model does not know are ignored. Empty cells are
    missing, as are words such as NA among numbers, and categories that training never saw.
    """
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

    model = load_model(model_file)
    written = 0
    try:
        with open_rows(data) as reader:
            kept = columns_to_keep(model, list(split_names(keep, reader.names)))
            bad = BadRows(data, skip=on_error is OnError.skip, word=reader.word)
            with (
                table_output(output, never=(model_file, data)) as write,
                byte_progress(True, data.name) as progress,
            ):
                chunks = Chunks(model, reader, bad, kept, progress)
                for chunk, found in predict_chunks(model, chunks, bad, in_memory):
                    frame = output_frame(model, chunk, found, kept)
                    write(frame)
                    written += len(frame)
                if not written:  # all rows were left out
                    write(_empty([*kept, *output_names(model)]))
    except BrokenPipeError:
        # Whoever read our output has enough. Python would complain once more when it leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    for note in [*chunks.unseen.notes, *bad.notes]:
        typer.echo(note, err=True)
    if output != STDOUT:
        typer.echo(f"{written} prediction{'s' * (written != 1)}: {output}")


def _empty(names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame({name: pd.Series(dtype=object) for name in names})
