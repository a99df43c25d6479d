"""Explanations as lines: every number is in its place, and means are those of what is there."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from imputefree.inspection import explain_rows, input_values
from tests.inspection.test_explain_series import CLASSES, COLUMNS, FEW
from tests.inspection.test_explain_tables import MODELS, ROWS


def test_a_line_a_row_and_column():
    found = explain_rows(MODELS["three classes"], ROWS)
    values, _ = input_values(MODELS["three classes"], ROWS)
    lines = found.to_lines(values, [], [10, 11, 12, 13, 14, 15], "row")
    assert len(lines) == ROWS.size
    for i, row in enumerate(range(10, 16)):
        own = lines[lines["row"] == row].set_index("column")
        assert list(own.index) == list(ROWS.columns)
        assert set(own["of"]) == {found.of[i]}
        np.testing.assert_array_equal(own["removal"].astype(float), found.removal[i])
        np.testing.assert_array_equal(own["next_value"].astype(float), found.next_value[i])
        given = own["value"].where(own["value"].notna(), np.nan)
        expected = ROWS.iloc[i].astype(object)
        assert given.fillna("").tolist() == expected.where(expected.notna(), "").tolist()


def test_lines_of_series_have_times_where_they_are_single_values():
    found = explain_rows(CLASSES, FEW)
    last, at_steps = input_values(CLASSES, FEW)
    text = found.to_lines(last, at_steps, found.ids.tolist(), "id").to_csv(index=False)
    lines = pd.read_csv(io.StringIO(text))
    whole, single = lines[lines["time"].isna()], lines[lines["time"].notna()]
    assert len(whole) == 5 * 4
    assert len(single) == FEW[["pulse", "tube"]].notna().to_numpy().sum()
    for line in single.itertuples():
        row = FEW[(FEW["who"] == line.id) & (FEW["hour"] == line.time)]
        value = row[line.column].iloc[0]
        assert line.value == value if line.column == "tube" else float(line.value) == value
        i, t = list(found.ids).index(line.id), list(found.times[line.id]).index(line.time)
        effect = found.removal[i][t, COLUMNS.index(line.column)]
        assert line.removal == pytest.approx(effect)
        assert line.of == found.of[i]
    for i in range(5):  # the last that was observed
        seen = FEW[FEW["who"] == i]["tube"].dropna()
        assert last[i, 1] == (seen.iloc[-1] if len(seen) else None)


def test_means_by_column_are_over_what_is_there():
    found = explain_rows(MODELS["a number"], ROWS)
    lines = found.means().set_index("column")
    assert lines["effect"].dropna().is_monotonic_decreasing
    for j, name in enumerate(ROWS.columns):
        there = ROWS[name].notna().to_numpy()
        assert lines.loc[name, "observed"] == there.mean()
        if there.any():
            mean = np.abs(found.removal[there, j]).mean()
            assert lines.loc[name, "effect"] == pytest.approx(mean)
        else:
            assert np.isnan(lines.loc[name, "effect"])
        if not there.all():
            mean = found.next_value[~there, j].mean()
            assert lines.loc[name, "change"] == pytest.approx(mean)
