"""Series from arrays, lists and nested frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Layout, Panel, read_panel
from imputefree.errors import InputError, InputTypeError
from tests.data.panel_formats import NAN, VALUES, check_error, made, matrix

DAY = pd.Timestamp("2020")


@pytest.mark.parametrize("junk", [NAN, np.inf, "text", None, {"no": "value"}])
@pytest.mark.parametrize("axes", ["ntd", "ndt"])
def test_what_lies_beyond_a_length_is_never_looked_at(junk, axes):
    padded = VALUES.astype(object)
    padded[1, 2:], padded[2, 1:] = junk, junk
    X = padded if axes == "ntd" else padded.transpose(0, 2, 1)
    panel = read_panel(X, Layout(axes=axes), lengths=[4, 2, 1])
    np.testing.assert_array_equal(
        matrix(panel), np.concatenate([VALUES[0], VALUES[1, :2], VALUES[2, :1]])
    )
    assert panel.times.tolist() == [0, 1, 2, 3, 0, 1, 0]
    assert panel.source.tolist() == list(range(7))
    assert panel.width == 4


def test_padding_is_never_guessed():
    panel = read_panel(np.full((2, 3, 1), NAN))
    assert panel.lengths.tolist() == [3, 3]


@pytest.mark.parametrize(
    "lengths", [[2.0, 3.0], np.array([2, 3], np.uint8), pd.Series([2, 3], dtype="Int64")]
)
def test_lengths_are_whole_numbers_of_any_type(lengths):
    assert read_panel(made(2, 3), lengths=lengths).lengths.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("lengths", "fact"),
    [
        ([4, 0, 1], "lengths holds 0 for series 1. A series has from 1 to 4 steps here"),
        ([4, 5, 1], "lengths holds 5 for series 1. A series has from 1 to 4 steps here"),
        ([4, -1, 1], "lengths holds -1 for series 1"),
        ([4, 1.5, 1], "lengths holds float64 values that are not whole numbers"),
        ([4, NAN, 1], "lengths holds float64 values that are not whole numbers"),
        ([4, np.inf, 1], "lengths holds inf for series 1"),
        ([True, True, True], "lengths holds bool values that are not whole numbers"),
        (["4", "1", "2"], "lengths holds object values that are not whole numbers"),
        ([4, 1], "lengths has shape (2,). It must be one whole number per series: (3,)"),
        (4, "lengths has shape ()"),
        ([[4], [1], [2]], "lengths has shape (3, 1)"),
    ],
)
def test_other_lengths_are_refused(lengths, fact):
    check_error(VALUES, fact, lengths=lengths)


@pytest.mark.parametrize("X", [None, "text", {"a": 1}, pd.Series([1.0]), pd.Index([1])])
def test_objects_that_are_not_series_are_refused(X):
    check_error(X, f"X is a {type(X).__name__}", "3D array", "Pass X", kind=InputTypeError)


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


def test_members_mixing_numbers_and_strings_keep_both():
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


def test_members_that_are_not_series_are_refused():
    check_error([np.ones((2, 1)), 7], "series 1 of the list is a int", "(steps, columns)")
    check_error([np.ones((2, 1, 1))], "series 0 of the list is 3D", "(steps, columns)")
    check_error(["text"], "series 0 of the list is a str", "(steps, columns)")
    check_error([[[1, 2], [3]]], "series 0 cannot be read as a table", "equal length")
    check_error([[[1j]]], "Complex data not supported: series 0", kind=InputTypeError)


def test_times_of_two_kinds_in_a_list_of_series():
    dates, numbers = np.array(["2020"], dtype="datetime64[D]"), np.zeros(1)
    for times in ([[DAY], [0]], [dates, numbers], [dates - dates, dates]):
        with pytest.raises(InputError, match="numbers or dates"):
            Panel.from_list([np.zeros((1, 1))] * 2, times=times)


def test_polars_series_are_series_of_one_column():
    found = read_panel([pl.Series([1.0, 2.0]), pl.Series([3.0])])
    assert found.lengths.tolist() == [2, 1]
    assert found.steps.arrays[0].tolist() == [1.0, 2.0, 3.0]
