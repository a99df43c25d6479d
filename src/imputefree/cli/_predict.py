"""`imputefree predict MODEL DATA`: predictions for a file of any size."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from .._progress import byte_progress
from ..errors import counted
from ._options import (
    Command,
    data_argument,
    in_memory_option,
    model_argument,
    on_error_option,
    option,
)


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
        click.echo(f"{counted(written, 'prediction') if written else '0 predictions'}: {output}")
