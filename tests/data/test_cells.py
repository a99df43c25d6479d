"""One meaning of a cell, whether it comes from Python, from a file or from JSON."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from imputefree.data import Levels, parse_numbers, read_cell, read_columns
from imputefree.data._columns import to_strings
from imputefree.errors import InputError, InputTypeError
from tests.refusals import check_error

LEVELS = Levels(["1", "2", "A", "True", "01", "2.5"])


@pytest.mark.parametrize(
    ("cell", "level"),
    [
        ("1", "1"),
        ("01", "01"),
        ("2.0", "2"),
        ("002", "2"),
        (1, "1"),
        (1.0, "1"),
        (Decimal("2.5"), "2.5"),
        (b"A", "A"),
        (True, "True"),
        ("true", "1"),
        ("TRUE", "1"),
        ("1_0", None),
        ("B", None),
    ],
)
def test_a_cell_is_the_level_of_its_string_or_else_of_its_number(cell, level):
    matched, unseen = LEVELS.match(pd.Series([cell, None], dtype=object))
    assert matched.tolist() == [level, None]
    assert unseen.tolist() == [level is None, False]
    assert LEVELS.find(cell) == (level, level is None)


@pytest.mark.parametrize("word", ["NA", "?", "", "nan"])
def test_words_for_gaps_are_not_unknown_levels(word):
    assert LEVELS.find(word) == (None, False)
    assert Levels([word]).find(word) == (word, False)  # unless training saw them


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_numbers_of_a_file_are_read_cell_by_cell(dtype):
    cells = pd.Series(["1.5", " 2", "NA", None, "FALSE", "old", "-inf"], dtype=dtype)
    numbers, odd = parse_numbers(cells)
    np.testing.assert_array_equal(numbers, [1.5, 2, np.nan, np.nan, 0, np.nan, -np.inf])
    assert odd.tolist() == [False] * 5 + [True] * 2
    for row in range(len(cells)):
        number, bad = parse_numbers(cells.iloc[[row]])
        np.testing.assert_array_equal(number, numbers[[row]])
        assert bad[0] == odd[row]


def test_typed_numbers_and_dates_of_a_file():
    numbers, odd = parse_numbers(pd.Series([1, None], dtype="Int64"))
    np.testing.assert_array_equal(numbers, [1, np.nan])
    assert not odd.any()
    dates = pd.Series(pd.to_datetime(["2024-01-01"]), name="day")
    check_error(lambda: parse_numbers(dates), "column 'day' holds dates")
    check_error(lambda: LEVELS.match(pd.Series([[1]], name="x")), "'x' holds values such as lists")


@pytest.mark.parametrize("value", [1, 1.0, True, np.float32(1), Decimal(1)])
def test_json_python_and_files_agree(value):
    frame = pd.DataFrame({"x": pd.Series([value], dtype=object)})
    assert read_cell(value) == (1.0, False)
    assert read_columns(frame).arrays[0].tolist() == [1.0]
    assert parse_numbers(pd.Series([str(value)]))[0].tolist() == [1.0]
    assert to_strings(np.array([value], dtype=object)).tolist() == ["1"]
    assert read_cell(value, Levels(["1"])) == ("1", False)
    assert Levels(["1"]).match(pd.Series([str(value)]))[0].tolist() == ["1"]


@pytest.mark.parametrize(
    ("value", "levels", "part"),
    [
        ("1.5", None, "holds the string '1.5'"),
        (10**400, None, "beyond 1e308"),
        (float("inf"), LEVELS, "beyond 1e308"),
        ([1], None, "holds a list"),
        ({}, LEVELS, "holds an object"),
    ],
)
def test_json_values_that_a_column_cannot_hold(value, levels, part):
    kind = InputError if "1e308" in part else InputTypeError
    check_error(lambda: read_cell(value, levels), part, kind=kind)
