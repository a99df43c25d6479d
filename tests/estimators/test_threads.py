"""Same seed, same bits for any number of threads; the exceptions, and how small they are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

from imputefree import GILClassifier, GILSequenceClassifier, ImputeFreeClassifier

pytestmark = pytest.mark.slow
EXACT, ROUNDED = 0.0, 1e-5
rng = np.random.default_rng(0)


def table(rows, columns):
    X = rng.normal(size=(rows, columns))
    y = X[:, 0] + X[:, 1] + rng.normal(size=rows) > 0
    return np.where(rng.random(X.shape) < 0.2, np.nan, X), y


def series(n, steps, columns):
    X, y = table(n * steps, columns)
    return X.reshape(n, steps, columns), y[::steps]


# Sizes at which PyTorch, BLAS and LightGBM divide their work, as smaller ones show nothing.
CASES = {
    "network": (
        GILClassifier(n_members=2, max_iter=1, batch_size=1024, hidden_layer_sizes=(128, 128)),
        table(3000, 20),
        EXACT,
    ),
    "network for series": (
        GILSequenceClassifier(n_members=2, max_iter=1, batch_size=256, hidden_layer_sizes=(64,)),
        series(300, 20, 10),
        ROUNDED,
    ),
    "trees": (ImputeFreeClassifier(families=["trees"], quality="fast"), table(3000, 20), EXACT),
    "densities": (ImputeFreeClassifier(families=["density"]), table(300, 40), ROUNDED),
}


@pytest.mark.parametrize("name", CASES)
def test_threads_do_not_change_a_model(name):
    model, (X, y), tolerance = CASES[name]
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            with threadpool_limits(threads), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = model.set_params(random_state=0).fit(X, y)
                found.append(fitted.predict_proba(X))
    finally:
        torch.set_num_threads(before)
    if tolerance == EXACT:
        np.testing.assert_array_equal(*found)
    else:
        np.testing.assert_allclose(*found, atol=tolerance, rtol=0)
