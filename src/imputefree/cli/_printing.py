"""What commands print: names from files may hold control characters, which are shown as escapes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from .._printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

FILE_WIDTH = 200  # columns of a table that is printed to a file or a pipe


def echo(text: str, **options: Any) -> None:
    """`click.secho`, for any string."""
    click.secho(printable(text), **options)


def complain(sentence: str) -> None:
    """One line on stderr."""
    click.echo(f"imputefree: {printable(sentence, one_line=True)}", err=True)


def console(**settings: Any) -> Console:
    """A console for stdout. A file has no width: there, lines are as long as a table needs."""
    from rich.console import Console

    class PrintableConsole(Console):
        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(printable(text), **options)

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return PrintableConsole(**{"width": None if known else FILE_WIDTH, **settings})


def figures_table(
    titles: Sequence[str], lines: Iterable[Sequence[str]], n_names: int = 1, **settings: Any
) -> Table:
    """A table with names in its first columns, and figures in the others.

    settings : of `rich.table.Table`, such as its title
    """
    from rich.markup import escape
    from rich.table import Table

    table = Table(**settings)
    for place, title in enumerate(titles):
        table.add_column(title, justify="left" if place < n_names else "right")
    for line in lines:
        table.add_row(*map(escape, line))
    return table


@contextmanager
def printable_warnings() -> Iterator[None]:
    """Show warnings as Python does, with control characters as escapes."""
    before = warnings.formatwarning

    def shown(*args: Any, **options: Any) -> str:
        return printable(before(*args, **options))

    warnings.formatwarning = shown
    try:
        yield
    finally:
        warnings.formatwarning = before
