"""MIWAE: densities against scipy, bound and conditional mean against exact linear models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import special, stats
from torch import nn

from imputefree.lab.imputers import _deep_imputers
from imputefree.lab.imputers._deep_imputers import (
    LEAST_DEGREES,
    LEAST_SCALE,
    LIKELIHOODS,
    MIWAE,
    Autoencoder,
    Gaussian,
    bound,
    conditional_mean,
    log_gamma_ratio,
)
from tests.lab.imputers.made import hide, low_rank

QUICK = {"max_steps": 60, "check_every": 20, "n_importance": 3, "n_imputation": 20}
NOISE_SCALE = 0.7  # of the linear model's entries


def inverse_softplus(x):
    return np.log(np.expm1(x))


def linear(weight, bias):
    layer = nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight))
        layer.bias.copy_(torch.from_numpy(bias))
    return layer


class Linear:
    """x = W z + b + noise in NumPy, and as an Autoencoder with some encoder."""

    def __init__(self, d, k, seed=0):
        rng = np.random.default_rng(seed)
        self.W, self.b = rng.normal(size=(d, k)), rng.normal(size=d)
        self.d, self.k = d, k
        self.encoder_weight = 0.1 * rng.normal(size=(k, 2 * d))
        self.encoder_scale = np.full(k, 1.2)  # wide: weights are bounded

    def autoencoder(self):
        decoder = linear(
            np.vstack([self.W, np.zeros((self.d, self.k))]),
            np.r_[self.b, np.full(self.d, inverse_softplus(NOISE_SCALE - LEAST_SCALE))],
        )
        encoder = linear(
            np.vstack([self.encoder_weight, np.zeros((self.k, 2 * self.d))]),
            np.r_[np.zeros(self.k), inverse_softplus(self.encoder_scale - 1e-3)],
        )
        return Autoencoder(encoder, decoder, Gaussian())

    def log_likelihood(self, x, seen):
        cover = self.W @ self.W.T + NOISE_SCALE**2 * np.eye(self.d)
        return stats.multivariate_normal.logpdf(x[seen], self.b[seen], cover[np.ix_(seen, seen)])

    def expected(self, x, seen):
        cover = self.W @ self.W.T + NOISE_SCALE**2 * np.eye(self.d)
        gain = cover[:, seen] @ np.linalg.inv(cover[np.ix_(seen, seen)])
        return self.b + gain @ (x[seen] - self.b[seen])


MODEL = Linear(d=4, k=2)
X = np.random.default_rng(1).normal(size=(3, 4))
M = np.array([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1]], dtype=float)


def weigh(model, noise):
    x, m = torch.from_numpy(X * M), torch.from_numpy(M)
    return model.autoencoder()(x, m, torch.from_numpy(noise))[0].detach()


def test_with_one_sample_the_bound_is_the_elbo():
    noise = np.random.default_rng(2).normal(size=(1, 3, 2))
    actual = bound(weigh(MODEL, noise))
    for i in range(3):
        center = MODEL.encoder_weight @ np.r_[X[i] * M[i], M[i]]
        z = center + MODEL.encoder_scale * noise[0, i]
        seen = M[i] > 0
        fit = stats.norm.logpdf(X[i], MODEL.W @ z + MODEL.b, NOISE_SCALE)[seen].sum()
        prior = stats.norm.logpdf(z).sum()
        encoded = stats.norm.logpdf(z, center, MODEL.encoder_scale).sum()
        assert float(actual[i]) == pytest.approx(fit + prior - encoded, abs=1e-10)


def test_with_many_samples_the_bound_is_the_likelihood_of_observed_entries():
    noise = np.random.default_rng(3).normal(size=(200_000, 3, 2))
    actual = bound(weigh(MODEL, noise))
    exact = [MODEL.log_likelihood(X[i], M[i] > 0) for i in range(3)]
    np.testing.assert_allclose(actual, exact, atol=0.01)


def test_more_samples_tighten_the_bound():
    noise = np.random.default_rng(4).normal(size=(20_000, 3, 2))
    weights = weigh(MODEL, noise).reshape(-1, 10, 3)  # 2,000 estimates with K = 10
    ten, one = bound(weights.transpose(0, 1)).mean(0), weights.mean((0, 1))
    exact = np.array([MODEL.log_likelihood(X[i], M[i] > 0) for i in range(3)])
    assert (one.numpy() < ten.numpy()).all()
    assert (ten.numpy() < exact + 0.02).all()


def test_with_the_exact_posterior_one_sample_is_enough():
    model = Linear(d=3, k=1)
    precision = 1 + (model.W**2).sum() / NOISE_SCALE**2
    model.encoder_scale = np.array([precision**-0.5])
    reader = model.W.T / NOISE_SCALE**2 / precision
    model.encoder_weight = np.hstack([reader, -reader * model.b])  # the mask is 1: a bias
    x = np.random.default_rng(5).normal(size=(2, 3))
    noise = torch.from_numpy(np.random.default_rng(6).normal(size=(1, 2, 1)))
    net, ones = model.autoencoder(), torch.ones(2, 3, dtype=torch.float64)
    actual = bound(net(torch.from_numpy(x), ones, noise)[0].detach())
    exact = [model.log_likelihood(row, np.ones(3, dtype=bool)) for row in x]
    np.testing.assert_allclose(actual, exact, atol=1e-9)


def impute(model, noise):
    return conditional_mean(
        model.autoencoder(), torch.from_numpy(X * M), torch.from_numpy(M), torch.from_numpy(noise)
    )


def test_the_imputation_is_the_conditional_mean():
    noise = np.random.default_rng(7).normal(size=(100_000, 2))
    exact = np.array([MODEL.expected(X[i], M[i] > 0) for i in range(3)])
    gaps = M == 0
    np.testing.assert_allclose(impute(MODEL, noise).numpy()[gaps], exact[gaps], atol=0.01)


def test_weights_are_normalised_by_their_sum():
    noise = np.random.default_rng(8).normal(size=(40, 2))
    x, m = torch.from_numpy(X * M), torch.from_numpy(M)
    log_weights, raw = MODEL.autoencoder()(x, m, torch.from_numpy(noise)[:, None])
    shares = np.exp(log_weights.detach().numpy() - log_weights.detach().numpy().max(0))
    shares /= shares.sum(0)
    expected = (shares[..., None] * raw.detach().numpy()[:, :, 0]).sum(0)
    np.testing.assert_allclose(impute(MODEL, noise), expected, rtol=1e-10)


@pytest.mark.parametrize("cells", [1, 70, 500])
def test_chunks_do_not_change_the_result(monkeypatch, cells):
    noise = np.random.default_rng(9).normal(size=(333, 2))
    whole = impute(MODEL, noise)
    monkeypatch.setattr(_deep_imputers, "CELLS_AT_ONCE", cells)
    np.testing.assert_allclose(impute(MODEL, noise), whole, rtol=1e-10)


@pytest.mark.parametrize("decoder", ["student", "gaussian", "bernoulli"])
def test_every_decoder_keeps_the_contract(decoder):
    table, _ = hide(low_rank(0, n=80, d=5), 0.4, 0)
    table[3], table[:, 2] = np.nan, np.nan  # a row and a column without an entry
    filled = MIWAE(decoder=decoder, random_state=0, **QUICK).fit_transform(table)
    seen = ~np.isnan(table)
    np.testing.assert_array_equal(filled[seen], table[seen])
    assert np.isfinite(filled).all()
    assert (filled[:, 2] == 0).all()


rng = np.random.default_rng(0)
VALUES = rng.normal(size=(4, 5)) * 3


def softplus(x):
    return np.logaddexp(0, x)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_densities_are_scipys(name):
    likelihood = LIKELIHOODS[name]()
    raw = rng.normal(size=(4, likelihood.outputs, 5)) * 2
    values, mean = VALUES, raw[:, 0]
    scale = softplus(raw[:, 1 % likelihood.outputs]) + LEAST_SCALE
    if name == "gaussian":
        expected = stats.norm.logpdf(values, mean, scale)
    elif name == "student":
        expected = stats.t.logpdf(values, softplus(raw[:, 2]) + LEAST_DEGREES, mean, scale)
    else:
        values, mean = (VALUES > 0).astype(float), special.expit(mean)
        expected = stats.bernoulli.logpmf(values, mean)
    actual = likelihood.log_density(torch.from_numpy(raw), torch.from_numpy(values))
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-6 * (name == "student"))
    np.testing.assert_allclose(likelihood.mean(torch.from_numpy(raw)), mean, rtol=1e-12)


@pytest.mark.parametrize("degrees", [3.0, 3.3, 5.0, 17.0, 1e3, 1e6])
def test_log_gamma_ratio(degrees):
    expected = special.gammaln((degrees + 1) / 2) - special.gammaln(degrees / 2)
    actual = log_gamma_ratio(torch.tensor(degrees, dtype=torch.float64))
    assert float(actual) == pytest.approx(expected, abs=4e-7)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_extreme_outputs_stay_finite_in_float32(name):
    likelihood = LIKELIHOODS[name]()
    raw = torch.tensor([-100.0, 100.0]).repeat(likelihood.outputs, 1).requires_grad_()
    values = torch.tensor([1.0, 0.0])
    density = likelihood.log_density(raw, values)
    density.sum().backward()
    assert density.isfinite().all()
    assert raw.grad.isfinite().all()
