"""The imputer: units, kinds of columns and how many components there are."""

from __future__ import annotations

import numpy as np

from imputefree.lab.imputers._em import MixtureImputer, choose_components, choose_kind
from tests.refusals import check_error

rng = np.random.default_rng(0)
GROUP = rng.integers(0, 3, 300)
CENTRES = np.array([[0.0, 10.0, 500.0, -3.0], [5.0, 0.0, 100.0, -3.0], [9.0, 20.0, 100.0, 4.0]])
FULL = CENTRES[GROUP] + rng.normal(size=(300, 4)) * [0.5, 1.0, 20.0, 0.3]
X = np.where(rng.random(FULL.shape) < 0.3, np.nan, FULL)
BITS = (rng.random((300, 8)) < np.where(GROUP[:, None] == np.arange(8) % 3, 0.9, 0.1)).astype(float)
GAPPY = np.where(rng.random(BITS.shape) < 0.3, np.nan, BITS)


def error(filled, full, gaps):
    return np.sqrt((((filled - full) / full.std(0))[gaps] ** 2).mean())


def test_gaps_get_the_posterior_mean_in_units_of_the_data():
    model = MixtureImputer(random_state=0).fit(X)
    scaled = (X - model.mean_) / model.spread_
    seen = ~np.isnan(X)
    expected = model.mixture_.posterior_mean(np.where(seen, scaled, 0.0), seen)
    expected = expected * model.spread_ + model.mean_
    np.testing.assert_allclose(model.transform(X)[~seen], expected[~seen])


def test_kind_is_chosen_by_the_range_of_observed_entries():
    assert MixtureImputer(random_state=0).fit(X).kind_ == "gaussian"
    assert MixtureImputer(random_state=0).fit(GAPPY).kind_ == "bernoulli"
    assert MixtureImputer(kind="gaussian", random_state=0).fit(GAPPY).kind_ == "gaussian"
    values, seen = np.array([[0.5, 2.0]]), np.array([[True, False]])
    assert choose_kind("auto", values, seen) == "bernoulli"
    assert choose_kind("auto", -values, ~seen) == "gaussian"


def test_bernoulli_refuses_other_numbers_in_training_and_clips_them_later():
    check_error(
        lambda: MixtureImputer(kind="bernoulli").fit([[0.5, 1.0], [0.1, 1.5]]),
        *("kind is 'bernoulli'", "column 1 holds 1.5 (row 1)", "[0, 1]"),
    )
    model = MixtureImputer(random_state=0).fit(GAPPY)
    beyond, at = np.full((1, 8), np.nan), np.full((1, 8), np.nan)
    beyond[0, 0], at[0, 0] = 7.0, 1.0
    filled = model.transform(beyond)
    assert filled[0, 0] == 7.0
    np.testing.assert_array_equal(filled[0, 1:], model.transform(at)[0, 1:])


def test_more_entries_more_components():
    assert choose_components("auto", np.zeros((10, 3), dtype=bool)) == 1
    few, many = np.ones((400, 3), dtype=bool), np.ones((10**5, 3), dtype=bool)
    assert choose_components("auto", few) < choose_components("auto", many) == 60
    assert choose_components(7, few) == 7
