"""What the figures mean for somebody who has to decide whether to use the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._estimate import CHANCE, better
from ._problem import Problem
from ._references import BOOSTING, MASK, MEAN, OURS, TITLES

NEARLY = 0.9  # of our gain over chance: from there on mask-only does nearly as well
METRICS = {
    "auc": "AUC",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "average_precision": "average precision",
    "calibration_error": "calibration error",
    "r2": "R²",
    "mae": "MAE",
    "rmse": "RMSE",
}


def warnings_of(found: dict[str, Any], telling: tuple[str, float] | None = None) -> list[str]:
    """Sentences that a user must read, from an estimate; telling : see `most_telling_gaps`.

    >>> scores = {"imputefree": {"auc": [0.8, 0.7, 0.9]}, "mask_only": {"auc": [0.79, 0.7, 0.9]}}
    >>> said = warnings_of({"main": "auc", "scores": scores, "differences": {}})
    >>> said[0].partition(".")[0]
    "Mask only reaches 97 % of this model's gain over chance (AUC 0"
    """
    metric, scores = found["main"], found["scores"]
    value, low, _ = scores[OURS][metric]
    said = []
    chance = CHANCE.get(metric)
    if chance is not None and low is not None and low <= chance:
        said.append(
            f"This model is not clearly better than chance: its {METRICS[metric]} is"
            f" {value:.3f}, with an interval that reaches down to {low:.3f}; chance is {chance:g}."
        )
    if chance is not None and MASK in scores and value > chance:
        said += _mask_warning(metric, value, scores[MASK][metric][0], chance, telling)
    for name in _ahead(found):
        if _sure(found["differences"][name][metric]):
            said.append(
                f"{_title(name)} is better than this model on these data"
                f" ({_compared(metric, name, found)}): prefer it."
            )
    return said


def remarks_of(found: dict[str, Any]) -> list[str]:
    """Sentences that are good to know: references ahead by no more than chance explains."""
    metric = found["main"]
    return [
        f"{_title(name)} did as well or better ({_compared(metric, name, found)}); the difference"
        " is within what chance explains."
        for name in _ahead(found)
        if not _sure(found["differences"][name][metric])
    ]


def _mask_warning(
    metric: str, ours: float, mask: float, chance: float, telling: tuple[str, float] | None
) -> list[str]:
    share = (mask - chance) / (ours - chance)
    if share < NEARLY:
        return []
    sentence = (
        f"Mask only reaches {share:.0%} of this model's gain over chance ({METRICS[metric]}"
        f" {mask:.3f} against {ours:.3f}; the warning comes from {NEARLY:.0%} on). What is missing"
        " tells the target nearly as well as all values do: the model fails where others measure"
        " other things, or where a column is filled in only once the outcome is known."
    ).replace("%", " %")
    if telling:
        sentence += f" The gaps of '{telling[0]}' go most with the target."
    return [sentence]


def _ahead(found: dict[str, Any]) -> list[str]:
    """Boosting and the same network with means, where their main figure is better than ours."""
    metric, scores = found["main"], found["scores"]
    ours = scores[OURS][metric][0]
    there = [name for name in (*BOOSTING, MEAN) if name in found["differences"]]
    return [name for name in there if better(metric, scores[name][metric][0], ours)]


def _sure(difference: list[float | None]) -> bool:
    """Whether the interval of a difference leaves out zero."""
    _, low, high = difference
    return low is not None and high is not None and not low <= 0 <= high


def _compared(metric: str, name: str, found: dict[str, Any]) -> str:
    theirs, ours = (found["scores"][one][metric][0] for one in (name, OURS))
    value, low, high = found["differences"][name][metric]
    interval = "" if low is None else f", 95 % interval {low:+.3f} to {high:+.3f}"
    words = f"{METRICS[metric]} {theirs:.3f} against {ours:.3f}; difference {value:+.3f}"
    return words + interval


def _title(name: str) -> str:
    return TITLES[name][0].upper() + TITLES[name][1:]


def most_telling_gaps(problem: Problem) -> tuple[str, float] | None:
    """The column whose gaps go most with the target, and the correlation; None below 0.1."""
    target = problem.y[:, None] if problem.task == "regression" else _one_hot(problem)
    best: tuple[str, float] | None = None
    for column in problem.used:
        gaps = problem.frame[column.name].isna().groupby(problem.unit).mean().to_numpy()
        if np.ptp(gaps) == 0:
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            strength = max(abs(np.corrcoef(gaps, one)[0, 1]) for one in target.T)
        if strength > (best[1] if best else 0.1):
            best = column.name, float(strength)
    return best


def _one_hot(problem: Problem) -> np.ndarray:
    return np.asarray(pd.get_dummies(pd.Series(problem.truth)), dtype=np.float64)
