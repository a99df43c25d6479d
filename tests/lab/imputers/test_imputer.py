"""How tables of numbers are read, scales of columns, and filled values in the form of the input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars
import pytest

from imputefree.data import remember_columns
from imputefree.errors import InputTypeError
from imputefree.lab.imputers._imputer import NumericTables, _mean_and_spread, like
from tests.lab.imputers.made import hide, low_rank
from tests.refusals import check_error


class Reader(NumericTables):
    def fit(self, X):
        values, columns = self._read_training(X)
        remember_columns(self, columns)
        return values


def test_names_are_remembered_and_forgotten():
    reader = Reader()
    reader.fit(pd.DataFrame({"a": [1.0], "b": [np.nan]}))
    assert reader.feature_names_in_.tolist() == ["a", "b"]
    reader.fit(np.zeros((2, 3)))
    assert not hasattr(reader, "feature_names_in_")
    assert reader.n_features_in_ == 3


def test_what_a_later_table_may_be():
    reader = Reader()
    reader.fit(pd.DataFrame({"a": [1.0], "b": [np.nan]}))
    np.testing.assert_array_equal(reader._read([[2, None]]), [[2.0, np.nan]])
    check_error(
        lambda: reader._read(pd.DataFrame({"b": [1.0], "a": [1.0]})),
        "they are 'b', 'a'",
        "in that order: 'a', 'b'",
    )
    check_error(lambda: reader._read(np.zeros((1, 3))), "X has 3 features, but Reader")


def test_text_is_refused_but_a_column_of_none_is_numbers():
    check_error(
        lambda: Reader().fit(pd.DataFrame({"a": [1.0], "b": ["x"]})),
        "column 'b' holds text. Reader takes numbers.",
        kind=InputTypeError,
    )
    empty = Reader().fit(pd.DataFrame({"a": [1.0], "b": pd.Categorical([None])}))
    np.testing.assert_array_equal(empty, [[1.0, np.nan]])


def test_mean_and_spread_against_numpy():
    x, _ = hide(low_rank(0, 60, 4), 0.3, 0)
    mean, spread = _mean_and_spread(x, ~np.isnan(x))
    np.testing.assert_allclose(mean, np.nanmean(x, 0), rtol=1e-12)
    np.testing.assert_allclose(spread, np.nanstd(x, 0), rtol=1e-12)


def test_complete_columns_are_returned_unchanged():
    frame = pd.DataFrame(
        {"big": [2**53 + 1, 2], "flag": [True, False], "gap": pd.array([1, None], dtype="Int64")}
    )
    filled = like(frame, np.array([[1.0, 1, 1], [2, 0, 7.5]]), frame.isna().to_numpy())
    assert filled["big"].tolist() == [2**53 + 1, 2]
    assert filled.dtypes.astype(str).tolist() == ["int64", "bool", "float64"]
    assert filled["gap"].tolist() == [1.0, 7.5]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "Float32", "Float64"])
def test_frames_keep_their_float_dtypes(dtype):
    frame = pd.DataFrame({"a": pd.array([1.0, np.nan], dtype=dtype)}, index=[5, 9])
    filled = like(frame, np.array([[1.0], [0.5]]), frame.isna().to_numpy())
    assert str(filled["a"].dtype) == dtype
    assert filled["a"].tolist() == [1.0, 0.5]
    assert filled.index.tolist() == [5, 9]


def test_polars_frames_keep_their_dtypes():
    frame = polars.DataFrame({"n": [1, 2], "x": [0.5, None]}).cast({"x": polars.Float32})
    filled = like(frame, np.array([[1.0, 0.5], [2.0, 0.25]]), np.array([[0, 0], [0, 1]], bool))
    assert filled.schema == frame.schema
    assert filled["x"].to_list() == [0.5, 0.25]


def test_a_value_too_large_for_its_dtype_is_refused():
    x = np.array([[1.0], [np.nan]], dtype=np.float16)
    check_error(
        lambda: like(x, np.array([[1.0], [1e5]]), np.isnan(x)), "1e+05, too large for float16"
    )


def test_integers_and_lists():
    x = np.array([[1, 2]])
    assert like(x, np.array([[1.0, 2.0]]), np.zeros((1, 2), bool)).dtype == x.dtype
    assert like([[1, None]], np.array([[1.0, 2.0]]), np.array([[False, True]])).dtype == float
