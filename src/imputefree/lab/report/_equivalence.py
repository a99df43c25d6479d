"""Better, worse, equivalent or undecided: paired differences with intervals and a margin.

A test that finds no difference has not shown that there is none. So a margin is stated beforehand,
below which a difference does not matter, and two one-sided tests (Schuirmann, 1987) ask whether the
difference lies within it.

>>> runs = pd.DataFrame({
...     "study": "mnist", "setting": "mcar-90", "split": 0, "mask_seed": [0, 1, 2, 0, 1, 2],
...     "method": ["gil"] * 3 + ["network"] * 3,
...     "accuracy": [0.780, 0.790, 0.801, 0.781, 0.790, 0.800],
... })
>>> differences = paired_differences(runs, "accuracy", "network", margin=0.005, test_to_train=1 / 6)
>>> differences[["method", "low", "high", "p", "p_equivalent"]].round(4)
  method    low   high    p  p_equivalent
0    gil -0.003  0.003  1.0        0.0097
>>> verdicts(differences)
['equivalent']
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from ._result_lines import RUN, check_methods, checked_runs
from ._stats import corrected_t, ratio_of_runs, without_noise

MARGINS = {"accuracy": 0.005, "auc": 0.01}  # half a point of accuracy, 0.01 AUC
LEVEL = 0.95  # of intervals
ALPHA = 0.05  # of tests, after Holm's correction
COLUMNS = ["study", "method", "against", "difference", "low", "high", "pairs", "p", "p_equivalent"]


def paired_differences(
    runs: pd.DataFrame,
    metric: str,
    against: str,
    *,
    margin: float,
    test_to_train: float | None = None,
) -> pd.DataFrame:
    """One row per (study, method): the mean of method - against, its 95 % interval and two tests.

    A pair is one mask and split: the settings of a study (such as rates) that both finished are
    averaged first, since they share rows and so do not count separately. Intervals and tests use
    the corrected variance of `corrected_t`.

    runs : as in `_stats`
    margin : differences smaller than this do not matter
    test_to_train : n_test / n_train; None takes it from the columns n_test and n_train

    Returns low and high (the interval), pairs, p (two-sided, of no difference) and p_equivalent (of
    a difference of at least the margin). With fewer than two pairs there is neither.
    """
    table = checked_runs(runs, metric)
    check_methods(table, [against])
    lines: list[dict[str, Any]] = []
    for study, part in table.groupby("study", sort=False):
        wide = part.pivot(index=["setting", *RUN], columns="method", values=metric)
        if against not in wide:
            continue
        ratio = ratio_of_runs(part[part[metric].notna()], test_to_train)
        for method in part.loc[part["method"] != against, "method"].unique():
            pair = wide[[method, against]].to_numpy()
            d = without_noise(pair[:, 0] - pair[:, 1], np.abs(pair).max(axis=1))
            by_run = pd.Series(d, wide.index).dropna().groupby(RUN).mean().to_numpy()
            if len(by_run):
                figures = (by_run.mean(), *interval(by_run, ratio), len(by_run))
                tests = corrected_t(by_run, ratio)[1], equivalence_p(by_run, margin, ratio)
                values = (study, method, against, *figures, *tests)
                lines.append(dict(zip(COLUMNS, values, strict=True)))
    return pd.DataFrame(lines, columns=COLUMNS)


def interval(differences: np.ndarray, test_to_train: float) -> tuple[float, float]:
    """The 95 % interval of the mean, (n,) -> low, high; NaN with fewer than two differences."""
    if len(differences) < 2:
        return np.nan, np.nan
    half = student.ppf((1 + LEVEL) / 2, len(differences) - 1) * _error(differences, test_to_train)
    return differences.mean() - half, differences.mean() + half


def equivalence_p(differences: np.ndarray, margin: float, test_to_train: float) -> float:
    """Two one-sided tests: the larger p of "at most -margin" and "at least margin".

    Without spread the test has no answer (NaN), unless all differences are 0.
    """
    if len(differences) < 2:
        return np.nan
    error, mean = _error(differences, test_to_train), differences.mean()
    if error == 0:
        return np.nan if mean else 0.0
    return float(student.sf((margin - abs(mean)) / error, len(differences) - 1))


def _error(differences: np.ndarray, test_to_train: float) -> float:
    """Standard error of the mean; see `corrected_t`."""
    return float(differences.std(ddof=1) * np.sqrt(1 / len(differences) + test_to_train))


def holm(p: Any) -> np.ndarray:
    """p-values corrected for their number by Holm's (1979) method; NaN stays and does not count.

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03]))
    array([0.03, 0.06,  nan, 0.06])
    """
    p = np.asarray(p, dtype=np.float64)
    corrected = np.full(len(p), np.nan)
    order = np.argsort(p)[: np.isfinite(p).sum()]  # NaN comes last
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return corrected


def verdicts(differences: pd.DataFrame) -> list[str]:
    """ "better", "worse", "equivalent" or "undecided" for each row of `paired_differences`.

    All rows are one family: both kinds of tests are corrected for their number by `holm`. What is
    both different and within the margin is called equivalent.
    """
    different, equivalent = (holm(differences[name]) for name in ("p", "p_equivalent"))
    words = np.where(differences["difference"] > 0, "better", "worse").astype(object)
    words[~(different < ALPHA)] = "undecided"
    words[equivalent < ALPHA] = "equivalent"
    return list(words)
