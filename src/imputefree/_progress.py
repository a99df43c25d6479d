"""Progress bars on a terminal, and nothing where stderr is a file or a pipe.

rich is imported only when a bar is drawn, so that importing this module costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

EpochReport = Callable[[int, dict[str, float]], None]  # called with an epoch and its figures
DESCRIPTION = "{task.description}"


def _visible(wanted: bool) -> bool:
    return wanted and sys.stderr.isatty()


def _bar(*columns: str, **options: Any) -> Any:
    """A progress bar; a column is a class of rich.progress by name, or a format string."""
    from rich import progress
    from rich.console import Console

    parts = [
        getattr(progress, column)() if hasattr(progress, column) else progress.TextColumn(column)
        for column in columns
    ]
    return progress.Progress(*parts, console=Console(stderr=True), **options)


@contextmanager
def training_progress(wanted: bool, epochs: int, title: str) -> Iterator[EpochReport]:
    """Yields a function to call after each epoch; without a terminal it does nothing."""
    if not _visible(wanted):
        yield lambda epoch, figures: None
        return
    columns = (DESCRIPTION, "BarColumn", "MofNCompleteColumn", "TimeElapsedColumn")
    with _bar(*columns, "{task.fields[figures]}", transient=True) as bar:
        task = bar.add_task(title, total=epochs, figures="")

        def report(epoch: int, figures: dict[str, float]) -> None:
            text = "  ".join(f"{name} {value:.4f}" for name, value in figures.items())
            bar.update(task, completed=epoch + 1, figures=text)

        yield report


@contextmanager
def step_progress(wanted: bool, steps: int, title: str) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with the name of each step as it begins."""
    if not _visible(wanted):
        yield lambda step: None
        return
    columns = ("SpinnerColumn", DESCRIPTION, "MofNCompleteColumn", "TimeElapsedColumn")
    with _bar(*columns, transient=True) as bar:
        task = bar.add_task(title, total=steps)
        begun = iter(range(steps + 1))
        yield lambda step: bar.update(
            task, completed=next(begun, steps), description=f"{title}: {step}"
        )


@contextmanager
def byte_progress(wanted: bool, title: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """Yields a function to call with the bytes done and in total, or None without a terminal."""
    if not _visible(wanted):
        yield None
        return
    columns = (DESCRIPTION, "BarColumn", "DownloadColumn", "TransferSpeedColumn")
    with _bar(*columns, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def grid_progress(wanted: bool, runs: int, done: int) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with each finished run's name; `done` runs were done before."""
    if not _visible(wanted):
        yield lambda finished: None
        return
    columns = ("BarColumn", "MofNCompleteColumn", "TimeElapsedColumn", "left:")
    # Runs take minutes: with rich's usual 30 seconds the estimate would use the last run only.
    with _bar(*columns, "TimeRemainingColumn", DESCRIPTION, speed_estimate_period=1e9) as bar:
        task = bar.add_task("", total=runs, completed=done)
        yield lambda finished: bar.update(task, advance=1, description=finished)
