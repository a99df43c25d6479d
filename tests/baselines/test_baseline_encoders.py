"""Tables as numbers: gaps stay, categories get numbers, training rows alone decide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.baselines._baseline_encoders import LinearEncoder, TreeEncoder
from imputefree.data import read_columns
from imputefree.errors import UnseenCategoryWarning
from tests.refusals import check_error

FRAME = pd.DataFrame(
    {
        "age": [20.0, np.nan, 40.0, 60.0],
        "sex": ["m", "f", None, "m"],
        "empty": [np.nan] * 4,
        "same": [3.0] * 4,
    }
)


def test_unseen_categories_are_missing_and_order_does_not_matter():
    table = TreeEncoder().fit(read_columns(FRAME))
    new = FRAME.assign(sex=["x", "m", "f", None])[["sex", "same", "age", "empty"]]
    with pytest.warns(UnseenCategoryWarning, match="'sex': 'x'"):
        actual = table.as_numbers(read_columns(new))
    np.testing.assert_array_equal(actual[:, 1], [np.nan, 1, 0, np.nan])
    np.testing.assert_array_equal(actual[:, 0], FRAME["age"])


def test_rare_categories_share_a_number():
    strings = ["a", "a", "b", "b", "c", "d"]
    table = TreeEncoder().fit(read_columns(pd.DataFrame({"x": strings})))
    actual = table.as_numbers(read_columns(pd.DataFrame({"x": strings})))
    np.testing.assert_array_equal(actual[:, 0], [0, 0, 1, 1, 2, 2])


def test_hundreds_of_categories_fit_every_library():
    strings = [f"level {i % 300}" for i in range(900)]
    table = TreeEncoder().fit(read_columns(pd.DataFrame({"x": strings})))
    assert table.as_numbers(read_columns(pd.DataFrame({"x": strings}))).max() < 255


def test_a_category_without_a_single_entry():
    frame = FRAME.assign(sex=pd.Categorical([None] * 4))
    table = TreeEncoder().fit(read_columns(frame))
    assert np.isnan(table.as_numbers(read_columns(frame))[:, 1]).all()
    assert LinearEncoder().fit(read_columns(frame)).as_numbers(read_columns(frame)).shape[0] == 4


def test_linear_models_see_standard_deviations_on_a_straight_line():
    rng = np.random.default_rng(0)
    values = rng.normal(50, 7, (200, 1))
    values[:20] = np.nan
    table = LinearEncoder().fit(read_columns(values))
    actual = table.as_numbers(read_columns(values))
    expected = (values - np.nanmean(values)) / np.nanstd(values)
    np.testing.assert_allclose(actual[20:, 0], expected[20:, 0], rtol=1e-9)
    np.testing.assert_array_equal(actual[:20], np.tile([0.0, 1.0], (20, 1)))  # mean, "missing"


@pytest.mark.parametrize("size", [1e-300, 1e300, 1.7e308])
@pytest.mark.parametrize("kind", [TreeEncoder, LinearEncoder])
def test_extreme_values_stay_numbers(kind, size):
    values = np.array([[size], [-size], [0.0], [np.nan]])
    table = kind().fit(read_columns(values))
    actual = table.as_numbers(read_columns(values))
    assert not np.isinf(actual).any()
    assert np.isfinite(actual[:3].astype(np.float32)).all()


def test_refusals():
    table = TreeEncoder(owner="SomeModel").fit(read_columns(FRAME))
    text = FRAME.assign(age=["old", "young", None, "old"])
    check_error(lambda: table.as_numbers(read_columns(text)), "column 'age' holds text", "'old'")
    check_error(lambda: table.arranged(read_columns(text)), "column 'age' holds text", "'old'")
    check_error(
        lambda: table.as_numbers(read_columns(FRAME.drop(columns="age"))), "missing now 'age'"
    )
    check_error(
        lambda: table.as_numbers(read_columns(np.zeros((2, 3)))), "X has 3 features, but SomeModel"
    )
