"""What `fit` keeps so that `predict --coverage` can give sets and intervals, and how they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Splits
from ..inspection import keep_rows, keep_scores, read_rows
from ._card import OURS
from ._partial import Partial
from ._problem import Problem

if TYPE_CHECKING:
    from ._fitting import Plan

LEFT_OUT = 0.2  # of the units, for intervals that hold for a mask


def parts_for_intervals(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Units that the final model learns from, and units that calibrate its intervals."""
    everything = np.arange(problem.n_units)
    if problem.request.intervals != "mask":
        return everything, everything[:0]
    splits, seed = Splits(test=LEFT_OUT, validation=0.0), problem.request.seed
    split = splits.of(problem.strata, problem.groups, seed)
    left_out = split.test
    if problem.trusted is not None:  # others may mislead
        left_out = left_out[problem.trusted[left_out]]
    return np.setdiff1d(everything, left_out), left_out


def keep_left_out(model: Any, problem: Problem, left_out: np.ndarray) -> None:
    """Keep the units that the model did not learn from, as `conformal_`."""
    rows = read_rows(problem.rows(left_out), model, once=True)
    model.conformal_ = keep_rows(model, rows, problem.truth[left_out])


def keep_out_of_fold(model: Any, tested: Problem, planned: Plan, partial: Partial) -> None:
    """Keep the scores of the estimate's out-of-fold predictions, as `conformal_`."""
    pieces = [partial.read(f"{OURS}-{number}") for number in range(len(planned.folds))]
    predicted = np.concatenate([piece["prediction"] for piece in pieces if piece is not None])
    units = np.concatenate([fold.test for fold in planned.folds])
    order = np.argsort(units)  # that of the rows below
    rows = read_rows(tested.rows(units), model, once=True)
    truth = tested.truth[units[order]]
    model.conformal_ = keep_scores(model, rows, predicted[order], truth)


def describe_intervals(model: Any) -> dict[str, Any] | None:
    """What the card says about sets and intervals."""
    kept = getattr(model, "conformal_", None)
    return kept and {"method": kept["method"], **kept["checked"]}
