"""Pairs become one column a variable; what is no pair is refused."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Layout, read_panel
from imputefree.errors import InputTypeError
from tests.data.panel.made import NAN, PAIRS, check_error


def pairs(rows, **more):
    frame = pd.DataFrame(rows, columns=["who", "hour", "what", "value"])
    return frame.assign(**more)


def layout(**more):
    return Layout(**(asdict(PAIRS) | more))


def test_pairs_become_one_column_a_variable_sorted_by_name():
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
    remedy = "X.groupby(['who', 'hour', 'what'])['value'].mean().reset_index()"
    check_error(X, fact, remedy, layout=PAIRS)
    remedy = "X.group_by(['who', 'hour', 'what']).mean()"
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
    check_error(X, fact, "text or a number", ".astype(str)", layout=PAIRS, kind=InputTypeError)


def test_pairs_hold_no_other_columns():
    X = pairs([(1, 0, "hr", 1.0)], note="x", unit="bpm")
    fact = "columns without a role: 'note', 'unit'"
    check_error(X, fact, "no values beside", "Drop them", layout=PAIRS)


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
        "constant within each id and time",
        layout=how,
    )
