"""MixtureImputer: observed entries stay, gaps get the posterior mean in the column's own units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import InputError, InputTypeError, ParameterError
from imputefree.lab.imputers._mixture import MixtureImputer, choose_components, choose_kind, prepare
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


@pytest.mark.parametrize(("gappy", "full"), [(X, FULL), (GAPPY, BITS)])
class TestContract:
    def test_observed_entries_stay_and_no_gap_is_left(self, gappy, full):
        filled = MixtureImputer(random_state=0).fit_transform(gappy)
        seen = ~np.isnan(gappy)
        np.testing.assert_array_equal(filled[seen], gappy[seen])
        assert np.isfinite(filled).all()

    def test_beats_the_mean(self, gappy, full):
        filled = MixtureImputer(n_components=3, random_state=0).fit_transform(gappy)
        means = np.broadcast_to(np.nanmean(gappy, 0), gappy.shape)
        ratio = error(filled, full, np.isnan(gappy)) / error(means, full, np.isnan(gappy))
        assert ratio < (0.6 if gappy is X else 0.9)

    def test_same_seed_same_output(self, gappy, full):
        first = MixtureImputer(random_state=3).fit_transform(gappy)
        np.testing.assert_array_equal(first, MixtureImputer(random_state=3).fit_transform(gappy))

    def test_row_by_row_equals_all_at_once(self, gappy, full):
        model = MixtureImputer(random_state=0).fit(gappy[:200])
        rows = np.concatenate([model.transform(gappy[i : i + 1]) for i in range(200, 230)])
        np.testing.assert_allclose(rows, model.transform(gappy[200:230]), rtol=1e-5, atol=1e-6)

    def test_a_column_without_entries_is_kept_and_filled_with_zero(self, gappy, full):
        gappy = gappy.copy()
        gappy[:, 1] = np.nan
        filled = MixtureImputer(random_state=0).fit_transform(gappy)
        assert filled.shape == gappy.shape
        assert (filled[:, 1] == 0).all()


def test_gap_gets_the_posterior_mean_in_own_units():
    model = MixtureImputer(random_state=0).fit(X)
    scaled = (X - model.mean_) / model.spread_
    seen = ~np.isnan(X)
    expected = model.mixture_.posterior_mean(np.where(seen, scaled, 0.0), seen)
    expected = expected * model.spread_ + model.mean_
    np.testing.assert_allclose(model.transform(X)[~seen], expected[~seen])


def test_units_do_not_matter():
    unit = np.array([1e-6, 1.0, 1e6, -4.0])
    plain = MixtureImputer(random_state=0, kind="gaussian").fit_transform(X)
    other = MixtureImputer(random_state=0, kind="gaussian").fit_transform(X * unit)
    np.testing.assert_allclose(other / unit, plain, rtol=1e-6)


def test_frames_and_narrow_floats():
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(300) * 2)
    filled = MixtureImputer(random_state=0).fit_transform(frame)
    assert list(filled.columns) == list("abcd")
    assert filled.index.equals(frame.index)
    np.testing.assert_array_equal(filled, MixtureImputer(random_state=0).fit_transform(X))
    assert MixtureImputer().fit_transform(X.astype(np.float32)).dtype == np.float32


def test_kind_is_chosen_by_the_range_of_observed_entries():
    assert MixtureImputer(random_state=0).fit(X).kind_ == "gaussian"
    assert MixtureImputer(random_state=0).fit(GAPPY).kind_ == "bernoulli"
    assert MixtureImputer(kind="gaussian", random_state=0).fit(GAPPY).kind_ == "gaussian"
    values, seen = np.array([[0.5, 2.0]]), np.array([[True, False]])
    assert choose_kind("auto", values, seen) == "bernoulli"
    assert choose_kind("auto", -values, ~seen) == "gaussian"


def test_bernoulli_refuses_other_numbers_in_training_and_bends_them_later():
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


def test_components_follow_the_entries():
    assert choose_components("auto", np.zeros((10, 3), dtype=bool)) == 1
    few, many = np.ones((400, 3), dtype=bool), np.ones((10**5, 3), dtype=bool)
    assert choose_components("auto", few) < choose_components("auto", many) == 60
    assert choose_components(7, few) == 7


def test_far_values_stay_finite():
    assert np.isfinite(prepare(np.array([[1e308, -1e308]]), "gaussian", 0.0, 1e-5)).all()
    with_outlier = X.copy()
    with_outlier[0] = 1e9
    assert np.isfinite(MixtureImputer(random_state=0).fit_transform(with_outlier)).all()


def test_text_is_refused():
    frame = pd.DataFrame({"dose": [1.0, None], "ward": ["a", "b"]})
    check_error(lambda: MixtureImputer().fit(frame), "'ward' holds text", kind=InputTypeError)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("n_components", "many"),
        ("n_components", 2.5),
        ("kind", "poisson"),
        ("smoothing", 0.0),
        ("smoothing", float("nan")),
        ("max_iter", 0),
        ("tol", -1.0),
        ("n_members", 0),
        ("random_state", "seed"),
    ],
)
def test_parameters_outside_their_values(name, value):
    check_error(
        lambda: MixtureImputer(**{name: value}).fit(X),
        *(f"{name} is {value!r}", "It must be"),
        kind=ParameterError,
    )


def test_more_components_than_rows():
    filled = MixtureImputer(n_components=50, random_state=0).fit_transform(X[:10])
    assert np.isfinite(filled).all()


def test_other_columns_are_refused():
    model = MixtureImputer(random_state=0).fit(X)
    check_error(
        lambda: model.transform(X[:, :2]), "X has 2 features", "expecting 4", kind=InputError
    )
