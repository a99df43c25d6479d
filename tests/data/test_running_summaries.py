"""Summaries up to each step: those of the series cut there, against `summarise` and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.data import Layout, read_panel, summarise, summarise_mask_steps, summarise_steps
from tests.lab.simulated import series

NAN = np.nan
MEMBERS, _ = series(n=12)
RNG = np.random.default_rng(3)
TIMES = [np.cumsum(RNG.random(len(one)) + 0.1) for one in MEMBERS]


def cut(one, when, step):
    panel = read_panel([one[: step + 1]], times=[when[: step + 1]])
    return summarise(panel).to_frame().iloc[0]


def test_every_step_knows_what_the_series_cut_there_knows():
    found = summarise_steps(read_panel(MEMBERS, times=TIMES)).to_frame()
    expected = pd.DataFrame(
        [
            cut(one, when, step)
            for one, when in zip(MEMBERS, TIMES, strict=True)
            for step in range(len(one))
        ]
    ).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected[list(found.columns)], check_dtype=False)


def test_the_mask_tells_no_value():
    panel = read_panel(MEMBERS, times=TIMES)
    shifted = read_panel([one * 3 - 7 for one in MEMBERS], times=TIMES)
    found, other = (summarise_mask_steps(p).to_frame() for p in (panel, shifted))
    pd.testing.assert_frame_equal(found, other)
    assert not found.isna().any(axis=None)
    seen = np.concatenate([np.cumsum(~np.isnan(one[:, 0])) for one in MEMBERS])
    assert np.allclose(found["share of 0"] * found["steps"], seen)


def test_strings_and_static_columns():
    frame = pd.DataFrame({"who": ["a", "a", "b"], "rhythm": [None, "x", None], "sex": "f"})
    panel = read_panel(frame, Layout(id="who", static=("sex",)))
    steps = summarise_steps(panel)
    table = dict(zip(steps.names, steps.arrays, strict=True))
    assert table["last of rhythm"].tolist() == [None, "x", None]
    assert table["sex (static)"].tolist() == ["f"] * 3
    assert "max of rhythm" not in table


@pytest.mark.parametrize("summary", [summarise_steps, summarise_mask_steps])
def test_later_steps_change_nothing(summary):
    whole = summary(read_panel(MEMBERS)).to_frame()
    begun = summary(read_panel([one[:1] for one in MEMBERS])).to_frame()
    first = whole[whole["steps"] == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(first, begun)


def test_the_time_since_a_value_by_hand():
    """Before the first one, it is 1 more than the time since the series began."""
    panel = read_panel([np.array([[NAN], [NAN], [5.0], [NAN]])], times=[[2.0, 4.0, 7.0, 11.0]])
    table = summarise_mask_steps(panel).to_frame()
    assert table["time since 0"].tolist() == [1.0, 3.0, 0.0, 4.0]
    assert table["share of 0"].tolist() == [0.0, 0.0, 1 / 3, 1 / 4]
    assert table["duration"].tolist() == [0.0, 2.0, 5.0, 9.0]
    assert np.array_equal(
        summarise_steps(panel).to_frame()["time since 0"], [NAN, NAN, 0, 4], equal_nan=True
    )
