"""`imputefree bench STUDY` runs methods on a study; `imputefree report RESULTS…` shows results."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._files import saving
from ..errors import InputError, ParameterError, ResultsError, counted
from ._options import (
    FILE,
    POSITIVE,
    Command,
    ExistingPath,
    option,
    output_option,
    refuse_overwriting,
    sheet_option,
)
from ._printing import console, echo
from ._signals import interruptible

if TYPE_CHECKING:
    import pandas as pd

    from ..lab.runs import Record

EPILOG = """\b
First look: imputefree bench icu --quick
In part:    imputefree bench mnist --methods gil,gil-h,zero+network --rates 0.5,0.9 --seeds 2
Cluster:    `dask scheduler` on one machine, `dask worker tcp://HOST:8786 --nthreads 1` on each,
            then imputefree bench mnist --dask tcp://HOST:8786
"""
STUDIES = "mnist, ophthalmic, ophthalmic-simulated, mimic3, icu, physionet2012, tables"
FEWEST_POINTS = 3  # of a correlation
MAX_FAILURES = 10  # lines
JOBS = click.IntRange(1, 1024)
place_option = partial(option, section="Where it runs")
file_option = partial(option, section="What is written")


@click.command("bench", cls=Command, epilog=EPILOG)
@click.argument("study", help=f"{STUDIES}, or table:NAME.")
@option(
    "--methods",
    multiple=True,
    metavar="NAMES",
    help="Separated by commas or repeated, such as gil,lightgbm,em+network; default: all of the"
    " study. An unknown name lists the known ones.",
)
@option("--target", metavar="COLUMN", help="For table:FILE.csv: the column to predict.")
@option(
    "--drop", multiple=True, metavar="COLUMNS", help="For table:FILE.csv: columns to leave out."
)
@sheet_option
@option("--rates", multiple=True, metavar="NUMBERS", help="Shares to hide, such as 0.5,0.9.")
@option("--seeds", type=POSITIVE, help="Number of masks; or of splits, if nothing is hidden.")
@option("--steps", type=POSITIVE, help="Maximum number of training steps.")
@option("--width", type=POSITIVE, help="Units of a hidden layer.")
@option(
    "--preset",
    type=click.Choice(["paper", "authors"]),
    default="paper",
    help="The paper's setting, or what its authors' scripts do where the paper says nothing.",
)
@option(
    "--masks",
    type=click.Choice(["fixed", "redrawn"]),
    default="fixed",
    help="Hide the same pixels of an image throughout, or others in each training batch.",
)
@option(
    "--placeholders",
    multiple=True,
    metavar="VALUES",
    help="Values to put in gaps, each in turn, such as 0,3max (three times the largest value).",
)
@option(
    "--search",
    type=POSITIVE,
    metavar="FITS",
    help="Let every network choose on validation rows from this many settings of the paper's"
    " grids.",
)
@option("--quick", is_flag=True, help="A little of everything, for a first look.")
@place_option("--jobs", type=JOBS, help="Runs at a time, one thread each; default: all cores.")
@place_option("--dask", metavar="ADDRESS", help="Use a Dask scheduler's workers: tcp://HOST:PORT.")
@place_option(
    "--root",
    type=FILE,
    help="Folder with the study's files, or the one above it; default: IMPUTEFREE_DATA. With"
    " --dask: on the workers.",
)
@file_option(
    "--output",
    "-o",
    type=FILE,
    help="Results file; default results/STUDY.jsonl, with --quick results/STUDY-quick.jsonl. Runs"
    " that it holds are not repeated.",
)
@file_option("--retry-failed", is_flag=True, help="Repeat runs that failed before.")
@file_option("--pictures/--no-pictures", default=True, help="Save what the report draws.")
@click.pass_obj
def bench_command(
    words: list[str] | None,
    study: str,
    methods: tuple[str, ...],
    target: str | None,
    drop: tuple[str, ...],
    sheet: str | None,
    rates: tuple[str, ...],
    placeholders: tuple[str, ...],
    jobs: int | None,
    dask: str | None,
    root: Path | None,
    output: Path | None,
    retry_failed: bool,
    pictures: bool,
    **choices: Any,
) -> None:
    """Run methods on a study and print their scores next to the paper's.

    Every run is written to the results file as soon as it is done. However a bench ends (Ctrl-C,
    a crash, a full disk), the same command continues where it stopped.
    """
    import joblib

    from ..lab.runs import connect, plan, run_grid

    if jobs and dask:
        rule = "--jobs is for this machine; on a cluster every worker is used"
        raise ParameterError("--jobs and --dask were given", rule, "Leave one of them out")
    columns: Any = {"target": target, "drop": _split_words(drop, "--drop") or []}
    columns |= {"sheet": sheet} if sheet else {}
    planned = plan(
        study,
        methods=_split_words(methods, "--methods"),
        rates=_parsed(rates, "--rates", _rate, "Rates are numbers between 0 and 1", "0.5,0.9"),
        placeholders=_parsed(
            placeholders,
            "--placeholders",
            lambda word: word if word in ("3max", "learned") else float(word),
            "Each is a number, 3max or learned",
            "0,3max",
        ),
        **columns,
        **choices,
    )
    if study.startswith("table:") and not dask:
        _refuse_hopeless(study, root, **columns)
    path = output or default_file(study, choices["quick"])
    advice = f"The runs that were done are in {path}; the same command continues from there."
    with interruptible(advice), connect(dask) if dask else nullcontext() as cluster:
        echo(f"{study}: {counted(len(planned.runs), 'run')}, written to {path}")
        records = run_grid(
            planned.runs,
            path,
            root=None if root is None else root.absolute(),  # a worker may be elsewhere
            retry_failed=retry_failed,
            pictures=pictures,
            command=shlex.join(["imputefree", *(words or [])]),
            n_jobs=jobs or joblib.cpu_count(),
            workers=cluster,
        )
    show_tables(records, planned.metrics, planned.methods)
    failed = failures(records)
    for line in failed:
        echo(line)
    if failed:
        echo("The same command with --retry-failed repeats them.")
    echo(f"Results: {path}")
    echo(f"Page: {shlex.join(['imputefree', 'report', str(path)])}")
    if all(record["status"] != "done" for record in records):
        raise click.exceptions.Exit(1)


def _refuse_hopeless(study: str, root: Path | None, **columns: Any) -> None:
    """Refuse a table without a target, or with one that is constant or nearly so."""
    from ..inspection import target_traps
    from ..lab.studies import KNOWN, load

    if columns["target"] is None and study.partition(":")[2] not in KNOWN:
        rule = "Methods are compared by how well they predict a column"
        raise ParameterError(f"{study} has no target", rule, "Name it with --target COLUMN")
    for trap in target_traps(load(study, root, **columns).y):
        rule = "Every method would be right without having learned anything"
        raise InputError(trap.fact[0].lower() + trap.fact[1:-1], rule, trap.remedy[:-1])


@click.command("report", cls=Command)
@click.argument(
    "results", nargs=-1, required=True, type=ExistingPath(), help="Results files of `bench`."
)
@output_option("Page; default: the first file, as .html.")
@option("--title", help="Title of the page; default: the studies.")
def report_command(results: tuple[Path, ...], output: Path | None, title: str | None) -> None:
    """Print the tables of results, and write one page of HTML that needs no other file."""
    page = output or results[0].with_suffix(".html")
    refuse_overwriting(page, results, ResultsError)
    from ..lab.report import report, tidy_lines
    from ..lab.runs import read_results

    files = {path: read_results(path) for path in results}
    for path, lines in files.items():
        if not lines:
            rule, remedy = "A report needs at least one run", "Name a file that `bench` wrote"
            raise ResultsError(f"{path} holds no results", rule, remedy)
    records = [record for lines in files.values() for record in lines]
    lines = tidy_lines(records)
    show_tables(lines)
    for line in failures(lines):
        echo(line)
    studies = dict.fromkeys(line["study"] for line in lines)
    text = report(records, title=title or f"imputefree: {', '.join(studies)}")
    with saving(page, ResultsError) as place:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    echo(f"Page of {counted(len(lines), 'run')}: {page}")


def default_file(study: str, quick: bool) -> Path:
    """The results file if none is named.

    >>> [default_file(name, True).as_posix() for name in ("mnist", "table:hepatitis")]
    ['results/mnist-quick.jsonl', 'results/table-hepatitis-quick.jsonl']
    """
    name = re.sub(r"[^\w.-]+", "-", study).strip("-")
    return Path("results", f"{name}{'-quick' * quick}.jsonl")


def _split_words(values: tuple[str, ...], name: str) -> list[str] | None:
    """Words separated by commas, in one option or several; None if the option was not given.

    >>> _split_words(("gil, gil-h", "em+network"), "--methods")
    ['gil', 'gil-h', 'em+network']
    """
    words = [word.strip() for value in values for word in value.split(",") if word.strip()]
    if values and not words:
        fact, rule = f"{name} is {','.join(values)!r}", "It must hold at least one word"
        raise ParameterError(fact, rule, "Leave it out to use all")
    return words or None


def _parsed(
    values: tuple[str, ...], name: str, parse: Callable[[str], Any], rule: str, example: str
) -> list[Any] | None:
    """The words of an option, each parsed; None if it was not given."""
    words = _split_words(values, name)
    try:
        return words and [parse(word) for word in words]
    except ValueError:
        fact, remedy = f"{name} is {','.join(words or ())!r}", f"Write, for example, {example}"
        raise ParameterError(fact, rule, remedy) from None


def _rate(word: str) -> float:
    if not 0 < float(word) < 1:
        raise ValueError
    return float(word)


def show_tables(
    records: Sequence[Record],
    metrics: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
) -> None:
    """Print a table for each study, and one of imputation errors where the truth is known.

    metrics, methods : columns and rows, in this order; None: those of the study's plan, and all
    """
    import numpy as np

    from ..lab import report

    out, error = console(), "imputation_error"
    runs = report.runs_frame(records)
    for study in runs["study"].unique():
        rows = runs[runs["study"] == study]
        cut = report.what_was_cut([record for record in records if record["study"] == study])
        shown = _metrics(rows, study, metrics)
        rows = rows.assign(**{name: np.nan for name in shown if name not in rows})  # all failed
        order = None
        if methods is not None:  # a method with several settings has them in its name
            present = list(rows["method"].unique())
            order = [
                name for wanted in methods for name in present if name.split(" [")[0] == wanted
            ]
        out.print(report.results_table(rows, study, shown, methods=order, cut=cut).rich())
        score = next((name for name in report.SCORES if report.has_figures(rows, name)), None)
        if score is not None and report.has_figures(rows, error):
            imputed = rows[rows[error].notna()]
            if imputed.groupby("setting").size().max() >= FEWEST_POINTS:
                out.print(
                    report.correlation_table(imputed, error=error, score=score, cut=cut).rich()
                )


def _metrics(runs: pd.DataFrame, study: str, wanted: Sequence[str] | None) -> list[str]:
    """The wanted or planned metrics that some run has; tables of numbers have others."""
    from ..lab.report import SCORES, has_figures
    from ..lab.runs import PLANS

    name = "tables" if study.startswith("table:") else study
    wanted = wanted or (PLANS[name].metrics if name in PLANS else SCORES[:2])
    known = [metric for metric in wanted if has_figures(runs, metric)]
    return known or [metric for metric in SCORES if has_figures(runs, metric)] or list(wanted)


def failures(records: Sequence[Record]) -> list[str]:
    """Lines that say how many runs failed, and why; none if none did.

    >>> failed = {"study": "icu", "method": "gil", "status": "failed", "error": "no memory"}
    >>> failures([failed, failed, {"status": "done"}])
    ['2 of 3 runs failed:', '  icu gil, 2 times: no memory']
    """
    failed = [record for record in records if record["status"] != "done"]
    if not failed:
        return []
    reasons = Counter((run["study"], run["method"], run.get("error", "unknown")) for run in failed)
    lines = [
        f"  {study} {method}{f', {times} times' if times > 1 else ''}: {error}"
        for (study, method, error), times in reasons.most_common()
    ]
    if len(lines) > MAX_FAILURES:
        lines[MAX_FAILURES:] = [f"  and {counted(len(lines) - MAX_FAILURES, 'other failure')}"]
    return [f"{len(failed)} of {counted(len(records), 'run')} failed:", *lines]
