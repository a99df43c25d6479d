"""Gains of measurements against closed forms, quadrature, and a definition row by row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import entr, expit, ndtri
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from imputefree import GILClassifier, Panel, measure_next, plan_measurements
from imputefree.errors import ImputefreeError, ParameterError
from imputefree.inspection import PlausibleValues
from imputefree.inspection import _measuring as measuring

NAMES = ["a", "b", "c", "d"]
LOADINGS = np.array([[0.9, 0.0], [0.6, 0.5], [-0.5, 0.6], [0.1, 0.8]])
NOISE = 1 - (LOADINGS**2).sum(1)
COVARIANCE = LOADINGS @ LOADINGS.T + np.diag(NOISE)
SLOPES = np.array([1.0, -2.0, 0.5, 1.5])


def conditional(seen, hidden, x):
    """Mean and covariance of hidden entries given the seen ones, standard normal margins."""
    gain = COVARIANCE[np.ix_(hidden, seen)] @ np.linalg.inv(COVARIANCE[np.ix_(seen, seen)])
    return gain @ x[seen], (
        COVARIANCE[np.ix_(hidden, hidden)] - gain @ COVARIANCE[np.ix_(seen, hidden)]
    )


class KnowsTheCovariance(RegressorMixin, BaseEstimator):
    """E[slopes . x | what is observed]."""

    def predict(self, X):
        X, answers = np.asarray(X, dtype=float), []
        for x in X:
            seen, hidden = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
            mean = conditional(seen, hidden, x)[0] if len(hidden) else np.empty(0)
            answers.append(SLOPES[seen] @ x[seen] + SLOPES[hidden] @ mean)
        return np.array(answers)


class Logistic(ClassifierMixin, BaseEstimator):
    """Three classes from linear scores; a gap counts as 0."""

    classes_ = np.arange(3)
    weights = np.array([[2.0, 0.0, -1.0], [0.5, -1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, -2.0]])

    def predict_proba(self, X):
        odds = np.exp(np.nan_to_num(np.asarray(X, dtype=float)) @ self.weights)
        return odds / odds.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def gaussian():
    """A background whose density is the known one, and whose values are exact normal quantiles."""
    rng, quantiles = np.random.default_rng(0), ndtri((np.arange(3000) + 0.5) / 3000)
    plausible = PlausibleValues(pd.DataFrame({name: rng.permutation(quantiles) for name in NAMES}))
    parts = {"weights_": np.ones(1), "means_": np.zeros((1, 4))}
    parts |= {"loadings_": LOADINGS[None], "noise_": NOISE[None]}
    plausible.draws.density.n_factors = 2
    plausible.draws.density.restore(np.zeros(4), parts)
    return plausible


ROWS = pd.DataFrame([[0.8, np.nan, np.nan, np.nan], [np.nan, -1.2, np.nan, 0.4]], columns=NAMES)


def gaps():
    for i, x in enumerate(ROWS.to_numpy()):
        seen = np.flatnonzero(~np.isnan(x))
        for j in np.flatnonzero(np.isnan(x)):
            mean, variance = conditional(seen, np.array([j]), x)
            yield i, j, x, mean[0], variance[0, 0]


def test_the_gain_of_a_number_is_the_explained_variance(gaussian):
    """Var E[f | x_o, x_j] = Cov(f, x_j | x_o)^2 / Var(x_j | x_o)."""
    gain = measure_next(KnowsTheCovariance(), ROWS, background=gaussian).row_gain
    for i, j, x, _, _ in gaps():
        seen, hidden = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
        left = conditional(seen, hidden, x)[1]
        at = np.flatnonzero(hidden == j)[0]
        expected = (SLOPES[hidden] @ left[:, at]) ** 2 / left[at, at]
        assert gain[i, j] == pytest.approx(expected, rel=0.01)


def test_the_gain_of_classes_is_that_of_quadrature(gaussian):
    result = measure_next(Logistic(), ROWS, background=gaussian, n_values=100)
    for i, j, x, mean, variance in gaps():

        def then(v, j=j, x=x):
            return Logistic().predict_proba(np.where(np.arange(4) == j, v, x)[None])[0]

        def expectation(number, normal=norm(mean, np.sqrt(variance))):  # noqa: B008
            return quad(lambda v: number(v) * normal.pdf(v), *normal.interval(1 - 1e-14))[0]

        average = np.array([expectation(lambda v, c=c: then(v)[c]) for c in range(3)])
        entropy = expectation(lambda v: entr(then(v)).sum())
        now = entr(Logistic().predict_proba(x[None])).sum()
        assert result.row_gain[i, j] == pytest.approx(entr(average).sum() - entropy, rel=0.01)
        assert result.entropy_fall[i, j] == pytest.approx(now - entropy, abs=0.002)
        sure = expectation(lambda v: then(v).max())
        assert result.confidence[i, j] == pytest.approx(sure, abs=0.002)
    assert np.isnan(result.gain).tolist() == ROWS.notna().to_numpy().tolist()


def test_draws_have_the_conditional_mean_and_variance(gaussian):
    for i, j, _, mean, variance in gaps():
        drawn = gaussian.draw(ROWS.iloc[[i]], NAMES[j], 20_000)[0]
        assert drawn.mean() == pytest.approx(mean, abs=0.04)
        assert drawn.var() == pytest.approx(variance, rel=0.06)


def test_a_fitted_density_comes_close_to_the_true_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.multivariate_normal(np.zeros(4), COVARIANCE, 5000), columns=NAMES)
    plausible = PlausibleValues(X.mask(rng.random(X.shape) < 0.3))
    for i, j, _, mean, variance in gaps():
        drawn = plausible.draw(ROWS.iloc[[i]], NAMES[j], 5000)[0]
        assert drawn.mean() == pytest.approx(mean, abs=0.2)
        assert drawn.std() == pytest.approx(np.sqrt(variance), rel=0.15)


def test_a_panel_gains_what_its_columns_gain_together(gaussian, monkeypatch):
    """Values of a panel are drawn jointly: Var over (x_b, x_d) of E[f | x_o, x_b, x_d]."""
    monkeypatch.setattr(measuring, "PANEL_DRAWS", 3000)
    row = ROWS.iloc[[0]]
    result = measure_next(
        KnowsTheCovariance(), row, background=gaussian, together={"lab": ["b", "d"]}
    )
    assert result.measurements == ["lab", "a", "c"]
    x = row.to_numpy()[0]
    left = conditional(np.array([0]), np.array([1, 2, 3]), x)[1]
    toward = left[:, [0, 2]]
    explained = toward @ np.linalg.inv(left[np.ix_([0, 2], [0, 2])]) @ toward.T
    slopes = SLOPES[1:]
    assert result.row_gain[0, 0] == pytest.approx(slopes @ explained @ slopes, rel=0.12)
    assert np.isnan(result.gain[0, 1])


# ---- around real models
def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 15, n)
    frame = pd.DataFrame(
        {
            "age": age,
            "pressure": 100 + age / 2 + rng.normal(0, 10, n),
            "smoker": pd.Categorical(np.where(rng.random(n) < 0.4, "yes", "no")),
            "visits": rng.integers(0, 4, n),
        }
    )
    risk = (frame["pressure"] - 125) / 8 + 2 * (frame["smoker"] == "yes") - 1
    y = rng.random(n) < expit(risk)
    return frame.mask(rng.random(frame.shape) < 0.3), np.where(y, "ill", "well")


@pytest.fixture(scope="module")
def boosting():
    X, y = people()
    options = {"max_iter": 20, "categorical_features": "from_dtype", "random_state": 0}
    return HistGradientBoostingClassifier(**options).fit(X, y)


def test_gains_around_boosting_are_those_of_the_definition(boosting):
    """Row by row and value by value, with the values and weights of the density."""
    X, _ = people()
    rows = X.iloc[:12].reset_index(drop=True)
    plausible = PlausibleValues(X)
    result = measure_next(boosting, rows, background=plausible, n_values=4)
    entries = plausible.entries(measuring.read_table(rows))
    score = ndtri((np.arange(4) + 0.5) / 4)
    shares = norm.cdf(score / score.std())
    count = 0
    for i, j in np.argwhere(rows.isna().to_numpy()):
        _, donor, weight = plausible.draws.plausible(*entries, np.array([i]), np.array([j]), shares)
        copies = pd.concat([rows.iloc[[i]]] * len(donor), ignore_index=True)
        copies[X.columns[j]] = X.iloc[donor, j].reset_index(drop=True)
        p = boosting.predict_proba(copies)
        now = boosting.predict_proba(rows.iloc[[i]])[0]
        after = weight @ entr(p).sum(1)
        assert result.row_gain[i, j] == pytest.approx(entr(weight @ p).sum() - after, abs=1e-12)
        assert result.entropy_fall[i, j] == pytest.approx(entr(now).sum() - after, abs=1e-12)
        assert result.confidence[i, j] == pytest.approx(weight @ p.max(1), abs=1e-12)
        count += 1
    assert count > 5
    assert np.nanmin(result.gain) >= 0


def test_gains_are_drawn_half_way_to_the_mean_over_background_rows(boosting):
    X, _ = people()
    plausible = PlausibleValues(X)
    result = measure_next(boosting, X[:30], background=plausible)
    np.testing.assert_allclose(result.gain, (result.row_gain + result.usual_gain) / 2)
    # Rows with random gaps, drawn otherwise than the package does: the same mean but for noise.
    rng = np.random.default_rng(5)
    gaps = X.mask(rng.random(X.shape) < rng.random((len(X), 1)))
    usual = np.nanmean(measure_next(boosting, gaps, background=plausible).row_gain, axis=0)
    np.testing.assert_allclose(result.usual_gain, usual, rtol=0.2)


def test_usual_gains_are_remembered_until_the_model_is_fitted_anew(boosting, monkeypatch):
    X, y = people()
    model, plausible = clone(boosting).fit(X, y), PlausibleValues(X)
    first = measure_next(model, X[:5], background=plausible).usual_gain
    with monkeypatch.context() as patch:
        patch.setattr(measuring.Measuring, "of", None)  # nothing is asked again
        again = measure_next(model, X[5:9], background=plausible).usual_gain
    np.testing.assert_array_equal(first, again)
    model.fit(X, np.roll(y, 1))
    assert (measure_next(model, X[:5], background=plausible).usual_gain != first).any()


def test_the_chunks_change_nothing(boosting, monkeypatch):
    X, _ = people()
    plausible = PlausibleValues(X)
    whole = measure_next(boosting, X.iloc[:20], background=plausible)
    monkeypatch.setattr(measuring, "COPIES", 7)
    np.testing.assert_allclose(
        measure_next(boosting, X.iloc[:20], background=plausible).gain, whole.gain
    )


def test_costs_divide_gains_and_infinite_ones_leave_measurements_out(boosting):
    X, _ = people()
    row = X.iloc[[0]].mask(np.ones((1, 4), dtype=bool))
    costs = {"pressure": 1000, "smoker": np.inf}
    free, dear = (measure_next(boosting, row, background=X, costs=c) for c in (None, costs))
    np.testing.assert_array_equal(free.gain, dear.gain)
    assert dear.per_cost[0, 1] == pytest.approx(free.gain[0, 1] / 1000)
    assert free.best()[0] == ["pressure"]
    assert set(dear.best(9)[0]) == {"age", "pressure", "visits"}
    assert dear.best(9)[0][-1] == "pressure"
    frame = free.to_frame()
    assert frame["measurement"].tolist() == free.best(9)[0]
    assert frame["gain"].is_monotonic_decreasing


def test_marginal_draws_ignore_the_row():
    X, _ = people()
    rows = pd.DataFrame({"age": [20.0, 80.0], "pressure": np.nan, "smoker": None, "visits": 1.0})
    same = PlausibleValues(X, conditional=False).draw(rows, "pressure", 300)
    given_age = PlausibleValues(X).draw(rows, "pressure", 300)
    assert abs(same[0].mean() - same[1].mean()) < 5
    assert given_age[1].mean() - given_age[0].mean() > 15


def test_any_model_that_takes_gaps_is_asked():
    X, y = people()
    numbers = X[["age", "pressure", "visits"]]
    piped = make_pipeline(SimpleImputer(), LogisticRegression()).fit(numbers, y)
    assert (measure_next(piped, numbers[:5], background=numbers).gain >= 0).sum() > 0
    array = numbers.to_numpy()
    forest = HistGradientBoostingRegressor(max_iter=10).fit(array, array[:, 0] > 50)
    answer = measure_next(forest, array[:5], background=array)
    assert answer.measurements == ["0", "1", "2"]
    assert np.isnan(answer.confidence).all()
    lightgbm = pytest.importorskip("lightgbm")
    trees = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, y)
    mine = measure_next(trees, X[:5], background=X)
    assert np.isnan(mine.gain).tolist() == X[:5].notna().to_numpy().tolist()


def test_our_models_read_pandas_and_polars():
    polars = pytest.importorskip("polars")
    X, y = people()
    X = X.assign(smoker=X["smoker"].astype(object))
    model = GILClassifier(random_state=0, max_iter=2).fit(X, y)
    expected = measure_next(model, X[:6], background=X)
    other = polars.from_pandas(X.assign(smoker=X["smoker"].where(X["smoker"].notna(), None)))
    answer = measure_next(model, other[:6], background=other)
    np.testing.assert_allclose(answer.gain, expected.gain, atol=1e-6)


def test_a_row_without_entries_in_some_columns_takes_the_types_of_the_background(boosting):
    X, _ = people()
    row = pd.DataFrame({"age": [None], "pressure": [150.0], "smoker": [None], "visits": [None]})
    assert np.isfinite(measure_next(boosting, row, background=X).gain[0, [0, 2, 3]]).all()


# ---- plans
def test_a_plan_with_true_values_measures_everything_once(boosting):
    X, _ = people()
    truth = X.dropna().iloc[:15].reset_index(drop=True)
    start = truth.mask(np.random.default_rng(0).random(truth.shape) < 0.7)
    plan = plan_measurements(boosting, start, background=X, truth=truth)
    hidden = start.isna().to_numpy()
    for i, order in enumerate(plan.order):
        assert sorted(order[order >= 0]) == np.flatnonzero(hidden[i]).tolist()
    np.testing.assert_allclose(plan.prediction[:, 0], boosting.predict_proba(start))
    np.testing.assert_allclose(plan.prediction[:, -1], boosting.predict_proba(truth))
    np.testing.assert_allclose(np.nanmax(plan.total_cost, axis=1), hidden.sum(1))
    # The first choice is that of one step; after it, its true value is known.
    first = measure_next(boosting, start, background=X).best()
    names = [plan.measurements[g] for g in plan.order[:, 0]]
    assert names == [best[0] for best in first]
    after = start.copy()
    after = after.mask(np.zeros(after.shape, dtype=bool))
    for i, name in enumerate(names):
        after.loc[i, name] = truth.loc[i, name]
    np.testing.assert_allclose(plan.prediction[:, 1], boosting.predict_proba(after))


def test_budget_and_confidence_end_a_plan(boosting):
    X, _ = people()
    truth = X.dropna().iloc[:30].reset_index(drop=True)
    start, costs = truth.mask(np.ones(truth.shape, dtype=bool)), {"pressure": 5, "smoker": 2}
    plan = plan_measurements(boosting, start, background=X, truth=truth, costs=costs, budget=4)
    assert np.nanmax(plan.total_cost) <= 4
    assert "pressure" not in plan.to_frame()["measurement"].tolist()
    sure = plan_measurements(boosting, start, background=X, truth=truth, confidence=0.7)
    steps = (sure.order >= 0).sum(1)
    for i, n in enumerate(steps):
        assert (sure.confidence[i, :n] < 0.7).all()
        assert sure.confidence[i, n] >= 0.7 or n == 4
    assert 0 < steps.mean() < 4


def test_a_plan_in_advance_expects_what_the_model_expects(gaussian):
    """The mean prediction of a consistent model does not move, whatever will be measured."""
    plan = plan_measurements(KnowsTheCovariance(), ROWS, background=gaussian, n_draws=100)
    drift = plan.prediction - plan.prediction[:, :1]
    assert np.abs(drift).max() < 0.7  # standard error: 2.3 / sqrt(100)
    assert np.isnan(plan.confidence).all()
    assert (plan.order[0] >= 0).sum() == 3
    first = measure_next(KnowsTheCovariance(), ROWS, background=gaussian).best()
    assert [plan.measurements[g] for g in plan.order[:, 0]] == [best[0] for best in first]


def test_measuring_raises_the_expected_confidence(boosting):
    X, _ = people()
    row = X.iloc[[0]].mask(np.ones((1, 4), dtype=bool))
    plan = plan_measurements(boosting, row, background=X, together=[["age", "visits"]], n_draws=40)
    assert sorted(plan.order[0]) == [-1, 0, 1, 2] or sorted(plan.order[0]) == [0, 1, 2]
    assert plan.confidence[0, -1] > plan.confidence[0, 0]


# ---- refusals
@pytest.mark.parametrize(
    "options",
    [
        {"costs": {"ct": 5}},
        {"costs": {"age": 0}},
        {"costs": {"age": -1}},
        {"costs": {"age": "much"}},
        {"costs": {"age": np.nan}},
        {"costs": [1, 2, 3]},
        {"together": ["age", "visits"]},
        {"together": [["age", "ct"]]},
        {"together": [["age"], ["age", "visits"]]},
        {"together": {"smoker": ["age", "visits"]}},
        {"together": {"lab": ["age", "visits"]}, "costs": {"age": 2}},
        {"together": {"lab": []}},
        {"n_values": 1},
    ],
)
def test_bad_parameters_are_refused(boosting, options):
    X, _ = people()
    with pytest.raises(ParameterError) as caught:
        measure_next(boosting, X[:3], background=X, **options)
    assert caught.value.rule
    assert caught.value.remedy


def test_costs_may_be_a_series(boosting):
    X, _ = people()
    costs = {"age": 2.0, "visits": 5.0}
    a, b = (measure_next(boosting, X[:3], background=X, costs=c) for c in (costs, pd.Series(costs)))
    assert np.array_equal(a.cost, b.cost)


def test_tables_that_do_not_fit_are_refused(boosting):
    X, _ = people()
    for background in (X.drop(columns="age"), X.to_numpy(), X[:0]):
        with pytest.raises(ImputefreeError):
            measure_next(boosting, X[:3], background=background)
    series = Panel.from_list([np.ones((2, 4))])
    for rows, background in ((series, X), (X[:3], series)):
        with pytest.raises(ImputefreeError, match="series"):
            measure_next(boosting, rows, background=background)
    with pytest.raises(ImputefreeError, match="rows"):
        plan_measurements(boosting, X[:3], background=X, truth=X[:2])
    regressor = HistGradientBoostingRegressor(max_iter=2).fit(X[["age"]], np.arange(len(X)))
    with pytest.raises(ParameterError):
        plan_measurements(regressor, X[["age"]][:3], background=X, confidence=0.9)
    with pytest.raises(ImputefreeError):
        PlausibleValues(X).draw(X, "ct", 3)
