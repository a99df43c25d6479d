"""Factor analysers against dense Gaussians in double precision: density, posterior, EM."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from imputefree.families import Background, FactorMixture, _factor_mixture


def made(n=150, d=6, missing=0.4, seed=0):
    """Two groups of correlated columns with gaps; the last row is empty."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.4 * rng.normal(size=(n, d))
    values[: n // 2] += 3.0
    observed = rng.random((n, d)) >= missing
    observed[-1] = False
    return values, observed


def fitted(k=2, q=2, **options):
    values, observed = made()
    model = FactorMixture(k, q, rng=np.random.default_rng(1), **options)
    return model.fit(values, observed), values, observed


def dense(model, k):
    loadings = model.loadings_[k]
    return model.means_[k], loadings @ loadings.T + np.diag(model.noise_[k])


def joint(model, x, seen):
    """p(k, observed entries) of a row, by the dense Gaussian of each component."""
    p = model.weights_.copy()
    for k in range(len(p)):
        mean, covariance = dense(model, k)
        if seen.any():
            gaussian = multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)])
            p[k] *= gaussian.pdf(x[seen])
    return p


def test_log_likelihood_is_that_of_dense_gaussians():
    model, values, observed = fitted()
    expected = [joint(model, x, m).sum() for x, m in zip(values, observed, strict=True)]
    np.testing.assert_allclose(model.log_likelihood(values, observed), np.log(expected), atol=1e-10)


def test_posterior_mean_is_the_closed_form():
    """mu + Sigma_:o Sigma_oo^-1 (x_o - mu_o), weighted by p(component | observed entries)."""
    model, values, observed = fitted()
    expected = []
    for x, seen in zip(values, observed, strict=True):
        share = joint(model, x, seen)
        total = 0.0
        for k, p in enumerate(share / share.sum()):
            mean, covariance = dense(model, k)
            gain = covariance[:, seen] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
            noiseless = covariance - np.diag(model.noise_[k])  # E of mu + L z, also where observed
            gain = noiseless[:, seen] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
            total = total + p * (mean + gain @ (x[seen] - mean[seen]))
        expected.append(total)
    found = model.posterior_mean(values, observed)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("smoothing", [1e-6, 2.0])
@pytest.mark.parametrize(("k", "q"), [(1, 1), (1, 4), (3, 2)])
def test_the_objective_never_falls(k, q, smoothing):
    model, _, _ = fitted(k, q, smoothing=smoothing, max_iter=40, tol=0.0, floor=0.2)
    assert np.diff(model.history_).min() > -1e-8
    assert model.history_[-1] > model.history_[0] + 1.0


def test_the_objective_is_the_likelihood_of_rows_and_pseudo_rows():
    model, values, observed = fitted(max_iter=3, tol=0.0, smoothing=0.7)
    base = Background.of(values, observed, "gaussian")
    expected = model.log_likelihood(values, observed).sum()
    for k, weight in enumerate(model.weights_):
        pseudo = np.log(weight)
        for j in range(values.shape[1]):
            # E of log N(x; mu + L z, v) for x as in the background and independent z ~ N(0, I).
            loading, noise = model.loadings_[k, j], model.noise_[k, j]
            away = base.variance[j] + (base.mean[j] - model.means_[k, j]) ** 2 + loading @ loading
            pseudo -= 0.5 * (np.log(2 * np.pi * noise) + away / noise)
        expected += 0.7 * pseudo
    assert model.history_[-1] == pytest.approx(expected, rel=1e-10)


def test_blocks_and_precision_do_not_matter(monkeypatch):
    whole, values, observed = fitted()
    expected = whole.log_likelihood(values, observed)
    single, _, _ = fitted(dtype=np.float32)
    np.testing.assert_allclose(single.log_likelihood(values, observed), expected, atol=0.05)
    monkeypatch.setattr(_factor_mixture, "BLOCK", 70)
    pieces, _, _ = fitted()
    np.testing.assert_allclose(pieces.log_likelihood(values, observed), expected, atol=1e-8)


def test_noise_stays_above_its_floor_and_values_of_gaps_are_ignored():
    values, observed = made()
    values[:, 1] = values[:, 0]  # no noise of its own
    model = FactorMixture(1, 3, floor=0.1, rng=np.random.default_rng(0)).fit(values, observed)
    least = 0.1 * np.median(Background.of(values, observed, "gaussian").variance)
    assert model.noise_.min() == pytest.approx(least)
    hidden = np.where(observed, values, np.nan)
    again = FactorMixture(1, 3, floor=0.1, rng=np.random.default_rng(0)).fit(hidden, observed)
    np.testing.assert_array_equal(again.noise_, model.noise_)


def test_no_rows_and_a_time_that_is_up():
    values, observed = made()
    model = FactorMixture(2, 2).fit(values[:0], observed[:0])
    assert np.isfinite(model.log_likelihood(values, observed)).all()
    model = FactorMixture(2, 2).fit(values, observed, stop=lambda: True)
    assert len(model.history_) == 1
