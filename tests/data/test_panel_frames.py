"""Series from frames: long, indexed, pairs, and their static columns."""

from __future__ import annotations

import datetime
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Layout, read_panel
from imputefree.data._panel_frames import one_known
from imputefree.errors import InputError, InputTypeError
from tests.data.panel_formats import (
    LONG,
    NAN,
    PAIRS,
    VALUES,
    as_nested,
    as_polars,
    check_error,
    long_frame,
)


@pytest.mark.parametrize(
    "ids",
    [
        ["b", "a", "b"],
        [7, 3, 7],
        [1.5, -2.0, 1.5],
        [True, False, True],
        [b"x", b"y", b"x"],
        [("w", 1), ("w", 2), ("w", 1)],
        ["b", 3, "b"],
        list(pd.to_datetime(["2020-02-01", "2020-01-01", "2020-02-01"])),
    ],
)
def test_ids_of_any_kind_keep_their_order_of_appearance(ids):
    frame = pd.DataFrame({"who": pd.Series(ids, dtype=object), "x": [1.0, 2.0, 3.0]})
    kinds = [frame, frame.infer_objects()]
    if not isinstance(ids[0], tuple):
        kinds.append(frame.astype({"who": "category"}))
    for X in kinds:
        panel = read_panel(X, Layout(id="who"))
        assert panel.ids.tolist() == ids[:2]
        assert panel.steps.arrays[0].tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_missing_ids_are_refused(make):
    frame = make({"who": ["a", None, None], "x": [1.0, 2.0, 3.0]})
    check_error(
        frame,
        "id column 'who' is missing in 2 rows (first: row 1). Every row must say which series",
        "Drop these rows",
        layout=Layout(id="who"),
    )


def test_ids_without_a_hash_are_refused():
    frame = pd.DataFrame({"who": [["a"], ["b"]], "x": [1.0, 2.0]})
    fact = "id column 'who' holds values such as lists"
    check_error(frame, fact, "hash", ".astype(str)", layout=Layout(id="who"), kind=InputTypeError)


def cells(*values):
    """A column of such cells."""
    column = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        column[i] = value
    return column


@pytest.mark.parametrize(
    "cell", [np.array([1, 2]), np.array(1), [1], {1}, {"k": 1}, pd.Series([1])]
)
@pytest.mark.parametrize("before", [None, 1, 0.5, "yes", True])
def test_cells_of_a_label_column_that_are_not_single_values_are_refused(cell, before):
    frame = pd.DataFrame({"who": ["a", "a", "b"], "hour": [0, 1, 0], "x": 1.0})
    frame["died"] = cells(before, before, cell)
    what = f"column 'died' holds a value of type {type(cell).__name__} (first: "
    rest = "one single value per row", "into a separate column"
    pairs = frame.rename(columns={"x": "value"}).assign(what="x")
    for X, layout in (
        (frame, LONG),
        (frame.set_index(["who", "hour"]), Layout()),
        (pairs, PAIRS),
    ):
        layout = replace(layout, apart=("died",))
        check_error(X, f"{what}row 2, id 'b')", *rest, layout=layout, kind=InputTypeError)
    nested = pd.DataFrame({"x": [pd.Series([1.0])] * 3, "died": frame["died"]})
    apart = Layout(apart=("died",))
    check_error(nested, f"{what}series 2)", *rest, layout=apart, kind=InputTypeError)


@pytest.mark.parametrize(
    "column", [pl.Series([[1], [2, 3]]), pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2))]
)
def test_polars_columns_of_lists_are_neither_labels_nor_ids(column):
    frame = pl.DataFrame({"who": ["a", "b"], "x": [1.0, 2.0], "died": column})
    fact = "column 'died' holds a value of type ndarray (first: row 0, id 'a')"
    check_error(frame, fact, layout=Layout(id="who", apart=("died",)), kind=InputTypeError)
    fact = "id column 'died' holds values such as lists"
    check_error(frame, fact, layout=Layout(id="died"), kind=InputTypeError)


def test_labels_may_be_anything_with_a_hash():
    labels = cells((1, 2), datetime.date(2020, 1, 1), b"x")
    frame = pd.DataFrame({"who": ["a", "b", "c"], "x": 1.0, "died": labels})
    panel = read_panel(frame, Layout(id="who", apart=("died",)))
    assert panel.apart["died"].tolist() == labels.tolist()


def test_empty_frames_and_frames_without_values_are_refused():
    for X in (long_frame(VALUES).iloc[:0], as_polars(long_frame(VALUES)).head(0)):
        check_error(X, "X holds no series at all", layout=LONG)
    check_error(long_frame(VALUES).iloc[:0].set_index(["who", "hour"]), "no series at all")
    fact = "X has no column of values (columns: 'who', 'hour')"
    check_error(long_frame(VALUES)[["who", "hour"]], fact, "at least one value", layout=LONG)


def pairs(rows, **more):
    frame = pd.DataFrame(rows, columns=["who", "hour", "what", "value"])
    return frame.assign(**more)


def layout(**more):
    return Layout(**(asdict(PAIRS) | more))


def test_pairs_become_one_column_per_variable_sorted_by_name():
    X = pairs([(7, 3, "temp", 38.5), (7, 1, "hr", 80), (4, 2, "ph", NAN), (7, 3, "hr", 90)])
    for frame in (X, pl.from_pandas(X), X.astype({"what": "category"})):
        panel = read_panel(frame, PAIRS)
        assert panel.ids.tolist() == [7, 4]
        assert panel.times.tolist() == [1.0, 3.0, 2.0]
        assert panel.steps.names == ["hr", "ph", "temp"]
        assert panel.source.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(panel.steps.arrays[0], [80, 90, NAN])
        np.testing.assert_array_equal(panel.steps.arrays[1], [NAN, NAN, NAN])
        np.testing.assert_array_equal(panel.steps.arrays[2], [NAN, 38.5, NAN])


def test_pairs_agree_with_a_pivot_of_pandas():
    rng = np.random.default_rng(5)
    keys = pd.MultiIndex.from_product([range(6), range(5), list("abcd")]).to_frame(index=False)
    X = keys.sample(60, random_state=1).set_axis(["who", "hour", "what"], axis=1)
    X["value"] = rng.normal(size=60)
    wide = X.pivot(index=["who", "hour"], columns="what", values="value")
    panel = read_panel(X, PAIRS)
    panel = panel.rows(np.argsort(panel.ids.astype(int)))
    np.testing.assert_array_equal(np.stack(panel.steps.arrays, axis=1), wide.to_numpy())
    np.testing.assert_array_equal(panel.times, wide.index.get_level_values(1))


def test_values_of_pairs_are_typed_by_variable():
    X = pairs([(1, 0, "sex", "f"), (1, 0, "hr", 80), (2, 0, "sex", None), (2, 1, "hr", 70.5)])
    panel = read_panel(X.astype({"value": object}), PAIRS)
    np.testing.assert_array_equal(panel.steps.arrays[0], [80, NAN, 70.5])
    assert panel.steps.arrays[1].tolist() == ["f", None, None]


def test_variables_may_be_numbers():
    for items in ([220045, 220050], [220045.0, 220050.0]):
        X = pairs([(1, 0, items[1], 1.0), (1, 0, items[0], 2.0)])
        assert read_panel(X, PAIRS).steps.names == ["220045", "220050"]


def test_two_values_of_a_variable_at_one_time_are_refused():
    X = pairs([("a", 0, "hr", 1.0), ("b", 0, "hr", 1.0), ("b", 0, "hr", 2.0)])
    fact = "id 'b' has two values of 'hr' at time 0.0 (rows 1 and 2). A variable has one value"
    remedy = "X.groupby(['who', 'hour', 'what'])['value'].mean()"
    check_error(X, fact, remedy, layout=PAIRS)
    remedy = "X.groupby(['who', 'hour', 'what'])"
    check_error(pl.from_pandas(X), fact, remedy, layout=PAIRS)


@pytest.mark.parametrize("what", [None, "", NAN])
def test_pairs_without_a_variable_are_refused(what):
    X = pairs([("a", 0, "hr", 1.0), ("b", 4, what, 1.0)])
    fact = "variable column 'what' is missing or empty in 1 row (first: row 1, id 'b')"
    check_error(X, fact, "which variable", "X.dropna(subset=['what'])", layout=PAIRS)
    check_error(X.iloc[1:], "missing or empty in 1 row (first: row 0", layout=PAIRS)


def test_variables_without_a_hash_are_refused():
    X = pairs([(1, 0, ["hr"], 1.0)])
    fact = "variable column 'what' holds values such as lists"
    check_error(X, fact, "string or a number", ".astype(str)", layout=PAIRS, kind=InputTypeError)


def test_pairs_hold_no_other_columns():
    X = pairs([(1, 0, "hr", 1.0)], note="x", unit="bpm")
    fact = "columns without a role: 'note', 'unit'"
    check_error(X, fact, "values only in its value column", "Drop them", layout=PAIRS)


@pytest.mark.parametrize("role", ["id", "time", "variable", "value"])
def test_pairs_need_all_four_columns(role):
    X = pairs([(1, 0, "hr", 1.0)])
    fact = f"{role} not given for a frame of (variable, value) pairs"
    check_error(
        X, fact, "id, time, variable and value", f"{role}='…'", layout=layout(**{role: None})
    )


def test_columns_set_apart_are_constant_within_a_step_of_pairs():
    X = pairs([(1, 0, "hr", 1.0), (1, 0, "ph", 7.4), (1, 1, "hr", 2.0)], sepsis=[None, True, False])
    how = layout(apart=("sepsis",))
    assert read_panel(X, how).apart["sepsis"].tolist() == [True, False]
    check_error(
        X.assign(sepsis=[0, 1, 1]),
        "column 'sepsis' of id 1 at time 0.0 holds 0 and 1. Pairs of one id and time make one step",
        "Correct the rows",
        layout=how,
    )


def test_static_columns_have_one_known_value_per_series():
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
        "static column 'age' of id 'b' holds 63.0 and 64.0. A static column has one value",
        "or leave the column out",
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
    counted = pd.DataFrame({"age": [1.0, 2.0, 3.0]})  # rows 0, 1, 2 are not the ids
    named = frame.assign(who=frame["who"].map({0: "c", 1: "a", 2: "b"}))
    check_error(named, "without ids", layout=LONG, static=counted)
    check_error(VALUES, "static has 2 rows for 3 series", "order of the series", static=table)
    wrong = pd.DataFrame({"age": [1.0, np.inf, 2.0]})
    check_error(VALUES, "column 'age' holds +inf", "(first: static of series 1)", static=wrong)
    check_error(frame, "+inf", "(first: static of id 1)", layout=LONG, static=wrong)


def test_the_first_known_value_of_a_group_is_found_wherever_it_stands():
    array = np.array([NAN, NAN, 5.0, 7.0, NAN, 5.0])
    groups = np.array([0, 2, 0, 1, 2, 0])
    rule = "one each"
    rows = one_known(array, groups, 3, "x", str, rule)
    assert rows.tolist() == [2, 3, 1]
    with pytest.raises(InputError, match=r"x of 5 holds 5\.0 and 6\.0. one each"):
        one_known(np.append(array[:5], 6.0), groups, 3, "x", str, rule)
