"""How good the model is, beside the references: the same rows learned from, the same scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..metrics import HIGHER_IS_BETTER, LEVEL, Scores, intervals, n_resamples
from ._partial import Partial, damaged
from ._problem import Problem
from ._references import OURS, learn, make, methods, predict
from ._request import Request
from ._split import Fold

Report = Callable[[str], None]  # called with what begins
CHANCE = {"auc": 0.5, "r2": 0.0}


def estimate(
    problem: Problem,
    tested: Problem,
    folds: list[Fold],
    how: str,
    request: Request,
    partial: Partial,
    report: Report,
    ours: Callable[[], Any] | None = None,
) -> dict[str, Any]:
    """Figures of all methods with intervals, as plain JSON.

    tested : the problem that the folds' test units belong to: the same, or another file
    how : the split in words
    ours : gives our model if it is trained already, on all that the one fold learns from
    """
    parts: dict[str, list[np.ndarray]] = {}
    failed: dict[str, str] = {}
    for name in methods():
        for number, fold in enumerate(folds):
            piece = f"{name.replace('+', '-')}-{number}"
            found = partial.read(piece)
            if found is None:
                report(f"{name}, part {number + 1} of {len(folds)}")
                trained = ours if name == OURS else None
                found = _piece(name, piece, problem, tested, fold, request, partial, trained)
                partial.keep(piece, **found)
            elif not _whole(found, fold):
                raise damaged(partial.folder / f"{piece}.npz")
            if "failed" in found:
                failed[name] = str(found["failed"])
                break
            parts.setdefault(name, []).append(found["prediction"])
    predictions = {name: np.concatenate(p) for name, p in parts.items() if name not in failed}
    units = np.concatenate([fold.test for fold in folds])
    truth = tested.truth[units]
    groups = None if tested.groups is None else tested.groups[units]
    scores, differences = intervals(problem.task, truth, predictions, groups)
    return {
        "how": how,
        "tested": len(units),
        "interval": {
            "level": LEVEL,
            "method": "percentile bootstrap",
            "resamples": n_resamples(len(units)),
            "over": "groups" if groups is not None else "series" if tested.id else "rows",
            "seed": 0,
        },
        "main": main_metric(scores[OURS]),
        "scores": _plain(scores),
        "differences": _plain(differences),
        "failed": failed,
    }


def _piece(
    name: str,
    piece: str,
    problem: Problem,
    tested: Problem,
    fold: Fold,
    request: Request,
    partial: Partial,
    trained: Callable[[], Any] | None,
) -> dict[str, Any]:
    """One method's predictions of one fold; a reference that fails is a result too."""
    try:
        if trained is not None:
            model = trained()
        else:
            model = make(name, problem, request)
            model = learn(model, problem, fold.train, partial.checkpoint(piece))
        return {"prediction": predict(model, tested, fold.test)}
    except Exception as error:  # whatever goes wrong in other people's code
        if name == OURS:
            raise
        return {"failed": np.array(str(error) or type(error).__name__)}


def _whole(found: dict[str, np.ndarray], fold: Fold) -> bool:
    """Whether a piece that was read can be what was kept."""
    if "failed" in found:
        return True
    prediction = found.get("prediction")
    return prediction is not None and prediction.shape[:1] == (len(fold.test),)


def main_metric(scores: Scores) -> str:
    """The figure that decides who is better: one that does not depend on a threshold or unit.

    >>> from imputefree.metrics._intervals import Figure
    >>> main_metric({"auc": Figure(None, None, None), "log_loss": Figure(0.5, 0.4, 0.6)})
    'log_loss'
    """
    order = [*CHANCE, "log_loss", "rmse"]
    return next(m for m in order if m in scores and scores[m].value is not None)


def better(metric: str, one: float, other: float) -> bool:
    """Whether the first figure is the better one.

    >>> better("auc", 0.8, 0.7), better("log_loss", 0.8, 0.7)
    (True, False)
    """
    return one > other if metric in HIGHER_IS_BETTER else one < other


def best_reference(found: dict[str, Any]) -> str | None:
    """The reference with the best main figure."""
    metric = found["main"]
    best: str | None = None
    for name in found["differences"]:
        value = found["scores"][name][metric][0]
        if best is None or better(metric, value, found["scores"][best][metric][0]):
            best = name
    return best


def _plain(scores: dict[str, Scores]) -> dict[str, dict[str, list[float | None]]]:
    return {
        name: {metric: list(figure) for metric, figure in own.items()}
        for name, own in scores.items()
    }
