"""What commands are built from: options in sections, shared options and helpers."""

from __future__ import annotations

import atexit
import functools
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..errors import ImputefreeError, InputError, ParameterError, require_extra

PICTURES = (".png", ".pdf", ".svg")
TRAPPED = 3  # exit code of `check --strict` where there is a trap


class _Option(click.Option):
    """An option that is listed under a section of the help."""

    def __init__(self, *args: Any, section: str = "Options", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class Command(click.Command):
    """A command whose help lists options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and not isinstance(param, click.Argument):
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class ExistingPath(click.ParamType):
    """A path that must exist, which is checked before anything slow is imported."""

    name = "path"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        path = Path(value)
        if value == "-":
            return _standard_input()
        if not path.exists():
            raise InputError(f"{path} does not exist", "", "Correct the path")
        return path

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Let the shell complete names of files."""
        return [CompletionItem(incomplete, type="file")]


SHEET: dict[str, Any] = {"help": "Sheet of Excel files; default: the first with a table."}
FILE, POSITIVE = click.Path(path_type=Path), click.IntRange(1)


def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """`click.option`, with a `section` of the help."""
    return click.option(*names, cls=_Option, **settings)


def output_option(help: str, **settings: Any) -> Callable[[Any], Any]:
    """The option -o FILE."""
    return option("--output", "-o", metavar="FILE", type=FILE, help=help, **settings)


def coverage_option(help: str) -> Callable[[Any], Any]:
    """The option --coverage SHARE, of sets and intervals."""
    share = click.FloatRange(0, 1, min_open=True, max_open=True)
    return option("--coverage", type=share, metavar="SHARE", help=help)


model_argument = click.argument(
    "model", type=ExistingPath(), help="A model that `fit` or `save` wrote."
)
data_argument = click.argument(
    "data", type=ExistingPath(), help="A CSV, CSV.gz, Excel or Parquet file; - is stdin."
)
json_option = option("--json", "as_json", is_flag=True, help="Print JSON.")
answers_option = option(
    "--target", help="Column with the answers; default: the target of training."
)
rows_option = option(
    "--rows", help="Rows of a table, counted from 0, such as 0,5,7 or 0-9; or all."
)
on_error_option = option(
    "--on-error",
    "skip",
    type=click.Choice(["stop", "skip"]),
    callback=lambda ctx, param, choice: choice == "skip",
    default="stop",
    help="At a row that cannot be read, stop and name it, or skip and count it.",
)
in_memory_option = option(
    "--in-memory", is_flag=True, help="Read the whole file at once; series may come in any order."
)
join_option = option(
    "--join",
    multiple=True,
    metavar="FILE",
    type=ExistingPath(),
    section="Series",
    help="Another file of the same series, by id: steps, or one row per series; repeatable.",
)
sheet_option = option("--sheet", **SHEET)
root_option = option(
    "--root",
    type=FILE,
    help="Folder with the study's files, or the one above it; default: IMPUTEFREE_DATA.",
)


def _standard_input() -> Path:
    """A temporary file that holds standard input: commands read a file more than once."""
    folder = tempfile.mkdtemp(prefix="imputefree-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "stdin"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


FILE_OPTIONS = (
    option("--sep", metavar="MARK", section="File", help="Column separator: , ; tab or another."),
    option("--decimal", metavar="MARK", section="File", help="Decimal mark: . or a comma."),
    option("--encoding", section="File", help="Encoding, such as utf-8, cp1252 or utf-16."),
    option("--sheet", section="File", **SHEET),
    option(
        "--missing",
        multiple=True,
        metavar="CODES",
        section="File",
        help="Cells that mean missing, such as -9,unknown or COLUMN=0; repeatable.",
    ),
)


def file_options(command: Callable[..., None]) -> Callable[..., None]:
    """How a file is written, where it is not to be found by itself; passed on as `marks`."""

    @functools.wraps(command)
    def run(
        sep: str | None,
        decimal: str | None,
        encoding: str | None,
        sheet: str | None,
        missing: tuple[str, ...],
        **options: Any,
    ) -> None:
        from ..io import check_marks
        from ..workflow import Marks, codes_of

        check_marks(sep, decimal)
        command(marks=Marks(sep, decimal, encoding, sheet, codes_of(missing)), **options)

    return plain_file_options(run)


def plain_file_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same options as they are."""
    for decorate in reversed(FILE_OPTIONS):
        command = decorate(command)
    return command


def refuse_overwriting(path: Path, inputs: Iterable[Path], kind: type[ImputefreeError]) -> None:
    """Refuse an output that is one of the inputs."""
    if path.resolve() in [read.resolve() for read in inputs]:
        raise kind(f"{path} is an input", "It would be overwritten", "Name another file to write")


def check_file(
    path: Path, inputs: Iterable[Path], endings: Sequence[str] = (), option: str = "--output"
) -> None:
    """Refuse an output that cannot be written, before anything is computed.

    endings : one of which its name must have; all but .json need matplotlib
    """
    refuse_overwriting(path, inputs, ParameterError)
    if not path.parent.is_dir():
        raise InputError(f"the folder of {path} does not exist", "", "Create it")
    if endings and path.suffix.lower() not in endings:
        rule = f"The file ends in {', '.join(endings)}"
        raise ParameterError(
            f"{option} is {str(path)!r}", rule, f"Name one, such as it{endings[0]}"
        )
    if endings and path.suffix.lower() != ".json":
        require_extra("plot", "matplotlib")
