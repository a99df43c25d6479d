"""The same rows with other gaps: who sees which value of whom."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from imputefree import Panel
from imputefree.inspection import GapScenarios, read_rows
from imputefree.inspection._gap_scenarios import Cells, share_missing


def labelled(n=40, d=3, rate=0.3, seed=0):
    """A table whose values say which cell they come from."""
    X = np.arange(n)[:, None] + np.arange(d) / 10
    X[np.random.default_rng(seed).random((n, d)) < rate] = np.nan
    return X


def scenarios(X, seed=0):
    return GapScenarios(read_rows(X), np.random.default_rng(seed))


def test_exchanged_tables_differ_only_in_whose_gaps_they_have():
    X = labelled()
    theirs, own = (table.X for table in scenarios(X).exchanged())
    masks = [sorted(map(tuple, np.isnan(table))) for table in (X, theirs)]
    assert masks[0] == masks[1]  # every row's gaps are somewhere
    assert (np.isnan(theirs) != np.isnan(X)).any()
    assert (np.isnan(own) == np.isnan(X)).all()
    home, column = np.arange(40)[:, None], np.arange(3) / 10
    for table in (theirs, own):  # values stay in their column
        rest = (table - column)[~np.isnan(table)]
        assert np.allclose(rest, np.round(rest))
    both = ~np.isnan(theirs) & ~np.isnan(X)
    assert (theirs[both] == X[both]).all()  # where both have a value it is the row's own
    assert (own[both] == X[both]).all()
    borrowed = [(~np.isnan(t) & (np.round(t - column) != home)).sum(0) for t in (theirs, own)]
    kept = [(np.round(t - column) == home).sum(0) for t in (theirs, own)]
    # As many in each column; a value may by chance be borrowed from its own row.
    assert np.abs(borrowed[0] - borrowed[1]).max() <= 1
    assert np.abs(kept[0] - kept[1]).max() <= 1


def test_without_gaps_nothing_is_exchanged():
    X = labelled(rate=0.0)
    for table in scenarios(X).exchanged():
        assert (X == table.X).all()


def test_nearest_is_the_nearest_step_of_the_series():
    rng = np.random.default_rng(0)
    lengths = np.array([1, 5, 3, 7])
    seen = rng.random((16, 4)) < 0.4
    nearest = Cells(seen, lengths).nearest(seen)
    end = np.cumsum(lengths)
    for first, last in zip(end - lengths, end, strict=True):
        for row in range(first, last):
            for j in range(4):
                steps = [s for s in range(first, last) if seen[s, j]]
                if not steps:
                    assert nearest[row, j] == -1
                else:
                    assert abs(nearest[row, j] - row) == min(abs(s - row) for s in steps)
                    assert nearest[row, j] in steps


def test_series_get_the_gaps_of_a_partner_and_keep_their_values():
    a = np.array([[1.0], [np.nan], [3.0], [np.nan]])  # measured at the beginning of each half
    b = np.array([[np.nan], [6.0]])  # measured at the end
    panel = Panel.from_list([a, b], static=pd.DataFrame({"sex": ["f", None]}))
    theirs, own = scenarios(panel).exchanged()
    values = theirs.X.steps.arrays[0]
    assert np.array_equal(values[:4], [np.nan, np.nan, 3, 3], equal_nan=True)
    assert values[4:].tolist() == [6, 6]
    assert theirs.X.statics.arrays[0].tolist() == [None, "f"]  # borrowed
    # A row's own gaps, with the values that the other table shows: at step 0 that of step 2.
    values = own.X.steps.arrays[0]
    assert np.array_equal(values[:4], [3, np.nan, 3, np.nan], equal_nan=True)
    assert np.array_equal(values[4:], [np.nan, 6], equal_nan=True)
    assert own.X.statics.arrays[0].tolist() == ["f", None]


def test_more_gaps_take_a_share_of_what_is_there():
    X = labelled(n=200)
    more = scenarios(X).more(0.5).X
    assert (np.isnan(more) | (more == X)).all()
    assert (~np.isnan(more)).sum() == pytest.approx((~np.isnan(X)).sum() / 2, abs=1)


def test_gaps_of_donors_come_on_top():
    X, donors = labelled(), np.roll(np.arange(40), 1)
    shown = scenarios(X).with_gaps_of(donors).X
    expected = np.where(np.isnan(X) | np.isnan(X[donors]), np.nan, X)
    assert np.array_equal(shown, expected, equal_nan=True)


def test_frames_stay_frames():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]}, index=[7, 8, 9])
    for table in scenarios(frame).exchanged():
        assert table.X.index.tolist() == [7, 8, 9]
        assert table.X["a"].tolist() == [1, 2, 3]  # has no gaps
        assert set(table.X["b"].dropna()) <= {"x", "z"}
        assert table.X["b"].isna().sum() == 1
    theirs, own = scenarios(pl.from_pandas(frame)).exchanged()
    assert isinstance(theirs.X, pl.DataFrame)
    assert own.X["b"].null_count() == theirs.X["b"].null_count() == 1


def test_share_missing_of_a_series_counts_steps_and_statics():
    series = [np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([[np.nan, 1.0]])]
    panel = Panel.from_list(series, static=pd.DataFrame({"sex": ["f", None]}))
    assert share_missing(read_rows(panel)).tolist() == [1 / 5, 2 / 3]
