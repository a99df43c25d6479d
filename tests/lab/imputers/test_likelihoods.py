"""Densities of the decoder against scipy's, in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import special, stats

from imputefree.lab.imputers._likelihoods import (
    LEAST_DEGREES,
    LEAST_SCALE,
    LIKELIHOODS,
    log_gamma_ratio,
)

rng = np.random.default_rng(0)
VALUES = rng.normal(size=(4, 5)) * 3


def softplus(x):
    return np.logaddexp(0, x)


def given(name):
    likelihood = LIKELIHOODS[name]()
    raw = rng.normal(size=(4, likelihood.outputs, 5)) * 2
    return likelihood, raw


def test_gaussian():
    likelihood, raw = given("gaussian")
    expected = stats.norm.logpdf(VALUES, raw[:, 0], softplus(raw[:, 1]) + LEAST_SCALE)
    found = likelihood.log_density(torch.from_numpy(raw), torch.from_numpy(VALUES))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(likelihood.mean(torch.from_numpy(raw)), raw[:, 0])


def test_student():
    likelihood, raw = given("student")
    degrees = softplus(raw[:, 2]) + LEAST_DEGREES
    expected = stats.t.logpdf(VALUES, degrees, raw[:, 0], softplus(raw[:, 1]) + LEAST_SCALE)
    found = likelihood.log_density(torch.from_numpy(raw), torch.from_numpy(VALUES))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_array_equal(likelihood.mean(torch.from_numpy(raw)), raw[:, 0])


def test_bernoulli():
    likelihood, raw = given("bernoulli")
    chance = special.expit(raw[:, 0])
    binary = (VALUES > 0).astype(float)
    found = likelihood.log_density(torch.from_numpy(raw), torch.from_numpy(binary))
    np.testing.assert_allclose(found, stats.bernoulli.logpmf(binary, chance), rtol=1e-9)
    np.testing.assert_allclose(likelihood.mean(torch.from_numpy(raw)), chance, rtol=1e-12)


@pytest.mark.parametrize("degrees", [3.0, 3.3, 5.0, 17.0, 1e3, 1e6])
def test_the_series_of_gamma_functions(degrees):
    expected = special.gammaln((degrees + 1) / 2) - special.gammaln(degrees / 2)
    found = log_gamma_ratio(torch.tensor(degrees, dtype=torch.float64))
    assert float(found) == pytest.approx(expected, abs=4e-7)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_extreme_outputs_stay_finite_in_float32(name):
    likelihood = LIKELIHOODS[name]()
    raw = torch.tensor([-100.0, 100.0]).repeat(likelihood.outputs, 1).requires_grad_()
    values = torch.tensor([1.0, 0.0])
    density = likelihood.log_density(raw, values)
    density.sum().backward()
    assert density.isfinite().all()
    assert raw.grad.isfinite().all()
