"""Labels of series and of steps find their place, or are refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Layout, read_panel, series_labels, step_labels
from imputefree.errors import InputTypeError
from tests.data.panel_formats import STAGES, frame, from_pairs, keyed, plain
from tests.refusals import check_error

NAN = np.nan


def test_a_column_set_apart_labels_series():
    labels = series_labels("died", keyed())
    assert labels.tolist() == [1, 0, 0]
    assert labels.dtype == np.int64  # native, so that scikit-learn knows the kind of target
    indexed = frame().drop(columns="stage").set_index(["who", "hour"])
    assert series_labels("died", read_panel(indexed, Layout(apart=("died",)))).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("values", "expected", "kind"),
    [
        ([True, False, True, False, False, False], [True, False, False], "b"),
        ([1.5, 2, 1.5, 3, 3, 3], [1.5, 2, 3], "f"),
        (["y", "n", "y", "n", "n", "n"], ["y", "n", "n"], "O"),
        (pd.Categorical([1, 0, 1, 0, 0, 0]), [1, 0, 0], "i"),
        (pd.array([1, 0, None, 0, 0, 0], "Int64"), [1, 0, 0], "i"),
    ],
)
def test_labels_of_a_column_come_in_their_own_kind(values, expected, kind):
    X = frame().assign(died=values)
    labels = series_labels("died", read_panel(X, Layout(id="who", time="hour", apart=("died",))))
    assert labels.tolist() == expected
    assert labels.dtype.kind == kind


def test_labels_missing_for_a_whole_series_stay_missing():
    X = frame().assign(died=[1, None, None, 0, 0, 0])
    panel = read_panel(X, Layout(id="who", apart=("died",)))
    np.testing.assert_array_equal(series_labels("died", panel), [1, NAN, 0])
    assert np.isnan(series_labels({"c": 1.0, "a": NAN, "b": 0.0}, panel)[1])


def test_two_labels_of_one_series_are_refused():
    check_error(
        lambda: series_labels("stage", keyed()),
        "column 'stage' of id 'c' holds 'c4' and 'c5'",
        "y is one label per series (missing in some rows is fine)",
        "Correct the rows",
    )


def test_a_column_that_was_not_set_apart_is_refused():
    for labels in (series_labels, step_labels):
        check_error(
            lambda labels=labels: labels("x", keyed(), "groups"),
            "groups names 'x', which is not a label column of the panel",
            "The label columns are: 'died', 'stage'",
            "Pass the labels themselves",
        )
        check_error(lambda labels=labels: labels("x", plain()), "label columns are: none")


def test_a_default_index_that_does_not_hold_the_ids_counts_rows():
    y = pd.Series(["x", "y", "z"])
    assert series_labels(y, keyed([1, 2, 3])).tolist() == ["x", "y", "z"]
    assert series_labels(y, keyed(["p", "q", "r"])).tolist() == ["x", "y", "z"]
    assert series_labels(y, keyed([2, 1, 0])).tolist() == ["z", "y", "x"]  # it holds them
    check_error(lambda: series_labels(y, keyed([2, 1, 5])), "not in sorted order")
    odd = pd.Series(["x", "y", "z"], index=[7, 8, 9])
    check_error(lambda: series_labels(odd, keyed([1, 2, 3])), "ids without labels: 1, 2, 3")
    assert series_labels(odd, plain()).tolist() == ["x", "y", "z"]  # series without ids


def test_labels_of_another_number_or_shape_are_refused():
    for panel in (plain(), keyed()):
        check_error(
            lambda panel=panel: series_labels([1, 2], panel, "sample_weight"),
            "sample_weight has 2 labels for 3 series",
            "one label per series",
            "Check how",
        )
        check_error(lambda panel=panel: series_labels(np.ones((3, 1)), panel), "y has shape (3, 1)")
        check_error(lambda panel=panel: series_labels(None, panel), "y has shape ()")
        run = partial(series_labels, [[1], [1, 2], [3]], panel)
        check_error(run, "y cannot be read", kind=InputTypeError)


def test_labels_follow_the_series_that_were_kept():
    panel = keyed().rows(np.array([2, 0]))
    assert series_labels("died", panel).tolist() == [0, 1]
    assert series_labels({"b": "x", "c": "y"}, panel).tolist() == ["x", "y"]


def test_labels_of_steps_by_column_row_and_key():
    panel = keyed()
    assert step_labels("stage", panel).tolist() == STAGES
    rows = frame()["stage"]
    for y in (rows.to_list(), rows.to_numpy(), rows, pl.Series(rows.to_list())):
        assert step_labels(y, panel).tolist() == STAGES
    by_key = frame().set_index(["who", "hour"])["stage"]
    for y in (by_key, by_key.iloc[::-1], by_key.sample(frac=1, random_state=0)):
        assert step_labels(y, panel).tolist() == STAGES
        assert step_labels(y, from_pairs()).tolist() == STAGES
    assert step_labels("stage", from_pairs()).tolist() == STAGES


def test_labels_of_steps_as_a_grid_leave_out_padding():
    X = np.ones((3, 4, 1))
    y = np.arange(12.0).reshape(3, 4)
    y[1, 1:] = NAN
    panel = read_panel(X, lengths=[2, 1, 3])
    assert step_labels(y, panel).tolist() == [0, 1, 4, 8, 9, 10]
    assert step_labels(pd.DataFrame(y), panel).tolist() == [0, 1, 4, 8, 9, 10]
    assert step_labels(np.arange(12).reshape(3, 4), read_panel(X)).tolist() == list(range(12))
    for wrong in (y[:, :3], y[:2], np.ones((3, 5))):
        check_error(
            lambda wrong=wrong: step_labels(wrong, panel),
            f"y has shape {wrong.shape} for 6 steps of 3 series",
            "one label per step",
            "(3, 4)",
        )


def test_flat_labels_of_steps_are_in_the_order_of_the_input():
    assert step_labels(np.arange(6), plain()).tolist() == list(range(6))
    check_error(
        lambda: step_labels(np.arange(5), plain()), "y has 5 labels for 6 steps of 3 series"
    )
    check_error(lambda: step_labels(np.ones((1, 2, 3)), plain()), "y has shape (1, 2, 3) for 6")
    check_error(lambda: step_labels(None, plain()), "y has shape () for 6")


def test_steps_of_pairs_have_no_position():
    for y in (list(range(6)), np.ones((3, 3)), [[1, 2], [3], [4, 5, 6]], frame()["stage"]):
        check_error(
            lambda y=y: step_labels(y, from_pairs()),
            "y is given by position, but the steps of X come from (variable, value) pairs",
            "matched by id and time",
            "Series indexed by (id, time)",
        )


def test_missing_labels_of_steps_stay_missing():
    y = [1.0, NAN, 3.0, 4.0, 5.0, 6.0]
    np.testing.assert_array_equal(step_labels(y, plain()), y)
    np.testing.assert_array_equal(step_labels("died", keyed()), [1, NAN, 0, NAN, 0, 0])


@pytest.mark.parametrize(
    "y",
    [
        {"a": 1, "b": 2, "c": 3},
        pd.Series({"b": 2, "a": 1, "c": 3}),
        pd.Series([1, 2, 3], index=pd.CategoricalIndex(["a", "b", "c"])),
        pd.Series([1, 2, 3], index=pd.Index(["a", "b", "c"], dtype="string")),
    ],
)
def test_labels_are_matched_by_id(y):
    assert series_labels(y, keyed()).tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 2],
        [2.5, 0.5, 1.5],
        [("x", 3), ("x", 1), ("y", 2)],
        list(pd.date_range("2020", periods=3)),
    ],
)
def test_ids_of_any_kind_are_matched(ids):
    y = dict(zip(ids[::-1], "zyx", strict=True))
    assert series_labels(y, keyed(ids)).tolist() == ["x", "y", "z"]
    assert series_labels(pd.Series(y), keyed(ids)).tolist() == ["x", "y", "z"]


def test_ids_that_do_not_match_are_refused():
    rule, remedy = "matched by id", "y.loc[ids]"
    check_error(
        lambda: series_labels({"a": 1, "b": 2, "d": 3, "e": 4}, keyed()),
        "ids without labels: 'c'; labels without series: 'd', 'e'.",
        rule,
        remedy,
    )
    check_error(lambda: series_labels({"a": 1}, keyed()), "ids without labels: 'c', 'b'.", rule)
    y = pd.Series(1, index=["a", "b", "c", "d"])
    check_error(lambda: series_labels(y, keyed()), "labels without series: 'd'.", rule)
    y = pd.Series(1, index=["a", "b", "c", "c"])
    check_error(lambda: series_labels(y, keyed()), "y holds ids more than once: 'c'")


@pytest.mark.parametrize(
    "y", [[5, 6, 7], (5, 6, 7), np.array([5, 6, 7]), pl.Series([5, 6, 7]), pd.Index([5, 6, 7])]
)
def test_labels_by_position_need_series_without_ids_or_sorted_ids(y):
    assert series_labels(y, plain()).tolist() == [5, 6, 7]
    assert series_labels(y, keyed(["a", "b", "c"])).tolist() == [5, 6, 7]
    check_error(
        lambda: series_labels(y, keyed()),
        "y has no ids, and the ids of X are not in sorted order (first: 'c', 'a', 'b')",
        "Such labels could follow the rows of X or the sorted ids",
        "Pass pd.Series(y, index=ids)",
    )
    check_error(lambda: series_labels(y, keyed(["a", 1, 2])), "not in sorted order")


def test_labels_of_steps_are_matched_by_date():
    start = pd.Timestamp("2150-03-01 07:13:00.000001")
    X = frame().assign(hour=start + pd.to_timedelta(frame()["hour"] * 1234567, unit="ms"))
    panel = read_panel(X[["who", "hour", "x"]], Layout(id="who", time="hour"))
    y = X.set_index(["who", "hour"])["stage"]
    assert step_labels(y, panel).tolist() == STAGES
    other_unit = X.assign(hour=X["hour"].astype("datetime64[ns]")).set_index(["who", "hour"])
    assert step_labels(other_unit["stage"], panel).tolist() == STAGES
    shifted = X.assign(hour=X["hour"] + pd.Timedelta(1, unit="D")).set_index(["who", "hour"])
    check_error(
        lambda: step_labels(shifted["stage"], panel),
        "y does not match the steps of X; steps without labels: ('c', 2150-03-01",
        "and 3 more; labels without steps: ('c', 2150-03-02",
        "matched by id and time",
        "Select the same",
    )
    numbers = frame().set_index(["who", "hour"])["stage"]
    fact = "y has numbers as times while X has dates"
    check_error(lambda: step_labels(numbers, panel), fact, kind=InputTypeError)
    fact = "y has dates as times while X has numbers"
    check_error(lambda: step_labels(y, keyed()), fact, kind=InputTypeError)


def test_keys_of_steps_that_do_not_match_are_refused():
    y = frame().set_index(["who", "hour"])["stage"]
    check_error(
        lambda: step_labels(y.iloc[1:], keyed()),
        "steps without labels: ('c', 5.0). Labels are matched",
    )
    more = pd.concat([y, y.rename({"a": "d"}).iloc[[1]]])
    check_error(lambda: step_labels(more, keyed()), "labels without steps: ('d', 0.0).")
    twice = pd.concat([y, y.iloc[[0]]])
    check_error(lambda: step_labels(twice, keyed()), "y holds two labels of ('c', 5.0)")
    deep = pd.concat({"site": y})
    check_error(lambda: step_labels(deep, keyed()), "the index of y has 3 levels", "droplevel")


def test_labels_of_steps_as_one_array_per_series():
    y = [np.array([1, 2]), [3], (4, 5, 6)]
    assert step_labels(y, plain()).tolist() == [1, 2, 3, 4, 5, 6]
    assert step_labels(
        y,
        read_panel(frame(["a", "b", "c"]), Layout(id="who", time="hour", apart=("died", "stage"))),
    ).tolist() == [2, 1, 3, 5, 6, 4]  # each in the order of its rows, which is not that of time
    check_error(lambda: step_labels(y, keyed()), "not in sorted order", "indexed by (id, time)")
    check_error(lambda: step_labels(y[:2], plain()), "y has 2 members for 3 series")
    check_error(
        lambda: step_labels([[1, 2], [3], [4, 5]], plain()),
        "y of series 2 has shape (2,) for 3 steps",
        "one label per step",
    )
    mixed = step_labels([[1, 2], ["x"], [4, 5, None]], plain())
    assert mixed.tolist() == [1, 2, "x", 4, 5, None]


def test_labels_by_position_of_a_panel_without_some_series_are_refused():
    whole = read_panel([np.zeros((3, 1)), np.ones((2, 1)), np.ones((1, 1))])
    assert step_labels(np.arange(6), whole).tolist() == [0, 1, 2, 3, 4, 5]
    assert step_labels(np.arange(3), whole[:1]).tolist() == [0, 1, 2]
    for others in (whole[1:], whole[[0, 2]]):
        labels = np.arange(len(others.times))
        check_error(lambda y=labels, X=others: step_labels(y, X), "some series of X were left out")
