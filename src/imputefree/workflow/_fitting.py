"""From a problem to a model file with its card: estimate, train on everything, write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError, ModelFileError
from ..estimators import GILEstimator
from ._card import TITLE, write_card
from ._estimate import Report, estimate
from ._partial import Partial, write_file
from ._problem import Problem
from ._references import OURS, learn, make, methods
from ._request import Request
from ._split import Fold, make_folds
from ._verdict import most_telling_gaps, remarks_of, warnings_of


def card_path(output: Path) -> Path:
    """Where the card is put.

    >>> card_path(Path("model.imputefree")).name
    'model.md'
    """
    return output.with_suffix(".md")


def check_output(request: Request) -> None:
    """Refuse what could not be written in the end, before anything is computed."""
    output, card = request.output, card_path(request.output)
    inputs = [request.data, *([request.test] if isinstance(request.test, Path) else [])]
    if any(path.resolve() in (output.resolve(), card.resolve()) for path in inputs):
        raise InputError(
            f"-o {output} would overwrite the data",
            "A model is a file of its own",
            "Name another file, such as -o model.imputefree",
        )
    if output.is_dir() or not output.name or card == output:
        raise ModelFileError(
            f"{output} {'is a folder' if output.is_dir() else 'is the name of a card'}",
            "A model is one file, and its card one beside it that ends in .md",
            "Name a file, such as -o model.imputefree",
        )
    if not output.parent.is_dir():
        raise ModelFileError(
            f"the folder {output.parent} does not exist",
            "A model is saved into an existing, writable folder",
            "Make the folder, or choose another path",
        )
    if card.exists() and not card.read_text(errors="replace").startswith(TITLE):
        raise InputError(
            f"{card} exists and is no model card",
            "The card is written beside the model, and nobody's text is overwritten",
            "Name another file with -o",
        )


def plan(problem: Problem, other: Problem | None, request: Request) -> tuple[list[Fold], str]:
    """The folds of the estimate, and how it is said; none without an estimate."""
    make(OURS, problem, request)  # wrong options show before anything is kept
    if not request.estimate:
        return [], ""
    if other is not None:
        fold = Fold(np.arange(len(problem.y)), np.arange(len(other.y)))
        return [fold], f"the rows of `{other.file}`"
    share = request.test if isinstance(request.test, float) else None
    return make_folds(problem, request.folds, share, request.seed, request.quick)


def steps(folds: list[Fold]) -> int:
    """How many things there are to train."""
    return len(folds) * len(methods()) + 1


def fit(
    problem: Problem,
    other: Problem | None,
    folds: list[Fold],
    how: str,
    request: Request,
    partial: Partial,
    report: Report,
) -> GILEstimator:
    """Estimate, train on all units, and write model and card; -> the model as it was written."""
    final = _final(problem, request, partial, report)
    found = None
    if folds:
        tested = other or problem
        trained = final if other is not None else None
        found = estimate(problem, tested, folds, how, request, partial, report, trained)
        found["warnings"] = warnings_of(found, most_telling_gaps(problem))
        found["remarks"] = remarks_of(found)
        if other is not None:
            found["file"] = other.file
    model = final()
    model.about_ = describe(problem, request, partial.state, found, type(model).__name__)
    model.card_ = write_card(model.about_)
    model.save(partial.finished)
    _write(request.output, partial.finished.read_bytes(), "the model")
    _write(card_path(request.output), model.card_.encode(), "the model's card")
    return model


def _final(
    problem: Problem, request: Request, partial: Partial, report: Report
) -> Callable[[], Any]:
    """Gives the model that learned from everything; trained once, and read from its file."""

    def final() -> Any:
        if not partial.model.exists():
            report("the model, on everything")
            model = make(OURS, problem, request)
            every = np.arange(len(problem.y))
            learn(model, problem, every, partial.checkpoint("model"))
            model.save(partial.model)
        # Also in a run that nobody disturbed, so that both write what a file can hold.
        return GILEstimator.load(partial.model)

    return final


def describe(
    problem: Problem,
    request: Request,
    state: dict[str, Any],
    found: dict[str, Any] | None,
    estimator: str,
) -> dict[str, Any]:
    """What a model knows about itself, as plain JSON."""
    series: dict[str, Any] | None = None
    if problem.id:
        series = {"id": problem.id, "time": problem.time, "static": problem.statics}
        series["clock"] = problem.frame.attrs.get("clock")  # how a file writes times
    return {
        "task": problem.task,
        "target": problem.target,
        "columns": {column.name: column.kind for column in problem.used},
        "left_out": {one.name: one.left_out for one in problem.columns if one.left_out},
        "series": series,
        "data": {
            "file": problem.file,
            "rows": len(problem.frame),
            "series": len(problem.y) if problem.id else None,
            "missing": {column.name: column.missing for column in problem.columns},
            "target": _target(problem),
            "notes": list(problem.notes),
        },
        "estimate": found,
        "made": {
            "version": __version__,
            "date": state["date"],
            "command": request.command,
            "random_state": request.seed,
            "estimator": estimator,
            "cut_short": request.epochs,
        },
    }


def _target(problem: Problem) -> dict[str, Any]:
    if problem.task == "classification":
        counts = np.bincount(problem.truth, minlength=len(problem.classes))
        labels = map(str, problem.classes.tolist())
        return {"classes": dict(zip(labels, counts.tolist(), strict=True))}
    y = problem.y
    told = {"mean": y.mean(), "sd": y.std(), "min": y.min(), "max": y.max()}
    return {name: float(value) for name, value in told.items()}


def _write(path: Path, content: bytes, what: str) -> None:
    try:
        write_file(path, content)
    except OSError as error:
        raise ModelFileError(
            f"{what} {path} cannot be written ({error.strerror})",
            "Model and card are put into an existing, writable folder",
            "Make room there; the same command with --resume then writes them",
        ) from None
