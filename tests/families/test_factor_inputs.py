"""Factors of a table: what they are, and a family that learns from them."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.data import Examples, draw_folds, read_columns
from imputefree.families import FactorInputs, FamilyTask, Growth, OnFactors, TreeFamily


def table(n=400, d=24, seed=0):
    """Columns that three hidden numbers move, two thirds of the entries missing."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    X = hidden @ np.random.default_rng(9).normal(size=(3, d)) + rng.normal(size=(n, d))
    return np.where(rng.random(X.shape) < 0.67, np.nan, X), (hidden[:, 0] > 0).astype(np.int64)


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    examples = Examples.read(read_columns(X), y, None)
    task = FamilyTask(examples, y, 2, draw_folds(5, np.random.default_rng(0), y, None, None), 0)
    family = OnFactors(TreeFamily(growths=(Growth(),), n_folds=2))
    return family, task, family.fit(task)


def test_factors_are_the_posterior_mean_of_the_dense_gaussian(fitted):
    """E[z | x_o] = L_o' (L_o L_o' + diag v_o)^-1 (x_o - mu_o), row by row."""
    family, task, _ = fitted
    model = family.factors.analyser
    values, observed = family.factors.inputs.transform(task.examples.inputs)
    expected = []
    for x, seen in zip(values[:30], observed[:30], strict=True):
        loadings = model.loadings_[0][seen]
        covariance = loadings @ loadings.T + np.diag(model.noise_[0][seen])
        away = x[seen] - model.means_[0][seen]
        expected.append(loadings.T @ np.linalg.solve(covariance, away))
    columns = family.factors.transform(task.examples.inputs.rows(np.arange(30)))
    assert len(columns.names) == 24 // 4
    np.testing.assert_allclose(np.column_stack(columns.arrays), expected, atol=1e-3)


def test_a_family_learns_from_factors(fitted):
    family, task, out_of_fold = fitted
    X, y = table(seed=1)
    assert (family.predict(read_columns(X)).argmax(1) == y).mean() > 0.7
    known = ~np.isnan(out_of_fold[:, 0])
    np.testing.assert_array_equal(
        np.flatnonzero(known), np.sort(np.concatenate([rows for _, rows in task.folds[:2]]))
    )


def test_files_keep_everything_and_damaged_ones_are_refused(fitted):
    family, task, _ = fitted
    arrays = {}
    parts = family.parts(arrays)
    again = OnFactors(TreeFamily())
    again.restore(parts, arrays)
    columns = task.examples.inputs
    np.testing.assert_array_equal(again.predict(columns), family.predict(columns))
    for name, damaged in {
        "factors.center": arrays["factors.center"][:-1],
        "factors.noise_": -arrays["factors.noise_"],
        "factors.loadings_": arrays["factors.loadings_"][:, :-1],
        "factors.means_": arrays["factors.means_"] * np.nan,
    }.items():
        with pytest.raises(ValueError, match="density"):
            OnFactors(TreeFamily()).restore(parts, arrays | {name: damaged})


def test_time_and_rows_are_bounded(monkeypatch):
    columns = read_columns(table()[0])
    monkeypatch.setattr("imputefree.families._factor_inputs.MOST_PRODUCTS", 0)
    seen = []
    monkeypatch.setattr(
        "imputefree.families._factor_mixture.FactorMixture.fit",
        lambda self, values, observed, stop: seen.append((len(values), stop())),
    )
    factors = FactorInputs().fit(columns, np.random.default_rng(0), lambda: True)
    d, q = len(factors.inputs.kinds), factors.analyser.n_factors
    for rows in (99, 150):  # entries times squared factors are the products of a row
        products = rows * d * q * q
        monkeypatch.setattr("imputefree.families._factor_inputs.MOST_PRODUCTS", products)
        FactorInputs().fit(columns, np.random.default_rng(0), lambda: False)
    assert seen == [(100, True), (100, False), (150, False)]
