"""`imputefree fit FILE --target COLUMN -o MODEL`: a model of one's own data, and how good it is."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from .._progress import step_progress
from ..errors import ParameterError

INTERRUPTED = 130  # what a shell reports of a program that Ctrl-C ended
SERIES, ESTIMATE, MODEL = "Of series", "The estimate", "The model"
EPILOG = """A table: imputefree fit patients.csv --target died -o died.imputefree

Series: imputefree fit stays.csv --target died --id stay --time hour --static age,sex
-o died.imputefree
"""


def fit_command(
    data: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV, CSV.gz or Parquet file, gaps empty.")
    ],
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="MODEL", help="The model's file; its card goes beside it."
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(
            help="classification or regression; else texts and up to 20 different whole numbers"
            " are classes."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="Leave them out; by commas or repeated."),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="Numbers that are codes; by commas or repeated."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Whose a row is.", rich_help_panel=SERIES),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="When it was, a number or a date; else rows are in order.",
            rich_help_panel=SERIES,
        ),
    ] = None,
    static: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="What does not change within a series; by commas or repeated.",
            rich_help_panel=SERIES,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Of cross-validation; else 5, or a fifth held out if there are over 20,000 rows.",
            rich_help_panel=ESTIMATE,
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE|FILE",
            help="Hold out a share instead, such as 0.2, or score on another file.",
            rich_help_panel=ESTIMATE,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Rows that share its value (a patient's) are never learned from and scored both.",
            rich_help_panel=ESTIMATE,
        ),
    ] = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate/--no-estimate",
            help="Find out how good the model is, beside simpler ones.",
            rich_help_panel=ESTIMATE,
        ),
    ] = True,
    policy: Annotated[
        str,
        typer.Option(
            help="Who decides how much each entry teaches: none, observed, ddpg, meta, gate or"
            " random.",
            rich_help_panel=MODEL,
        ),
    ] = "none",
    max_iter: Annotated[
        int | None, typer.Option(min=1, help="Epochs at most.", rich_help_panel=MODEL)
    ] = None,
    members: Annotated[
        int | None, typer.Option(min=1, help="Networks in it.", rich_help_panel=MODEL)
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Few epochs and one split, for a first look.", rich_help_panel=MODEL
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Same seed, same model.", rich_help_panel=MODEL)
    ] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a fit that was interrupted.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove what an interrupted fit left, and begin anew.")
    ] = False,
) -> None:
    """Train a model on a table or on series with gaps, and say whether it is worth having.

    Tells what it takes each column for; estimates how good the model is beside mask-only (which
    sees where gaps are, and no value), mean + indicator and gradient boosting on the same rows;
    then trains on all of them. Writes MODEL and a card, MODEL with the ending .md.

    A fit that is interrupted goes on with --resume, to the very same model.
    """
    # Here, not above: they bring torch, and `--help` should not wait for it.
    from ..workflow import (
        Request,
        card_path,
        check_output,
        fit,
        header,
        open_partial,
        plan,
        read_other,
        read_problem,
        remove_partial,
        split_names,
        steps,
    )
    from ._fit_output import show_columns, show_result

    if resume and fresh:
        raise ParameterError(
            "--resume and --fresh were given", "One goes on, the other begins anew", "Choose one"
        )
    columns = header(data)
    request = Request(
        data=data,
        target=target,
        output=output,
        id=id,
        time=time,
        static=split_names(static, columns),
        task=_task(task),
        drop=split_names(drop, columns),
        category=split_names(category, columns),
        group=group,
        test=_test(test),
        folds=folds,
        estimate=estimate,
        policy=policy,
        max_iter=max_iter,
        members=members,
        quick=quick,
        seed=seed,
    )
    check_output(request)
    with _interrupted(output):
        with step_progress(True, 1, data.name) as report:
            report("reading")
            problem = read_problem(request)
            other = None
            if isinstance(request.test, Path):
                other = read_other(request.test, request, problem)
        show_columns(problem)
        parts, how = plan(problem, other, request)
        digests = problem.digest, other.digest if other else None
        with open_partial(request, digests, resume, fresh, _threads()) as partial:
            if resume and partial.begun:
                typer.echo(f"Nothing to resume beside {output}: the fit begins anew.", err=True)
            _set_threads(partial.state["threads"])
            with step_progress(True, steps(parts), "Training") as report:
                model = fit(problem, other, parts, how, request, partial, report)
            remove_partial(partial)
    show_result(model.about_)
    typer.echo(f"Model: {output}")
    typer.echo(f"Card: {card_path(output)}")
    words = ["imputefree", "predict", str(output), "NEW.csv", "-o", "predictions.csv"]
    typer.echo(f"Predict: {shlex.join(words)}")


def _task(given: str | None) -> str | None:
    if given not in (None, "classification", "regression"):
        raise ParameterError(
            f"--task is {given!r}", "It must be classification or regression", "Pass one, or none"
        )
    return given


def _test(given: str | None) -> float | Path | None:
    """A share, or a file; a file named 0.2 can be written ./0.2."""
    if given is None:
        return None
    try:
        share = float(given)
    except ValueError:
        return Path(given)
    if not 0 < share < 1:
        raise ParameterError(
            f"--test is {given}",
            "It must be a share between 0 and 1, or a file",
            "Write --test 0.2, or --test FILE",
        )
    return share


def _threads() -> int:
    import torch

    return torch.get_num_threads()


def _set_threads(count: int) -> None:
    """As the fit had them when it began: sums of floats depend on it in their last bits."""
    import torch

    if count != torch.get_num_threads():
        torch.set_num_threads(count)


@contextmanager
def _interrupted(output: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print(
            "imputefree: interrupted. What was finished is kept; the same command with --resume"
            f" goes on to {output}.",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None
