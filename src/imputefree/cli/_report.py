"""`imputefree report RESULTS…`: the tables of files of results, and a page of all there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..data import counted
from ..errors import ResultsError
from ..lab.runs import Record, read_results
from ._show_results import console, failures, show_tables


def report_command(
    results: Annotated[
        list[Path], typer.Argument(help="Files that `imputefree bench` wrote; of a run, the last.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page; else beside the first file, as .html."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Of the page; else the studies.")] = None,
) -> None:
    """Print the tables of results, and write one page of HTML that needs no other file."""
    from ..lab.report import (
        even,  # the page's many parts are for this command alone
        report,
    )

    records = [record for path in results for record in _read(path)]
    page = output or results[0].with_suffix(".html")
    _check_page(page, results)
    lines = even(records)
    show_tables(lines, console())
    for line in failures(lines):
        typer.echo(line)
    studies = dict.fromkeys(line["study"] for line in lines)
    _write(page, report(records, title=title or f"imputefree: {', '.join(studies)}"))
    typer.echo(f"Page of {counted(len(lines), 'run')}: {page}")


def _read(path: Path) -> list[Record]:
    records = read_results(path)
    if not records:
        raise ResultsError(
            f"{path} holds no results",
            "A report needs at least one run",
            "Run `imputefree bench` with --output of this name, or name another file",
        )
    return records


def _check_page(page: Path, results: list[Path]) -> None:
    if not page.name:
        raise ResultsError(
            f"{page} cannot be written: it is a folder",
            "The page is one file",
            "Name a file by --output, such as results.html",
        )
    if page.resolve() in [path.resolve() for path in results]:
        raise ResultsError(
            f"{page} is a file of results",
            "The page would take its place",
            "Name another file by --output",
        )


def _write(page: Path, text: str) -> None:
    """The whole page or, where that fails, what was there before."""
    new = page.with_name(f".{page.name}.new")
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8")
        new.replace(page)
    except OSError as error:
        _remove(new)
        raise ResultsError(
            f"{page} cannot be written: {(error.strerror or str(error)).lower()}",
            "The page is one file in a folder that is there or can be made",
            "Name another by --output, or mend this one",
        ) from None


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # below something that is no folder
        return
