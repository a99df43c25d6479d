"""Static columns and tables have one value a series, or are refused."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Layout, read_panel
from imputefree.data._panel_frames import first_known
from imputefree.errors import InputError
from tests.data.panel.made import (
    LONG,
    NAN,
    PAIRS,
    VALUES,
    as_nested,
    as_polars,
    check_error,
    long_frame,
)


def test_static_columns_have_one_known_value_a_series():
    frame = long_frame(VALUES).assign(
        age=[NAN, 63, NAN, 63] + [50] * 4 + [NAN] * 4, sex=["f"] * 4 + ["m", None] * 2 + [None] * 4
    )
    layout = Layout(id="who", time="hour", static=("age", "sex"))
    pairs = frame.melt(["who", "hour", "age", "sex"], var_name="what")
    for X, how in (
        (frame, layout),
        (as_polars(frame), layout),
        (frame.set_index(["who", "hour"]), Layout(static=("age", "sex"))),
        (pairs, Layout(**(asdict(PAIRS) | {"static": ("age", "sex")}))),
    ):
        panel = read_panel(X.iloc[::-1] if isinstance(X, pd.DataFrame) else X, how)
        panel = panel.rows(np.argsort(panel.ids.astype(int)))
        assert panel.steps.names == ["hr", "temp"]
        assert panel.statics.names == ["age", "sex"]
        np.testing.assert_array_equal(panel.statics.arrays[0], [63, 50, NAN])
        assert panel.statics.arrays[1].tolist() == ["f", "m", None]


def test_a_static_column_with_two_values_is_refused():
    frame = pd.DataFrame({"who": ["a", "b", "b"], "age": [NAN, 63, 64], "x": 1.0})
    check_error(
        frame,
        "static column 'age' of id 'b' holds 63.0 and 64.0. A static column has one value a series",
        "leave 'age' out of static",
        layout=Layout(id="who", static=("age",)),
    )
    pairs = pd.DataFrame({"who": 1, "hour": [0, 1], "what": "x", "value": 1.0, "sex": ["f", "m"]})
    layout = Layout(**(asdict(PAIRS) | {"static": ("sex",)}))
    check_error(pairs, "static column 'sex' of id 1 holds 'f' and 'm'", layout=layout)


@pytest.mark.parametrize(
    "static",
    [
        pd.DataFrame({"age": [2.0, 1.0, 0.0, 9.0]}, index=[2, 1, 0, 9]),
        pd.DataFrame({"age": [2.0, 1.0, 0.0, 9.0]}, index=pd.CategoricalIndex([2, 1, 0, 9])),
        pd.DataFrame({"age": [2.0, 1.0, 0.0, 9.0], "who": [2, 1, 0, 9]}),
        pl.DataFrame({"age": [2.0, 1.0, 0.0, 9.0], "who": [2, 1, 0, 9]}),
    ],
)
def test_a_static_table_is_matched_by_id(static):
    panel = read_panel(long_frame(VALUES).iloc[::-1], LONG, static=static)
    assert panel.ids.tolist() == [2, 1, 0]
    assert panel.statics.names == ["age"]
    assert panel.statics.arrays[0].tolist() == [2.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "static", [[[5.0], [6.0], [7.0]], pd.DataFrame({"a": [5, 6, 7]}, [9, 8, 1])]
)
def test_a_static_table_of_series_without_ids_is_matched_by_position(static):
    for X in (VALUES, list(VALUES), as_nested(VALUES)):
        assert read_panel(X, static=static).statics.arrays[0].tolist() == [5.0, 6.0, 7.0]


def test_static_tables_that_do_not_fit_are_refused():
    frame = long_frame(VALUES)
    table = pd.DataFrame({"age": [1.0, 2.0]}, index=[0, 5])
    check_error(
        frame,
        "ids without a row in static: 1, 2. Every series needs its static row",
        "static.reindex(ids)",
        layout=LONG,
        static=table,
    )
    twice = pd.DataFrame({"age": 1.0}, index=[0, 1, 1, 2])
    check_error(frame, "static holds ids more than once: 1", layout=LONG, static=twice)
    fact = "static is a ndarray without ids while the series have ids"
    check_error(frame, fact, "matched", "index=ids", layout=LONG, static=np.ones((3, 1)))
    check_error(VALUES, "static has 2 rows for 3 series", "order of the series", static=table)
    wrong = pd.DataFrame({"age": [1.0, np.inf, 2.0]})
    check_error(VALUES, "column 'age' holds +inf", "(first: static of series 1)", static=wrong)
    check_error(frame, "+inf", "(first: static of id 1)", layout=LONG, static=wrong)
    both = Layout(id="who", time="hour", static=("temp",))
    check_error(frame, "static is given both", layout=both, static=wrong)


def test_the_first_known_value_of_a_group_is_found_wherever_it_stands():
    array = np.array([NAN, NAN, 5.0, 7.0, NAN, 5.0])
    groups = np.array([0, 2, 0, 1, 2, 0])
    rows = first_known(array, groups, 3, lambda *_: InputError("never"))
    assert rows.tolist() == [2, 3, 1]
    with pytest.raises(InputError, match=r"5: 5\.0, 6\.0"):
        first_known(
            np.append(array[:5], 6.0), groups, 3, lambda row, a, b: InputError(f"{row}: {a}, {b}")
        )
