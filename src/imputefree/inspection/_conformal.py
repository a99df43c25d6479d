"""`MaskConformalClassifier` and `MaskConformalRegressor`: sets and intervals for a row's gaps."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._rules import (
    FLAG,
    all_or_nothing,
    check_rules,
    check_value,
    choice,
    number,
    private_generator,
    whole,
)
from ..data import (
    Examples,
    Panel,
    draw_folds,
    read_classes,
    read_numbers,
    read_target,
    series_labels,
)
from ..errors import InputError, ParameterError
from ._calibration import (
    Comparison,
    FoldModels,
    GroupCalibration,
    MaskCalibration,
    interval_ends,
    ranks_of,
    rows_needed,
    set_members,
)
from ._model_rows import ModelRows, check_answers, predict_rows, read_rows

PREFIT, AUTO = "prefit", "auto"
METHODS = ("mask", "by_missingness", "marginal")
COVERAGE = number(0, 1, open_low=True, open_high=True)


def _is_cv(value: Any) -> bool:
    return (
        value == PREFIT if isinstance(value, str) else whole(2)[0](value) or hasattr(value, "split")
    )


RULES = {
    "method": choice(*METHODS),
    "cv": (_is_cv, 'a whole number, at least 2, a splitter of scikit-learn, or "prefit"'),
    "plus": (lambda value: value == AUTO or FLAG[0](value), f'True, False or "{AUTO}"'),
    "max_calibration": whole(1),
}


class MaskConformal(MetaEstimatorMixin, BaseEstimator):
    """What both estimators share: folds, their models, and calibration."""

    _same_kind: Any
    calibration_: MaskCalibration | GroupCalibration

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "mask",
        cv: Any = 5,
        plus: bool | str = AUTO,
        max_calibration: int = 100,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.plus = plus
        self.max_calibration = max_calibration
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit the estimator on folds and on everything, and score the rows left out each time.

        Parameters
        ----------
        X : a table or series as the estimator takes them; with `cv="prefit"` rows that it did not
            learn from
        y : (n,) answers; for sequence estimators of this package also by id or by column
        groups : (n,) rows of one group are never in two folds; None if rows are independent
        sample_weight : (n,) passed to the estimator, 1 at most; calibration rows count alike, and
            those of weight 0 do not count
        """
        check_rules(self, RULES)
        if not self._same_kind(self.estimator):
            wanted = "classifier" if self._same_kind is is_classifier else "regressor"
            raise ParameterError(
                f"estimator is {type(self.estimator).__name__}, which is not a {wanted}",
                f"{type(self).__name__} needs a {wanted}",
                "Pass one, or use the other of MaskConformalClassifier and MaskConformalRegressor",
            )
        with all_or_nothing(self):
            return self._fit(X, y, groups, sample_weight)

    def _fit(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> Self:
        beside = {"y": y, "groups": groups, "sample_weight": sample_weight}
        rows = read_rows(X, self.estimator, beside, once=True)
        y, groups, weight = (_by_row(values, rows, role) for role, values in beside.items())
        target = read_target(y, len(rows), type(self).__name__)
        examples = Examples.read(rows, target, weight, groups)
        rows, target, groups = examples.inputs, examples.target, examples.groups
        codes, strata = self._learn_target(target)
        rng = private_generator(self.random_state)
        extras: dict[str, Any] = {}
        if sample_weight is not None:
            extras["sample_weight"] = self._weights(examples)
        if groups is not None and has_fit_parameter(self.estimator, "groups"):
            extras["groups"] = groups
        folds = self._folds(rng, strata, groups)
        models = [self.estimator]
        if self.cv != PREFIT:
            parts = [*(train for train, _ in folds), np.arange(len(rows))]
            models = [_learn(self.estimator, rows, target, extras, part) for part in parts]
        self.estimator_ = models[-1]
        check_answers(self.estimator_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        # In random order, so that the first of equally similar rows are a fair choice.
        left_out = rng.permutation(np.concatenate([test for _, test in folds]))
        fold = np.zeros(len(rows), dtype=int)
        for k, (_, test) in enumerate(folds):
            fold[test] = k
        self._names = rows.names
        self._calibrate(models, fold[left_out], rows.take(left_out), codes[left_out])
        return self

    def _weights(self, examples: Examples) -> np.ndarray:
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ParameterError(
                f"{type(self.estimator).__name__} does not take sample_weight",
                "Weights are passed to the estimator",
                "Leave sample_weight out",
            )
        return examples.weight

    def _calibrate(self, models: list[Any], fold: np.ndarray, rows: ModelRows, codes: Any) -> None:
        """Keep what rows are compared with; models of the folds, then the final one."""
        answering = FoldModels(models, getattr(self, "classes_", None))
        final = np.full(len(rows), len(models) - 1)
        always = len(models) == 2 or (self.plus != AUTO and self.plus)  # one split has one model
        asked, asked_if_new = fold if always else final, fold if always or self.plus else final
        self.n_calibration_ = len(rows)
        if self.method == "mask":
            most = self.max_calibration
            folds = fold, asked, asked_if_new
            self.calibration_ = MaskCalibration(answering, *folds, rows, codes, most)
            return
        scores = answering.score(answering.predict(fold, rows), codes)
        gaps, by_group = (~rows.observed).sum(1), self.method == "by_missingness"
        self.calibration_ = GroupCalibration(answering, asked, scores, gaps, by_group)

    def _folds(
        self, rng: np.random.Generator, strata: np.ndarray, groups: Any
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to learn from and rows to calibrate with, in turn."""
        everything = np.arange(len(strata))
        if self.cv == PREFIT:
            return [(everything[:0], everything)]
        if isinstance(self.cv, numbers.Integral):
            folds = list(draw_folds(int(self.cv), rng, strata, groups))
        else:
            folds = list(self.cv.split(np.zeros((len(strata), 1)), strata, groups))
        tested = np.concatenate([test for _, test in folds]) if folds else everything[:0]
        if not len(tested):
            rows = "rows" if groups is None else "groups"
            fact, rule = f"there are too few {rows} for folds", "Some rows must be left out in turn"
            raise InputError(fact, rule, "Pass more rows, or a fitted estimator and cv='prefit'")
        if len(np.unique(tested)) < len(tested):
            fact, rule = "cv tests some rows several times", "A row calibrates once"
            raise ParameterError(fact, rule, "Pass a splitter without repetition, such as KFold")
        return folds

    def predict(self, X: Any) -> Any:
        """Predictions of the estimator that was fitted on everything."""
        check_is_fitted(self, "calibration_")
        return self.estimator_.predict(X)

    def _read(self, X: Any) -> ModelRows:
        check_is_fitted(self, "calibration_")
        return read_rows(X, self.estimator_, once=True).with_columns(self._names)

    def _compare(
        self, rows: ModelRows, coverage: float, consequence: str
    ) -> Iterator[tuple[Comparison, np.ndarray]]:
        """The comparisons for some rows at a time, and the ranks that bound the answers."""
        check_value("coverage", coverage, COVERAGE)
        fewest = np.inf
        for comparison in self.calibration_.compare(rows, coverage):
            fewest = min(fewest, comparison.counts.min())
            yield comparison, ranks_of(coverage, comparison.counts)
        needed = rows_needed(coverage)
        if fewest < needed:
            warnings.warn(
                f"A coverage of {coverage:g} needs at least {needed} calibration rows, and there"
                f" are {fewest:.0f}: {consequence}. Ask for less coverage, or calibrate with more"
                " rows.",
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self.estimator, "__sklearn_tags__", None)
        if inner is not None:
            tags.input_tags = inner().input_tags
        return tags


class MaskConformalClassifier(ClassifierMixin, MaskConformal):
    """Sets of classes that hold the true one with a chosen probability, for any row's gaps.

    Works with any classifier that accepts gaps. A row is compared with rows that the model did not
    learn from: a class belongs to the set unless too many of them conform better to their own
    class. The score is 1 - p(class): of all scores it gives the smallest sets on average (Sadinle,
    Lei and Wasserman 2019), and it needs no random numbers.

    Parameters
    ----------
    estimator : a classifier with `predict_proba`, such as HistGradientBoostingClassifier, a
        pipeline that begins with an imputer, or one of this package, for tables or series
    method : {"mask", "by_missingness", "marginal"}, default="mask"
        "marginal" compares with all calibration rows: right on average over all rows, but too small
        for rows with many gaps. "by_missingness" compares with calibration rows that have about as
        many gaps (groups of at least 100 rows). "mask" compares with the rows that fit its gaps
        best, and gives both rows of each pair the gaps of both: it also holds for gaps that
        calibration never saw.
    cv : int, splitter or "prefit", default=5
        The estimator is fitted once for each fold, and the rows left out calibrate. A splitter with
        one split, such as ShuffleSplit(1, test_size=0.25), is split conformal prediction. "prefit"
        takes a fitted estimator; then all rows of `fit` calibrate, and it must not have seen them.
    plus : True, False or "auto", default="auto"
        Whether rows are predicted by the models of the folds (CV+), instead of the final one that
        learned from everything. The true coverage is then at least 2 * coverage - 1 for any model,
        and higher than requested where models of folds disagree; sets are larger, and rows cost
        more. "auto" does so with "mask" for rows whose gaps no calibration row has: there, each
        model extrapolates in its own way, and the errors of the final one may differ from those of
        the folds.
    max_calibration : int, default=100
        For "mask": maximum number of rows that a row is compared with, unless `coverage` needs
        more. It bounds the cost: a row costs at most twice as many predictions, fewer where rows
        share their gaps.
    random_state : int, RandomState or None, default=None
        For the folds and for the order of calibration rows.

    Attributes
    ----------
    classes_ : the class labels, sorted
    estimator_ : fitted on all rows; it gives `predict` and `predict_proba`
    n_calibration_ : number of calibration rows

    Notes
    -----
    With `cv="prefit"` or one split, and gaps that are independent of values and answers, a set of
    "mask" holds the true class with at least the chosen probability for every mask, if enough
    calibration rows have no gap that the row does not have; otherwise theory guarantees
    2 * coverage - 1 (Zaffran et al. 2024). With folds, `plus=True` has that guarantee too, and so
    has "auto" for gaps that no calibration row has; for others it relies on the final model making
    errors like those of the models of the folds. Where gaps depend on what is missing, no method
    guarantees anything for a mask: docs/intervals.md says what was measured.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.where(X[:, 0] + 0.3 * rng.normal(size=400) > 0, "up", "down")
    >>> X[:100, 0] = np.nan
    >>> model = MaskConformalClassifier(HistGradientBoostingClassifier(max_iter=20), random_state=0)
    >>> model = model.fit(X, y)
    >>> model.predict_set([[2.0, 0.0], [np.nan, 0.0]], coverage=0.9)
    array([[False,  True],
           [ True,  True]])
    """

    _same_kind = staticmethod(is_classifier)

    def _learn_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the classes, which are also the strata of the folds."""
        self.classes_ = read_classes(target)
        if self.cv == PREFIT:
            check_is_fitted(self.estimator, "classes_")
            known = np.asarray(self.estimator.classes_)
            unknown = [label for label in self.classes_.tolist() if label not in known.tolist()]
            if unknown:
                fact = f"y holds the class {unknown[0]!r}, which the fitted estimator does not know"
                raise InputError(fact, f"Its classes are {known.tolist()}", "Leave such rows out")
            self.classes_ = known
        codes = np.searchsorted(self.classes_, target)
        return codes, codes

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the estimator that was fitted on everything; (n, classes)."""
        check_is_fitted(self, "calibration_")
        return self.estimator_.predict_proba(X)

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, allow_empty: bool = False
    ) -> np.ndarray:
        """Which classes belong to the set of each row; (n, classes) bool, ordered as `classes_`.

        Where no class conforms, which happens if the model is right more often than `coverage`,
        the most probable class is in the set, unless `allow_empty`. With too few calibration rows
        for this coverage all classes are, and a warning says so.
        """
        rows = self._read(X)
        members = np.zeros((len(rows), len(self.classes_)), dtype=bool)
        for part, ranks in self._compare(rows, coverage, "sets hold all classes"):
            members[part.rows] = set_members(1.0 - part.predicted, part.scores, ranks)
        empty = np.flatnonzero(~members.any(1))
        if len(empty) and not allow_empty:
            probability = predict_rows(self.estimator_, rows.take(empty))
            members[empty, probability.argmax(1)] = True
        return members


class MaskConformalRegressor(RegressorMixin, MaskConformal):
    """Intervals that hold the true number with a chosen probability, for any row's gaps.

    Like `MaskConformalClassifier`, for any regressor that accepts gaps. The score is the absolute
    residual. It needs no scale that depends on the gaps: with "mask" the two rows of a pair have
    the same gaps, so such a scale would change nothing.

    Parameters
    ----------
    estimator : a regressor, such as HistGradientBoostingRegressor
    method, cv, plus, max_calibration, random_state : as for `MaskConformalClassifier`

    Attributes
    ----------
    estimator_ : fitted on all rows; it gives `predict`
    n_calibration_ : number of calibration rows

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = 10 * X[:, 0] + rng.normal(size=400)
    >>> X[:100, 0] = np.nan
    >>> model = MaskConformalRegressor(HistGradientBoostingRegressor(), random_state=0).fit(X, y)
    >>> low, high = model.predict_interval([[0.5, 0.0], [np.nan, 0.0]], coverage=0.9).T
    >>> high - low > 20
    array([False,  True])
    """

    _same_kind = staticmethod(is_regressor)

    def _learn_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers, and one stratum for the folds."""
        return read_numbers(target), np.zeros(len(target), dtype=int)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """The ends of the interval of each row; (n, 2).

        With too few calibration rows for this coverage they are infinite, and a warning says so.
        """
        rows = self._read(X)
        ends = np.empty((len(rows), 2))
        for part, ranks in self._compare(rows, coverage, "intervals are infinite"):
            ends[part.rows] = interval_ends(part.predicted, part.scores, ranks)
        return ends


def _learn(estimator: Any, rows: ModelRows, target: Any, extras: Any, train: np.ndarray) -> Any:
    """A new estimator that learned from these rows."""
    part = {name: values[train] for name, values in extras.items()}
    return clone(estimator).fit(rows.take(train).X, target[train], **part)


def _by_row(values: Any, rows: ModelRows, role: str) -> Any:
    """Answers, groups or weights in the order of the rows; series may have them by id."""
    if values is None or not isinstance(rows.X, Panel) or isinstance(values, numbers.Number):
        return values
    return series_labels(values, rows.X, role)
