"""`imputefree data …`: fetch public studies, list, describe and write them."""

from __future__ import annotations

import re
import shlex
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .._progress import byte_progress, step_progress
from ..errors import ParameterError
from ..io import check_format, write_frame
from ..lab.studies import (
    KNOWN,
    SOURCES,
    File,
    Report,
    Study,
    describe,
    draw,
    get,
    home_of,
    load,
    long_form,
    show,
)

app = typer.Typer(no_args_is_help=True, help="Fetch, list, describe and write studies.")

Root = Annotated[
    Path | None,
    typer.Option(help="Folder with the files, or the one above; else IMPUTEFREE_DATA, the cache."),
]
ABOUT = {
    "mnist": "handwritten digits, pixels hidden on purpose",
    "physionet2012": "12,000 stays in intensive care, who died?",
    "mimic3": "septic shock in intensive care; the public demo, or the whole with an agreement",
    "ophthalmic": "diabetic retinopathy; not public, four matrices of its authors",
    "ophthalmic-simulated": "SIMULATED, in the shape of the above",
    "icu": "SIMULATED, septic shock in intensive care",
}


@app.command("get")
def get_command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(SOURCES)}.")], root: Root = None
) -> None:
    """Download a public study, resumed where it broke off and checked by SHA-256."""

    def begin(file: File) -> AbstractContextManager[Report | None]:
        return byte_progress(True, file.name)

    home = get(name, root, begin)
    typer.echo(f"{name}: {len(SOURCES[name].files)} files, checked, in {home}")
    typer.echo(f"Terms: {SOURCES[name].terms}.")


@app.command("list")
def list_command() -> None:
    """The studies by name, and where each comes from."""
    table = Table()
    for title in ("name", "what", "files"):
        table.add_column(title, overflow="fold")
    for name, about in ABOUT.items():
        files = "none needed" if "SIMULATED" in about else "your own"
        if name in SOURCES:
            files = f"imputefree data get {name}"
        table.add_row(name, about, files)
    table.add_row("table:NAME", f"real tables: {', '.join(KNOWN)}", "tabular/NAME.csv")
    table.add_row("FILE.csv", "any table; or series, with --id and --time", "your own")
    Console().print(table)
    typer.echo(f"Files are put into, and looked for in, {home_of('mnist').parent}")


@app.command("describe")
def describe_command(
    name: Annotated[str, typer.Argument(help="A study's name, table:NAME, or a CSV file.")],
    root: Root = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The picture's file; else NAME-missing.png here."),
    ] = None,
    picture: Annotated[bool, typer.Option(help="Write the picture.")] = True,
    target: Annotated[str | None, typer.Option(help="Of a CSV file: what to predict.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Of a CSV file: a column to leave out; repeatable.")
    ] = None,
    id: Annotated[str | None, typer.Option(help="Of a CSV file of series: whose a row is.")] = None,
    time: Annotated[str | None, typer.Option(help="Of a CSV file of series: when.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="An option of the study, such as rate=0.9; repeatable."),
    ] = None,
) -> None:
    """Print what is missing in a study or a file, and write a picture of it."""
    with step_progress(True, 6, name) as report:
        report("reading")
        study = _study(name, root, target, drop or [], id, time, _options(option or []))
        found = describe(study, report)
    show(found, Console())
    if not picture:
        return
    if find_spec("matplotlib") is None:
        typer.echo("The picture needs matplotlib: pip install 'imputefree[bench]'.", err=True)
        return
    path = output or Path(re.sub(r"[^\w.-]+", "-", study.name).strip("-") + "-missing.png")
    if not path.name:
        raise ParameterError(
            f"--output is {str(path)!r}", "It must be a file", "Name one such as missing.png"
        )
    path = path if path.suffix else path.with_suffix(".png")
    with step_progress(True, 1, name) as report:
        report("drawing")
        draw(found, path)
    typer.echo(f"Picture: {path}")


@app.command("write")
def write_command(
    name: Annotated[str, typer.Argument(help="A study's name, or table:NAME.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="A .csv, .csv.gz or .parquet file."),
    ],
    root: Root = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="An option of the study, such as rate=0.9; repeatable."),
    ] = None,
) -> None:
    """Write a study as one file, a row a step, the target in it: to try `imputefree fit` on."""
    check_format(output)
    with step_progress(True, 2, name) as report:
        report("reading")
        study = load(name, root, **_options(option or []))
        report("writing")
        written = long_form(study)
        write_frame(written.frame, output)
    typer.echo(f"{output}: {len(written.frame):,} rows, {len(written.frame.columns)} columns")
    typer.echo(f"Data: {study.citation}. Terms: {study.licence}.")
    for note in study.notes:
        typer.echo(note)
    typer.echo(f"Try: {shlex.join(['imputefree', 'fit', str(output), *written.options])}")


def _study(
    name: str,
    root: Path | None,
    target: str | None,
    drop: list[str],
    id: str | None,
    time: str | None,
    options: dict[str, Any],
) -> Study:
    """A study by its name, or a file as one."""
    file = Path(name).suffix in (".csv", ".gz") or Path(name).is_file()
    if id or time:
        if not file or not id:
            raise ParameterError(
                "--id and --time were given for something that is no file of series"
                if not file
                else "--time was given without --id",
                "A file of series has a column that says whose a row is, and may have one for when",
                "Pass --id COLUMN with a CSV file",
            )
        options |= {"id": id} | ({"time": time} if time else {})
        name = f"series:{name}"
    elif file:
        name = f"table:{name}"
    if name.startswith(("table:", "series:")):
        options |= ({"target": target} if target else {}) | ({"drop": drop} if drop else {})
    elif target or drop:
        raise ParameterError(
            f"--target and --drop were given for {escape(name)!r}",
            "They are for tables and CSV files; other studies know theirs",
            "Leave them out",
        )
    return load(name, root, **options)


def _options(given: list[str]) -> dict[str, Any]:
    """key=value as Python reads it: a number where it is one, else a text."""
    found: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not (key and equals):
            raise ParameterError(
                f"--option is {one!r}", "It must be KEY=VALUE, such as rate=0.9", "Write it so"
            )
        try:
            found[key] = float(value) if "." in value or "e" in value else int(value)
        except ValueError:
            found[key] = value
    return found
