"""Rows of any table or of series, for any model: picked, with entries taken away or exchanged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, RidgeClassifier

from imputefree import GILSequenceClassifier, Panel
from imputefree.data import Columns, read_columns
from imputefree.errors import ImputefreeError
from imputefree.inspection._model_rows import Mosaic, predict_rows, read_rows


def test_a_frame_keeps_its_columns_and_loses_entries():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]}, index=[5, 6, 7])
    rows = read_rows(frame)
    assert rows.names == ["a", "b"]
    assert rows.observed.tolist() == [[True, True], [True, False], [True, True]]
    fewer = rows.take([2, 0]).hidden(np.array([[False, True], [True, False]]))
    assert fewer.X.index.tolist() == [7, 5]
    assert fewer.X.isna().to_numpy().tolist() == [[True, False], [False, True]]
    assert (fewer.observed == fewer.X.notna().to_numpy()).all()
    assert frame.notna().to_numpy().sum() == 5  # the input is not changed


def test_series_lose_whole_columns():
    panel = Panel.from_list(
        [np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([[4.0, np.nan]])],
        static=pd.DataFrame({"sex": ["f", "m"]}),
    )
    rows = read_rows(panel)
    assert rows.names[-1] == "sex"
    assert rows.observed.tolist() == [[True, True, True], [True, False, True]]
    fewer = rows.take([1, 0]).hidden(np.array([[True, True, False], [False, True, True]]))
    values = np.column_stack(fewer.X.steps.arrays)
    assert np.array_equal(values, [[4, np.nan], [np.nan, np.nan], [np.nan, 3]], equal_nan=True)
    assert fewer.X.statics.arrays[0].tolist() == [None, "f"]
    assert read_rows(fewer.X).observed.tolist() == fewer.observed.tolist()


def test_a_long_frame_is_read_as_the_unfitted_estimator_says():
    frame = pd.DataFrame({"who": [1, 1, 2], "hour": [0, 1, 0], "pulse": [80.0, np.nan, np.nan]})
    rows = read_rows(frame, GILSequenceClassifier(id="who", time="hour"))
    assert rows.observed.tolist() == [[True], [False]]


def test_predictions_of_any_model():
    X = np.array([[1.0, np.nan], [2.0, 1.0], [3.0, 2.0]] * 10)
    model = HistGradientBoostingRegressor().fit(X, X[:, 0])
    assert predict_rows(model, read_rows(X)) == pytest.approx(model.predict(X))


def test_models_that_cannot_be_asked_are_refused():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ImputefreeError, match="predict_proba"):
        predict_rows(RidgeClassifier().fit(X, y), read_rows(X))
    broken = LinearRegression().fit(X, y)
    broken.coef_[0] = np.nan
    with pytest.raises(ImputefreeError, match="not finite for row 0"):
        predict_rows(broken, read_rows(X))
    with pytest.raises(ImputefreeError, match="1 dimension"):
        read_rows([1.0, 2.0])


def stock(*tables):
    return Mosaic(*map(read_rows, tables))


def columns_of(array):
    return read_columns(pd.DataFrame(array, columns=list("abcd")))


def as_array(X):
    return np.column_stack(X.arrays) if isinstance(X, Columns) else np.asarray(X)


def test_columns_of_strings_take_columns_of_gaps():
    upper, lower = pd.DataFrame({"sex": [None, None]}), pd.DataFrame({"sex": ["f", None]})
    mosaic = stock(read_columns(upper), read_columns(lower))
    assert mosaic.rows(np.array([[0], [2], [3]])).X.arrays[0].tolist() == [None, "f", None]


def test_entries_come_from_the_rows_that_are_named():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    first[rng.random(first.shape) < 0.4] = np.nan
    both, source = np.vstack([first, second]), rng.integers(8, size=(20, 4))
    expected = np.array([[both[s, j] for j, s in enumerate(row)] for row in source])
    names = list("abcd")
    for upper, lower in (
        (first, second),
        (pd.DataFrame(first, columns=names), pd.DataFrame(second, columns=names)[list("dcba")]),
        (columns_of(first), columns_of(second)),
    ):
        mosaic = stock(upper, lower)
        rows = mosaic.rows(source)
        np.testing.assert_array_equal(as_array(rows.X), expected)
        np.testing.assert_array_equal(rows.observed, ~np.isnan(expected))
        assert mosaic.starts.tolist() == [0, 3]
        np.testing.assert_array_equal(
            as_array(mosaic.rows(mosaic.start(1, np.arange(5))).X), second
        )


def test_categories_keep_their_values_and_unite():
    upper = pd.DataFrame({"code": pd.Categorical([1, 2]), "n": [1, 2]})
    lower = pd.DataFrame({"code": pd.Categorical([3, None]), "n": [3, 4]})
    X = stock(upper, lower).rows(np.array([[2, 0], [0, 3], [3, 3]])).X
    assert X["code"].cat.categories.tolist() == [1, 2, 3]
    assert X["code"].tolist()[:2] == [3, 1]
    assert X["n"].tolist() == [1, 4, 4]
    assert X["n"].dtype == np.int64


def test_a_column_without_entries_takes_the_type_of_the_others():
    gaps = pd.DataFrame({"code": [None], "n": [None]})
    rows = pd.DataFrame({"code": pd.Categorical(["a", "b"]), "n": [1.5, 2.5]})
    X = stock(gaps, rows).rows(np.array([[0, 0], [1, 2]])).X
    assert X["code"].dtype == rows["code"].dtype
    assert X["n"].dtype == np.float64
    assert X.isna().to_numpy().tolist() == [[True, True], [False, False]]


def test_numbers_and_objects_in_arrays():
    X = stock(np.array([[1.0, np.nan]]), np.array([["a", 2]], dtype=object))
    assert X.rows(np.array([[1, 1], [0, 1]])).X.tolist() == [["a", 2], [1.0, 2]]


@pytest.mark.parametrize("other", [np.ones((2, 3)), pd.DataFrame({"a": [1.0]})])
def test_tables_with_other_columns_are_refused(other):
    like = pd.DataFrame({"a": [1.0], "b": [2.0]})
    with pytest.raises(ImputefreeError) as caught:
        stock(like, other)
    assert caught.value.rule
    assert caught.value.remedy
    with pytest.raises(ImputefreeError):
        stock(np.ones((1, 2)), np.ones((1, 3)))
