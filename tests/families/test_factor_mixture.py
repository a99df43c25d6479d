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


@pytest.mark.parametrize(("q", "rows"), [(1, 11), (2, 8), (4, 2)])
def test_a_block_holds_rows_of_a_bounded_size(q, rows, monkeypatch):
    """70 numbers: 2 q² of a row's factors, or its 6 columns."""
    model, values, observed = fitted(1, q)
    monkeypatch.setattr(_factor_mixture, "BLOCK", 70)
    sizes = [len(x) for x, *_ in model._joint(values, observed)]
    assert set(sizes[:-1]) == {rows}
    assert sum(sizes) == len(values)


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


def test_conditionals_and_factors_are_the_closed_forms():
    """Sigma_:: - Sigma_:o Sigma_oo^-1 Sigma_o: without own noise, and E[z | x_o]."""
    model, values, observed = fitted()
    shares, means, variances = model.conditionals(values, observed)
    factors = model.posterior_factors(values, observed)
    for i, (x, seen) in enumerate(zip(values, observed, strict=True)):
        share = joint(model, x, seen)
        share /= share.sum()
        expected = 0.0
        for k, p in enumerate(share):
            mean, covariance = dense(model, k)
            inverse = np.linalg.inv(covariance[np.ix_(seen, seen)])
            noiseless = covariance - np.diag(model.noise_[k])
            left = noiseless - noiseless[:, seen] @ inverse @ noiseless[seen]
            away = inverse @ (x[seen] - mean[seen])
            np.testing.assert_allclose(means[i, k], mean + noiseless[:, seen] @ away, atol=1e-9)
            np.testing.assert_allclose(
                variances[i, k], model.noise_[k] + left.diagonal(), atol=1e-9
            )
            expected = expected + p * model.loadings_[k][seen].T @ away
        np.testing.assert_allclose(shares[i], share, atol=1e-9)
        np.testing.assert_allclose(factors[i], expected, atol=1e-9)


def test_one_step_of_em_is_a_regression_on_expected_factors():
    """The step from max_iter=2 to max_iter=3, by loops over components, columns and rows."""
    prior, q = 1.5, 2
    before, values, observed = fitted(max_iter=2, tol=0.0, smoothing=prior)
    after, _, _ = fitted(max_iter=3, tol=0.0, smoothing=prior)
    base = Background.of(values, observed, "gaussian")
    shares = np.array([joint(before, x, m) for x, m in zip(values, observed, strict=True)])
    shares /= shares.sum(1, keepdims=True)
    np.testing.assert_allclose(after.weights_, (shares.sum(0) + prior) / (len(values) + 2 * prior))
    for k in range(2):
        mean, noise, loadings = before.means_[k], before.noise_[k], before.loadings_[k]
        gram = np.tile(prior * np.eye(q + 1), (len(mean), 1, 1))
        pull, squares = np.zeros((len(mean), q + 1)), prior * base.variance
        for x, seen, share in zip(values, observed, shares[:, k], strict=True):
            own = loadings[seen]
            spread = np.linalg.inv(np.eye(q) + own.T @ (own / noise[seen, None]))
            z = spread @ own.T @ ((x - mean)[seen] / noise[seen])
            second = np.block([[spread + np.outer(z, z), z[:, None]], [z[None], np.ones((1, 1))]])
            for j in np.flatnonzero(seen):
                gram[j] += share * second
                pull[j] += share * (x[j] - base.mean[j]) * np.append(z, 1.0)
                squares[j] += share * (x[j] - base.mean[j]) ** 2
        for j in range(len(mean)):
            slope = np.linalg.solve(gram[j], pull[j])
            left = (squares[j] - slope @ pull[j]) / gram[j, q, q]
            least = 0.01 * np.median(base.variance)
            np.testing.assert_allclose(after.loadings_[k, j], slope[:q], atol=1e-9)
            assert after.means_[k, j] == pytest.approx(base.mean[j] + slope[q], abs=1e-9)
            assert after.noise_[k, j] == pytest.approx(max(left, least), rel=1e-8)


def test_a_start_is_near_the_background():
    """Half the variance is noise, the factors share the other half; half way to a row each."""
    values, observed = made(d=400)
    base = Background.of(values, observed, "gaussian")
    model = FactorMixture(2, 4, max_iter=0, rng=np.random.default_rng(0)).fit(values, observed)
    np.testing.assert_allclose(model.weights_, [0.5, 0.5])
    np.testing.assert_allclose(model.noise_, [base.variance / 2] * 2)
    explained = (model.loadings_**2).sum(2) / base.variance
    assert explained.mean() == pytest.approx(0.5, rel=0.1)
    half = np.where(observed, (values + base.mean) / 2, base.mean)[observed.any(1)]
    nearest = [np.abs(half - mean).max(1).min() for mean in model.means_]
    np.testing.assert_allclose(nearest, 0.0, atol=1e-12)
    alone = FactorMixture(1, 4, max_iter=0).fit(values, observed)
    np.testing.assert_array_equal(alone.means_, base.mean[None])


def test_em_stops_when_it_gains_little():
    model, _, observed = fitted(tol=1e-3, max_iter=60)
    gains, enough = np.diff(model.history_), 1e-3 * observed.sum()
    assert gains[-1] < enough < gains[:-1].min()
    assert len(fitted(tol=-1.0, max_iter=4)[0].history_) == 5
    assert len(fitted(tol=1e9)[0].history_) == 2  # the first gain is too small


def test_a_density_without_noise_is_refused():
    model, _, _ = fitted()
    parameters = model.parameters()
    FactorMixture(2, 2).restore(model.center_, parameters)
    parameters["noise_"] = parameters["noise_"] * (
        parameters["noise_"] != parameters["noise_"][0, 0]
    )
    with pytest.raises(ValueError, match="noise"):
        FactorMixture(2, 2).restore(model.center_, parameters)
