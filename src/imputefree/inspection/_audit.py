"""What happens to a model's score when other values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from .._rules import check_value, whole
from ..baselines import (
    LinearClassifier,
    LinearRegressor,
    MaskOnlyClassifier,
    MaskOnlyRegressor,
    SummaryClassifier,
    SummaryRegressor,
)
from ..data import Panel, first_steps, read_classes, read_numbers, read_target, series_labels
from ..errors import ImputefreeError, InputError, InputTypeError, counted, shorten
from ..estimators import predicts_steps, reads_series
from ..metrics import figure_of, resamples, scores, weighted_scores
from ..missingness import generator
from ._audit_result import Audit
from ._gap_scenarios import GapScenarios, share_missing
from ._model_rows import ModelRows, predict_rows, read_rows

MORE = (0.1, 0.3, 0.5)  # shares of the observed values that go missing
FEWEST = 20  # rows: scores of fewer are meaningless
FEWEST_IN_PART = 10  # rows of a group, or without gaps
MOST_GROUPS = 10
FOLDS = 5  # of the mask-only reference
RESAMPLES, FEWEST_RESAMPLES, WEIGHTS = 300, 100, 2_000_000
TELLING = 0.1  # correlation of a column's gaps with the target from which it is named
MAIN = {"classification": ("auc", "log_loss"), "regression": ("r2", "rmse")}  # score and loss


def audit_missingness(
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    n_repeats: int = 5,
    max_rows: int = 2000,
    random_state: Any = 0,
) -> Audit:
    """Find out how a fitted model depends on which values are missing.

    The model predicts the same rows under other gaps: without each column in turn; with 10, 30 and
    50 % of the observed values gone; with the gaps of other rows; with those of another group. Its
    scores are compared, row by row, with that of the rows as they are.

    *How much of the score is due to the mask.* "gaps of other rows" and "own gaps, as many values"
    are two tables in which a row has the same values of its own in the same cells, and each column
    has as many borrowed values and gaps. They differ only in whose gaps a row has, so the
    difference in score is what the model gains from the mask (`Audit.mask`). It includes what gaps
    reveal about the missing values: using the mask can be legitimate, but only where others measure
    by the same habits.

    Parameters
    ----------
    model : any fitted classifier or regressor that accepts NaN: from this package, scikit-learn or
        LightGBM, or a pipeline
    X, y : rows that the model did not learn from, or series with one label each, and the answers;
        for sequence estimators of this package also by id or by column
    groups : (n,) or None
        What each row belongs to, such as a hospital: up to ten groups are compared.
    n_repeats : int, default=5
        How often gaps are drawn at random; scores are means.
    max_rows : int, default=2000
        Use at most this many rows, drawn at random. A table of d columns is predicted d + 25 times,
        and five more times per group.
    random_state : int, None, RandomState or Generator, default=0

    Returns
    -------
    Audit, with `table`, `summary()`, `draw()`, `to_html()` and `to_dict()`

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = rng.normal(size=(400, 2)) + y[:, None] * [0.5, 0]
    >>> X[rng.random(400) < 0.1 + 0.7 * y, 1] = np.nan     # measured where the answer is 0
    >>> model = HistGradientBoostingClassifier(random_state=0).fit(X[:200], y[:200])
    >>> audit = audit_missingness(model, X[200:], y[200:])
    >>> audit.mask_share > 0.5, audit.telling
    (True, ['1'])
    """
    check_value("n_repeats", n_repeats, whole(1))
    check_value("max_rows", max_rows, whole(FEWEST))
    rng = generator(random_state)
    rows, truth, names = _read(model, X, y, groups)
    notes = []
    if len(rows) > max_rows:
        notes.append(f"{max_rows:,} of {len(rows):,} rows, drawn at random.")
        kept = np.sort(rng.permutation(len(rows))[:max_rows])
        rows, truth = rows.take(kept), truth[kept]
        names = None if names is None else names[kept]
    judge = _Judge(model, rows, truth, int(rng.integers(2**31)))
    scenarios = GapScenarios(rows, rng)
    lines = [judge.as_it_is]
    lines += _other_gaps(judge, scenarios, n_repeats)
    lines += _columns(judge, scenarios)
    if names is not None:
        lines += _group_gaps(judge, scenarios, names, n_repeats)
    lines += _parts(judge, judge.missing, names)
    if len(rows) < 100:
        notes.append(f"There are only {counted(len(rows), 'row')}: intervals are wide.")
    return Audit.of(
        lines,
        metric=judge.metric,
        loss=judge.loss,
        unit="series" if isinstance(rows.X, Panel) else "rows",
        telling=_telling(rows, truth, judge.task),
        notes=notes,
    )


def _read(
    model: Any, X: Any, y: Any, groups: Any
) -> tuple[ModelRows, np.ndarray, np.ndarray | None]:
    """Rows, class codes or numbers, and names of groups."""
    if reads_series(model) and predicts_steps(model):
        raise InputTypeError(
            "the model predicts every step",
            "An audit compares one answer per row or series",
            "Audit a model with per_step=False",
        )
    rows = read_rows(X, model, {"y": y, "groups": groups})
    if isinstance(rows.X, Panel):
        y = None if y is None else series_labels(y, rows.X)
        groups = None if groups is None else series_labels(groups, rows.X, "groups")
    truth = read_target(y, len(rows), "audit")
    if len(rows) < FEWEST:
        raise InputError(
            f"there are {counted(len(rows), 'row')} to audit",
            f"Scores of fewer than {FEWEST} rows are meaningless",
            "Pass more rows that the model did not learn from",
        )
    if is_classifier(model):
        check_is_fitted(model, "classes_")
        answers = read_classes(truth).tolist()
    else:
        truth = read_numbers(truth)
        answers = np.unique(truth).tolist()
    if len(answers) == 1:
        raise InputError(
            f"y is {answers[0]!r} everywhere",
            "A score needs different answers",
            "Pass rows with different answers",
        )
    if is_classifier(model):
        classes = list(np.asarray(model.classes_).tolist())
        unknown = [label for label in answers if label not in classes]
        if unknown:
            raise InputError(
                f"y holds the class {unknown[0]!r}",
                f"The model knows {shorten(classes)}",
                "Pass answers as in training",
            )
        truth = np.array([classes.index(label) for label in truth.tolist()])
    if groups is None:
        return rows, truth, None
    names = np.asarray(groups).astype(object)
    if names.shape != truth.shape:
        raise InputError(
            f"groups has shape {names.shape} for {len(truth)} rows",
            "Every row belongs to one group",
            "Pass one name per row",
        )
    missing = pd.isna(names)
    names[missing] = "(unknown)"
    return rows, truth, names.astype(str)


@dataclass(frozen=True)
class Line:
    """A scenario and its scores.

    kind : "as it is", "gaps", "reference", "column", "group gaps", "rows" or "group"
    rows : how many were scored;  missing : share of their entries
    score, loss : values with resamples (B,);  calibration, coverage : numbers or None
    against : the line that it is compared with
    """

    kind: str
    name: str
    rows: int
    missing: float
    score: tuple[float | None, np.ndarray]
    loss: tuple[float | None, np.ndarray]
    calibration: float | None = None
    coverage: float | None = None
    against: Line | None = None

    def figure(self) -> Any:
        """The score with its interval."""
        return figure_of(*self.score)

    def minus(self, other: Line, figure: str = "score") -> Any:
        """The difference from another line, resample by resample, with its interval."""
        (value, drawn), (base, base_drawn) = getattr(self, figure), getattr(other, figure)
        gone = value is None or base is None
        return figure_of(None if gone else value - base, drawn - base_drawn)


class _Judge:
    """Predicts and scores; all scores are resampled alike."""

    def __init__(self, model: Any, rows: ModelRows, truth: np.ndarray, seed: int) -> None:
        self.model, self.rows, self.truth, self.seed = model, rows, truth, seed
        self.task = "classification" if is_classifier(model) else "regression"
        self.metric, self.loss = MAIN[self.task]
        n = len(truth)
        count = int(np.clip(WEIGHTS // n, FEWEST_RESAMPLES, RESAMPLES))
        self.weights = np.concatenate(list(resamples(n, None, seed, count)))
        self.prediction, self.missing = self.predict(rows), share_missing(rows)
        self.covered = _covered(model, rows, truth)
        self.as_it_is = self.now("as it is", "as it is")

    def predict(self, rows: ModelRows) -> np.ndarray:
        """Predictions, or an error if the model does not accept gaps."""
        try:
            return predict_rows(self.model, rows)
        except ImputefreeError:
            raise
        except (ValueError, TypeError) as error:
            raise InputTypeError(
                f"{type(self.model).__name__} cannot predict rows with gaps"
                f" ({str(error).splitlines()[0]})",
                "An audit makes gaps in every column",
                "Use an estimator that accepts NaN, or a pipeline that begins with an imputer",
            ) from None

    def now(self, kind: str, name: str, part: Any = None, against: Line | None = None) -> Line:
        """Scores of the rows in `part` (n,) as they are."""
        part = np.ones(len(self.truth), dtype=bool) if part is None else part
        line = self.scored(kind, name, [self.prediction], self.missing[part], part, against)
        if self.covered is None:
            return line
        return replace(line, coverage=float(self.covered[part].mean()))

    def under(
        self,
        kind: str,
        name: str,
        tables: Sequence[ModelRows],
        part: Any = slice(None),
        against: Line | None = None,
    ) -> Line:
        """Scores of the rows in `part` under other gaps, a mean over these tables."""
        predictions = [self.predict(table) for table in tables]
        missing = np.mean([share_missing(table)[part] for table in tables])
        return self.scored(kind, name, predictions, missing, part, against or self.as_it_is)

    def scored(
        self,
        kind: str,
        name: str,
        predictions: Sequence[np.ndarray],
        missing: Any,
        part: Any = slice(None),
        against: Line | None = None,
    ) -> Line:
        """Scores of predictions, a mean over several."""
        truth, weights = self.truth[part], self.weights[:, part]
        values = [scores(self.task, truth, guess[part]) for guess in predictions]
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = [weighted_scores(self.task, truth, g[part], weights) for g in predictions]

        def mean(metric: str) -> Any:
            each: list[Any] = [figures[metric] for figures in values]
            value = None if None in each else float(np.mean(each))
            return value, np.mean([figures[metric] for figures in drawn], axis=0)

        return Line(
            kind=kind,
            name=name,
            rows=len(truth),
            missing=float(np.mean(missing)),
            score=mean(self.metric),
            loss=mean(self.loss),
            calibration=mean("calibration_error")[0] if "calibration_error" in values[0] else None,
            against=against,
        )


def _other_gaps(judge: _Judge, scenarios: GapScenarios, n_repeats: int) -> list[Line]:
    """More gaps at random, those of other rows, and a model of the gaps alone."""
    lines = []
    for share in MORE:
        tables = [scenarios.more(share) for _ in range(n_repeats)]
        lines.append(judge.under("gaps", f"{share:.0%} of the values gone", tables))
    if all(cells.observed.all() for cells in scenarios.cells):
        return lines
    theirs, own = zip(*(scenarios.exchanged() for _ in range(n_repeats)), strict=True)
    lines.append(judge.under("gaps", "own gaps, as many values", own))
    lines.append(judge.under("gaps", "gaps of other rows", theirs))
    alone, base = _mask_only(judge), judge.as_it_is
    if alone is not None:
        line = judge.scored("reference", "mask only", [alone], base.missing, against=base)
        lines.append(line)
    return lines


def _columns(judge: _Judge, scenarios: GapScenarios) -> list[Line]:
    """Every column missing in turn."""
    return [
        judge.under("column", name, [scenarios.without(j)])
        for j, name in enumerate(judge.rows.names)
        if judge.rows.observed[:, j].any()
    ]


def _group_gaps(
    judge: _Judge, scenarios: GapScenarios, names: np.ndarray, n_repeats: int
) -> list[Line]:
    """What if the other rows had the gaps of this group as well?"""
    lines = []
    for group in _largest_groups(names):
        inside = np.flatnonzero(names == group)
        others, n = names != group, len(names)
        tables = [
            scenarios.with_gaps_of(np.where(others, scenarios.rng.choice(inside, n), np.arange(n)))
            for _ in range(n_repeats)
        ]
        base = judge.now("rows", f"other rows than {group}", others)
        lines.append(judge.under("group gaps", group, tables, others, base))
    return lines


def _parts(judge: _Judge, missing: np.ndarray, names: np.ndarray | None) -> list[Line]:
    """Who is served worse: rows with and without gaps, and groups, against all others."""
    parts = [("rows", "complete rows", missing == 0), ("rows", "rows with gaps", missing > 0)]
    if missing.any():
        most = missing > np.quantile(missing, 2 / 3)
        parts.append(("rows", "rows with most gaps", most))
    if names is not None:
        parts += [("group", group, names == group) for group in _largest_groups(names)]
    lines = []
    for kind, name, part in parts:
        if FEWEST_IN_PART <= part.sum() < len(part):
            others = judge.now(kind, f"all but {name}", ~part)
            lines.append(judge.now(kind, name, part, others))
    return lines


def _largest_groups(names: np.ndarray) -> list[str]:
    groups, counts = np.unique(names, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_GROUPS]
    large = [str(groups[i]) for i in order if counts[i] >= FEWEST_IN_PART]
    return sorted(large) if len(groups) > 1 else []


def _mask_only(judge: _Judge) -> np.ndarray | None:
    """Cross-validated predictions from where the gaps are; None if classes have too few rows."""
    rows, truth = judge.rows, judge.truth
    classes = judge.task == "classification"
    if classes and np.bincount(truth)[np.unique(truth)].min() < 2 * FOLDS:
        return None
    series = isinstance(rows.X, Panel)
    linear: Any = LinearClassifier if classes else LinearRegressor
    mask_only: Any = MaskOnlyClassifier if classes else MaskOnlyRegressor
    if series:
        mask_only = partial(SummaryClassifier if classes else SummaryRegressor, mask=True)
    folds: Any = StratifiedKFold if classes else KFold
    predictions, rng = np.zeros(judge.prediction.shape), np.random.default_rng(judge.seed)
    for train, test in folds(FOLDS, shuffle=True, random_state=judge.seed).split(truth, truth):
        labels: Any = truth[train]
        judged: Any = rng.permutation(len(train)) % 4 == 0  # decide how much to shrink
        if series:  # by id, which needs no order
            labels, judged = (pd.Series(of, index=rows.X.ids[train]) for of in (labels, judged))
        model = mask_only(linear(random_state=0)).fit(rows.take(train).X, labels, held_out=judged)
        held_out = rows.take(test).X
        if classes:
            predictions[np.ix_(test, model.classes_)] = model.predict_proba(held_out)
        else:
            predictions[test] = model.predict(held_out)
    return predictions


def _covered(model: Any, rows: ModelRows, truth: np.ndarray) -> np.ndarray | None:
    """Whether each row's prediction set or interval holds the answer; None without such."""
    if hasattr(model, "predict_set"):
        return np.asarray(model.predict_set(rows.X))[np.arange(len(truth)), truth].astype(bool)
    if hasattr(model, "predict_interval"):
        low, high = np.asarray(model.predict_interval(rows.X), dtype=np.float64).T
        return (low <= truth) & (truth <= high)
    return None


def _telling(rows: ModelRows, truth: np.ndarray, task: str) -> list[str]:
    """Columns whose gaps correlate with the answer, the strongest first."""
    gaps = (~rows.observed).astype(np.float64)
    if isinstance(rows.X, Panel):  # how much of a series is missing, not whether all of it is
        panel = rows.X
        missing = (~panel.steps.observed).astype(np.float64)
        counts = np.add.reduceat(missing, first_steps(panel.lengths))
        gaps[:, : counts.shape[1]] = counts / panel.lengths[:, None]
    answers = truth[:, None].astype(np.float64)
    if task == "classification":
        answers = (truth[:, None] == np.unique(truth)).astype(np.float64)
    gaps, answers = gaps - gaps.mean(0), answers - answers.mean(0)
    sizes = np.sqrt((gaps**2).sum(0))[:, None] * np.sqrt((answers**2).sum(0))
    with np.errstate(invalid="ignore", divide="ignore"):
        strength = np.nan_to_num(np.abs(gaps.T @ answers) / sizes).max(1)
    chance = 2 / np.sqrt(len(truth))  # two standard errors of no correlation
    order = np.argsort(-strength, kind="stable")
    return [rows.names[j] for j in order if strength[j] > max(TELLING, chance)]
