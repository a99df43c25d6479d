"""GP-VAE on tables: the series it is given, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.errors import ParameterError
from imputefree.lab.imputers import make_imputer
from imputefree.lab.imputers._gpvae import GPVAEImputer
from tests.lab.imputers.made import hide, low_rank
from tests.refusals import check_error

QUICK = {"max_iter": 2, "hidden_size": 8, "random_state": 0}


def test_is_gpvae_on_the_lines_of_an_image():
    """Filled entries are those of GP-VAE on the same values, cut into steps by hand."""
    x, _ = hide(low_rank(0, 30, 6), 0.3, 0)
    imputer = make_imputer("gpvae_rows", n_steps=3, **QUICK)
    filled = imputer.fit_transform(x)
    seed = imputer.imputer_.random_state
    by_hand = GPVAEImputer(**QUICK | {"random_state": seed}).fit_transform(x.reshape(30, 3, 2))
    np.testing.assert_allclose(filled, by_hand.reshape(30, 6), rtol=1e-12)


def test_a_width_that_is_no_multiple_is_padded():
    x, _ = hide(low_rank(0, 30, 5), 0.3, 0)
    imputer = make_imputer("gpvae_rows", n_steps=2, **QUICK).fit(x)
    assert imputer.imputer_.n_features_in_ == 3
    filled = imputer.transform(x)
    assert filled.shape == x.shape
    assert np.isfinite(filled).all()


def test_learns():
    """Better than the mean on low-rank data."""
    truth = low_rank(0, 300, 8)
    x, gaps = hide(truth, 0.3, 0)
    options = {"n_steps": 1, "hidden_size": 32, "max_iter": 100, "random_state": 0}
    errors = {
        name: np.sqrt(np.mean((make_imputer(name, **given).fit_transform(x) - truth)[gaps] ** 2))
        for name, given in {"gpvae_rows": options, "mean": {}}.items()
    }
    assert errors["gpvae_rows"] < 0.8 * errors["mean"]


@pytest.mark.parametrize("n_steps", [0, 1.5, None])
def test_steps_must_be_a_number(n_steps):
    x, _ = hide(low_rank(0, 30, 4), 0.3, 0)
    imputer = make_imputer("gpvae_rows", n_steps=n_steps, **QUICK)
    check_error(lambda: imputer.fit(x), "n_steps", kind=ParameterError)
