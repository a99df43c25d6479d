"""Conformal sets and intervals against their definition, on made data, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline

from imputefree import (
    ImputeFreeClassifier,
    ImputeFreeSequenceClassifier,
    MaskConformalClassifier,
    MaskConformalRegressor,
    Panel,
)
from imputefree.errors import ImputefreeError

METHODS = ("marginal", "by_missingness", "mask")


class Means(RegressorMixin, BaseEstimator):
    """Rounded means, so that scores tie; adds a constant for every gap, so that gaps matter."""

    def fit(self, X, y, groups=None):
        self.mean_ = np.round(np.mean(y), 1)
        self.seen_ = None if groups is None else set(groups)
        return self

    def predict(self, X):
        X = np.asarray(X, dtype=float)
        return self.mean_ + np.round(np.nansum(X, axis=1)) + 0.5 * np.isnan(X).sum(1)


class Votes(ClassifierMixin, BaseEstimator):
    """Probabilities on a coarse grid, that depend on values and gaps."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.prior_ = np.round(4 * counts / counts.sum()) + 1
        return self

    def predict_proba(self, X):
        X = np.asarray(X, dtype=float)
        votes = self.prior_ + np.abs(np.round(np.nan_to_num(X, nan=0.5)))[:, : len(self.classes_)]
        return votes / votes.sum(1, keepdims=True)


def made(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    y = np.round(np.where(np.isnan(X), 0, X).sum(1) + rng.normal(size=n), 1)
    X[rng.random((n, d)) < rng.choice([0.0, 0.5], size=(n, 1))] = np.nan
    return X, y


def with_gaps(x, mask):
    """A row that keeps only what the mask says."""
    return np.where(mask, x, np.nan)


def chosen(method, x, X):
    """Numbers of the calibration rows that row x is compared with."""
    gaps = np.isnan(X).sum(1)
    if method == "mask":
        lost, hidden = (np.isnan(X) & ~np.isnan(x)).sum(1), (~np.isnan(X) & np.isnan(x)).sum(1)
        n = min(max((lost == 0).sum(), 40), 55)  # as the wrapper is told, and its least number
        return sorted(range(len(X)), key=lambda k: (lost[k], hidden[k], k))[:n]
    if method == "by_missingness":
        # These data: at least 100 rows are needed for a group, so that there is only one.
        assert len(gaps) < 200
    return list(range(len(X)))


def is_new(x, X_cal):
    """Whether no calibration row has the gaps of row x."""
    return (np.isnan(X_cal) != np.isnan(x)).any(1).all()


def asked_of(plus, method, x, X_cal, models, final):
    """The model that row x is asked of where it is compared with each calibration row."""
    new = method == "mask" and is_new(x, X_cal)
    return models if (new if plus == "auto" else plus) else [final] * len(models)


def brute_force(plus, method, X_cal, y_cal, models, final, x, candidates, score):
    """The definition, pair by pair: which candidates belong to the set of one row."""
    order, asked = chosen(method, x, X_cal), asked_of(plus, method, x, X_cal, models, final)
    needed = 0.8 * (len(order) + 1)
    members = []
    for candidate in candidates:
        better = 0
        for k in order:
            ours, theirs = x, X_cal[k]
            if method == "mask":
                both = ~np.isnan(x) & ~np.isnan(X_cal[k])
                ours, theirs = with_gaps(x, both), with_gaps(X_cal[k], both)
            better += score(models[k], theirs, y_cal[k]) < score(asked[k], ours, candidate)
        members.append(better < needed)
    return members


def calibration(model, X, y, folds):
    """Calibration rows in the order that the model drew, their answers, the model that did not
    learn from each, and the final model."""
    rng = np.random.default_rng(
        np.random.RandomState(model.random_state).randint(np.iinfo(np.int32).max)
    )
    left_out = rng.permutation(np.concatenate([test for _, test in folds]))
    fitted = [clone(model.estimator).fit(X[train], y[train]) for train, _ in folds]
    owner = {row: fitted[f] for f, (_, test) in enumerate(folds) for row in test}
    unseen = [owner[row] for row in left_out]
    final = clone(model.estimator).fit(X, y)
    return X[left_out], y[left_out], unseen, final


@pytest.mark.parametrize("plus", [False, True, "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_sets_are_those_of_the_definition(method, plus):
    X, y = made(d=5)
    labels = np.array(["a", "b", "c"])[np.clip(np.digitize(y, [-0.5, 0.5]), 0, 2)]
    cv = KFold(3)
    model = MaskConformalClassifier(
        Votes(), method=method, cv=cv, plus=plus, max_calibration=55, random_state=4
    ).fit(X, labels)
    parts = calibration(model, X, labels, list(cv.split(X)))

    def score(fitted, x, label):
        return 1.0 - fitted.predict_proba(x[None])[0, list(fitted.classes_).index(label)]

    X_new, _ = made(20, d=5, seed=1)
    sets = model.predict_set(X_new, coverage=0.8, allow_empty=True)
    expected = [brute_force(plus, method, *parts, x, model.classes_, score) for x in X_new]
    assert sets.tolist() == expected
    assert 0 < sum(is_new(x, parts[0]) for x in X_new) < 20
    assert 0 < sets.mean() < 1


@pytest.mark.parametrize("plus", [False, True, "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_are_those_of_the_definition(method, plus):
    X, y = made(d=5)
    cv = KFold(3)
    model = MaskConformalRegressor(
        Means(), method=method, cv=cv, plus=plus, max_calibration=55, random_state=4
    ).fit(X, y)
    parts = X_cal, y_cal, models, final = calibration(model, X, y, list(cv.split(X)))
    X_new, _ = made(20, d=5, seed=1)
    ends = model.predict_interval(X_new, coverage=0.8)
    for x, (low, high) in zip(X_new, ends, strict=True):
        order, asked = chosen(method, x, X_cal), asked_of(plus, method, x, X_cal, models, final)
        lows, highs = [], []
        for k in order:
            both = ~np.isnan(x) & ~np.isnan(X_cal[k]) if method == "mask" else True
            theirs = np.where(both, X_cal[k], np.nan)
            ours = np.where(both, x, np.nan)
            residual = abs(y_cal[k] - models[k].predict(theirs[None])[0])
            center = asked[k].predict(ours[None])[0]
            lows.append(center - residual)
            highs.append(center + residual)
        rank = int(np.ceil(0.8 * (len(order) + 1) - 1e-9))
        assert low == pytest.approx(sorted(lows)[-rank], abs=1e-12)
        assert high == pytest.approx(sorted(highs)[rank - 1], abs=1e-12)

        # What the definition lets in lies between the ends; beyond them it lets in nothing.
        def score(fitted, row, number):
            return abs(number - fitted.predict(row[None])[0])

        outside = [low - 1e-6, high + 1e-6]
        assert brute_force(plus, method, *parts, x, outside, score) == [False, False]


def test_by_missingness_compares_rows_with_about_as_many_gaps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.zeros(600)
    X[300:, 0] = np.nan
    y[300:] = rng.normal(size=300)  # only rows with a gap have residuals

    class Zero(Means):
        def predict(self, X):
            return np.zeros(len(X))

    model = MaskConformalRegressor(Zero(), method="by_missingness", cv=3).fit(X, y)
    seen, gap, more = model.predict_interval([[1, 1, 1], [np.nan, 1, 1], [np.nan, np.nan, 1]])
    assert seen.tolist() == [0, 0]
    rank = int(np.ceil(0.9 * 301))
    assert gap[1] == np.sort(np.abs(y[300:]))[rank - 1]
    assert more.tolist() == gap.tolist()


def test_the_number_of_gaps_decides_in_the_known_example():
    """y = x0 + noise, x0 missing in a tenth of the rows: with the gap the spread is 10, else 1.

    The interval for a gap must be ten times as wide. "marginal" takes one width for all: too wide
    for nine tenths and too narrow for the others.
    """
    rng = np.random.default_rng(1)

    class Known(Means):  # the regression function itself: coverage is a matter of scores only
        def predict(self, X):
            return np.nan_to_num(np.asarray(X)[:, 0])

    def draw(n, share):
        X = np.column_stack([10 * rng.normal(size=n), rng.normal(size=n)])
        y = X[:, 0] + rng.normal(size=n)
        X[rng.random(n) < share, 0] = np.nan
        return X, y

    X, y = draw(2000, 0.1)
    X_new, y_new = draw(4000, 0.5)
    gap = np.isnan(X_new[:, 0])
    covered, width = {}, {}
    for method in METHODS:
        model = MaskConformalRegressor(
            Known(), method=method, max_calibration=500, random_state=0
        ).fit(X, y)
        low, high = model.predict_interval(X_new, coverage=0.9).T
        hit = (low <= y_new) & (y_new <= high)
        covered[method] = [hit[~gap].mean(), hit[gap].mean()]
        width[method] = [(high - low)[~gap].mean(), (high - low)[gap].mean()]
    assert covered["marginal"][1] < 0.5
    assert covered["mask"] == pytest.approx([0.9, 0.9], abs=0.04)
    exact = 2 * 1.6449 * np.array([1.0, np.sqrt(101)])
    assert width["mask"] == pytest.approx(exact, rel=0.15)
    assert covered["by_missingness"] == pytest.approx([0.9, 0.9], abs=0.04)


def test_masks_that_calibration_never_saw_are_covered():
    rng = np.random.default_rng(2)
    weight = np.array([4.0, 2.0, 1.0])

    class Known(Means):
        def predict(self, X):
            return np.nan_to_num(np.asarray(X)) @ weight

    def draw(n):
        X = rng.normal(size=(n, 3))
        return X, X @ weight + rng.normal(size=n)

    X, y = draw(1500)
    X[rng.random(1500) < 0.3, 2] = np.nan  # never the two others
    X_new, y_new = draw(3000)
    X_new[:, :2] = np.nan
    covered = {}
    for method in METHODS:
        model = MaskConformalRegressor(
            Known(), method=method, max_calibration=500, random_state=0
        ).fit(X, y)
        low, high = model.predict_interval(X_new, coverage=0.9).T
        covered[method] = ((low <= y_new) & (y_new <= high)).mean()
    assert covered["mask"] == pytest.approx(0.9, abs=0.04)
    assert covered["marginal"] < 0.6
    assert covered["by_missingness"] < 0.6


def test_groups_are_never_split_and_reach_the_estimator():
    X, y = made(80)
    X[:, 2] = np.arange(80)  # tells the rows apart
    groups = np.repeat(np.arange(16), 5)
    for cv in (4, GroupKFold(4)):
        model = MaskConformalRegressor(Means(), cv=cv, random_state=0).fit(X, y, groups=groups)
        calibration = model.calibration_
        for k, fitted in enumerate(calibration.models.models[:-1]):
            rows = calibration.rows.X[calibration.fold == k, 2].astype(int)
            held = set(groups[rows].astype(str))
            assert held
            assert not held & fitted.seen_
            assert len(held | fitted.seen_) == 16


def test_an_empty_set_is_filled_with_the_most_probable_class_unless_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] > 0
    base = HistGradientBoostingClassifier(max_iter=20)
    model = MaskConformalClassifier(base, random_state=0).fit(X, y)
    bare = model.predict_set(X, coverage=0.5, allow_empty=True)
    full = model.predict_set(X, coverage=0.5)
    empty = ~bare.any(1)
    assert empty.any()
    assert (full.sum(1) >= 1).all()
    assert (full[~empty] == bare[~empty]).all()
    assert (model.classes_[full[empty].argmax(1)] == model.predict(X)[empty]).all()


@pytest.mark.parametrize("method", METHODS)
def test_too_few_rows_for_a_coverage_say_so(method):
    X, y = made(40)
    model = MaskConformalRegressor(Means(), method=method, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="at least 99 calibration rows"):
        ends = model.predict_interval(X[:3], coverage=0.99)
    assert ends.tolist() == [[-np.inf, np.inf]] * 3
    classes = MaskConformalClassifier(Votes(), method=method, random_state=0).fit(X, y > 0)
    with pytest.warns(UserWarning, match="all classes"):
        assert classes.predict_set(X[:3], coverage=0.99).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(model.predict_interval(X[:3], coverage=0.9)).all()


def test_a_high_coverage_compares_with_more_rows_than_usual():
    X, y = made(300)
    model = MaskConformalRegressor(Means(), max_calibration=20, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_interval(X[:5], coverage=0.99)).all()


def test_a_fitted_model_is_calibrated_on_the_rows_passed():
    X, y = made(300)
    base = HistGradientBoostingRegressor(max_iter=10).fit(X[:150], y[:150])
    model = MaskConformalRegressor(base, method="marginal", cv="prefit").fit(X[150:], y[150:])
    assert model.estimator_ is base
    residuals = np.sort(np.abs(y[150:] - base.predict(X[150:])))
    center, width = base.predict(X[:5]), residuals[int(np.ceil(0.9 * 151)) - 1]
    expected = np.column_stack([center - width, center + width])
    assert model.predict_interval(X[:5]) == pytest.approx(expected)
    split = MaskConformalRegressor(Means(), method="marginal", cv=ShuffleSplit(1, test_size=0.25))
    assert split.fit(X, y).n_calibration_ == 75


def test_results_do_not_depend_on_batches_nor_on_the_cache(monkeypatch):
    X, y = made(120)
    model = MaskConformalRegressor(
        HistGradientBoostingRegressor(max_iter=5), max_calibration=30, random_state=0
    ).fit(X, y)
    X_new, _ = made(50, seed=3)
    ends = model.predict_interval(X_new)
    assert np.array_equal(ends, model.predict_interval(X_new))
    assert np.array_equal(ends[::-1], model.predict_interval(X_new[::-1]))
    model.calibration_.remembered.clear()
    monkeypatch.setattr("imputefree.inspection._calibration.MOST_CELLS", 200)
    monkeypatch.setattr("imputefree.inspection._calibration.MOST_MASKS", 2)
    assert np.array_equal(ends, model.predict_interval(X_new))
    assert len(model.calibration_.remembered) <= 2


def test_frames_are_matched_by_column_name():
    X, y = made(200)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    base = HistGradientBoostingRegressor(max_iter=5)
    model = MaskConformalRegressor(base, random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    ends = model.predict_interval(frame.head(9))
    assert np.array_equal(ends, model.predict_interval(frame.head(9)[["c", "a", "b"]]))
    with pytest.raises(ImputefreeError, match="'b'"):
        model.predict_interval(frame[["a", "c"]])
    with pytest.raises(ImputefreeError, match="2 columns"):
        MaskConformalRegressor(base).fit(X, y).predict_interval(X[:, :2])


def test_our_blend_with_strings_and_a_pipeline_with_an_imputer():
    X, y = made(150)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = np.where(np.arange(150) % 3 == 0, None, np.where(y > 0, "high", "low"))
    ours = MaskConformalClassifier(ImputeFreeClassifier(quality="fast", random_state=0), cv=2)
    sets = ours.fit(frame, y > 0).predict_set(frame.head(6))
    assert sets.shape == (6, 2)
    assert sets.any(1).all()
    pipeline = make_pipeline(SimpleImputer(), LogisticRegression())
    sets = MaskConformalClassifier(pipeline, cv=2).fit(X, y > 0).predict_set(X[:6])
    assert sets.shape == (6, 2)


def test_series_lose_whole_columns_and_keep_labels_by_id_or_column():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(60), 3),
            "hour": np.tile([0, 1, 2], 60),
            "pulse": rng.normal(size=180),
            "ph": np.where(rng.random(180) < 0.6, np.nan, rng.normal(size=180)),
        }
    )
    died = pd.Series(rng.random(60) < 0.5)
    base = ImputeFreeSequenceClassifier(quality="fast", id="who", time="hour", random_state=0)
    model = MaskConformalClassifier(
        base, cv=ShuffleSplit(1, test_size=0.3, random_state=0), random_state=0
    )
    sets = clone(model).fit(frame, died).predict_set(frame[frame["who"] < 5])
    assert sets.shape == (5, 2)
    by_column = frame.assign(died=died.to_numpy()[frame["who"]])
    fitted = clone(model).fit(by_column, "died")
    assert np.array_equal(sets, fitted.predict_set(frame[frame["who"] < 5]))
    panel = Panel.from_long(frame, id="who", time="hour")
    assert np.array_equal(sets, fitted.predict_set(panel[np.arange(5)]))


def test_classes_that_a_fold_lacks_have_probability_zero():
    X, y = made(40)
    labels = np.where(y > 0, "b", "a")
    labels[0] = "c"  # in the training part of every fold but its own
    model = MaskConformalClassifier(Votes(), cv=KFold(4), random_state=0).fit(X, labels)
    assert model.predict_set(X, coverage=0.5).shape == (40, 3)


@pytest.mark.parametrize(
    ("parameters", "fact"),
    [
        ({"method": "magic"}, "method"),
        ({"cv": 1}, "cv"),
        ({"cv": "folds"}, "cv"),
        ({"cv": RepeatedKFold(n_splits=2, n_repeats=2)}, "several times"),
        ({"max_calibration": 0}, "max_calibration"),
    ],
)
def test_bad_parameters_are_refused(parameters, fact):
    X, y = made(40)
    with pytest.raises(ImputefreeError, match=fact):
        MaskConformalRegressor(Means(), **parameters).fit(X, y)


def test_bad_input_is_refused():
    X, y = made(40)
    with pytest.raises(ImputefreeError, match="not a classifier"):
        MaskConformalClassifier(Means()).fit(X, y)
    with pytest.raises(ImputefreeError, match="too few"):
        MaskConformalRegressor(Means()).fit(X, y, groups=np.zeros(40))
    model = MaskConformalRegressor(Means()).fit(X, y)
    for coverage in (0, 1, 90, "much"):
        with pytest.raises(ImputefreeError, match="coverage"):
            model.predict_interval(X, coverage=coverage)
    votes = Votes().fit(X, y > 0)
    with pytest.raises(ImputefreeError, match="does not know"):
        MaskConformalClassifier(votes, cv="prefit").fit(X, np.arange(40) % 3)
    with pytest.raises(ImputefreeError, match="sample_weight"):
        MaskConformalClassifier(Votes()).fit(X, y > 0, sample_weight=np.ones(40))
    with pytest.raises(ImputefreeError, match="sparse"):
        MaskConformalClassifier(Votes()).fit(csr_array(np.eye(40)), y > 0)
    with pytest.raises(NotFittedError):
        MaskConformalClassifier(Votes(), cv="prefit").fit(X, y > 0)
    with pytest.raises(ImputefreeError, match="no predict_proba"):
        MaskConformalClassifier(RidgeClassifier()).fit(np.zeros((40, 1)), y > 0)
    named = MaskConformalRegressor(Means()).fit(pd.DataFrame(X).add_prefix("x"), y)
    with pytest.raises(ImputefreeError, match="3 columns without names"):
        named.predict_interval(X)


def test_parameters_are_cloned_and_kept():
    model = MaskConformalRegressor(Means(), method="marginal", cv=3, max_calibration=7)
    copy = clone(model)
    assert copy.get_params()["max_calibration"] == 7
    assert copy.set_params(estimator=Means()).method == "marginal"


class Imprecise(Votes):
    """Rounds differently in a batch than for one row, as fast code does."""

    def predict_proba(self, X):
        return super().predict_proba(X) + (-1e-8 if len(X) == 1 else 1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_rounding_does_not_decide_between_equal_rows(method):
    X, y = np.full((60, 3), np.nan), np.repeat(["ill", "well"], [20, 40])
    model = MaskConformalClassifier(Imprecise(), method=method, random_state=0).fit(X, y)
    assert model.predict_set(X[:1], coverage=0.9).tolist() == [[True, True]]
