"""Summaries of series, against a plain loop over series in double precision.

Those up to each step are summaries of the series cut there.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.data import (
    Layout,
    read_panel,
    summarise,
    summarise_mask,
    summarise_mask_steps,
    summarise_steps,
)
from imputefree.data._summaries import without_gap_summaries
from tests.lab.simulated import series

NAN = np.nan
MEMBERS, _ = series(n=40)
RNG = np.random.default_rng(3)
TIMES = [np.cumsum(RNG.random(len(one)) + 0.1) for one in MEMBERS]


def by_hand(members, times):
    rows = []
    for one, when in zip(members, times, strict=True):
        row = {"steps": len(one), "duration": when[-1] - when[0]}
        row["observations"] = np.isfinite(one).sum()
        in_step = [sum(~np.isnan(values)) for values in one]
        row["steps with observations"] = sum(count > 0 for count in in_step)
        row["most observations in a step"] = max(in_step)
        for steps in (1, 2, 4, 8, 16):
            row[f"observations in the first {steps}"] = sum(in_step[:steps])
            row[f"observations in the last {steps}"] = sum(in_step[-steps:])
        for j, column in enumerate(one.T):
            seen = ~np.isnan(column)
            row[f"count of {j}"] = seen.sum()
            if not seen.any():
                continue
            values, at = column[seen], when[seen]
            row[f"mean of {j}"], row[f"std of {j}"] = np.mean(values), np.std(values)
            row[f"min of {j}"], row[f"max of {j}"] = min(values), max(values)
            row[f"first of {j}"], row[f"last of {j}"] = values[0], values[-1]
            row[f"change of {j}"] = values[-1] - values[0]
            row[f"time since {j}"] = when[-1] - at[-1]
            row[f"first time of {j}"] = at[0] - when[0]
        rows.append(row)
    return pd.DataFrame(rows)


def mask_by_hand(members, times):
    rows = []
    for one, when in zip(members, times, strict=True):
        row = {"steps": len(one), "duration": when[-1] - when[0]}
        for j, column in enumerate(one.T):
            at = (when - when[0])[~np.isnan(column)]
            row[f"share of {j}"] = len(at) / len(one)
            row[f"first of {j}"] = at[0] if len(at) else row["duration"] + 1
            row[f"last of {j}"] = at[-1] if len(at) else -1
        rows.append(row)
    return pd.DataFrame(rows)


def forms(times):
    """The same series as a list, as a padded array and as a long frame in any order."""
    yield read_panel(MEMBERS, times=times)
    lengths = [len(one) for one in MEMBERS]
    padded = np.full((40, 8, 3), 99.0)
    for i, one in enumerate(MEMBERS):
        padded[i, : len(one)] = one
    clock = None
    if times is not None:
        clock = np.array([[*t, *(t[-1] + 1 + np.arange(8 - len(t)))] for t in times])
    yield read_panel(padded, lengths=lengths, times=clock)
    frame = pd.DataFrame(np.concatenate(MEMBERS), columns=list("012"))
    frame["who"] = np.repeat(np.arange(40), lengths)
    when = [np.arange(n) for n in lengths] if times is None else times
    frame["hour"] = np.concatenate(when)
    frame = frame.sample(frac=1, random_state=0).sort_values("who", kind="stable")
    yield read_panel(frame, Layout(id="who", time="hour"))


@pytest.mark.parametrize("times", [None, TIMES], ids=["steps", "times"])
@pytest.mark.parametrize(
    ("function", "loop"), [(summarise, by_hand), (summarise_mask, mask_by_hand)]
)
def test_against_a_loop(times, function, loop):
    when = [np.arange(len(one)) for one in MEMBERS] if times is None else times
    expected = loop(MEMBERS, when)
    assert expected.isna().any().any() == (function is summarise)
    for panel in forms(times):
        found = function(panel).to_frame()
        assert set(found.columns) == set(expected.columns)
        np.testing.assert_allclose(found[expected.columns], expected, rtol=1e-12, atol=1e-12)


def test_first_and_last_observation_at_the_ends_of_all_steps():
    nan = np.nan
    panel = read_panel([[[7.0], [nan], [nan]], [[nan], [nan]], [[nan], [nan], [5.0]]])
    found = summarise(panel).to_frame()
    np.testing.assert_array_equal(found["first of 0"], [7.0, nan, 5.0])
    np.testing.assert_array_equal(found["last of 0"], [7.0, nan, 5.0])
    np.testing.assert_array_equal(found["time since 0"], [2.0, nan, 0.0])
    np.testing.assert_array_equal(found["first time of 0"], [0.0, nan, 2.0])


def test_summaries_without_those_of_gaps():
    static = pd.DataFrame({"count of": [1.0, 2.0]})
    table = summarise(read_panel(np.zeros((2, 3, 1)), static=static))
    kept = without_gap_summaries(table).names
    assert {"mean of 0", "std of 0", "change of 0", "steps", "duration"} < set(kept)
    assert "count of (static)" in kept
    gone = set(table.names) - set(kept)
    assert {"count of 0", "time since 0", "first time of 0", "observations"} < gone
    assert all("observations" in name or name.endswith(" 0") for name in gone)


def test_order_is_statistic_by_statistic():
    names = summarise(read_panel(np.zeros((2, 3, 2)))).names
    assert names[:4] == ["mean of 0", "mean of 1", "min of 0", "min of 1"]
    assert names[-2:] == ["steps", "duration"]


def _strings(column):
    return column.astype(object).where(column.notna(), None).tolist()


def test_statics_and_strings():
    frame = pd.DataFrame(
        {
            "who": [1, 1, 2, 2, 3],
            "pulse": [70.0, np.nan, 80.0, 90.0, np.nan],
            "mood": [None, "good", "bad", "good", None],
            "sex": ["f", "f", None, None, "m"],
        }
    )
    panel = read_panel(frame, Layout(id="who", static=("sex",)))
    found = summarise(panel).to_frame()
    assert _strings(found["first of mood"]) == ["good", "bad", None]
    assert _strings(found["last of mood"]) == ["good", "good", None]
    assert found["count of mood"].tolist() == [1, 2, 0]
    assert _strings(found["sex (static)"]) == ["f", None, "m"]
    assert "mean of mood" not in found
    mask = summarise_mask(panel).to_frame()
    assert mask["sex (static)"].tolist() == [1, 0, 1]
    assert mask["share of mood"].tolist() == [0.5, 1, 0]


def test_huge_values_stay_finite():
    found = summarise(read_panel(np.array([[[1.7e308], [-1.7e308], [1.7e308]]]))).to_frame()
    assert np.isfinite(found.to_numpy()).all()


def test_nobody_measured_anything():
    found = summarise(read_panel(np.full((2, 3, 1), np.nan))).to_frame()
    assert found["count of 0"].tolist() == [0, 0]
    assert found[["mean of 0", "min of 0", "last of 0", "time since 0"]].isna().all().all()


# Up to each step

FEW, FEW_TIMES = MEMBERS[:12], TIMES[:12]


def cut(one, when, step):
    panel = read_panel([one[: step + 1]], times=[when[: step + 1]])
    return summarise(panel).to_frame().iloc[0]


def test_every_step_knows_what_the_series_cut_there_knows():
    found = summarise_steps(read_panel(FEW, times=FEW_TIMES)).to_frame()
    expected = pd.DataFrame(
        [
            cut(one, when, step)
            for one, when in zip(FEW, FEW_TIMES, strict=True)
            for step in range(len(one))
        ]
    ).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected[list(found.columns)], check_dtype=False)


def test_the_mask_tells_no_value():
    panel = read_panel(FEW, times=FEW_TIMES)
    shifted = read_panel([one * 3 - 7 for one in FEW], times=FEW_TIMES)
    found, other = (summarise_mask_steps(p).to_frame() for p in (panel, shifted))
    pd.testing.assert_frame_equal(found, other)
    assert not found.isna().any(axis=None)
    seen = np.concatenate([np.cumsum(~np.isnan(one[:, 0])) for one in FEW])
    assert np.allclose(found["share of 0"] * found["steps"], seen)


def test_strings_and_static_columns_of_steps():
    frame = pd.DataFrame({"who": ["a", "a", "b"], "rhythm": [None, "x", None], "sex": "f"})
    panel = read_panel(frame, Layout(id="who", static=("sex",)))
    steps = summarise_steps(panel)
    table = dict(steps.items())
    assert table["last of rhythm"].tolist() == [None, "x", None]
    assert table["sex (static)"].tolist() == ["f"] * 3
    assert "max of rhythm" not in table


@pytest.mark.parametrize("summary", [summarise_steps, summarise_mask_steps])
def test_later_steps_change_nothing(summary):
    whole = summary(read_panel(FEW)).to_frame()
    begun = summary(read_panel([one[:1] for one in FEW])).to_frame()
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
