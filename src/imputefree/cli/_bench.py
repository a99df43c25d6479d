"""`imputefree bench STUDY`: run methods on a study, resumably, and print the paper's table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import joblib
import typer

from ..data import counted
from ..errors import ParameterError
from ..lab.runs import STUDIES, Record, connect, plan, run_grid
from ._show_results import console, failures, show_tables

INTERRUPTED = 130  # what a shell reports of a program that Ctrl-C ended
MACHINE, WISHES, FILES = "Where it runs", "What is run", "What is written"
EPILOG = """A first look: imputefree bench icu --quick

In part: imputefree bench mnist --methods gil,gil-h,zero+network --rates 0.5,0.9 --seeds 2

On a cluster: `dask scheduler` on one machine, `dask worker tcp://HOST:8786 --nthreads 1` on each,
then imputefree bench mnist --dask tcp://HOST:8786
"""


def bench_command(
    context: typer.Context,
    study: Annotated[
        str, typer.Argument(metavar="STUDY", help=f"{', '.join(STUDIES)}, or table:NAME.")
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Methods by name, by commas or repeated, such as gil,lightgbm,em+network; else"
            " all of the study. A wrong name lists those there are.",
            rich_help_panel=WISHES,
        ),
    ] = None,
    rates: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBERS",
            help="Shares to hide, such as 0.5,0.9, of studies that hide on purpose.",
            rich_help_panel=WISHES,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many masks; or splits, where nothing is hidden on purpose.",
            rich_help_panel=WISHES,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Steps of training at most.", rich_help_panel=WISHES),
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(min=1, help="Units of a hidden layer.", rich_help_panel=WISHES),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Choose learning rates and the like from the paper's grids on validation rows: 84"
            " fits a run, 1,008 of gil.",
            rich_help_panel=WISHES,
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Little of everything, for a first look.", rich_help_panel=WISHES
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Runs at a time on this machine, a thread each; else one for each core.",
            rich_help_panel=MACHINE,
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Of a Dask scheduler, whose workers are used instead: tcp://HOST:PORT.",
            rich_help_panel=MACHINE,
        ),
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the study's files, or the one above; else IMPUTEFREE_DATA, the"
            " cache. With --dask: on the workers.",
            rich_help_panel=MACHINE,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file of results; else results/STUDY.jsonl, of --quick"
            " results/STUDY-quick.jsonl. Runs that it holds are not done again.",
            rich_help_panel=FILES,
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Do again what failed before.", rich_help_panel=FILES),
    ] = False,
    pictures: Annotated[
        bool,
        typer.Option(
            help="Keep of the first seeds what the report draws: curves, importance, features.",
            rich_help_panel=FILES,
        ),
    ] = True,
) -> None:
    """Run methods on a study and print their table, the paper's figures beside ours.

    Every run is written to the file of results as soon as it is done. Whatever ends a bench
    (Ctrl-C, a crash, a full disk), the same command goes on where it ended.
    """
    made = plan(
        study,
        methods=_words(methods, "--methods"),
        rates=_numbers(rates),
        seeds=seeds,
        steps=steps,
        width=width,
        quick=quick,
        search=search,
    )
    path = output or default_file(study, quick)
    with _interrupted(path), _workers(jobs, dask) as workers:
        typer.echo(f"{study}: {counted(len(made.runs), 'run')}, written to {path}")
        records = run_grid(
            made.runs,
            path,
            root=_absolute(root),
            retry_failed=retry_failed,
            pictures=pictures,
            command=_command(context),
            **workers,
        )
    show_tables(records, console(), made.metrics, made.methods)
    _say(records, path)


def default_file(study: str, quick: bool) -> Path:
    """Where results are put if nobody says where.

    >>> [default_file(name, True).as_posix() for name in ("mnist", "table:hepatitis")]
    ['results/mnist-quick.jsonl', 'results/table-hepatitis-quick.jsonl']
    """
    name = re.sub(r"[^\w.-]+", "-", study).strip("-")
    return Path("results", f"{name}{'-quick' * quick}.jsonl")


def _say(records: list[Record], path: Path) -> None:
    lost = failures(records)
    for line in lost:
        typer.echo(line)
    if lost:
        typer.echo("The same command with --retry-failed does them again.")
    typer.echo(f"Results: {path}")
    typer.echo(f"A page of them: {shlex.join(['imputefree', 'report', str(path)])}")
    if all(record["status"] != "done" for record in records):
        raise typer.Exit(1)


@contextmanager
def _interrupted(path: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        done = f"The runs that were done are in {path}; the same command goes on from there."
        typer.echo(f"imputefree: interrupted. {done}", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _workers(jobs: int | None, dask: str | None) -> Iterator[dict[str, Any]]:
    """What `run_grid` is to be told of where runs are carried out."""
    if dask is None:
        yield {"n_jobs": jobs or joblib.cpu_count()}
        return
    if jobs is not None:
        raise ParameterError(
            "--jobs and --dask are given",
            "--jobs is for this machine; of a cluster every worker is used",
            "Leave one of them out",
        )
    with connect(dask) as cluster:
        yield {"workers": cluster}


def _command(context: typer.Context) -> str:
    words = context.obj or []
    return shlex.join(["imputefree", *words])


def _absolute(root: Path | None) -> Path | None:
    return None if root is None else root.absolute()  # a worker may be elsewhere


def _words(given: list[str] | None, option: str) -> list[str] | None:
    """Words separated by commas, in one option or several."""
    if not given:
        return None
    words = [word.strip() for one in given for word in one.split(",")]
    found = [word for word in words if word]
    if not found:
        raise ParameterError(
            f"{option} is {','.join(given)!r}",
            "It must hold at least one word, and commas between several",
            "Leave it out for all there are",
        )
    return found


def _numbers(given: list[str] | None) -> list[float] | None:
    words = _words(given, "--rates")
    if words is None:
        return None
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = [0.0]
    if not all(0 < number < 1 for number in numbers):
        raise ParameterError(
            f"--rates is {','.join(words)!r}",
            "It must be numbers between 0 and 1, separated by commas",
            "Write them such as 0.5,0.9",
        )
    return numbers
