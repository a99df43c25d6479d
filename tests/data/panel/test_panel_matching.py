"""Labels find their series and steps by id and time, or by a position that is certain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Layout, read_panel, series_labels, step_labels
from imputefree.errors import InputTypeError
from tests.data.panel.labelled import STAGES, frame, keyed, plain
from tests.refusals import check_error


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
        "Nobody knows whether such labels follow the rows of X or the sorted ids",
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
    check_error(lambda: step_labels(twice, keyed()), "y holds two labels of id 'c' at time 5.0")
    deep = pd.concat({"site": y})
    check_error(lambda: step_labels(deep, keyed()), "the index of y has 3 levels", "droplevel")


def test_labels_of_steps_as_one_array_a_series():
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
        "one label a step",
    )
    mixed = step_labels([[1, 2], ["x"], [4, 5, None]], plain())
    assert mixed.tolist() == [1, 2, "x", 4, 5, None]
