"""A layout names each column once, by its text."""

from __future__ import annotations

import json
from dataclasses import asdict

import pandas as pd
import pytest

from imputefree.data import Layout, read_panel
from imputefree.errors import InputTypeError
from tests.data.panel.made import VALUES, check_error, long_frame


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
    text = Layout(id="who", static="hr")
    check_error(frame, "static is 'hr'", "a tuple", "static=('hr',)", layout=text, kind=TypeError)
    number = Layout(id=0)
    check_error(frame, "id names the column 0, a int", "'0'", layout=number, kind=InputTypeError)
    check_error(VALUES, "axes is 'tnd'", '"ntd"', '"ndt"', layout=Layout(axes="tnd"))


def test_a_layout_is_plain_json():
    layout = Layout(id="who", time="hour", static=("age",), apart=("died",))
    state = json.loads(json.dumps(asdict(layout)))
    assert read_panel(
        pd.DataFrame({"who": [1], "hour": [0], "age": [5.0], "x": [1.0], "died": [0]}),
        Layout(**state),  # lists for tuples, as JSON has it
    ).apart["died"].tolist() == [0]
