"""Tables without ids, unknown columns and options that would be ignored are refused."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from imputefree.data import Layout
from tests.data.panel.made import FORMATS, LONG, PAIRS, VALUES, as_polars, check_error, long_frame


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
        f"{role} names 'pid', which is no column of X",
        "The columns are: 'who', 'hour', 'what', 'value'",
        "Check the spelling of 'pid'",
        layout=layout,
    )


def test_a_level_of_the_index_is_no_column():
    frame = long_frame(VALUES).set_index("who")
    check_error(frame, "id names 'who', which is no column", "reset_index()", layout=LONG)


def test_a_role_of_a_repeated_column_is_refused():
    frame = pd.DataFrame([[1, 2, 3.0]], columns=["who", "who", "x"])
    check_error(frame, "column 'who' (id) appears 2 times", "unique", layout=Layout(id="who"))


@pytest.mark.parametrize(
    ("name", "option", "layout", "how"),
    [
        ("array", "id", Layout(id="who"), {}),
        ("array", "time", Layout(time="who"), {}),
        ("array", "static columns", Layout(static=("who",)), {}),
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
        FORMATS[name][0], fact, f"{option} belongs to", f"Leave out {option}", layout=layout, **how
    )
