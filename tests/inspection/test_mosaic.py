"""Rows put together from entries of several tables keep the types of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.data import Columns, read_columns
from imputefree.errors import ImputefreeError
from imputefree.inspection._model_rows import Mosaic, read_rows


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
