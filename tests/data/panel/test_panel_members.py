"""Members of a list are matched by name, and keep numbers beside texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import read_panel
from imputefree.errors import InputTypeError
from tests.data.panel.made import NAN, check_error


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0], [3.0]],
        [np.array([1.0, 2.0]), np.array([3])],
        [pd.Series([1, 2], dtype="Int64"), pd.Series([3.0], index=[7])],
        [[[1.0], [2.0]], [3.0]],
        np.array([[1.0, 2.0], [3.0]], dtype=object),
    ],
)
def test_one_dimensional_members_are_one_column(X):
    panel = read_panel(X)
    assert panel.steps.arrays[0].tolist() == [1.0, 2.0, 3.0]
    assert panel.lengths.tolist() == [2, 1]


def test_members_mixing_numbers_and_texts_keep_both():
    panel = read_panel([[[1, "a"]], np.array([[2.5, None]], dtype=object), np.array([[3.0, NAN]])])
    assert panel.steps.arrays[0].tolist() == [1.0, 2.5, 3.0]
    assert panel.steps.arrays[1].tolist() == ["a", None, None]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_of_a_list_are_matched_by_name(make):
    X = [make({"a": [1.0], "b": ["x"]}), make({"b": ["y", None], "a": [2, 3]})]
    panel = read_panel(X)
    assert (panel.steps.names, panel.steps.named) == (["a", "b"], True)
    assert panel.steps.arrays[0].tolist() == [1.0, 2.0, 3.0]
    assert panel.steps.arrays[1].tolist() == ["x", "y", None]
    assert X[1].columns[0] == "b"  # left as it was


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.filterwarnings("error")
def test_a_column_may_be_entirely_missing_in_some_frames(make):
    X = [make({"a": [1.0], "b": [None]}), make({"a": [None], "b": ["y"]})]
    panel = read_panel(X)
    np.testing.assert_array_equal(panel.steps.arrays[0], [1.0, NAN])
    assert panel.steps.arrays[1].tolist() == [None, "y"]


def test_categories_that_differ_between_frames_stay_categories():
    X = [pd.DataFrame({"ward": pd.Categorical([one])}) for one in (3, 4)]
    panel = read_panel(X)
    assert panel.steps.declared == [True]
    assert panel.steps.arrays[0].tolist() == ["3", "4"]


def test_frames_numbered_from_zero_count_as_unnamed():
    panel = read_panel([pd.DataFrame([[1.0, 2.0]]), pd.DataFrame([[3.0, 4.0]])])
    assert (panel.steps.names, panel.steps.named) == (["0", "1"], False)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_with_other_columns_are_refused(make):
    X = [make({"a": [1.0], "b": [1.0]})] * 2 + [make({"a": [1.0], "c": [1.0]})]
    check_error(
        X,
        "series 2 has other columns than series 0: missing 'b'; not in series 0 'c'.",
        "All series must have the same columns",
        "Rename, add",
    )


def test_polars_columns_of_types_that_do_not_mix_are_refused():
    X = [pl.DataFrame({"a": [1.0]}), pl.DataFrame({"a": [["x"]]})]
    fact = "series 1 has columns of other types than series 0"
    check_error(X, fact, "of one type", ".cast(", kind=InputTypeError)


def test_members_that_are_no_series_are_refused():
    check_error([np.ones((2, 1)), 7], "series 1 of the list is a int", "(steps, columns)")
    check_error([np.ones((2, 1, 1))], "series 0 of the list is 3D", "(steps, columns)")
    check_error(["text"], "series 0 of the list is a str", "(steps, columns)")
    check_error([[[1, 2], [3]]], "series 0 cannot be read as a table", "equal length")
    check_error([[[1j]]], "Complex data not supported: series 0", kind=InputTypeError)
