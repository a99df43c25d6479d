"""Every format of series gives the same panel, or says what is wrong and where."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from imputefree.data import Layout, read_panel
from imputefree.data._series_rows import split_static
from imputefree.errors import InputTypeError
from tests.data.panel_formats import (
    FORMATS,
    LONG,
    NAN,
    PAIRS,
    VALUES,
    as_nested,
    as_polars,
    check_error,
    long_frame,
    made,
    matrix,
)


@pytest.mark.parametrize("name", FORMATS)
def test_series_of_every_format_read_the_same(name):
    X, layout = FORMATS[name]()
    panel = read_panel(X, layout)
    expected = VALUES.astype(np.float32) if name == "float32" else VALUES
    np.testing.assert_array_equal(matrix(panel), expected.reshape(12, 2))
    assert all(array.dtype == np.float64 for array in panel.steps.arrays)
    assert panel.lengths.tolist() == [4, 4, 4]
    assert panel.lengths.dtype == panel.source.dtype == np.int64
    assert panel.times.tolist() == [0, 1, 2, 3] * 3
    assert panel.times.dtype == np.float64
    assert panel.ids.tolist() == [0, 1, 2]
    assert panel.ids.dtype == object
    assert panel.source.tolist() == list(range(12))
    assert (panel.n_rows, panel.statics, panel.apart, panel.width) == (3, None, {}, 4)
    assert panel.keyed == (layout.id is not None or name == "indexed")
    assert panel.by_row != name.startswith("pairs")
    named = isinstance(X, pd.DataFrame | pl.DataFrame) or name.startswith("list of p")
    assert (panel.steps.names, panel.steps.named) == (
        (["hr", "temp"], True) if named else (["0", "1"], False)
    )


@pytest.mark.parametrize("name", ["long pandas", "long polars", "indexed", "pairs pandas"])
def test_rows_of_frames_may_come_in_any_order(name):
    X, layout = FORMATS[name]()
    rng = np.random.default_rng(3)
    for _ in range(20):
        order = rng.permutation(len(X))
        mixed = X.iloc[order] if isinstance(X, pd.DataFrame) else X[order.tolist()]
        panel = read_panel(mixed, layout)
        at = np.argsort(panel.ids.astype(int))
        np.testing.assert_array_equal(matrix(panel.rows(at)), VALUES.reshape(12, 2))
        if name == "long pandas":
            first = mixed["who"].drop_duplicates().tolist()
            assert panel.ids.tolist() == first  # in the order of first appearance
            np.testing.assert_array_equal(
                matrix(panel), mixed[["hr", "temp"]].to_numpy()[panel.source]
            )


def test_series_without_an_observation_single_steps_and_empty_columns_work():
    for X, layout in (
        (np.full((2, 1, 1), NAN), Layout()),
        ([[[NAN]], [[None]]], Layout()),
        (pd.DataFrame({"who": [1, 2], "hour": [0, 0], "x": [NAN, NAN]}), LONG),
        (
            pd.DataFrame({"who": [1, 2], "hour": 0, "what": "x", "value": NAN}),
            PAIRS,
        ),
    ):
        panel = read_panel(X, layout)
        assert panel.lengths.tolist() == [1, 1]
        assert np.isnan(panel.steps.arrays[0]).all()


def test_string_and_category_columns_read_as_those_of_tables():
    frame = pd.DataFrame(
        {
            "who": [1, 1, 2],
            "rhythm": ["sinus", None, "paced"],
            "ward": pd.Categorical([3, 4, None]),
            "empty": [None, None, None],
        }
    )
    for X in (frame, frame.set_index(["who", pd.Index([0, 1, 0], name="step")])):
        panel = read_panel(X, Layout(id="who") if X is frame else Layout())
        assert panel.steps.arrays[0].tolist() == ["sinus", None, "paced"]
        assert panel.steps.arrays[1].tolist() == ["3", "4", None]
        assert panel.steps.declared == [False, True, False]
        assert np.isnan(panel.steps.arrays[2]).all()


def test_the_input_is_left_as_it_was():
    for X, layout in (make() for make in FORMATS.values()):
        if isinstance(X, pd.DataFrame) and layout.id is not None:
            before = X.copy()
            read_panel(X, layout)
            pd.testing.assert_frame_equal(X, before)


def test_two_rows_of_one_time_are_refused():
    frame = pd.DataFrame({"who": ["a", "b", "b"], "hour": [5, 5, 5], "x": 1.0})
    fact = "id 'b' has two rows at time 5.0 (rows 1 and 2). A series has one row per time stamp"
    check_error(frame, fact, "X.groupby(['who', 'hour']).mean(numeric_only=True)", layout=LONG)
    check_error(as_polars(frame), fact, "X.groupby(['who', 'hour']).mean(", layout=LONG)
    check_error(
        frame.set_index(["who", "hour"]), fact, "X.groupby(level=[0, 1]).mean(numeric_only=True)"
    )
    frame["hour"] = pd.Timestamp("2020-01-01 12:00")
    check_error(frame, "id 'b' has two rows at time 2020-01-01 12:00:00", layout=LONG)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("array", "column 1 holds +inf (infinity) in 1 row (first: series 2, step 3)"),
        ("ndt", "column 1 holds +inf (infinity) in 1 row (first: series 2, step 3)"),
        ("list", "column 1 holds +inf (infinity) in 1 row (first: series 2, step 3)"),
        ("list of pandas", "column 'temp' holds +inf (infinity) in 1 row (first: series 2, step"),
        ("nested", "column 'temp' holds +inf (infinity) in 1 row (first: series 2, step 3)"),
        ("long pandas", "column 'temp' holds +inf (infinity) in 1 row (first: id 2, time 3.0)"),
        ("long polars", "column 'temp' holds +inf (infinity) in 1 row (first: id 2, time 3.0)"),
        ("without time", "column 'temp' holds +inf (infinity) in 1 row (first: id 2, row 11)"),
        ("indexed", "column 'temp' holds +inf (infinity) in 1 row (first: id 2, time 3.0)"),
        ("pairs pandas", "column 'temp' holds +inf (infinity) in 1 row (first: id 2, time 3.0)"),
    ],
)
def test_infinity_is_refused_with_series_and_step(name, where):
    values = VALUES.copy()
    values[2, 3, 1] = np.inf
    X = {
        "array": lambda: values,
        "ndt": lambda: values.transpose(0, 2, 1),
        "list": lambda: list(values),
        "list of pandas": lambda: [pd.DataFrame(one, columns=["hr", "temp"]) for one in values],
        "nested": lambda: as_nested(values),
        "long pandas": lambda: long_frame(values),
        "long polars": lambda: as_polars(long_frame(values)),
        "without time": lambda: long_frame(values).drop(columns="hour"),
        "indexed": lambda: long_frame(values).set_index(["who", "hour"]),
        "pairs pandas": lambda: long_frame(values).melt(["who", "hour"], var_name="what"),
    }[name]()
    check_error(X, where, "finite or missing", "NaN", layout=FORMATS[name]()[1])


def test_cells_that_are_not_values_are_refused_with_series_and_step():
    X = np.array([[["a"], [None]], [["b"], ["c"]]], dtype=object)
    X[1, 1, 0] = {"k": 1}
    fact = "column 0 holds a value of type dict (first: series 1, step 1)"
    check_error(X, fact, "a string or a number", kind=InputTypeError)


@pytest.mark.parametrize(
    ("X", "fact"),
    [
        (np.empty((0, 3, 2)), "X holds no series at all"),
        ([], "X holds no series at all"),
        (np.empty((2, 0, 2)), "series 0 is empty (it has 0 steps)"),
        ([np.ones((1, 2)), np.ones((0, 2))], "series 1 is empty (it has 0 steps)"),
        ([[1.0], []], "series 1 is empty (it has 0 steps)"),
        (np.ones((2, 3, 0)), "Found a table with 0 feature(s)"),
        (np.ones((2, 3)), "X is a 2D array of shape (2, 3)"),
        (np.ones((2, 3, 1, 1)), "X is a 4D array of shape (2, 3, 1, 1)"),
        (np.ones(3), "X is a 1D array of shape (3,)"),
        (7, "X is a 0D array of shape ()"),
    ],
)
def test_what_is_not_series_is_refused(X, fact):
    check_error(X, fact)


def test_sparse_complex_and_lazy_inputs_are_refused():
    check_error(sparse.eye(2).tocsr(), "X is a sparse matrix", kind=InputTypeError)
    check_error(np.ones((1, 1, 1), complex), "Complex data not supported", kind=InputTypeError)
    check_error(
        pl.LazyFrame({"a": [1]}), "X is a polars LazyFrame", ".collect()", kind=InputTypeError
    )


def test_reading_a_long_frame_costs_no_more_than_a_few_sorts():
    frame = long_frame(made(500, 400)).sample(frac=1, random_state=0)

    def seconds(run):
        began = time.perf_counter()
        run()
        return time.perf_counter() - began

    # Measured: 1.1 times a sort, on a busy machine.
    sort = min(seconds(lambda: frame.sort_values(["who", "hour"])) for _ in range(5))
    assert min(seconds(lambda: read_panel(frame, LONG)) for _ in range(5)) < 6 * sort


def test_tables_are_refused_with_a_word_about_ids():
    check_error(np.ones((2, 3)), "Arrays of series are 3D", "id=", "GILClassifier")
    frame = long_frame(VALUES)
    fact = "X is a DataFrame without an id (columns: 'who', 'hour', 'hr', 'temp')"
    remedy = "Pass id='…' (and time='…')", "GILClassifier"
    for X in (frame, as_polars(frame), frame.set_index("who").reset_index()):
        check_error(X, fact, "which series a row belongs to", *remedy)
        check_error(X, fact, *remedy, layout=Layout(time="hour"))
    deep = frame.assign(site=1).set_index(["site", "who", "hour"])
    check_error(deep, "X is a DataFrame without an id (columns: 'hr', 'temp')", *remedy)


@pytest.mark.parametrize("role", ["id", "time", "variable", "value", "static", "apart"])
@pytest.mark.parametrize("polars", [False, True])
def test_unknown_columns_are_refused_with_the_known_ones(role, polars):
    name = "pid" if role in asdict(PAIRS) and role not in ("static", "apart") else ("pid",)
    layout = Layout(**(asdict(PAIRS) | {role: name}))
    frame = long_frame(VALUES).melt(["who", "hour"], var_name="what")
    check_error(
        as_polars(frame) if polars else frame,
        f"{role} names 'pid', which is not a column of X",
        "The columns are: 'who', 'hour', 'what', 'value'",
        "Check the spelling of 'pid'",
        layout=layout,
    )


def test_a_level_of_the_index_is_not_a_column():
    frame = long_frame(VALUES).set_index("who")
    check_error(frame, "id names 'who', which is not a column", "reset_index()", layout=LONG)


def test_a_role_of_a_repeated_column_is_refused():
    frame = pd.DataFrame([[1, 2, 3.0]], columns=["who", "who", "x"])
    check_error(frame, "column 'who' (id) appears 2 times", "unique", layout=Layout(id="who"))


@pytest.mark.parametrize(
    ("name", "option", "layout", "how"),
    [
        ("array", "id", Layout(id="who"), {}),
        ("array", "time", Layout(time="who"), {}),
        ("array", "static", Layout(static=("who",)), {}),
        ("array", "apart", Layout(apart=("who",)), {}),
        ("list", "axes", Layout(axes="ndt"), {}),
        ("list", "lengths", Layout(), {"lengths": [4, 4, 4]}),
        ("list of pandas", "id", Layout(id="hr"), {}),
        ("long pandas", "lengths", LONG, {"lengths": [4, 4, 4]}),
        ("long pandas", "times", LONG, {"times": [0, 1, 2, 3]}),
        ("long polars", "axes", Layout(id="who", axes="ndt"), {}),
        ("pairs pandas", "lengths", PAIRS, {"lengths": [4, 4, 4]}),
        ("indexed", "time", Layout(time="hr"), {}),
        ("nested", "time", Layout(time="hr"), {}),
    ],
)
def test_options_that_make_no_sense_are_refused(name, option, layout, how):
    kinds = {"array": "a 3D array", "list": "a list of series", "long": "a long frame"}
    kinds |= {"pairs": "a frame of (variable, value) pairs", "nested": "a nested frame"}
    kinds["indexed"] = "a frame indexed by (id, time)"
    fact = f"{option} is given, but X is {kinds[name.split()[0]]}"
    check_error(
        FORMATS[name]()[0],
        fact,
        f"{option} belongs to",
        f"Leave out {option}",
        layout=layout,
        **how,
    )


@pytest.mark.parametrize(
    ("layout", "fact"),
    [
        (Layout(id="who", time="who"), "column 'who' is named as id and as time"),
        (Layout(id="who", static=("hr", "hr")), "column 'hr' is named as static and as static"),
        (Layout(id="who", static=("hr",), apart=("hr",)), "'hr' is named as static and as apart"),
    ],
)
def test_a_column_has_one_role(layout, fact):
    check_error(long_frame(VALUES), fact, "A column has one role", "Name it once", layout=layout)


def test_layouts_of_wrong_types_are_refused():
    frame = long_frame(VALUES)
    number = Layout(id=0)
    check_error(frame, "id names the column 0, a int", "'0'", layout=number, kind=InputTypeError)
    check_error(VALUES, "axes is 'tnd'", '"ntd"', '"ndt"', layout=Layout(axes="tnd"))


def test_a_layout_is_plain_json():
    layout = Layout(id="who", time="hour", static=("age",), apart=("died",))
    state = json.loads(json.dumps(layout.to_dict()))
    assert Layout.from_dict(state) == layout
    assert read_panel(
        pd.DataFrame({"who": [1], "hour": [0], "age": [5.0], "x": [1.0], "died": [0]}),
        Layout.from_dict(state),
    ).apart["died"].tolist() == [0]


def test_static_is_names_or_a_table():
    table = np.array([["a", "b"]])
    for names in (["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Index(["a", "b"])):
        assert split_static(names) == (("a", "b"), None)
    assert split_static("ab") == (("ab",), None)
    assert split_static(()) == ((), None)
    for rows in (table, table[:, :0], [table[0]], [["a", "b"]], pd.DataFrame(table), table[0][:0]):
        names, found = split_static(rows)
        assert names == ()
        assert found is rows
