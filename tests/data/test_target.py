"""Targets and weights of every kind, and those that are refused."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from imputefree.data._examples import (
    LARGEST_TARGET,
    read_classes,
    read_numbers,
    read_target,
    read_weights,
)
from imputefree.errors import InputTypeError
from tests.refusals import check_error


def target(y):
    return read_target(y, len(y), "GILClassifier")


def classes(y):
    return read_classes(target(y))


def numbers(y):
    return read_numbers(target(y))


@pytest.mark.parametrize(
    "y",
    [
        [3, 1, 1],
        np.array([3, 1, 1]),
        pd.Series([3, 1, 1], index=[7, 8, 9]),
        pd.Series([3, 1, 1], dtype="Int64"),
        pd.Series([3, 1, 1], dtype="int64[pyarrow]"),
        pd.Series([3, 1, 1], dtype="category"),
        pl.Series([3, 1, 1]),
    ],
)
def test_whole_numbers_of_every_kind_are_the_same_target(y):
    assert target(y).tolist() == [3, 1, 1]
    assert classes(y).tolist() == [1, 3]
    assert numbers(y).tolist() == [3.0, 1.0, 1.0]
    assert numbers(y).dtype == np.float64


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a"],
        np.array(["b", "a"], dtype=object),
        pd.Series(["b", "a"]),
        pd.Series(["b", "a"], dtype="string"),
        pd.Series(["b", "a"], dtype="category"),
        pl.Series(["b", "a"]),
        pl.Series(["b", "a"], dtype=pl.Categorical),
    ],
)
def test_strings_of_every_kind_are_the_same_classes(y):
    assert classes(y).tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", [list, np.array, pl.Series, pd.Series, pd.Series.convert_dtypes])
def test_booleans_are_classes_and_numbers(kind):
    y = kind(pd.Series([True, False]))
    assert classes(y).tolist() == [False, True]
    assert numbers(y).tolist() == [1.0, 0.0]


def test_no_target_is_refused_in_the_name_of_the_estimator():
    check_error(
        lambda: read_target(None, 2, "GILRegressor"), "GILRegressor", "y is None", "Call fit(X, y)"
    )


@pytest.mark.parametrize("y", [np.ones((2, 1)), [[1], [2]], pd.DataFrame({"y": [1, 2]})])
def test_a_column_vector_is_flattened_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert target(y).shape == (2,)


@pytest.mark.parametrize("y", [np.ones((2, 2)), np.ones((2, 1, 1))])
def test_only_one_dimension_is_a_target(y):
    check_error(
        lambda: read_target(y, 2, "E"), f"y has shape {y.shape}", "one-dimensional", "Fit one"
    )


@pytest.mark.parametrize("y", [1.0, "outcome", {"a": 1}])
def test_what_is_not_an_array_is_no_target(y):
    check_error(lambda: read_target(y, 1, "E"), f"y is a {type(y).__name__}", "Pass a list")


def test_ragged_targets_are_refused():
    check_error(lambda: target([[1], [2, 3]]), "y cannot be read", "one value per row", "Check")


def test_target_and_table_have_as_many_rows():
    check_error(
        lambda: read_target([1, 2, 3], 2, "E"), "X has 2 rows", "y has 3", "one target per row"
    )


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan, np.nan],
        [1, None, None],
        ["a", None, None],
        ["a", np.nan, pd.NA],
        pd.Series([1, None, None], dtype="Int64"),
        pd.Series(["a", None, None], dtype="category"),
        pl.Series([1, None, None]),
        pl.Series(["a", None, None]),
    ],
)
def test_gaps_in_the_target_are_refused_with_count_and_row(y):
    # A list of None beside strings must be an object array, or NumPy writes "None".
    y = np.array(y, dtype=object) if isinstance(y, list) else y
    check_error(lambda: target(y), "in 2 rows (first: row 1)", "must be known", "Drop these rows")


def test_a_list_is_not_turned_into_strings():
    check_error(lambda: target(["a", np.nan, "b"]), "in 1 row (first: row 1)", "must be known")
    check_error(lambda: classes(["a", 1]), "mixes values of the types int, str", "one kind")
    assert classes(["b", "a"]).dtype.kind == "U"


def test_infinite_targets_are_refused_with_count_and_row():
    y = [1.0, 2.0, np.inf, -np.inf]
    check_error(lambda: target(y), "infinity in 2 rows (first: row 2)", "finite", "Drop these")


def test_measurements_are_not_classes():
    check_error(lambda: classes([0.5, 1.5]), "Unknown label type: continuous", "a regressor")
    whole = np.array([1, 2], dtype=object)
    check_error(lambda: classes(whole), "dtype object and holds int", "y.astype(int)")


@pytest.mark.parametrize(
    "y",
    [
        np.array(["2020", "2021"], dtype="datetime64[Y]"),
        np.array([1, 2], dtype="timedelta64[s]"),
        [datetime.date(2020, 1, 1)] * 2,
        [{}, {}],
        [1j, 2j],
        [b"a", b"b"],
        np.array([1, 2], dtype=object),
    ],
)
def test_values_that_cannot_be_labels(y):
    check_error(lambda: classes(y), "whole numbers or booleans", "y.astype(str)")


def test_labels_of_different_kinds_are_named():
    y = np.array(["a", 1, "b"], dtype=object)
    check_error(
        lambda: classes(y), "types int, str", "of one kind", "y.astype", kind=InputTypeError
    )


@pytest.mark.parametrize(
    ("y", "odd"),
    [
        (["1", "high"], "str values such as 'high'"),
        (["1", "nan"], "str values such as 'nan'"),
        (np.array([1, 2.5, "low"], dtype=object), "str values such as 'low'"),
        ([{}, {}], "dict values such as {}"),
        ([1j, 2.0], "complex values such as 1j"),
        (np.array(["2020"], dtype="datetime64[D]"), "date values such as"),
        (np.array([1], dtype="timedelta64[s]"), "timedelta values such as"),
    ],
)
def test_a_regression_target_holds_numbers(y, odd):
    check_error(
        lambda: numbers(y), f"y holds {odd}", "must be numbers", "a classifier", kind=InputTypeError
    )


@pytest.mark.parametrize("huge", [2 * LARGEST_TARGET, -2 * LARGEST_TARGET, 10**400, np.inf])
def test_targets_whose_square_overflows_are_refused(huge):
    y = np.array([1, huge], dtype=object)
    check_error(lambda: numbers(y), "y holds values up to", "below 1e+150", "Divide y")


def test_the_largest_target_is_allowed():
    assert numbers([-LARGEST_TARGET, LARGEST_TARGET]).tolist() == [-LARGEST_TARGET, LARGEST_TARGET]


def test_weights_are_one_number_per_row():
    assert read_weights(None, 3).tolist() == [1.0, 1.0, 1.0]
    assert read_weights(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert read_weights(pd.Series([0, 1, 2]), 3).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("shape", [(2,), (3, 1), (1, 3)])
def test_weights_of_another_shape_are_refused(shape):
    check_error(
        lambda: read_weights(np.ones(shape), 3), f"shape {shape}", "one value per row: (3,)"
    )


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_weights_are_finite_and_not_negative(bad):
    check_error(
        lambda: read_weights([1.0, bad, bad], 3),
        f"sample_weight holds {bad} in 2 rows (first: row 1)",
        "finite and not negative",
        "weight 0",
    )


@pytest.mark.parametrize("weight", [["a", "b"], [[1], [2, 3]], [1j, 2], [pd.NA, 1], "x"])
def test_weights_that_are_not_numbers_are_refused(weight):
    check_error(
        lambda: read_weights(weight, 2), "sample_weight cannot be read", "one number per row"
    )


@pytest.mark.parametrize("weight", [0, [0.0, 0.0]])
def test_some_row_has_to_count(weight):
    check_error(lambda: read_weights(weight, 2), "all sample weights are zero", "non-zero")
