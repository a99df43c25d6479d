"""`imputefree data …`: download public studies; list, describe and write studies."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._progress import byte_progress, step_progress
from ..errors import ParameterError
from ._options import (
    Command,
    ExistingPath,
    option,
    output_option,
    root_option,
    sheet_option,
)
from ._printing import console, echo

if TYPE_CHECKING:
    from ..lab.studies import Study

STUDIES = {
    "mnist": "handwritten digits, pixels hidden on purpose",
    "physionet2012": "12,000 stays in intensive care, who died?",
    "physionet2019": "20,000 stays of unequal length, who gets sepsis?",
    "mimic3": "septic shock in intensive care; the public demo, or all of it with an agreement",
    "ophthalmic": "diabetic retinopathy; not public, four matrices of its authors",
    "ophthalmic-simulated": "SIMULATED, in the shape of the above",
    "icu": "SIMULATED, septic shock in intensive care",
}
study_option = option(
    "--option",
    "options",
    multiple=True,
    help="An option of the study, such as rate=0.9; repeatable.",
)


@click.group("data")
def data_group() -> None:
    """Download, list, describe and write studies."""


@data_group.command("get", cls=Command)
@click.argument("name", help="mnist, physionet2012 or mimic3.")
@root_option
def get_command(name: str, root: Path | None) -> None:
    """Download a public study; continues a broken download and checks SHA-256."""
    from ..lab.studies import SOURCES, get

    folder = get(name, root, lambda file: byte_progress(file.name))
    echo(f"{name}: {len(SOURCES[name].files)} files, checked, in {folder}")
    echo(f"Terms: {SOURCES[name].terms}.")


@data_group.command("list", cls=Command)
def list_command() -> None:
    """List the studies by name, and where each comes from."""
    from rich.table import Table

    from ..lab.studies import KNOWN, SOURCES, home_of

    table = Table("name", "contents", "files")
    for column in table.columns:
        column.overflow = "fold"
    for name, contents in STUDIES.items():
        files = "none needed" if "SIMULATED" in contents else "your own"
        table.add_row(name, contents, f"imputefree data get {name}" if name in SOURCES else files)
    table.add_row("table:NAME", f"real tables: {', '.join(KNOWN)}", "tabular/NAME.csv")
    table.add_row("FILE.csv", "any table; or series, with --id and --time", "your own")
    console().print(table)
    echo(f"Files are downloaded to, and looked up in, {home_of('mnist').parent}")


@data_group.command("describe", cls=Command)
@click.argument("name", help="A study's name, table:NAME, or a CSV file.")
@root_option
@output_option("Picture; default NAME-missing.png.")
@option("--picture/--no-picture", default=True, help="Write the picture.")
@option("--target", help="For a CSV file: the column to predict.")
@option("--drop", multiple=True, help="For a CSV file: a column to leave out; repeatable.")
@option("--id", help="For a CSV file of series: the column that identifies them.")
@option("--time", help="For a CSV file of series: the column with times.")
@sheet_option
@study_option
def describe_command(
    name: str, root: Path | None, output: Path | None, picture: bool, **choices: Any
) -> None:
    """Print what is missing in a study or a file, and draw a picture of it."""
    if Path(name).suffix in (".csv", ".gz"):
        ExistingPath().convert(name, None, None)
    from ..lab.studies import describe, draw, show

    with step_progress(True, 6, name) as report:
        report("reading")
        study = _study(name, root, **choices)
        description = describe(study, report)
    show(description, console())
    if not picture:
        return
    if find_spec("matplotlib") is None:
        echo("The picture needs matplotlib: pip install 'imputefree[plot]'.", err=True)
        return
    path = output or Path(re.sub(r"[^\w.-]+", "-", study.name).strip("-") + "-missing.png")
    if not path.name:
        fact, rule = f"--output is {str(path)!r}", "It must be a file"
        raise ParameterError(fact, rule, "Name a file, such as missing.png")
    path = path if path.suffix else path.with_suffix(".png")
    with step_progress(True, 1, name) as report:
        report("drawing")
        draw(description, path)
    echo(f"Picture: {path}")


@data_group.command("write", cls=Command)
@click.argument("name", help="A study's name, or table:NAME.")
@output_option("A .csv, .csv.gz or .parquet file.", required=True)
@root_option
@study_option
def write_command(name: str, output: Path, root: Path | None, options: tuple[str, ...]) -> None:
    """Write a study as one file, one row per step with the target, to try `imputefree fit` on."""
    from ..io import check_format, write_frame
    from ..lab.studies import load, long_form

    check_format(output)
    with step_progress(True, 2, name) as report:
        report("reading")
        study = load(name, root, **_options(options))
        report("writing")
        frame, fit_options = long_form(study)
        write_frame(frame, output)
    echo(f"{output}: {len(frame):,} rows, {len(frame.columns)} columns")
    echo(f"Data: {study.citation}. Terms: {study.licence}.")
    for note in study.notes:
        echo(note)
    echo(f"Try: {shlex.join(['imputefree', 'fit', str(output), *fit_options])}")


def _study(name: str, root: Path | None, options: tuple[str, ...], **columns: Any) -> Study:
    """A study by its name, or a file as a study; columns : target, drop, id, time and sheet."""
    from ..lab.studies import load

    named = {role: column for role, column in columns.items() if column}
    is_file = Path(name).suffix in (".csv", ".gz") or Path(name).is_file()
    allowed = ["target", "drop"] if is_file or name.startswith(("table:", "series:")) else []
    allowed += ["id", "time", "sheet"] if is_file else []
    refused = [f"--{role}" for role in named if role not in allowed]
    if refused:
        fact = f"{' and '.join(refused)} cannot be given for {name!r}"
        rule = "--target and --drop are for tables and files, --id, --time and --sheet for files"
        raise ParameterError(fact, rule, "Leave them out")
    if "time" in named and "id" not in named:
        rule = "A file of series has a column that identifies them"
        raise ParameterError("--time was given without --id", rule, "Pass --id COLUMN")
    kind = "series:" if "id" in named else "table:" if is_file else ""
    return load(f"{kind}{name}", root, **_options(options) | named)


def _options(pairs: tuple[str, ...]) -> dict[str, Any]:
    """KEY=VALUE; a value is a number where it looks like one, else a string."""
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            rule = "It must be KEY=VALUE, such as rate=0.9"
            raise ParameterError(f"--option is {pair!r}", rule, "Write KEY=VALUE")
        try:
            options[key] = float(value) if "." in value or "e" in value else int(value)
        except ValueError:
            options[key] = value
    return options
