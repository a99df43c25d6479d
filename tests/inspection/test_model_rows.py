"""Rows of any table or of series, for any model: picked, with entries taken away, predicted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, RidgeClassifier

from imputefree import GILSequenceClassifier, Panel
from imputefree.errors import ImputefreeError
from imputefree.inspection._model_rows import predict_rows, read_rows


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
