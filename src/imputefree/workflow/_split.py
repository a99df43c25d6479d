"""Which rows (or series) are learned from and which are scored, for the estimate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..data import Splits, assign_folds
from ..errors import InputError, ParameterError, counted
from ._problem import Problem

FOLDS = 5
MANY = 20_000  # rows or series: one held-out part of these is exact enough, and five are slow
SHARE = 0.2  # of that part


class Fold(NamedTuple):
    """Numbers of units, sorted."""

    train: np.ndarray
    test: np.ndarray


def make_folds(
    problem: Problem, folds: int | None, share: float | None, seed: int, quick: bool = False
) -> tuple[list[Fold], str]:
    """Folds, or one held-out part; and how that is said.

    Classes keep their shares in every fold, numbers their tenths; groups stay whole. A class with a
    single example is never scored: somebody has to learn it.

    folds, share : what was asked for, or None
    quick : whether one part is to do
    """
    if share is not None and not 0 < share < 1:
        raise ParameterError(
            f"--test is {share:g}",
            "It must be a share between 0 and 1, or a file",
            "Write --test 0.2, or --test FILE",
        )
    if folds is None and share is None and (quick or len(problem.y) > MANY):
        share = SHARE
    if share is not None:
        made = [_held_out(problem, share, seed)]
        words = f"{problem.units(len(made[0].test))} held out ({100 * share:g} %)"
    else:
        made = _cross_validated(problem, folds or FOLDS, seed)
        words = f"{len(made)}-fold cross-validation"
    for fold in made:
        _check(fold, problem)
    return made, words + (f", rows of one {problem.group!r} kept together" if problem.group else "")


def _cross_validated(problem: Problem, folds: int, seed: int) -> list[Fold]:
    most = len(problem.y) if problem.groups is None else len(np.unique(problem.groups))
    if folds > most:
        raise ParameterError(
            f"there are {folds} folds, and {most} "
            + ("rows or series" if problem.groups is None else "groups"),
            "Every fold needs at least one",
            f"Pass --folds {most}" if most > 1 else "Leave --group out, or pass --no-estimate",
        )
    rng = np.random.default_rng(seed)
    number = assign_folds(folds, rng, _strata(problem), problem.groups)
    every = range(folds)
    parts = [(np.flatnonzero(number != one), np.flatnonzero(number == one)) for one in every]
    return [Fold(*part) for part in parts if len(part[1])]


def _held_out(problem: Problem, share: float, seed: int) -> Fold:
    split = Splits(test=share, validation=0.0).of(_strata(problem), problem.groups, seed)
    return Fold(np.union1d(split.train, split.validation), split.test)


def _strata(problem: Problem) -> np.ndarray:
    """Classes, or tenths of the numbers; (units,)."""
    if problem.task == "classification":
        return problem.truth
    return np.asarray(pd.qcut(problem.y, 10, labels=False, duplicates="drop"))


def _check(fold: Fold, problem: Problem) -> None:
    """A part that nothing can be learned from, or scored on, is the split's fault."""
    different = len(np.unique(problem.y[fold.train])) if len(fold.train) else 0
    if different < 2 or not len(fold.test):
        what = "scored on" if not len(fold.test) else "learned from"
        raise InputError(
            f"a part of the split has no two different targets to be {what}"
            f" ({counted(len(problem.y), 'example')} in all)",
            "An estimate needs examples of different targets on both sides",
            "Choose other --folds or --test, or pass --no-estimate",
        )
