"""The family of densities: closed forms, folds, calibration, files, all kinds of columns."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from imputefree.data import Examples, draw_folds, read_columns
from imputefree.families import DensityFamily, FactorMixture, FamilyTask
from imputefree.families._density_family import _class_weights, _number_weights


def frame(n=300, seed=0):
    """All kinds of columns with gaps: numbers, switches, few values, categories, constants."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    X = pd.DataFrame(
        {
            "dose": np.exp(group + 0.5 * rng.normal(size=n)),
            "age": rng.normal(50, 9, n),
            "smoker": (rng.random(n) < 0.2 + 0.3 * (group == 1)).astype(float),
            "visits": rng.integers(0, 4, n).astype(float),
            "site": np.where(rng.random(n) < 0.7, np.array(["a", "b", "c"])[group], "d"),
            "same": 1.0,
            "big": rng.normal(size=n) * 1e300,
        }
    )
    X = X.mask(rng.random(X.shape) < 0.25)
    X["empty"] = np.nan
    return X, group, group + 0.3 * rng.normal(size=n)


def task(X, target, n_classes, weight=None, **options):
    examples = Examples.read(read_columns(X), target, weight, None, None)
    strata = target if n_classes else np.zeros(len(target), dtype=int)
    folds = draw_folds(8, np.random.default_rng(0), strata, None, None)
    return FamilyTask(examples, target, n_classes, folds, 0, **options)


@pytest.fixture(scope="module", params=[0, 3], ids=["numbers", "classes"])
def problem(request):
    X, group, number = frame()
    target = group if request.param else (number - number.mean()) / number.std()
    given = task(X, target, request.param)
    family = DensityFamily()
    return family, given, family.fit(given)


def loss(prediction, target, n_classes):
    if n_classes:
        return -np.log(prediction[np.arange(len(target)), target]).mean()
    return ((prediction[:, 0] - target) ** 2).mean()


def test_all_kinds_of_columns_tell_about_unseen_rows(problem):
    family, given, out_of_fold = problem
    X, group, number = frame(seed=1)
    scaled = (number - frame()[2].mean()) / frame()[2].std()
    target = group if given.n_classes else scaled
    prediction = family.predict(read_columns(X))
    blind = np.log(3) if given.n_classes else scaled.var()
    assert loss(prediction, target, given.n_classes) < 0.6 * blind
    known = ~np.isnan(out_of_fold[:, 0])
    held_out = np.concatenate([rows for _, rows in given.folds[: family.n_folds]])
    np.testing.assert_array_equal(np.flatnonzero(known), np.sort(held_out))


def test_out_of_fold_predictions_do_not_know_the_row_itself(problem):
    """Another target for one fold changes what others predict, never what it is told itself.

    Only the common weights and the prior follow all rows, so these are put aside.
    """
    family, given, _ = problem
    rows = given.folds[0][1]
    target = given.target.copy()
    target[rows] = (target[rows] + 1) % 3 if given.n_classes else -target[rows] + 1.0
    other = DensityFamily()
    other.fit(replace(given, target=target))
    table = [array[rows] for array in family.inputs.transform(given.examples.inputs)]
    np.testing.assert_array_equal(other._raw(0, *table), family._raw(0, *table))
    assert not np.array_equal(other._raw(1, *table), family._raw(1, *table))


def test_probabilities_are_calibrated():
    """Thirty copies of a column make naive densities far too sure; weights make up for it."""
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 600)
    x = target + rng.normal(size=600)
    X = np.column_stack([x + 0.01 * rng.normal(size=600) for _ in range(30)])
    out_of_fold = DensityFamily(n_folds=8).fit(task(X, target, 2))
    best = 1 / (1 + np.exp(0.5 - x))  # the truth
    expected = -np.log(np.where(target, best, 1 - best)).mean()
    assert loss(out_of_fold, target, 2) == pytest.approx(expected, abs=0.04)


def test_expected_target_is_that_of_a_joint_gaussian():
    """Enough factors and rows: E[y | observed] of the true Gaussian, whatever is missing."""
    rng = np.random.default_rng(0)
    mix = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.7]])
    noise = 0.5
    full = rng.normal(size=(3000, 2)) @ mix + noise * rng.normal(size=(3000, 3))
    covariance = mix.T @ mix + noise**2 * np.eye(3)
    observed = rng.random((3000, 3)) < 0.7
    observed[:, 2] = True  # the target
    model = FactorMixture(1, 2, smoothing=0.1, floor=1e-3, max_iter=100, tol=0.0, rng=rng)
    model.fit(full, observed)
    for seen in ([0], [1], [0, 1]):
        mask = np.zeros((200, 3), dtype=bool)
        mask[:, seen] = True
        gain = covariance[2, seen] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
        found = model.posterior_mean(full[:200], mask)[:, 2]
        np.testing.assert_allclose(found, full[:200, seen] @ gain, atol=0.15)


def test_files_keep_everything_bit_for_bit(problem):
    family, given, _ = problem
    arrays = {}
    parts = family.parts(arrays)
    again = DensityFamily()
    again.restore(parts, {name: array.copy() for name, array in arrays.items()})
    columns = given.examples.inputs
    np.testing.assert_array_equal(again.predict(columns), family.predict(columns))
    second = {}
    assert again.parts(second) == parts
    assert arrays.keys() == second.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(second[name], array)


DAMAGES = {
    "a weight that is not a number": ("weights", lambda a: a * np.nan),
    "too many weights": ("weights", lambda a: np.append(a, 1.0)),
    "a prior of another size": ("log_prior", lambda a: np.append(a, 0.0)),
    "an infinite prior": ("log_prior", lambda a: np.append(a, -np.inf)),
    "a negative variance": ("product.variances_", lambda a: -a),
    "a mean that is not a number": ("product.means_", lambda a: a * np.nan),
    "a share above one": ("product.means_", lambda a: a + 2.0),
    "components that are missing": ("product.means_", lambda a: a[:-1]),
    "components of a negative weight": ("product.weights_", lambda a: -a),
    "weights that are not shares": ("factors.weights_", lambda a: a / 2),
    "no noise": ("factors.noise_", lambda a: a * 0.0),
    "another number of factors": ("factors.loadings_", lambda a: a[:, :, :1]),
    "other columns": ("factors.center", lambda a: a[:, :-1]),
    "a density of no component": ("product.sizes", lambda a: a * 0),
    "sizes that overflow": ("product.sizes", lambda a: np.full_like(a, 2**31 - 1)),
    "no densities": ("factors.sizes", lambda a: a[:0]),
    "knots out of order": ("knots", lambda a: a[::-1].copy()),
    "knots that are not numbers": ("scores", lambda a: a * np.inf),
    "an unknown kind": ("kinds", lambda a: a + 9),
    "maps of no point": ("sizes", lambda a: a * 0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_arrays_are_refused(problem, damage):
    family, _, _ = problem
    arrays = {}
    parts = family.parts(arrays)
    name, change = DAMAGES[damage]
    with np.errstate(all="ignore"):
        if name in parts:
            parts[name] = change(np.array(parts[name])).tolist()
        else:
            arrays[name] = change(arrays[name])
    with pytest.raises(ValueError, match=r"densit|weight|map|knot"):
        DensityFamily().restore(parts, arrays)


def test_one_entry_that_is_not_a_number_or_no_share_is_refused(problem):
    family, _, _ = problem
    arrays = {}
    parts = family.parts(arrays)

    def refuses(name, at, value):
        damaged = arrays[name].copy()
        damaged[at] = value
        with pytest.raises(ValueError, match=r"densit|weight|map|knot"):
            DensityFamily().restore(parts, arrays | {name: damaged})

    for name, array in arrays.items():
        if array.dtype.kind == "f":
            for value in (np.nan, np.inf, -np.inf):
                refuses(name, (-1,) * array.ndim, value)
    refuses("product.variances_", (-1, -1), 0.0)
    refuses("factors.noise_", (-1, -1), 0.0)
    refuses("sizes", -1, 0)
    refuses("kinds", -1, 3)
    refuses("product.sizes", -1, 0)
    last = int(np.flatnonzero(arrays["sizes"] > 1)[-1])  # the last map of several knots
    end = int(arrays["sizes"][: last + 1].sum())
    refuses("knots", end - 1, arrays["knots"][end - 2])  # equal knots
    sizes = arrays["sizes"].copy()  # a map of no point, although they add up
    sizes[[last, last - 1]] = sizes[[last, last - 1]].sum(), 0
    with pytest.raises(ValueError, match="known kind"):
        DensityFamily().restore(parts, arrays | {"sizes": sizes})
    empty = {name: array[:0] for name, array in arrays.items() if "." in name}
    with pytest.raises(ValueError, match="do not belong to the classes"):
        DensityFamily().restore(parts, arrays | empty)
    for name in ("weights", "log_prior"):
        with pytest.raises(ValueError, match="not a number"):
            DensityFamily().restore(parts | {name: [*parts[name][:-1], np.inf]}, arrays)
    size = arrays["product.sizes"][0]  # a share of 0 that leaves the sum at 1
    weights = arrays["product.weights_"].copy()
    weights[:2] = weights[:2].sum(), 0.0
    assert size > 1
    with pytest.raises(ValueError, match="not shares"):
        DensityFamily().restore(parts, arrays | {"product.weights_": weights})


def test_weights_of_rows_count():
    """Rows of weight 0 in effect: those of one group say that the class is another."""
    X, group, _ = frame(600)
    wrong = np.arange(600) % 2 == 0
    target = np.where(wrong, (group + 1) % 3, group)
    weight = np.where(wrong, 1e-6, 1.0)
    family = DensityFamily()
    family.fit(task(X, target, 3, weight))
    fresh, truth, _ = frame(seed=2)
    assert (family.predict(read_columns(fresh)).argmax(1) == truth).mean() > 0.75


def test_the_deadline_is_kept_and_large_tables_are_thinned(monkeypatch):
    X, group, _ = frame(3000)
    family = DensityFamily()
    late = family.fit(task(X, group, 3, deadline=time.monotonic()))
    assert len(family.models["product"]) == 3  # one fold, and no EM in it
    assert all(len(model.history_) == 1 for model in family.models["factors"])
    assert not np.isnan(late[:, 0]).all()
    monkeypatch.setattr("imputefree.families._density_family.MOST_VALUES", 1500)
    thinned = family.fit(task(X, group, 3))
    assert (~np.isnan(thinned[:, 0])).sum() <= 1500 * 3 / 11
    assert family.predict(read_columns(X)).shape == (3000, 3)


def test_weights_of_shapes_have_the_least_log_loss():
    """The definition, minimised without a gradient: log-loss plus (log b + 2)^2 per shape."""
    rng = np.random.default_rng(0)
    target, weight = rng.integers(0, 3, 200), rng.uniform(0.5, 1.5, 200)
    log_prior = np.log([0.5, 0.3, 0.2])
    raw = 2.0 * rng.normal(size=(2, 200, 3)) + [[[3.0]], [[1.0]]] * np.eye(3)[target]

    def loss(logs):
        total = np.exp(logs[0]) * raw[0] + np.exp(logs[1]) * raw[1] + log_prior
        shares = np.exp(total) / np.exp(total).sum(1, keepdims=True)
        own = np.log(shares[np.arange(200), target])
        return -(weight * own).sum() + ((logs + 2.0) ** 2).sum()

    best = minimize(
        loss, [-1.0, -1.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9}
    )
    found = _class_weights(raw, target, weight, log_prior)
    np.testing.assert_allclose(found, np.exp(best.x), rtol=1e-3)


def test_weights_of_shapes_have_the_least_squared_error():
    """Ridge regression towards equal weights, in closed form where both are positive."""
    rng = np.random.default_rng(0)
    target, weight = rng.normal(size=30), rng.uniform(0.5, 3.0, 30)
    raw = target + rng.normal(size=(2, 30)) * [[0.5], [0.6]]
    gram = (raw * weight) @ raw.T + np.eye(2)
    expected = np.linalg.solve(gram, (raw * weight) @ target + 0.5)
    assert (expected > 0).all()
    found = _number_weights(raw[:, :, None], target, weight, np.empty(0))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_classes_have_their_weights_and_components_their_entries():
    """A prior of (weight + 1); ten entries of a column per mean and ten per variance."""
    rng = np.random.default_rng(0)
    X, target = rng.normal(size=(400, 3)), np.repeat([0, 1], [300, 100])
    weight = np.where(target, 3.0, 1.0)
    family = DensityFamily(n_folds=2)
    given = task(X, target, 2, weight)
    family.fit(given)
    # weights are 1 on average: 200 of 400 rows' worth in each class
    np.testing.assert_allclose(family.log_prior, np.log([0.5, 0.5]))
    family.fit(task(X, target, 2))
    np.testing.assert_allclose(np.exp(family.log_prior), [301 / 402, 101 / 402])
    sizes = [len(model.weights_) for model in family.models["product"]]
    rows = [(target[train] == code).sum() for train, _ in given.folds[:2] for code in (0, 1)]
    assert sizes == [max(count // 20, 1) for count in rows]
    assert all(model.loadings_.shape == (1, 3, 3) for model in family.models["factors"])


@pytest.mark.parametrize(("width", "factors"), [(20, 5), (300, 6), (900, 15)])
def test_wide_tables_have_more_factors(width, factors):
    rng = np.random.default_rng(0)
    family = DensityFamily(n_folds=1)
    family.fit(task(rng.normal(size=(40, width)), np.arange(40) % 2, 2, deadline=time.monotonic()))
    assert family.models["factors"][0].loadings_.shape == (1, width, factors)


@pytest.mark.parametrize(("columns", "dtype"), [(0, np.float32), (1, np.float64)])
def test_only_drawings_are_learned_in_single_precision(columns, dtype):
    """Pixels are all of one size; a single number may be an outlier."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 2, (40, 4)).astype(float)
    X = np.column_stack([pixels, rng.normal(size=(40, columns))])
    family = DensityFamily(n_folds=1)
    family.fit(task(X, np.arange(40) % 2, 2))
    assert family._analyser().dtype == dtype


def test_densities_are_fitted_until_they_gain_little(problem):
    """1e-3 per entry on a small table, or 30 iterations; at 20 those with factors stop."""
    family, given, _ = problem
    entries = given.examples.inputs.n_rows * len(family.inputs.kinds)
    longest = {}
    for shape, most in (("product", 30), ("factors", 20)):
        histories = [model.history_ for model in family.models[shape]]
        histories = [one[0] if shape == "product" else one for one in histories]
        for history in histories:
            gains = np.diff(history)
            assert len(gains) == most or gains[-1] < 1e-3 * entries
            assert len(gains) <= most
        longest[shape] = max(map(len, histories))
    assert min(longest.values()) > 3


@pytest.mark.parametrize(("rows", "least_gain"), [(4_999, 1e-3), (5_000, 1e-4)])
def test_on_small_tables_densities_stop_earlier(rows, least_gain):
    rng = np.random.default_rng(0)
    family = DensityFamily(n_folds=1)
    family.fit(task(rng.normal(size=(rows, 2)), np.arange(rows) % 2, 2))
    assert {model.tol for models in family.models.values() for model in models} == {least_gain}
