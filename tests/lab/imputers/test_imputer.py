"""What the base promises whatever the method: scales, state, randomness, scikit-learn's manners."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from imputefree.errors import ParameterError
from imputefree.lab.imputers import make_imputer
from imputefree.lab.imputers._imputer import _mean_and_spread
from tests.lab.imputers.made import hide, low_rank

QUICK = {
    "gain": {"max_steps": 200},
    "miwae": {"max_steps": 200, "n_imputation": 20},
    "missforest": {"n_estimators": 10, "max_iter": 2},
}
TABLES = ["zero", "mean", "knn", "mice", "missforest", "em", "mixture", "gain", "miwae"]


def make(name):
    return make_imputer(name, random_state=0, **QUICK.get(name, {}))


def test_mean_and_spread_against_numpy():
    x, _ = hide(low_rank(0, 60, 4), 0.3, 0)
    mean, spread = _mean_and_spread(x, ~np.isnan(x))
    np.testing.assert_allclose(mean, np.nanmean(x, 0), rtol=1e-12)
    np.testing.assert_allclose(spread, np.nanstd(x, 0), rtol=1e-12)


@pytest.mark.parametrize("name", ["knn", "mice", "missforest", "em", "gain", "miwae"])
@pytest.mark.parametrize("unit", [2.0**-100, 2.0**500])
def test_units_do_not_matter(name, unit):
    """Powers of two, so that not even a rounding differs."""
    x, _ = hide(low_rank(0, 60, 4), 0.3, 0)
    ordinary = make(name).fit_transform(x)
    np.testing.assert_allclose(make(name).fit_transform(x * unit), ordinary * unit, rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in TABLES if name != "zero"])
def test_one_wild_entry_spoils_nothing(name):
    x, _ = hide(low_rank(0, 60, 4), 0.3, 0)
    imputer = make(name).fit(x)
    wild = np.vstack([x[:5], [1e200, np.nan, 0.0, 0.0]])
    filled = imputer.transform(wild)
    assert np.isfinite(filled).all()
    np.testing.assert_allclose(filled[:5], imputer.transform(x[:5]), rtol=1e-5, atol=1e-6)
    x[0, 0] = 1e300
    assert np.isfinite(make(name).fit_transform(x)).all()


@pytest.mark.parametrize("name", ["em", "mice", "gain", "miwae", "mixture", "knn"])
def test_a_failed_fit_changes_nothing(name):
    x, _ = hide(low_rank(0, 60, 4), 0.3, 0)
    wrong = {"knn": {"n_neighbors": 0}, "gain": {"max_steps": 0}, "miwae": {"max_steps": 0}}
    imputer = make(name).fit(x)
    before = imputer.transform(x)
    right = {key: getattr(imputer, key) for key in wrong.get(name, {"max_iter": 0})}
    imputer.set_params(**wrong.get(name, {"max_iter": 0}))
    with pytest.raises(ParameterError):
        imputer.fit(100 * x + 1000)
    np.testing.assert_array_equal(imputer.set_params(**right).transform(x), before)


@pytest.mark.parametrize("name", TABLES)
def test_without_a_seed_the_global_generator_stays_where_it_was(name):
    x, _ = hide(low_rank(0, 60, 4), 0.3, 0)
    before = np.random.get_state()  # noqa: NPY002
    make(name).set_params(random_state=None).fit_transform(x)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2]
    assert (before[1] == after[1]).all()


def test_it_fits_into_pipelines():
    x, _ = hide(low_rank(0, 60, 4), 0.3, 0)
    frame = pd.DataFrame(x, columns=list("abcd"))
    y = np.arange(60) % 2
    pipeline = make_pipeline(make_imputer("em"), LogisticRegression())
    assert pipeline.fit(frame, y).predict(frame).shape == (60,)
    columns = make_column_transformer((make_imputer("mean"), ["a", "c"]))
    assert columns.fit(frame).get_feature_names_out().tolist() == [
        "meanimputer__a",
        "meanimputer__c",
    ]
    shown = make_imputer("mean").set_output(transform="pandas").fit(frame).transform(frame)
    assert list(shown) == list("abcd")
