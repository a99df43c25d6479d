"""How gaps depend on values, measured on any data with gaps.

What the definitions imply for these measures, given the truth:

    MCAR  all of `pairwise_dependence` near 0, all of `mask_auc` near 0.5
    MAR   "seen" above 0.5, and "seen and own" no higher: the entry's own value adds nothing
    MNAR  "seen and own" above "seen", or a driver that has gaps itself
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ..errors import InputError
from ._grid import Grid, read_grid

FOLDS = 5


def pairwise_dependence(X: Any, truth: Any = None) -> pd.DataFrame:
    """Somers' D between each column's gaps and each column's values: (d, d), in [-1, 1].

    Row i, column j: 2 AUC - 1, where the AUC says how well the value of j alone separates the rows
    in which i is missing from the others. 0 is no dependence; 1 means that i is missing exactly
    where j is large. Without the truth only rows where j is seen count, and the diagonal is NaN, as
    are columns without a gap or without a value. Without dependence the standard error is
    sqrt((n + 1) / (3 n1 n0)), with n1 rows missing and n0 not.

    >>> truth = np.arange(6.0).reshape(-1, 1) * [1, -1]
    >>> X = truth.copy()
    >>> X[4:, 0] = np.nan
    >>> pairwise_dependence(X, truth)
         0    1
    0  1.0 -1.0
    1  NaN  NaN
    """
    grid, known = _read(X, truth)
    d = len(grid.names)
    dependence = np.full((d, d), np.nan)
    for j in range(d):
        if known.is_text(j):
            continue
        rows = known.present[:, j]
        missing = ~grid.present[rows]
        n1 = missing.sum(axis=0)
        n0 = len(missing) - n1
        ranks = rankdata(known.column(j)[rows])
        with np.errstate(invalid="ignore", divide="ignore"):
            dependence[:, j] = 2 * (ranks @ missing - n1 * (n1 + 1) / 2) / (n1 * n0) - 1
        dependence[(n1 == 0) | (n0 == 0), j] = np.nan
    return pd.DataFrame(dependence, grid.names, grid.names)


def mask_auc(
    X: Any, truth: Any = None, max_rows: int = 5000, random_state: int = 0
) -> pd.DataFrame:
    """How well values predict each column's gaps: one row per column that has gaps.

    missing : share of its entries
    seen : AUC, from the columns of X that are always seen (NaN if there are none)
    own : AUC, from its own value (needs the truth)
    seen and own : AUC, from both (needs the truth)

    The first and third are cross-validated logistic regressions, for which 0.5 means that there is
    nothing to learn; "own" is by rank alone, in either direction. At most `max_rows` rows, picked
    at random, are used. Meant for tables of some dozens of columns: it fits two models per column.

    >>> from imputefree.missingness import make_missing
    >>> truth = np.random.default_rng(0).normal(size=(500, 2))
    >>> mask_auc(make_missing("mnar_self", truth, columns=[1]).apply(truth), truth).round(1)
       missing  seen  own  seen and own
    1      0.6   0.5  0.9           0.9
    """
    grid, known = _read(X, truth)
    rows = np.arange(len(grid.present))
    if len(rows) > max_rows:
        rows = np.sort(np.random.default_rng(random_state).permutation(rows)[:max_rows])
    always = [j for j in range(len(grid.names)) if grid.present[:, j].all() and grid.varies(j)]
    seen = [grid.scaled(j)[rows] for j in always]
    columns, lines = ["missing", "seen", "own", "seen and own"], {}
    for j, name in enumerate(grid.names):
        missing = ~grid.present[rows, j]
        if min(missing.sum(), (~missing).sum()) < FOLDS:
            continue
        line = dict.fromkeys(columns, np.nan) | {"missing": 1 - grid.present[:, j].mean()}
        if seen:
            line["seen"] = _cross_validated(np.column_stack(seen), missing, random_state)
        if truth is not None and not known.is_text(j) and known.present[:, j].all():
            own = known.scaled(j)[rows]
            area = roc_auc_score(missing, own)
            line["own"] = max(area, 1 - area)
            both = np.column_stack([*seen, own])
            line["seen and own"] = _cross_validated(both, missing, random_state)
        lines[name] = line
    return pd.DataFrame.from_dict(lines, orient="index", columns=columns)


def _cross_validated(values: np.ndarray, missing: np.ndarray, seed: int) -> float:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    model = LogisticRegression(max_iter=200)
    chance = cross_val_predict(model, values, missing, cv=folds, method="decision_function")
    return float(roc_auc_score(missing, chance))


def _read(X: Any, truth: Any) -> tuple[Grid, Grid]:
    grid = read_grid(X)
    if truth is None:
        return grid, grid
    known = read_grid(truth)
    if known.present.shape != grid.present.shape:
        fact = f"truth has {known.present.shape} rows and columns, X has {grid.present.shape}"
        raise InputError(fact, "The truth is X without its gaps", "Pass both in the same shape")
    return grid, known
