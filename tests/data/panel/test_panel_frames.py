"""Ids and label columns of any kind are read; what has no hash or no value is refused."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree.data import Layout, read_panel
from imputefree.errors import InputTypeError
from tests.data.panel.made import LONG, PAIRS, check_error


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
def test_cells_of_a_label_column_that_are_no_single_values_are_refused(cell, before):
    frame = pd.DataFrame({"who": ["a", "a", "b"], "hour": [0, 1, 0], "x": 1.0})
    frame["died"] = cells(before, before, cell)
    what = f"column 'died' holds a value of type {type(cell).__name__} (first: "
    rest = "one single value a row", "into a column of its own"
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
def test_polars_columns_of_lists_are_no_labels_and_no_ids(column):
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
