"""Progress bars on a terminal; plain lines every few seconds where stderr is a file or a pipe.

rich is imported only when a bar is drawn, so that importing this module costs nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ._printable import printable

EpochReport = Callable[[int, dict[str, float]], None]  # called with an epoch and its figures
DESCRIPTION = "{task.description}"
COUNT = ("MofNCompleteColumn", "TimeElapsedColumn")
EVERY = 10.0  # seconds between two lines of a log; what takes less leaves none


@contextmanager
def _bar(
    wanted: bool, columns: tuple[str, ...], title: str, total: int | None, **options: Any
) -> Iterator[Callable[..., None] | None]:
    """A progress bar, or lines of a log: yields a function that updates it, or None if not wanted.

    columns : classes of rich.progress by name, or format strings
    """
    if not wanted:
        yield None
        return
    if not sys.stderr.isatty():
        with _log_lines(title, total) as update:
            yield update
        return
    from rich import progress
    from rich.console import Console

    parts = [
        getattr(progress, column)() if hasattr(progress, column) else progress.TextColumn(column)
        for column in columns
    ]
    with progress.Progress(*parts, console=Console(stderr=True), **options) as bar:
        task = bar.add_task(_shown(title), total=total, figures="")

        def update(description: str | None = None, **changes: Any) -> None:
            bar.update(task, description=description and _shown(description), **changes)

        yield update


def _shown(description: str) -> str:
    """A description for rich: names in it are neither obeyed nor read as markup."""
    from rich.markup import escape

    return escape(printable(description, one_line=True))


@contextmanager
def _log_lines(title: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Yields a function that takes what rich's `update` takes; a thread writes a line in turns."""
    state: dict[str, Any] = {"description": title, "total": total, "completed": 0, "figures": ""}
    over, begun = threading.Event(), time.monotonic()

    def update(advance: int = 0, **changes: Any) -> None:
        state.update(changes)
        state["completed"] += advance

    def write() -> None:
        while not over.wait(EVERY):
            minutes, seconds = divmod(int(time.monotonic() - begun), 60)
            done = f"{state['completed']:,}"
            done += f" of {state['total']:,}" if state["total"] else ""
            name = printable(state["description"], one_line=True)
            parts = (f"[{minutes}:{seconds:02d}]", name, f"({done})")
            with suppress(OSError, ValueError):  # a log that is full or closed stops no training
                print(*filter(None, (*parts, state["figures"])), file=sys.stderr, flush=True)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield update
    finally:
        over.set()
        thread.join()


@contextmanager
def training_progress(wanted: bool, epochs: int, title: str) -> Iterator[EpochReport]:
    """Yields a function to call after each epoch."""
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
def byte_progress(title: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """Yields a function to call with the bytes done and in total."""
    columns = (DESCRIPTION, "BarColumn", "DownloadColumn", "TransferSpeedColumn")
    with _bar(True, columns, title, None, transient=True) as update:
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
