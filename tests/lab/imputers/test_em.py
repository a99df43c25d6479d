"""EM: every formula against a slow computation from its definition, in double precision."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from imputefree.errors import ParameterError
from imputefree.lab.imputers import _em as em
from imputefree.lab.imputers._em import EMImputer, Patterns
from tests.lab.imputers.made import hide, low_rank, scaled_rmse
from tests.refusals import check_error


def gappy(seed=0, n=80, d=6, rate=0.3):
    """A table in which some rows share a pattern of gaps, some are complete and one is empty."""
    x, _ = hide(low_rank(seed, n, d, noise=0.5), rate, seed)
    x[:10] = np.where(np.isnan(x[0]), np.nan, low_rank(seed, n, d)[:10])
    x[10:20] = low_rank(seed, n, d)[10:20]
    x[20] = np.nan
    return x


def direct_likelihood(x, location, covariance):
    """Log-density of the observed entries of all rows, one row at a time."""
    total = 0.0
    for row in x:
        o = ~np.isnan(row)
        if o.any():
            total += multivariate_normal.logpdf(
                row[o], location[o], covariance[np.ix_(o, o)], allow_singular=True
            )
    return total


def scaled(x):
    return (x - np.nanmean(x, 0)) / np.nanstd(x, 0)


def naive_iteration(x, mu, sigma, ridge):
    """One step of EM from its definition: expected rows, their covariance, sample moments."""
    filled, extra = [], np.zeros_like(sigma)
    for row in x:
        o, m = ~np.isnan(row), np.isnan(row)
        full, gain = row.copy(), np.zeros((m.sum(), o.sum()))
        if o.any():
            gain = sigma[np.ix_(m, o)] @ np.linalg.inv(sigma[np.ix_(o, o)])
        full[m] = mu[m] + gain @ (row[o] - mu[o])
        extra[np.ix_(m, m)] += sigma[np.ix_(m, m)] - gain @ sigma[np.ix_(o, m)]
        filled.append(full)
    rows, n = np.array(filled), len(x)
    scatter = n * np.cov(rows.T, bias=True) + extra
    return rows.mean(0), (scatter + ridge * np.eye(len(mu))) / (n + ridge)


@pytest.mark.parametrize("ridge", [0.0, 1.0, 7.0])
def test_iterations_follow_the_definition(ridge):
    x = gappy()
    mu, sigma = np.zeros(6), np.eye(6)
    for k in range(1, 5):
        mu, sigma = naive_iteration(scaled(x), mu, sigma, ridge)
        fitted = EMImputer(ridge=ridge, max_iter=k, tol=0.0).fit(x)
        spread = np.nanstd(x, 0)
        np.testing.assert_allclose(fitted.location_, np.nanmean(x, 0) + spread * mu, rtol=1e-9)
        np.testing.assert_allclose(
            fitted.covariance_, sigma * np.outer(spread, spread), rtol=1e-8, atol=1e-8
        )


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_likelihood_equals_scipys_after_every_iteration(ridge):
    x = gappy()
    trace = EMImputer(ridge=ridge, max_iter=6, tol=0.0).fit(x).log_likelihood_
    assert len(trace) == 7
    # Scaling a column by its spread adds log(spread) for each of its entries.
    offset = (~np.isnan(x)).sum(0) @ np.log(np.nanstd(x, 0))
    for k in range(1, 7):
        fitted = EMImputer(ridge=ridge, max_iter=k, tol=0.0).fit(x)
        direct = direct_likelihood(x, fitted.location_, fitted.covariance_) + offset
        assert trace[k] == pytest.approx(direct, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_likelihood_never_falls(seed):
    x = gappy(seed, rate=(0.1, 0.3, 0.5, 0.6)[seed])
    steps = [EMImputer(ridge=0.0, max_iter=k, tol=0.0).fit(x) for k in range(1, 13)]
    direct = [direct_likelihood(x, step.location_, step.covariance_) for step in steps]
    assert (np.diff(direct) > -1e-8 * np.abs(direct[1:])).all()
    assert direct[-1] > direct[0] + 10


@pytest.mark.parametrize(("n", "d", "ridge"), [(80, 6, 1.0), (80, 6, 20.0), (15, 40, 1.0)])
def test_objective_with_a_ridge_never_falls(n, d, ridge):
    x, _ = hide(low_rank(1, n, d), 0.4, 1)
    x[0] = low_rank(1, n, d)[0]
    objective = np.array(EMImputer(ridge=ridge, max_iter=80, tol=0.0).fit(x).objective_)
    assert (np.diff(objective) > -1e-10 * np.abs(objective[1:])).all()
    assert objective[-1] > objective[0]


def test_objective_is_likelihood_plus_the_log_density_of_the_pseudo_rows():
    fitted = EMImputer(ridge=3.0, max_iter=5, tol=0.0).fit(gappy())
    sigma = fitted.covariance_ / np.outer(fitted.spread_, fitted.spread_)
    # Three rows of covariance I, without the constant: their scatter about the mean is 3 I.
    prior = -0.5 * (3 * np.linalg.slogdet(sigma)[1] + np.trace(3 * np.linalg.inv(sigma)))
    assert fitted.objective_[-1] - fitted.log_likelihood_[-1] == pytest.approx(prior, rel=1e-9)


def test_gaps_get_the_conditional_mean():
    x, unseen = gappy(), gappy(5)
    fitted = EMImputer().fit(x)
    filled = fitted.transform(unseen)
    for row, full in zip(unseen, filled, strict=True):
        o, m = ~np.isnan(row), np.isnan(row)
        weights = np.linalg.solve(fitted.covariance_[np.ix_(o, o)], (row - fitted.location_)[o])
        expected = fitted.location_[m] + fitted.covariance_[np.ix_(m, o)] @ weights
        np.testing.assert_allclose(full[m], expected, rtol=1e-7, atol=1e-7)


def test_complete_rows_give_the_sample_moments():
    x = low_rank(0, 200, 5)
    fitted = EMImputer(ridge=0.0).fit(x)
    np.testing.assert_allclose(fitted.location_, x.mean(0))
    np.testing.assert_allclose(fitted.covariance_, np.cov(x.T, bias=True), rtol=1e-8)


def test_recovers_a_known_covariance():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    covariance, location = root @ root.T + np.eye(6), np.arange(6.0)
    x, missing = hide(rng.multivariate_normal(location, covariance, size=20_000), 0.3, 0)
    assert missing.mean() > 0.29
    fitted = EMImputer(tol=1e-7).fit(x)
    assert fitted.converged_
    error = np.linalg.norm(fitted.covariance_ - covariance) / np.linalg.norm(covariance)
    assert error < 0.03
    assert np.abs(fitted.location_ - location).max() < 0.1


def test_recovers_a_covariance_that_mean_imputation_gets_wrong():
    """Entries missing where another column is high (MAR): the observed mean is off, EM is not."""
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.9], [0.9, 1.0]], size=20_000)
    x[x[:, 0] > 0.3, 1] = np.nan
    fitted = EMImputer(tol=1e-8, max_iter=500).fit(x)
    assert np.nanmean(x[:, 1]) < -0.4
    assert abs(fitted.location_[1]) < 0.03
    np.testing.assert_allclose(fitted.covariance_, [[1.0, 0.9], [0.9, 1.0]], atol=0.04)


def test_more_columns_than_rows():
    x = low_rank(2, 30, 60)
    with_gaps, missing = hide(x, 0.2, 2)
    filled = EMImputer().fit_transform(with_gaps)
    mean = np.where(missing, np.nanmean(with_gaps, 0), x)
    assert scaled_rmse(filled, x, missing) < 0.5 * scaled_rmse(mean, x, missing)


def test_one_cholesky_per_pattern_and_iteration(monkeypatch):
    x = gappy()
    factored = []

    def counted(block, original=em._cholesky):
        factored.append(1 if block.ndim == 2 else len(block))
        return original(block)

    monkeypatch.setattr(em, "_cholesky", counted)
    EMImputer(ridge=0.0, max_iter=3, tol=0.0).fit(x)
    n_patterns = len(np.unique(np.isnan(x), axis=0)) - 1  # none for the empty row
    assert n_patterns < 60
    assert sum(factored) == 4 * n_patterns


def test_stops_at_the_tolerance():
    x = gappy()
    loose, strict = EMImputer(tol=1e-2).fit(x), EMImputer(tol=1e-7, max_iter=1000).fit(x)
    assert loose.converged_
    assert strict.converged_
    assert loose.n_iter_ < strict.n_iter_
    rise = np.diff(strict.objective_) / np.abs(strict.objective_[1:])
    assert rise[-1] <= 1e-7 < rise[-2]
    assert not EMImputer(max_iter=1).fit(x).converged_


def test_a_singular_covariance_asks_for_a_ridge():
    x = np.random.default_rng(0).normal(size=(5, 9))
    check_error(
        lambda: EMImputer(ridge=0.0, tol=0.0).fit(x),
        "singular",
        "ridge=1.0",
        kind=ParameterError,
    )


def test_tasks_of_hours_are_refused_at_once():
    mnist = SimpleNamespace(n_rows=60_000, n_columns=784, sizes=np.full(60_000, 392))
    check_error(
        lambda: EMImputer()._refuse(mnist, 100, "learning"),
        "EM: learning with 60,000 x 784 (60,000 different patterns of gaps) would take about",
        "allow_slow=True",
        kind=ParameterError,
    )
    EMImputer(allow_slow=True)._refuse(mnist, 100, "learning")
    few = SimpleNamespace(n_rows=60_000, n_columns=784, sizes=np.full(20, 392))
    EMImputer()._refuse(few, 100, "learning")


def check_cover(observed):
    """Each row with an entry is in one chunk, with its columns; padding points beyond."""
    n, d = observed.shape
    seen = np.zeros((n, d), dtype=int)
    masks = []
    for chunk in Patterns(observed).chunks():
        for columns, rows, size, count in zip(
            chunk.columns, chunk.rows, chunk.sizes, chunk.counts, strict=True
        ):
            assert (columns[size:] == d).all()
            assert (rows[count:] == n).all()
            seen[np.ix_(rows[:count], columns[:size])] += 1
            masks.append(tuple(columns[:size]))
    assert np.array_equal(seen, observed.astype(int))
    assert len(set(masks)) == len(masks)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 20), st.floats(0, 1), st.integers(0, 99))
def test_every_row_is_in_one_chunk(n, d, rate, seed):
    rng = np.random.default_rng(seed)
    check_cover(rng.random((n, d))[rng.integers(n, size=n)] < rate)


@pytest.mark.parametrize("distinct", [3, 3000])
def test_chunks_are_bounded(monkeypatch, distinct):
    monkeypatch.setattr(em, "ENTRIES", 5000)
    rng = np.random.default_rng(0)
    observed = (rng.random((distinct, 30)) < 0.5)[np.arange(3000) % distinct]
    chunks = list(Patterns(observed).chunks())
    for chunk in chunks:
        b, k = chunk.columns.shape
        assert b * k * k <= 5000 or b == 1
        assert chunk.rows.size * k <= 5000 or b == 1
    assert sum(len(chunk.columns) for chunk in chunks) <= distinct
    check_cover(observed)


def test_the_size_of_chunks_does_not_change_the_result(monkeypatch):
    x, _ = hide(low_rank(0, 100, 8), 0.4, 0)
    whole = EMImputer(max_iter=5, tol=0.0).fit(x)
    monkeypatch.setattr(em, "ENTRIES", 64)
    pieces = EMImputer(max_iter=5, tol=0.0).fit(x)
    np.testing.assert_allclose(pieces.covariance_, whole.covariance_, rtol=1e-9)
    np.testing.assert_allclose(pieces.log_likelihood_, whole.log_likelihood_, rtol=1e-9)
    np.testing.assert_allclose(pieces.transform(x), whole.transform(x), rtol=1e-9)
