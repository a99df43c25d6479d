"""Progress bars on a terminal, and nothing where stderr is a file or a pipe.

rich is imported only when a bar is drawn, so that importing this module costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

EpochReport = Callable[[int, dict[str, float]], None]  # called with an epoch and its figures
DESCRIPTION = "{task.description}"
COUNT = ("MofNCompleteColumn", "TimeElapsedColumn")


@contextmanager
def _bar(
    wanted: bool, columns: tuple[str, ...], title: str, total: int | None, **options: Any
) -> Iterator[Callable[..., None] | None]:
    """A progress bar: yields a function that updates it, or None if there is no terminal.

    columns : classes of rich.progress by name, or format strings
    """
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    from rich import progress
    from rich.console import Console

    parts = [
        getattr(progress, column)() if hasattr(progress, column) else progress.TextColumn(column)
        for column in columns
    ]
    with progress.Progress(*parts, console=Console(stderr=True), **options) as bar:
        yield partial(bar.update, bar.add_task(title, total=total, figures=""))


@contextmanager
def training_progress(wanted: bool, epochs: int, title: str) -> Iterator[EpochReport]:
    """Yields a function to call after each epoch; without a terminal it does nothing."""
    columns = (DESCRIPTION, "BarColumn", *COUNT, "{task.fields[figures]}")
    with _bar(wanted, columns, title, epochs, transient=True) as update:

        def report(epoch: int, figures: dict[str, float]) -> None:
            if update:
                text = "  ".join(f"{name} {value:.4f}" for name, value in figures.items())
                update(completed=epoch + 1, figures=text)

        yield report


@contextmanager
def step_progress(wanted: bool, steps: int, title: str) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with the name of each step as it begins."""
    columns, begun = ("SpinnerColumn", DESCRIPTION, *COUNT), iter(range(steps + 1))
    with _bar(wanted, columns, title, steps, transient=True) as update:
        yield (
            lambda step: (
                update and update(completed=next(begun, steps), description=f"{title}: {step}")
            )
        )


@contextmanager
def byte_progress(wanted: bool, title: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """Yields a function to call with the bytes done and in total, or None without a terminal."""
    columns = (DESCRIPTION, "BarColumn", "DownloadColumn", "TransferSpeedColumn")
    with _bar(wanted, columns, title, None, transient=True) as update:
        yield update and (lambda done, total: update(completed=done, total=total))


@contextmanager
def grid_progress(wanted: bool, runs: int, done: int) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with each finished run's name; `done` runs were done before."""
    columns = ("BarColumn", *COUNT, "left:", "TimeRemainingColumn", DESCRIPTION)
    # Runs take minutes: with rich's usual 30 seconds the estimate would use the last run only.
    with _bar(wanted, columns, "", runs, speed_estimate_period=1e9) as update:
        if update:
            update(completed=done)
        yield lambda finished: update and update(advance=1, description=finished)
