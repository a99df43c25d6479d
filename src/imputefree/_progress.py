"""A progress bar for people, silence for everything else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

Report = Callable[[int, dict[str, float]], None]  # called with an epoch and its figures


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


@contextmanager
def step_progress(wanted: bool, steps: int, what: str) -> Iterator[Callable[[str], None]]:
    """Gives a function to call with the name of each step as it begins."""
    if not wanted or not sys.stderr.isatty():
        yield lambda step: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(what, total=steps)
        begun = 0

        def report(step: str) -> None:
            nonlocal begun
            bar.update(job, completed=begun, description=f"{what}: {step}")
            begun += 1

        yield report


@contextmanager
def byte_progress(wanted: bool, what: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """Gives a function to call with the bytes so far and in all, or None when nobody is looking."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(job, completed=done, total=total)


@contextmanager
def grid_progress(wanted: bool, runs: int, done: int) -> Iterator[Callable[[str], None]]:
    """Gives a function to call with what has just been finished; `done` runs were so before."""
    if not wanted or not sys.stderr.isatty():
        yield lambda finished: None
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    # Runs take minutes: rich's usual 30 seconds would forget all of them but the last.
    with Progress(*columns, console=console, speed_estimate_period=1e9) as bar:
        job = bar.add_task("", total=runs, completed=done)
        yield lambda finished: bar.update(job, advance=1, description=finished)
