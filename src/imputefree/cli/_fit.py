"""`imputefree fit FILE --target COLUMN -o MODEL`: train a model and say how good it is."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._progress import step_progress
from ..errors import ParameterError, shorten
from ._options import (
    FILE,
    POSITIVE,
    Command,
    ExistingPath,
    join_option,
    option,
    output_option,
    plain_file_options,
)
from ._printing import console, echo
from ._signals import interruptible

if TYPE_CHECKING:
    from ..inspection import Trap
    from ..workflow import Problem

EPILOG = """\b
Table:  imputefree fit patients.csv --target died -o died.imputefree
Series: imputefree fit stays.csv --target died --id stay --time hour --static age,sex -o m.model
"""
MAX_COLUMNS = 25  # shown one per line; of more, only those with a note
MAX_NAMES = 50  # of them, in a sentence
CELL_WIDTH = len("0.768–0.930")
file_option = partial(option, section="File")
series_option = partial(option, section="Series")
estimate_option = partial(option, section="Estimate")
model_option = partial(option, section="Model")


class ShareOrFile(click.ParamType):
    """A share between 0 and 1, or an existing file; a file named 0.2 can be written ./0.2."""

    name = "share|file"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | Path:
        try:
            share = float(value)
        except ValueError:
            return ExistingPath().convert(value, param, ctx)
        if not 0 < share < 1:
            rule = "It must be a share between 0 and 1, or a file"
            raise ParameterError(f"--test is {value}", rule, "Write --test 0.2, or --test FILE")
        return share


@click.command("fit", cls=Command, epilog=EPILOG)
@click.argument(
    "data",
    type=ExistingPath(),
    help="A CSV, CSV.gz, Excel or Parquet file, or a folder of such parts; - is stdin.",
)
@option("--target", required=True, metavar="COLUMN", help="Column to predict.")
@output_option("Model file; its card is written next to it.", required=True)
@option(
    "--task",
    type=click.Choice(["classification", "regression"]),
    help="By default strings, and whole numbers with up to 20 different values, are classes.",
)
@option("--drop", multiple=True, metavar="COLUMNS", help="Columns to leave out; repeatable.")
@option("--category", multiple=True, metavar="COLUMNS", help="Numeric columns that hold codes.")
@option(
    "--larger-than-memory",
    is_flag=True,
    help="Read rows once, into a temporary file, and train from it. Always so for folders.",
)
@option("--resume", is_flag=True, help="Continue an interrupted fit.")
@option("--fresh", is_flag=True, help="Remove what an interrupted fit left, and start again.")
@file_option("--columns", type=ExistingPath(), metavar="FILE.yaml", help="How to read columns.")
@file_option(
    "--understood",
    type=FILE,
    metavar="FILE.yaml",
    help="Write what each column was read as, to be edited and passed with --columns.",
)
@series_option("--id", metavar="COLUMN", help="Column that identifies the series.")
@series_option("--time", metavar="COLUMN", help="Column of numbers or dates; default: row order.")
@series_option("--static", multiple=True, metavar="COLUMNS", help="Constant within a series.")
@series_option("--per-step", is_flag=True, help="The target changes by step: predict each.")
@join_option
@estimate_option(
    "--folds",
    type=click.IntRange(2),
    help="Folds of cross-validation; default 5, or a fifth held out above 20,000 rows.",
)
@estimate_option("--test", type=ShareOrFile(), help="Hold out a share, or score on another file.")
@estimate_option(
    "--by-time",
    metavar="COLUMN",
    help="Hold out the latest fifth (or share of --test) by this number or date.",
)
@estimate_option("--group", metavar="COLUMN", help="Rows with the same value are never split.")
@estimate_option(
    "--estimate/--no-estimate",
    default=True,
    help="Estimate scores, and compare with simpler models.",
)
@model_option(
    "--model",
    type=click.Choice(["blend", "network", "trees", "forest", "density", "linear"]),
    default="blend",
    help="A blend, or one family alone.",
)
@model_option(
    "--quality",
    type=click.Choice(["fast", "balanced", "best"]),
    help="Quality of a blend; default: balanced.",
)
@model_option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Time limit of one fit of a blend; an estimate fits several times.",
)
@model_option(
    "--missingness",
    type=click.Choice(["use", "ignore"]),
    default="use",
    help="Whether the model may use which values are missing.",
)
@model_option("--quick", is_flag=True, help="Fast quality and one split, for a first look.")
@model_option(
    "--policy",
    help="For networks: how much each entry teaches (none, observed, ddpg, meta, gate, random).",
)
@model_option(
    "--trusted",
    metavar="COLUMN",
    help="For networks: 1 in rows surely like those to predict, 0 in others. They judge what the"
    " others teach, and only they are scored.",
)
@model_option("--max-iter", type=POSITIVE, help="For networks: maximum number of epochs.")
@model_option("--members", type=POSITIVE, help="For networks: how many are averaged.")
@model_option(
    "--intervals",
    type=click.Choice(["by_missingness", "mask"]),
    default="by_missingness",
    help="For predict --coverage; mask leaves a fifth of the rows out and keeps them in MODEL.",
)
@model_option("--seed", type=click.IntRange(0), default=0, help="Same seed, same model.")
@plain_file_options
def fit_command(
    understood: Path | None,
    output: Path,
    resume: bool,
    fresh: bool,
    **choices: Any,
) -> None:
    """Train a model on a table or on series with gaps, and say whether it is worth having.

    Shows how each column is read. Estimates how good the model is, next to mask only (which sees
    where gaps are, but no value), mean + indicator and gradient boosting on the same rows. Then
    trains on all rows. Writes MODEL, and a model card that ends in .md.

    An interrupted fit continues with --resume, to exactly the same model.

    A folder, or --larger-than-memory, trains on all rows at fast quality, by default, and scores
    the model on its own held-out rows only.
    """
    if resume and fresh:
        rule = "One continues, the other starts again"
        raise ParameterError("--resume and --fresh were given", rule, "Choose one")
    from ..workflow import check_output, render

    request = read_request(output=output, **choices)
    check_output(request)
    advice = f"What was finished is kept; the same command with --resume continues to {output}."
    with interruptible(advice):
        larger = request.larger_than_memory
        about = _fit_larger(request, resume) if larger else _fit(request, resume, fresh, understood)
    show_scores(about)
    echo(render("result.txt.jinja", about), nl=False)
    echo(f"Model: {output}")
    echo(f"Card: {request.card}")
    words = ["imputefree", "predict", str(output), "NEW.csv", "-o", "predictions.csv"]
    echo(f"Predict: {shlex.join(words)}")


def read_request(
    data: Path, join: tuple[Path, ...], larger_than_memory: bool = False, **choices: Any
) -> Any:
    """What was requested on the command line; lists of columns are taken apart."""
    from ..io import check_marks, header, parts_of
    from ..workflow import Request, split_names

    check_marks(choices["sep"], choices["decimal"])
    how = {option: choices[option] for option in ("sep", "encoding", "sheet")}
    columns = [name for path in (parts_of(data)[0], *join) for name in header(path, **how)]
    for name in ("drop", "category", "static"):
        choices[name] = split_names(choices[name], columns)
    larger = larger_than_memory or data.is_dir()
    return Request(data=data, join=join, larger_than_memory=larger, **choices)


def read_checked(request: Any) -> tuple[Problem, Any, list[Trap]]:
    """The problem that a file poses, that of --test FILE or None, and traps in them."""
    from ..workflow import check_problem, read_other, read_problem

    with step_progress(True, 2, request.data.name) as report:
        report("reading")
        problem = read_problem(request)
        other = read_other(request.test, problem) if isinstance(request.test, Path) else None
        report("looking for traps")
        return problem, other, check_problem(problem, other)


def _fit(request: Any, resume: bool, fresh: bool, understood: Path | None = None) -> dict[str, Any]:
    """Read, show the columns and train; -> what the model knows about itself."""
    from ..workflow import fit, open_partial, plan

    problem, other, traps = read_checked(request)
    show_columns(problem)
    for trap in traps:
        echo(f"WARNING: {trap}", err=True)
    problem = replace(problem, notes=(*problem.notes, *map(str, traps)))
    if understood is not None and problem.understood is not None:
        problem.understood.save(understood)
    planned = plan(problem, other)
    with open_partial(problem, other, resume, fresh) as partial:
        if resume and partial.begun:
            echo(f"Nothing to resume for {request.output}: starting from scratch.", err=True)
        with step_progress(True, planned.steps, "Training") as report:
            model = fit(problem, other, planned, partial, report)
        partial.remove()
    return model.about_


def _fit_larger(request: Any, resume: bool) -> dict[str, Any]:
    """Train on files that need not fit in memory; -> what the model knows about itself."""
    from ..workflow import fit_larger

    if resume:
        fact = "--resume was given for data larger than memory"
        raise ParameterError(fact, "Such a fit keeps nothing when it ends", "Leave it out")
    with step_progress(True, 2, request.data.name) as report:
        return fit_larger(request, report, show_columns).about_


def show_columns(problem: Problem, err: bool = True) -> None:
    """Print how the file is read; err : to stderr, where it is not the result."""
    from rich.markup import escape
    from rich.table import Table

    from ..io import CATEGORY, NUMBER
    from ..workflow import percent, summary

    request, classes = problem.request, problem.task == "classification"
    if problem.understood is not None:
        echo(problem.understood.line, err=err)
    target, task = "a number", problem.task
    if classes:
        labels = problem.classes
        target = f"{len(labels)} classes: {shorten(labels, 6, str)}"
        if labels.dtype.kind in "iuf" and len(labels) > 2 and request.task is None:
            task += "; for numbers: --task regression"
    echo(
        f"{problem.file}: {request.units(problem.n_units)}, target '{request.target}' read as"
        f" {target} ({task}); columns: {summary(problem.columns)}.",
        err=err,
    )
    shown = problem.columns
    if len(shown) > MAX_COLUMNS:
        shown = [col for col in shown if col.left_out or (col.note and col.kind == NUMBER)]
    table = Table("column", "read as", "missing", "note")
    table.columns[0].overflow = table.columns[3].overflow = "fold"
    table.columns[2].justify = "right"
    for col in shown:
        kind = f"{col.kind}{', static' * col.static}" if col.kind else "left out"
        note = escape(col.left_out or col.note)
        table.add_row(escape(col.name), kind, percent(col.missing), note)
    if shown:
        console(stderr=err, highlight=False).print(table)
    for kind, title in ((NUMBER, "numbers"), (CATEGORY, "categories")):
        others = [col.name for col in problem.used if col.kind == kind and col not in shown]
        if others:
            echo(f"Read as {title}: {shorten(others, MAX_NAMES, str)}", err=err)
    for note in problem.notes:
        echo(note, err=err)


def show_scores(about: dict[str, Any]) -> None:
    """Print the scores of this model and of its references, if there are any."""
    from rich.box import SIMPLE
    from rich.markup import escape
    from rich.table import Table

    from ..workflow import METRICS, TITLES, figure_text

    estimate = about["estimate"]
    if estimate is None:
        return
    title = f"{about['target']}, by {estimate['how'].replace('`', '')}"
    table = Table(title=escape(title), box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", overflow="fold")
    for metric in estimate["scores"]["imputefree"]:
        table.add_column(METRICS[metric], justify="right", min_width=CELL_WIDTH)
    for name, scores in estimate["scores"].items():
        figures = [figure_text(figure) for figure in scores.values()]
        # A figure stands above its interval: side by side, five columns would be too wide.
        cells = [text.rstrip("]").replace(" [", "\n").replace(", ", "–") for text in figures]
        table.add_row(TITLES[name], *cells)
    console(highlight=False).print(table)
