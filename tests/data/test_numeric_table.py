from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.data import NumericTables
from imputefree.errors import InputTypeError
from tests.refusals import check_error


class Reader(NumericTables):
    def fit(self, X):
        values, columns = self._read_training(X)
        self._remember(columns)
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


def test_text_is_named_but_a_column_of_none_is_numbers():
    check_error(
        lambda: Reader().fit(pd.DataFrame({"a": [1.0], "b": ["x"]})),
        "column 'b' holds text. Reader takes numbers.",
        kind=InputTypeError,
    )
    empty = Reader().fit(pd.DataFrame({"a": [1.0], "b": pd.Categorical([None])}))
    np.testing.assert_array_equal(empty, [[1.0, np.nan]])
