"""Statistics of runs: means, paired differences, mean ranks, and imputation error against accuracy.

All functions on runs take a frame with one row per run: the columns study, setting, method,
mask_seed, split, and the metrics. A failed run has NaN (or None) as its metric: it is counted,
never guessed. Results keep the order in which names first appear.

A test that finds no difference has not shown that there is none. So `paired_differences` takes a
margin, stated beforehand, below which a difference does not matter, and two one-sided tests
(Schuirmann, 1987) ask whether the difference lies within it.

>>> runs = pd.DataFrame({
...     "study": "mnist", "setting": "mcar-90", "split": 0, "mask_seed": [0, 1, 2, 0, 1, 2],
...     "method": ["gil"] * 3 + ["gil-h"] * 3,
...     "accuracy": [0.780, 0.790, 0.801, 0.781, 0.790, 0.800],
... })
>>> summary(runs, "accuracy")[["method", "mean", "sd", "runs"]].round(4)
  method    mean      sd  runs
0    gil  0.7903  0.0105     3
1  gil-h  0.7903  0.0095     3
>>> compare(runs, "accuracy", "gil-h", test_to_train=1 / 6)[["method", "difference", "p"]].round(3)
  method  difference    p
0    gil         0.0  1.0
>>> differences = paired_differences(runs, "accuracy", "gil-h", margin=0.005, test_to_train=1 / 6)
>>> differences[["method", "low", "high", "p", "p_equivalent"]].round(4)
  method    low   high    p  p_equivalent
0    gil -0.003  0.003  1.0        0.0097
>>> verdicts(differences)
['equivalent']
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, rankdata
from scipy.stats import t as student

from ..._rules import check_value, choice
from ...errors import InputError, ParameterError, shorten
from ...metrics import HIGHER_IS_BETTER
from ._result_lines import PLACE, RUN, check_methods, checked_runs

NOISE = 1e-12  # figures that agree to this share of their size are equal
# Differences of numbers near 1 carry rounding errors of about 1e-16: 0.9 - 0.8 is not 0.8 - 0.7.
# Those that agree to this share of the largest difference are equal.
NOISE_OF_DIFFERENCES = 1e-9
COMPARED = [*PLACE, "method", "against", "difference", "sd", "pairs", "dropped", "t", "p"]
PAIRED = ["study", "method", "against", "difference", "low", "high", "pairs", "p", "p_equivalent"]
MARGINS = {"accuracy": 0.005, "auc": 0.01}  # half a point of accuracy, 0.01 AUC
LEVEL = 0.95  # of intervals
ALPHA = 0.05  # of tests, after Holm's correction


def summary(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean and standard deviation of each method over its runs (mask seeds and splits).

    Returns one row per (study, setting, method): mean, sd (over n - 1; NaN for a single run), runs
    (finished), failed. A method that failed everywhere has NaN and runs 0.
    """
    groups = checked_runs(runs, metric).groupby([*PLACE, "method"], sort=False)[metric]
    table = groups.agg(mean="mean", sd="std", runs="count", failed="size").reset_index()
    table["failed"] -= table["runs"]
    return table


def compare(
    runs: pd.DataFrame,
    metric: str,
    against: str | None = None,
    *,
    ours: Collection[str] = (),
    test_to_train: float | None = None,
    higher_is_better: bool | None = None,
) -> pd.DataFrame:
    """Paired differences, method - against, with the corrected resampled t-test.

    Runs are paired by study, setting, mask seed and split. With one split and several masks the
    test generalises to other masks, not to other rows.

    Parameters
    ----------
    against : a method; None means the best rival at each (study, setting): the one with the best
        mean among the methods not in `ours` that have two runs, or one where none has two. It is
        picked by the same figures that are then compared, which biases the comparison against us
    ours : methods that cannot be the best rival
    test_to_train : n_test / n_train; None takes it from the columns n_test and n_train
    higher_is_better : None: True for accuracy, auc, average_precision and r2, else False

    Returns
    -------
    One row per (study, setting, method): against, difference (mean), sd, pairs, dropped (runs that
    only one of the two finished), t, p. See `corrected_t` for one pair or constant differences;
    without a pair all are NaN, and without a rival `against` is None.
    """
    table = checked_runs(runs, metric)
    check_methods(table, [*([] if against is None else [against]), *ours])
    lines: list[dict[str, Any]] = []
    for place, part in table.groupby(PLACE, sort=False):
        wide = part.pivot(index=RUN, columns="method", values=metric)[part["method"].unique()]
        rivals = wide.drop(columns=[name for name in ours if name in wide])
        finished = rivals.notna().sum()
        rivals = rivals.mean()[finished >= np.clip(finished.max(), 1, 2)]
        base = against
        if against is None and len(rivals):
            up = _upwards(metric, higher_is_better)
            base = str(rivals.idxmax() if up else rivals.idxmin())
        others = wide.drop(columns=[base] if base in wide else [])
        values = others.to_numpy()
        rival = wide[base].to_numpy()[:, None] if base in wide else np.full((len(wide), 1), np.nan)
        d = without_noise(values - rival, np.fmax(np.abs(values), np.abs(rival)))
        ratio = ratio_of_runs(part[part[metric].notna()], test_to_train)
        t, p = corrected_t(d, ratio)
        pairs = np.isfinite(d).sum(axis=0)
        dropped = (np.isfinite(values) != np.isfinite(rival)).sum(axis=0)
        spread = pd.DataFrame(d)
        columns = (others.columns, spread.mean(), spread.std(), pairs, dropped, t, p)
        lines += [
            dict(zip(COMPARED, (*place, name, base, *rest), strict=True))
            for name, *rest in zip(*columns, strict=True)
        ]
    return pd.DataFrame(lines, columns=COMPARED)


def compare_over_studies(
    runs: pd.DataFrame,
    metric: str,
    against: str | None = None,
    *,
    ours: Collection[str] = (),
    higher_is_better: bool | None = None,
) -> pd.DataFrame:
    """Wilcoxon's signed-rank test with a study as the unit; parameters as in `compare`.

    A study gives one difference, the mean over its settings of the mean paired difference:
    settings of a study are not independent, so they do not count separately.

    Returns one row per method: against, studies, better, equal, worse (numbers of studies),
    difference (mean over studies), W, p. Studies without a pair are left out; see `signed_rank`.
    """
    differences = compare(
        runs, metric, against, ours=ours, test_to_train=0.0, higher_is_better=higher_is_better
    )
    sign = 1 if _upwards(metric, higher_is_better) else -1
    lines = []
    for method, part in differences.groupby("method", sort=False):
        d = part.groupby("study", sort=False)["difference"].mean().dropna().to_numpy()
        W, p = signed_rank(d)
        counts = {"better": sign * d > 0, "equal": d == 0, "worse": sign * d < 0}
        lines.append(
            {"method": method, "against": against or "best rival", "studies": len(d)}
            | {name: int(count.sum()) for name, count in counts.items()}
            | {"difference": d.mean() if len(d) else np.nan, "W": W, "p": p}
        )
    return pd.DataFrame(lines)


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
                lines.append(dict(zip(PAIRED, values, strict=True)))
    return pd.DataFrame(lines, columns=PAIRED)


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


def mean_ranks(
    runs: pd.DataFrame, metric: str, methods: Sequence[str] | None = None
) -> pd.DataFrame:
    """Mean rank of each method, 1 the best, ties averaged; the best method first.

    Methods are ranked at each (study, setting) by their means over the runs that all of them
    finished; ranks are averaged over the settings of a study, then over studies. A place without
    a run that all of them finished is an error: ranks among different rivals are not comparable.

    methods : those to rank; None means all
    """
    table = checked_runs(runs, metric)
    check_methods(table, methods or [])
    wanted = list(methods if methods is not None else table["method"].unique())
    ranks = []
    for (study, setting), part in table.groupby(PLACE, sort=False):
        wide = part.pivot(index=RUN, columns="method", values=metric).reindex(columns=wanted)
        means = wide.dropna().mean().to_numpy()
        if np.isnan(means).any():
            unfinished = [name for name in wanted if not wide[name].notna().any()]
            raise InputError(
                f"in study {study!r}, setting {setting!r}, no run was finished by all methods"
                + (f" (never by {shorten(unfinished)})" if unfinished else ""),
                "Ranks need the same runs of every method",
                "Finish the runs, or pass methods= those that have them",
            )
        size = np.abs(means).max() or 1.0
        order = np.round(means / size / NOISE) * (-1 if metric in HIGHER_IS_BETTER else 1)
        ranks.append(pd.DataFrame({"study": study, "method": wanted, "rank": rankdata(order)}))
    by_study = pd.concat(ranks).groupby(["study", "method"], sort=False)["rank"].mean()
    groups = by_study.groupby("method", sort=False)
    table = pd.DataFrame({"mean_rank": groups.mean(), "studies": groups.size()})
    return table.sort_values("mean_rank", kind="stable").reset_index()


def imputation_correlation(
    runs: pd.DataFrame,
    error: str = "imputation_mse",
    score: str = "accuracy",
    over: str = "runs",
) -> pd.DataFrame:
    """Pearson's r of imputation error with score, and its two-sided p (the paper's Table 4).

    over : "runs": one point per run, as the paper seems to do; its p-value treats the runs of one
        method as independent, which they are not. "methods": one point per method, its means

    Returns one row per (study, setting): points, r, p. Runs with NaN in either column (methods
    that do not impute) are left out. r and p are NaN with fewer than three points or no spread.
    """
    check_value("over", over, choice("runs", "methods"))
    lines = []
    for (study, setting), part in checked_runs(runs, error, score).groupby(PLACE, sort=False):
        points = part.dropna(subset=[error, score])
        if over == "methods":
            points = points.groupby("method", sort=False)[[error, score]].mean()
        x, y = points[[error, score]].to_numpy().T
        spread = len(x) > 2 and all(np.ptp(v) > NOISE * np.abs(v).max() for v in (x, y))
        r, p = pearsonr(x, y) if spread else (np.nan, np.nan)
        lines.append({"study": study, "setting": setting, "points": len(x), "r": r, "p": p})
    return pd.DataFrame(lines)


def corrected_t(
    differences: np.ndarray, test_to_train: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The corrected resampled t-test of Nadeau & Bengio (2003), two-sided.

    Runs share training rows, so their differences are not independent, and the plain paired t-test
    finds far too many. The variance of the mean, s²/n, is replaced by s² (1/n + n_test/n_train):

        t = mean / √(s² (1/n + n_test/n_train)),   n - 1 degrees of freedom

    differences : (runs, k) or (runs,), NaN where a pair is missing
    test_to_train : n_test / n_train, one number or (k,); 0 gives the plain paired t-test

    Returns t and p, (k,) or scalars. All differences 0: t 0, p 1. The same difference other than 0
    in every run: t ±inf and p NaN, since without spread the test has no answer. Fewer than two
    pairs: both NaN.
    """
    d = np.asarray(differences, dtype=np.float64)
    n = np.isfinite(d).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(d, axis=0) / n
        spread = np.sqrt(np.nansum((d - mean) ** 2, axis=0) / (n - 1))
        largest = np.max(np.abs(d), axis=0, initial=0.0, where=np.isfinite(d))
        t = mean / (spread * np.sqrt(1 / n + test_to_train))
        p = 2 * student.sf(np.abs(t), n - 1)
        constant = spread <= NOISE_OF_DIFFERENCES * largest
        t = np.where(constant, np.where(largest == 0, 0.0, np.sign(mean) * np.inf), t)
        p = np.where(constant, np.where(largest == 0, 1.0, np.nan), p)
    enough = n > 1
    return np.where(enough, t, np.nan)[()], np.where(enough, p, np.nan)[()]


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


def signed_rank(differences: np.ndarray) -> tuple[float, float]:
    """Wilcoxon's signed-rank test, two-sided and exact, with ties.

    The p-value is the share of the 2ⁿ sign patterns that are at least as one-sided as the observed
    one, counted by adding one rank after another; no normal approximation at any n.

    differences : (n,) one per study; NaN is left out, and so is 0 (Wilcoxon's rule)

    Returns W, the sum of the ranks of the positive differences, and p. All zero: W 0, p 1. No
    differences at all: both NaN.

    >>> signed_rank(np.array([0.02, 0.01, 0.04, 0.03, 0.05]))  # 5 wins of 5: 2 of 32 patterns
    (15.0, 0.0625)
    """
    d = np.asarray(differences, dtype=np.float64)
    d = d[np.isfinite(d)]
    if not len(d):
        return float("nan"), float("nan")
    largest = np.abs(d).max()
    if largest == 0:
        return 0.0, 1.0
    d = np.round(d / largest / NOISE_OF_DIFFERENCES)  # ties by what was measured, not by rounding
    d = d[d != 0]
    # Twice a rank is an integer, even with ties: the sums can be counted in an array.
    doubled = np.round(2 * rankdata(np.abs(d))).astype(int)
    chance = np.zeros(doubled.sum() + 1)
    chance[0] = 1.0
    for rank in doubled:  # this rank counts or not, with probability 1/2
        chance[rank:] = (chance[rank:] + chance[: len(chance) - rank]) / 2
        chance[:rank] /= 2
    positive = doubled[d > 0].sum()
    smaller = min(positive, doubled.sum() - positive)
    return float(positive / 2), float(min(1.0, 2 * chance[: smaller + 1].sum()))


def without_noise(differences: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Differences of numbers of this size, 0 where these agree but for rounding."""
    return np.where(np.abs(differences) <= NOISE * size, 0.0, differences)


def _upwards(metric: str, higher_is_better: bool | None) -> bool:
    return metric in HIGHER_IS_BETTER if higher_is_better is None else higher_is_better


def ratio_of_runs(part: pd.DataFrame, test_to_train: float | None) -> float:
    """n_test / n_train as asked for, or of the runs."""
    if test_to_train is None and part.empty:  # nothing was finished, so nothing is tested
        return 0.0
    if test_to_train is None and "test_to_train" not in part:
        raise ParameterError(
            "the sizes of the test and training parts are not known",
            "The corrected t-test needs n_test / n_train",
            "Pass test_to_train=, or runs with the columns n_test and n_train",
        )
    ratio = float(part["test_to_train"].mean() if test_to_train is None else test_to_train)
    if not 0 <= ratio < np.inf:
        remedy = "Pass test_to_train=, such as 0.25 for four rows of five in training"
        raise ParameterError(f"n_test / n_train is {ratio}", "It must be 0 or more", remedy)
    return ratio
