"""Series one by one: lists of unequal lengths, and nested frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.data import Layout, read_panel
from imputefree.errors import InputTypeError
from tests.data.panel.made import NAN, check_error


def test_members_of_a_list_may_be_of_unequal_length():
    panel = read_panel([np.ones((2, 2)), [[2, None]], np.full((3, 2), 3.0)])
    assert panel.lengths.tolist() == [2, 1, 3]
    assert panel.times.tolist() == [0, 1, 0, 0, 1, 2]
    np.testing.assert_array_equal(panel.steps.arrays[1], [1, 1, NAN, 3, 3, 3])
    assert panel.width == 3


def test_members_with_other_numbers_of_columns_are_refused():
    X = [np.ones((2, 3)), np.ones((2, 3)), np.ones((1, 2))]
    check_error(X, "series 2 has 2 columns while series 0 has 3", "same columns", "NaN")


def test_lists_of_mixed_kinds_are_refused():
    X = [np.ones((2, 1)), pd.DataFrame({"a": [1.0]})]
    fact = "series 1 is a pandas DataFrame while series 0 is an array"
    check_error(X, fact, "of one kind", "Convert all", kind=InputTypeError)


def test_nested_frames_may_hold_series_of_unequal_length_static_and_label_columns():
    X = pd.DataFrame(
        {
            "hr": [pd.Series([1.0, NAN]), pd.Series([3], dtype="Int64")],
            "rhythm": [pd.Series(["a", None]), pd.Series(["b"])],
            "age": [60, NAN],
            "died": [0, 1],
        },
        index=["p", "q"],
    )
    panel = read_panel(X, Layout(static=("age",), apart=("died",)))
    assert panel.lengths.tolist() == [2, 1]
    assert not panel.keyed
    np.testing.assert_array_equal(panel.steps.arrays[0], [1.0, NAN, 3.0])
    assert panel.steps.arrays[1].tolist() == ["a", None, "b"]
    np.testing.assert_array_equal(panel.statics.arrays[0], [60, NAN])
    assert panel.apart["died"].tolist() == [0, 0, 1]


def test_nested_cells_that_do_not_fit_are_refused():
    one, two = pd.Series([1.0]), pd.Series([1.0, 2.0])
    check_error(
        pd.DataFrame({"a": [two, two], "b": [two, one]}),
        "series 1 has 1 steps in column 'b' and 2 in 'a'",
        "equal length",
        "Put NaN",
    )
    check_error(
        pd.DataFrame({"a": [two, two], "age": [60, 61]}),
        "column 'age' of series 0 holds a value of type int",
        "all cells are pd.Series",
        "static=",
        kind=InputTypeError,
    )
    fact = "column 'a' of series 0 holds a value of type float"
    check_error(pd.DataFrame({"a": [NAN, two]}), fact, kind=InputTypeError)
    check_error(pd.DataFrame({"a": [one, one.iloc[:0]]}), "series 1 is empty")
    early, late = (pd.Series([1.0], index=pd.DatetimeIndex([day])) for day in ("2020", "2021"))
    fact = "series 0 has other times in column 'b' than in 'a'"
    check_error(pd.DataFrame({"a": [early], "b": [late]}), fact, "share their times", "Reindex")


def test_nested_frames_without_a_column_of_values_are_refused():
    X = pd.DataFrame({"a": [pd.Series([1.0, 2.0])]})
    fact = "X has no column of values (columns: 'a')"
    check_error(X, fact, "at least one value", layout=Layout(apart=("a",)))
