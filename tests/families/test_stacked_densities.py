"""Many densities at once, against dense Gaussians and products in double precision."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from imputefree.families import DensityFamily, FactorMixture, Mixture, _stacked_densities

ROWS, COLUMNS, MODELS = 40, 5, 3


def made(seed=0):
    """Rows with gaps, the last one empty."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(ROWS, 1)) + rng.normal(size=(ROWS, COLUMNS))
    observed = rng.random(values.shape) > 0.4
    observed[-1] = False
    return values, observed


def analysers():
    rng = np.random.default_rng(1)
    return [
        FactorMixture(1, 2, max_iter=3, rng=rng).fit(made(seed)[0] + 3.0 * seed, made(seed)[1])
        for seed in range(MODELS)
    ]


def mixtures():
    kinds, rng = np.array(["gaussian"] * 3 + ["bernoulli", "level"]), np.random.default_rng(2)
    fitted = []
    for seed in range(MODELS):
        values, observed = made(seed)
        values[:, 3:] = values[:, 3:] > 0
        model = Mixture(seed + 2, kind=kinds, max_iter=3, rng=rng)
        fitted.append(model.fit(values, observed))
    return fitted


def dense_gaussian(model, x, seen):
    covariance = model.loadings_[0] @ model.loadings_[0].T + np.diag(model.noise_[0])
    if not seen.any():
        return 0.0
    return multivariate_normal(model.means_[0][seen], covariance[np.ix_(seen, seen)]).logpdf(
        x[seen]
    )


def product(model, x, seen):
    total = np.log(model.weights_)
    for j in np.flatnonzero(seen):
        mean, spread = model.means_[:, j], np.sqrt(model.variances_[:, j])
        kind = model.kind[j]
        if kind == "gaussian":
            total = total + norm.logpdf(x[j], mean, spread)
        else:
            off = np.log(1 - mean) if kind == "bernoulli" else 0.0
            total = total + x[j] * np.log(mean) + (1 - x[j]) * off
    return logsumexp(total)


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize(("models", "alone"), [(analysers, dense_gaussian), (mixtures, product)])
def test_each_density_is_what_it_is_alone(models, alone, small, monkeypatch):
    if small:  # a model per stack, and a row per block
        monkeypatch.setattr(_stacked_densities, "MOST_NUMBERS", 1)
        monkeypatch.setattr(_stacked_densities, "BLOCK", 1)
    values, observed = made(7)
    values[:, 3:] = values[:, 3:] > 0
    fitted = models()
    stacks = list(_stacked_densities.stacks(fitted))
    assert len(stacks) == (MODELS if small else 1)
    logs = np.hstack([stack.log_likelihoods(values, observed) for stack in stacks])
    expected = [
        [alone(model, x, seen) for model in fitted]
        for x, seen in zip(values, observed, strict=True)
    ]
    np.testing.assert_allclose(logs, expected, rtol=1e-10, atol=1e-10)


def test_pickles_do_not_hold_stacks():
    family = DensityFamily()
    family.models = {"product": mixtures(), "factors": analysers()}
    size = len(pickle.dumps(family))
    assert len(family._stacks) == 2
    assert len(pickle.dumps(family)) == size


@pytest.mark.parametrize(("models", "size"), [(mixtures, 10), (analysers, 10)])
def test_stacks_hold_numbers_of_a_bounded_size(models, size, monkeypatch):
    """Components times columns, or columns times half the squared factors: 10, 10 or 10, 15, 20."""
    fitted = models()
    sizes = [10, 15, 20] if models is mixtures else [10, 10, 10]
    for most in (9, 10, 11, 21, 25, 26, 30, 31, 45, 46):
        monkeypatch.setattr(_stacked_densities, "MOST_NUMBERS", most)
        groups = [sum(sizes[: k + 1]) // most for k in range(3)]
        found = list(_stacked_densities.stacks(fitted))
        assert len(found) == len(set(groups))
