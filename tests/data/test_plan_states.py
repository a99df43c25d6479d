"""Plans of columns as JSON types: the same again, or refused if one thing in them is wrong."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from imputefree.data._column_plans import Category, Number, plan_of, plan_state

MOST = sys.float_info.max
MANY = np.r_[np.arange(40.0), [7.0] * 12, np.nan]
PLANS = {
    "number": Number.learn("x", MANY, "piecewise"),
    "few": Number.learn("x", np.array([1.0, 2.0, 2.0, 5.0])),
    "gaps": Number.learn("x", np.full(3, np.nan)),
    "category": Category.learn("x", np.array([*"aaabbcd", None], dtype=object)),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_comes_back_from_json(name):
    state = plan_state(PLANS[name])
    assert plan_of(json.loads(json.dumps(state))) == PLANS[name]


@pytest.mark.parametrize(
    ("name", "field", "change"),
    [
        *(("number", "spread", lambda _, value=value: value) for value in (0.0, -1.0)),
        *(("number", field, lambda values: values[:-1]) for field in ("knots", "scores", "values")),
        ("number", "shares", lambda values: [*values, 0.0]),
        # numbers that must rise, two of them equal or exchanged
        *(
            ("number", field, lambda values, at=at: [*values[:-2], *(values[i] for i in at)])
            for field in ("knots", "edges")
            for at in ([-1, -1], [-1, -2])
        ),
        ("few", "levels", lambda values: [*values[:-1], values[0]]),
        # both ends of a range, or none
        *(("number", field, lambda _: None) for field in ("low", "high")),
        *(("gaps", field, lambda _: 1.0) for field in ("low", "high")),
        # types and sizes
        *(
            ("number", "center", lambda _, value=value: value)
            for value in (True, "1", None, np.inf, -np.inf, np.nan, 10**309, [1.0])
        ),
        *(("number", "has_gaps", lambda _, value=value: value) for value in (1, None, "yes")),
        *(("number", "name", lambda _, value=value: value) for value in (1, None)),
        *(("number", "low", lambda _, value=value: value) for value in (np.inf, "1", True)),
        *(
            ("few", "levels", lambda values, value=value: [*values, value])
            for value in (True, "9", None, np.inf)
        ),
        *(("few", "levels", lambda _, value=value: value) for value in ({}, "", (1.0, 2.0), None)),
        ("category", "levels", lambda values: [*values, values[0]]),
        ("category", "levels", lambda values: [*values, "c"]),  # rare, and not
        ("category", "levels", lambda values: [*values[:-1], 1]),
        ("category", "rare_levels", lambda values: [*values, None]),
        ("category", "shares", lambda values: values[:-1]),
        ("category", "shares", lambda values: [*values, 0.0]),
        ("category", "kind", lambda _: "number"),
        ("number", "kind", lambda _: "string"),
        ("number", "color", lambda _: 1.0),
    ],
)
def test_a_plan_with_one_thing_wrong_is_refused(name, field, change):
    state = plan_state(PLANS[name])
    with pytest.raises((ValueError, LookupError, TypeError)):
        plan_of(state | {field: change(state.get(field))})


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("number", {"center": MOST, "low": -MOST, "high": 3}),
        ("number", {"spread": 5e-324}),
        ("category", {"shares": []}),
        ("few", {"levels": []}),
    ],
)
def test_extremes_and_what_is_not_known_are_kept(name, parts):
    plan = plan_of(plan_state(PLANS[name]) | parts)
    assert {field: getattr(plan, field) for field in parts} == parts
