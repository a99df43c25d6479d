"""GP-VAE: how well it fills, and which lengths it takes."""

from __future__ import annotations

import numpy as np

from imputefree.errors import ParameterError
from imputefree.lab.imputers._gpvae import GPVAEImputer
from tests.lab.imputers.made import hide
from tests.lab.imputers.panels import relative_error, smooth
from tests.refusals import check_error


def made(**options):
    return GPVAEImputer(**{"hidden_size": 8, "max_iter": 2, "random_state": 0, **options})


def gappy(seed=0, steps=6):
    return hide(smooth(seed, n=10, steps=steps, d=3), 0.3, seed)[0]


def test_better_than_the_mean():
    imputer = GPVAEImputer(learning_rate_init=0.01, max_iter=20, random_state=0)
    assert relative_error(imputer) < 0.6


def test_unequal_lengths_are_not_learned_from():
    words = (
        "the training series have between 2 and 6 steps. The prior of GP-VAE is over one number"
        " of steps. Cut the series to equal length, or take 'brits' or 'saits'."
    )
    x, lengths = gappy(), np.array([6, 2] * 5)
    check_error(lambda: made().fit(x, lengths=lengths), words)
    members = [one[:steps] for one, steps in zip(x, lengths, strict=True)]
    check_error(lambda: made().fit_transform(members), words)


def test_equal_lengths_below_the_width_of_the_array():
    x = gappy()
    x[:, 4:] = np.inf
    filled = made().fit_transform(x, lengths=[4] * 10)
    assert (filled[:, 4:] == np.inf).all()
    assert np.isfinite(filled[:, :4]).all()


def test_a_fitted_network_fills_any_length():
    imputer = made().fit(gappy())
    longer = gappy(1, steps=9)
    assert np.isfinite(imputer.transform(longer)).all()
    members = [longer[0], longer[1][:2], longer[2][:7]]
    for one, among in zip(members, imputer.transform(members), strict=True):
        np.testing.assert_allclose(imputer.transform([one])[0], among, rtol=1e-5)


def test_nothing_is_drawn_while_filling():
    imputer, x = made().fit(gappy()), gappy(1)
    assert np.array_equal(imputer.transform(x), imputer.transform(x))


def test_windows_of_any_width():
    for window_size in (1, 2, 8):
        assert np.isfinite(made(window_size=window_size, max_iter=1).fit_transform(gappy())).all()


def test_parameters():
    for option, value in {
        "latent_size": 0,
        "window_size": 1.5,
        "length_scale": 0,
        "beta": -1,
    }.items():
        check_error(
            lambda option=option, value=value: made(**{option: value}).fit(gappy()),
            f"{option} is {value!r}",
            kind=ParameterError,
        )
