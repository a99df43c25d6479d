"""From a problem to a model file with its card: split, compare with references, train, write."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import baselines, estimators
from ..data import Panel, Splits, assign_folds
from ..errors import InputError, InterruptedWarning, ParameterError, counted
from ..estimators import check_parameters, fit_stored
from ..gil import make_policy
from ..inspection import keep_rows, keep_scores, read_rows
from ..io import DROP, NUMBER, StoredRows, stored_rows
from ..metrics import LEVEL, intervals, n_resamples
from ._card import (
    BOOSTING,
    CHANCE,
    MASK,
    METHODS,
    OURS,
    Estimate,
    describe,
    most_telling_gaps,
    render,
    verdict,
)
from ._chunks import load_model
from ._partial import PIECE, Partial, today, write_model
from ._problem import Problem
from ._problem_columns import Column
from ._request import Request

FOLDS = 5
MANY = 20_000  # units: a held-out part of this many is exact enough, and five folds are slow
SHARE = 0.2  # of that part
LEFT_OUT = 0.2  # of the units, for intervals that hold for a mask
MEMORY_ONLY = ("id", "time", "static", "test", "folds", "by_time", "trusted")  # options
Report = Callable[[str], None]  # called with the name of each step as it begins


class Fold(NamedTuple):
    """Sorted numbers of units (rows, or series) to learn from and to score."""

    train: np.ndarray
    test: np.ndarray


class Plan(NamedTuple):
    """The splits of the estimate, and how they were made in words; no folds without an estimate."""

    folds: list[Fold]
    how: str = ""

    @property
    def steps(self) -> int:
        """How many models are trained."""
        return len(self.folds) * len(METHODS) + 1


def make(name: str, problem: Problem) -> Any:
    """An unfitted estimator: ours, or a reference."""
    request = problem.request
    kind = "Classifier" if problem.task == "classification" else "Regressor"
    if name == OURS:
        kind = "Sequence" * bool(request.id) + kind
        if not request.trains_networks:
            return getattr(estimators, f"ImputeFree{kind}")(**request.settings)
        network = getattr(estimators, f"GIL{kind}")(**request.settings)
        check_parameters(network)
        make_policy(network.policy)  # refuses an unknown name
        return network
    if name == BOOSTING:
        model = getattr(baselines, f"Boosting{kind}")(name, random_state=request.seed)
    else:
        model = getattr(baselines, f"Linear{kind}")(random_state=request.seed)
    if request.id:
        options = {"mask": name == MASK, "per_step": request.per_step}
        return getattr(baselines, f"Summary{kind}")(model, **options)
    return getattr(baselines, f"MaskOnly{kind}")(model) if name == MASK else model


def learn(model: Any, problem: Problem, units: np.ndarray, checkpoint: Path | None = None) -> Any:
    """Fit on these units (sorted); training resumes from `checkpoint` if the estimator can."""
    request = problem.request
    X: Any = problem.rows(units)
    y: Any = problem.y[problem.labels(units)]
    groups: Any = None if problem.groups is None else problem.groups[units]
    if request.id:
        if groups is not None:
            groups = dict(zip(problem.owners(units), groups.tolist(), strict=True))
        # As a column, so that a file with its labels still in it can be predicted.
        X = X.assign(**{request.target: problem.label_column.loc[X.index]})
        y = request.target
        static = problem.statics or None
        X = Panel.from_long(X, id=request.id, time=request.time, static=static, labels=y)
    trusted = None if problem.trusted is None else problem.trusted[units]
    options = {"checkpoint": checkpoint, "groups": groups, "trusted": trusted}
    takes = inspect.signature(model.fit).parameters
    with quiet():
        return model.fit(X, y, **{name: options[name] for name in options if name in takes})


def predict(model: Any, problem: Problem, units: np.ndarray) -> np.ndarray:
    """Probabilities (labels, classes) of the problem's classes, or numbers (labels,)."""
    rows = problem.rows(units)
    method = model.predict if problem.task == "regression" else model.predict_proba
    with quiet():
        known = np.asarray(method(rows), dtype=np.float64)
    if problem.steps is not None:
        known = known[rows.index.isin(problem.steps)]
    if problem.task == "regression":
        return known
    probability = np.zeros((len(known), len(problem.classes)))  # 0 for a class not learned
    probability[:, np.searchsorted(problem.classes, model.classes_)] = known
    return probability


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings about folds that lack a category; Ctrl-C ends the fit, not only a training."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", InterruptedWarning)
            yield
    except InterruptedWarning:
        raise KeyboardInterrupt from None


def plan(problem: Problem, other: Problem | None = None) -> Plan:
    """Split the problem for the estimate: folds, or one held-out part; other : a file to score on.

    Every fold has the same shares of classes (or of tenths of the numbers); groups stay whole. A
    class with a single example is never scored: it must be learned. If rows are trusted, only they
    are scored: the others may mislead.
    """
    request = problem.request
    make(OURS, problem)  # refuses wrong options before anything is computed
    if not request.estimate:
        return Plan([])
    if other is not None:
        fold = Fold(np.arange(problem.n_units), np.arange(other.n_units))
        return Plan([fold], f"the rows of `{other.file}`")
    folds, how = _split(problem)
    if problem.groups is not None:
        how += f", rows of one {request.group!r} kept together"
    if problem.trusted is not None:
        folds = [Fold(fold.train, fold.test[problem.trusted[fold.test]]) for fold in folds]
        folds = [fold for fold in folds if len(fold.test)]
        how += f", trusted rows only (`{request.trusted}`)"
    for fold in folds:
        learned = problem.y[problem.labels(fold.train)]
        if len(np.unique(learned)) < 2 or not len(problem.labels(fold.test)):
            fact = "a part of the split has no two different targets to learn, or none to score"
            rule = f"An estimate needs both; there are {counted(problem.n_units, 'example')} in all"
            raise InputError(fact, rule, "Choose other --folds or --test, or pass --no-estimate")
    return Plan(folds, how)


def _split(problem: Problem) -> tuple[list[Fold], str]:
    """Folds, or the one part that is held out; and in words how they were made."""
    request, groups, count = problem.request, problem.groups, problem.n_units
    share = request.test if isinstance(request.test, float) else None
    if request.folds is None and share is None and (request.quick or count > MANY):
        share = SHARE
    if problem.spans is not None:
        return _hold_out_latest(problem, problem.spans, share or SHARE)
    if share is not None:
        split = Splits(test=share, validation=0.0).of(problem.strata, groups, request.seed)
        how = f"{request.units(len(split.test))} held out ({100 * share:g} %)"
        return [Fold(np.union1d(split.train, split.validation), split.test)], how
    n_folds = request.folds or FOLDS
    most = count if groups is None else len(np.unique(groups))
    if n_folds > most:
        units = "rows or series" if groups is None else "groups"
        fact, rule = f"there are {n_folds} folds, and {most} {units}", "Every fold needs one"
        remedy = f"Pass --folds {most}" if most > 1 else "Pass --no-estimate"
        raise ParameterError(fact, rule, remedy)
    number = assign_folds(n_folds, np.random.default_rng(request.seed), problem.strata, groups)
    drawn = np.unique(number[number >= 0])
    folds = [Fold(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in drawn]
    return folds, f"{len(folds)}-fold cross-validation"


def _hold_out_latest(problem: Problem, spans: np.ndarray, share: float) -> tuple[list[Fold], str]:
    """The latest units to score, and the units to learn from, all of which ended before; in words.

    A group of the latest is not learned from either. Shapes: spans (units, 2).
    """
    request, (began, ended) = problem.request, spans.T
    first = np.quantile(began, 1 - share, method="higher")
    latest = began >= first
    before = ended < first
    if problem.groups is not None:
        before &= ~np.isin(problem.groups, problem.groups[latest])
    between = int((~before & ~latest).sum())
    how = f"the latest {request.units(int(latest.sum()))} by {request.by_time!r}"
    if between:
        how += f" ({request.units(between)} that last into that time, or belong to them, left out)"
    return [Fold(np.flatnonzero(before), np.flatnonzero(latest))], how


def fit(
    problem: Problem, other: Problem | None, planned: Plan, partial: Partial, report: Report
) -> Any:
    """Estimate, train on all units, and write model and card; -> the model as it was written."""
    trained = partial.folder / "model.imputefree"
    learned, calibrating = _parts_for_intervals(problem)

    def final() -> Any:
        """The model that learned from everything, or all but what intervals need; trained once."""
        if not trained.exists():
            report("the model, on everything")
            model = make(OURS, problem)
            learn(model, problem, learned, partial.checkpoint("model"))
            model.save(trained)
        # Read also in a run without interruption, so that both write what a file can hold.
        return load_model(trained)

    estimated = None
    if planned.folds:
        ours = final if other is not None else None
        estimated = estimate(problem, other or problem, planned, partial, report, ours)
        estimated |= verdict(estimated, most_telling_gaps(problem))
        if other is not None:
            estimated["file"] = other.file
    model = final()
    if len(calibrating):
        rows = read_rows(problem.rows(calibrating), model, once=True)
        model.conformal_ = keep_rows(model, rows, problem.truth[calibrating])
    elif planned.folds and not problem.request.per_step:
        _keep_out_of_fold(model, other or problem, planned, partial)
    date = partial.state["date"]
    model.about_ = describe(problem, date, estimated, model)
    kept = getattr(model, "conformal_", None)
    model.about_["intervals"] = kept and {"method": kept["method"], **kept["checked"]}
    model.card_ = render("card.md.jinja", model.about_)
    write_model(model, problem.request.output, problem.request.card)
    return model


def estimate(
    problem: Problem,
    tested: Problem,
    planned: Plan,
    partial: Partial,
    report: Report,
    ours: Callable[[], Any] | None = None,
) -> Estimate:
    """Scores of all methods with intervals, as plain JSON.

    tested : the problem that the folds' test units belong to: the same, or another file
    ours : gives our model if it is trained already, on all that the one fold learns from
    """
    predictions, failed = _held_out(problem, tested, planned.folds, partial, report, ours)
    units = np.concatenate([tested.labels(fold.test) for fold in planned.folds])
    groups = tested.groups
    if tested.steps is not None:  # steps of one series are not independent
        owner = tested.unit[tested.steps]
        groups = owner if groups is None else groups[owner]
    groups = None if groups is None else groups[units]
    scores, differences = intervals(problem.task, tested.truth[units], predictions, groups)
    # The score that decides which method is better: one without a threshold or unit.
    order, ours_scored = (*CHANCE, "log_loss", "rmse"), scores[OURS]
    main = next(m for m in order if m in ours_scored and ours_scored[m].value is not None)
    return {
        "how": planned.how,
        "tested": len(units),
        "interval": {
            "level": LEVEL,
            "method": "percentile bootstrap",
            "resamples": n_resamples(len(units)),
            "over": "groups" if tested.groups is not None else tested.request.units(2).split()[1],
            "seed": 0,
        },
        "main": main,
        "scores": scores,
        "differences": differences,
        "failed": failed,
    }


def _held_out(
    problem: Problem,
    tested: Problem,
    folds: Sequence[Fold],
    partial: Partial,
    report: Report,
    ours: Callable[[], Any] | None,
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Predictions for the test units of all folds, by method; and why a method failed."""

    def predicted(name: str, fold: Fold, piece: str) -> dict[str, Any]:
        try:
            if ours is not None and name == OURS:
                model = ours()
            else:
                model = make(name, problem)
                model = learn(model, problem, fold.train, partial.checkpoint(piece))
            return {"prediction": predict(model, tested, fold.test)}
        except Exception as error:  # anything may go wrong in other people's code
            if name == OURS:
                raise
            return {"failed": str(error) or type(error).__name__}

    parts: dict[str, list[np.ndarray]] = {}
    failed: dict[str, str] = {}
    for name in METHODS:
        for number, fold in enumerate(folds):
            piece = f"{name.replace('+', '-')}-{number}"
            result = partial.read(piece)
            if result is None:
                report(f"{name}, part {number + 1} of {len(folds)}")
                result = predicted(name, fold, piece)
                partial.keep(piece, **result)
            if "failed" in result:
                failed[name] = result["failed"]
                parts.pop(name, None)
                break
            if result.get("prediction", np.empty(0)).shape[:1] != (len(tested.labels(fold.test)),):
                raise PIECE.refuse(partial.path(piece), "is not whole")
            parts.setdefault(name, []).append(result["prediction"])
    return {name: np.concatenate(part) for name, part in parts.items()}, failed


def _parts_for_intervals(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Units that the final model learns from, and units that calibrate its intervals."""
    everything = np.arange(problem.n_units)
    if problem.request.intervals != "mask":
        return everything, everything[:0]
    splits, seed = Splits(test=LEFT_OUT, validation=0.0), problem.request.seed
    split = splits.of(problem.strata, problem.groups, seed)
    calibrating = split.test
    if problem.trusted is not None:  # others may mislead
        calibrating = calibrating[problem.trusted[calibrating]]
    return np.setdiff1d(everything, calibrating), calibrating


def _keep_out_of_fold(model: Any, tested: Problem, planned: Plan, partial: Partial) -> None:
    """Keep the scores of the estimate's out-of-fold predictions, as `conformal_`."""
    pieces = [partial.read(f"{OURS}-{number}") for number in range(len(planned.folds))]
    predicted = np.concatenate([piece["prediction"] for piece in pieces if piece is not None])
    units = np.concatenate([fold.test for fold in planned.folds])
    order = np.argsort(units)  # that of the rows below
    rows = read_rows(tested.rows(units), model, once=True)
    truth = tested.truth[units[order]]
    model.conformal_ = keep_scores(model, rows, predicted[order], truth)


# ---- files that need not fit in memory: one pass, then training
def fit_larger(request: Request, report: Report, show: Callable[[Problem], None]) -> Any:
    """Read a file or a folder into a store, train, and write model and card; -> the model.

    show : called with how the files were read, before training

    References would have to fit in memory, so the model is scored on its own held-out rows only.
    """
    asked = [name for name in MEMORY_ONLY if getattr(request, name)]
    if asked:
        raise ParameterError(
            f"--{asked[0]} was given for data larger than memory",
            "Such data is one table, which is read once",
            "Leave the option out, or fit a file that fits in memory",
        )
    if request.model == "linear":
        raise ParameterError(
            "--model linear was given for data larger than memory",
            "Linear models read all rows at once",
            "Choose another --model, or fit a file that fits in memory",
        )
    if request.model == "blend" and request.quality is None:
        request = replace(request, quality="fast")
    report("reading")
    columns = {n: col for n, col in request.roles["columns"].items() if n not in request.drop}
    stored = stored_rows(
        request.data,
        request.target,
        **request.marks.of_file,
        missing=request.marks.missing,
        columns=columns,
        task=request.task,
        groups=request.group,
        drop=request.drop,
        folder=request.output.parent,
    )
    with stored as rows:
        problem = _stored_problem(request, rows)
        show(problem)
        report("the model, on everything")
        with quiet():
            model = fit_stored(make(OURS, problem), rows)
        about = describe(problem, today(), None, model)
    if rows.classes is not None:
        counts = about["data"]["target"]["classes"].values()
        labels = map(str, rows.classes.tolist())
        about["data"]["target"]["classes"] = dict(zip(labels, counts, strict=True))
    about["larger"] = True
    model.about_, model.card_ = about, render("card.md.jinja", about)
    write_model(model, request.output, request.card)
    return model


def _stored_problem(request: Request, rows: StoredRows) -> Problem:
    """What the card says of the rows; the target is class numbers or numbers."""
    store, roles = rows.store, (request.target, request.group)
    shares = dict(zip(store.names, store.missing.tolist(), strict=True))
    readings = [col for name, col in rows.understood.columns.items() if name not in roles]
    columns = [
        Column(name, reading.kind if name == reading.name else NUMBER, shares[name], reading.note)
        for reading in readings
        for name in reading.parts or (reading.name,)
        if name in shares
    ]
    columns += [Column(c.name, "", c.gaps, left_out=c.note) for c in readings if c.kind == DROP]
    columns += [Column(name, "", 0.0, left_out="as requested") for name in request.drop]
    frame, name = pd.DataFrame(index=range(store.n_rows)), request.data.resolve().name
    return Problem(
        request,
        name,
        frame,
        unit=np.empty(0),
        y=rows.target,
        columns=columns,
        notes=tuple(rows.notes),
        understood=rows.understood,
    )
