"""A progress bar for people, silence for everything else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .gil.train import Progress as Report


@contextmanager
def training_progress(wanted: bool, epochs: int, what: str) -> Iterator[Report | None]:
    """Gives a function to call after each epoch, or None when nobody is looking."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(what, total=epochs, figures="")

        def report(epoch: int, figures: dict[str, float]) -> None:
            shown = "  ".join(f"{name} {value:.4f}" for name, value in figures.items())
            bar.update(job, completed=epoch + 1, figures=shown)

        yield report
