"""Columns that tell the target almost alone: by their values, by their gaps, or for one class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._column_scores import N_FOLDS, TrapTarget

PERFECT = {"AUC": 0.99, "R²": 0.97}  # a column that reaches it is named, whatever others do
SUSPECT = {"AUC": 0.9, "R²": 0.8}  # from here on it is compared with all others together
AHEAD = {"AUC": 0.04, "R²": 0.1}  # by which it must be better than they are
GAPS = {"AUC": 0.85, "R²": 0.4}  # what gaps alone do not reach by nature
MOST_ROWS, MOST_COLUMNS, N_TREES = 5000, 100, 40  # of that comparison
BY_GAPS = 0.9  # share of a column's gain over chance from which its gaps alone tell
FEWEST_KNOWN, SURPRISE = 20, 1e-6  # values of one class only, and how likely that is by chance


class LoneColumn(NamedTuple):
    """A column that predicts almost alone.

    alone : its score
    gaps : the score of where it has gaps
    others : that of all unsuspicious columns together; None if there are none
    """

    column: int
    alone: float
    gaps: float
    others: float | None

    def by_gaps(self, chance: float) -> bool:
        """Whether it is where the column has gaps that tells, not its values."""
        return self.gaps - chance >= BY_GAPS * (self.alone - chance)


def lone_columns(codes: np.ndarray, target: TrapTarget, seed: int = 0) -> list[LoneColumn]:
    """Columns that are nearly perfect alone, far ahead of all others together, or whose gaps tell
    what gaps do not tell by nature; codes (n, C).
    """
    n_rows, n_columns = codes.shape
    rng, metric = np.random.default_rng(seed), target.metric
    fold = rng.permutation(n_rows) % N_FOLDS
    alone = np.array([target.score_column(codes[:, j], fold) for j in range(n_columns)])
    suspects = np.flatnonzero(alone >= min(SUSPECT[metric], GAPS[metric]))
    if not len(suspects):
        return []
    rest = np.setdiff1d(np.arange(n_columns), suspects)
    others = together(codes[:, rest[np.argsort(-alone[rest])[:MOST_COLUMNS]]], target, fold)
    rare = np.bincount(target.codes).min() if metric == "AUC" else n_rows
    found = []
    for j in suspects:
        doubt = np.sqrt(max(alone[j] * (1 - alone[j]), 0.0) / max(rare, 1))
        ahead = others is not None and alone[j] - others >= max(AHEAD[metric], doubt)
        gaps = target.score_column((codes[:, j] == 0).astype(int), fold)
        strong = alone[j] >= SUSPECT[metric] and (ahead or alone[j] >= PERFECT[metric])
        if strong or gaps >= GAPS[metric]:
            found.append(LoneColumn(int(j), float(alone[j]), gaps, others))
    return sorted(found, key=lambda lone: -lone.alone)


def together(codes: np.ndarray, target: TrapTarget, fold: np.ndarray) -> float | None:
    """The score of small trees on all these columns, on rows they have not seen; None of none."""
    import lightgbm

    if not codes.shape[1]:
        return None
    rows = slice(0, MOST_ROWS)  # rows are in random order where there are more
    codes, target, fold = codes[rows], target.rows(np.arange(len(codes))[rows]), fold[rows]
    kept = target.codes < target.n_classes
    prediction = np.zeros((len(codes), target.n_classes))
    settings: dict[str, Any] = {"verbose": -1, "num_threads": 1, "seed": 0}
    settings |= {"num_leaves": 15, "min_data_in_leaf": 5}
    if target.numbers is not None:
        settings |= {"objective": "l2"}
    elif target.n_classes == 2:
        settings |= {"objective": "binary"}
    else:
        settings |= {"objective": "multiclass", "num_class": target.n_classes}
    y = target.codes if target.numbers is None else target.numbers
    for number in range(N_FOLDS):
        learned, scored = (fold != number) & kept, fold == number
        data = lightgbm.Dataset(codes[learned].astype(np.float64), y[learned])
        part = lightgbm.train(settings, data, N_TREES).predict(codes[scored].astype(np.float64))
        part = np.asarray(part)
        if target.numbers is None and target.n_classes == 2:
            part = np.column_stack([1 - part, part])
        prediction[scored] = part.reshape(len(part), -1)
    return target.score(prediction)


def one_sided_columns(known: np.ndarray, codes: np.ndarray) -> list[tuple[int, int, int]]:
    """Columns that are known only for rows of one class: column, class and how many rows.

    known : (n, C) bool
    codes : (n,) classes by number
    """
    shares = np.bincount(codes) / len(codes)
    found = []
    for j in range(known.shape[1]):
        count = np.bincount(codes[known[:, j]], minlength=len(shares))
        rows, only = int(count.sum()), int(count.argmax())
        if rows >= FEWEST_KNOWN and count[only] == rows < len(known):
            by_chance = rows * np.log(shares[only])
            if by_chance < np.log(SURPRISE / known.shape[1]):
                found.append((j, only, rows))
    return found
