"""Results of explanations: rankings, JSON, lines for files and means."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier
from imputefree.inspection import explain_rows, input_values
from tests.inspection.test_explain_series import CLASSES, COLUMNS, FEW, LENGTHS
from tests.inspection.test_explain_tables import FRAME, MODELS, ROWS, SMALL, TWO


def test_best_next_ranks_missing_values_by_their_change():
    why = explain_rows(MODELS["a number"], ROWS)
    for i, best in enumerate(why.best_next()):
        assert best["change"] == np.nanmax(why.next_value[i])
        assert best["low"] <= best["high"]
        assert pd.isna(ROWS.iloc[i][best["column"]])
    for first, ranked in zip(why.best_next(), why.best_next(3), strict=True):
        assert ranked[0] == first
        changes = [best["change"] for best in ranked]
        assert changes == sorted(changes, reverse=True)
    full = FRAME.drop(columns="nothing").dropna().head(2)
    model = GILClassifier(**SMALL).fit(FRAME.drop(columns="nothing"), TWO)
    assert explain_rows(model, full).best_next() == [None, None]
    assert explain_rows(model, full).best_next(3) == [[], []]


def test_the_dictionary_is_plain_json():
    why = explain_rows(MODELS["three classes"], ROWS)
    back = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert back["columns"] == why.columns
    assert back["of"] == why.of.tolist()
    np.testing.assert_array_equal(np.array(back["removal"], dtype=float), why.removal)
    assert back["best_next"] == why.best_next()
    assert explain_rows(MODELS["a number"], ROWS).to_dict()["of"] is None
    for single in (True, False):
        why = explain_rows(CLASSES, FEW, single=single)
        back = json.loads(json.dumps(why.to_dict(), allow_nan=False))
        assert back["static"] == ["age", "sex"]
        assert back["times"][2] == why.times[2].tolist()
        assert back["ids"] == [0, 1, 2, 3, 4]
        if single:
            assert [np.shape(steps) for steps in back["removal"]] == [(n, 4) for n in LENGTHS[:5]]
            sums = [pd.DataFrame(steps).sum(min_count=1) for steps in why.removal]
            np.testing.assert_allclose(np.array(back["removal_sums"], dtype=float), sums)


def test_one_line_per_row_and_column():
    why = explain_rows(MODELS["three classes"], ROWS)
    values, _ = input_values(MODELS["three classes"], ROWS)
    lines = why.to_lines(values, [], [10, 11, 12, 13, 14, 15], "row")
    assert len(lines) == ROWS.size
    for i, row in enumerate(range(10, 16)):
        part = lines[lines["row"] == row].set_index("column")
        assert list(part.index) == list(ROWS.columns)
        assert set(part["of"]) == {why.of[i]}
        np.testing.assert_array_equal(part["removal"].astype(float), why.removal[i])
        np.testing.assert_array_equal(part["next_value"].astype(float), why.next_value[i])
        values = part["value"].where(part["value"].notna(), np.nan)
        expected = ROWS.iloc[i].astype(object)
        assert values.fillna("").tolist() == expected.where(expected.notna(), "").tolist()


def test_lines_for_series_have_times_if_they_are_single_values():
    why = explain_rows(CLASSES, FEW)
    last, step_values = input_values(CLASSES, FEW)
    text = why.to_lines(last, step_values, why.ids.tolist(), "id").to_csv(index=False)
    lines = pd.read_csv(io.StringIO(text))
    whole, single = lines[lines["time"].isna()], lines[lines["time"].notna()]
    assert len(whole) == 5 * 4
    assert len(single) == FEW[["pulse", "tube"]].notna().to_numpy().sum()
    for line in single.itertuples():
        row = FEW[(FEW["who"] == line.id) & (FEW["hour"] == line.time)]
        value = row[line.column].iloc[0]
        assert line.value == value if line.column == "tube" else float(line.value) == value
        i, t = list(why.ids).index(line.id), list(why.times[line.id]).index(line.time)
        effect = why.removal[i][t, COLUMNS.index(line.column)]
        assert line.removal == pytest.approx(effect)
        assert line.of == why.of[i]
    for i in range(5):  # the last observed value
        seen = FEW[FEW["who"] == i]["tube"].dropna()
        assert last[i, 1] == (seen.iloc[-1] if len(seen) else None)


def test_means_ignore_gaps():
    why = explain_rows(MODELS["a number"], ROWS)
    lines = why.means().set_index("column")
    assert lines["effect"].dropna().is_monotonic_decreasing
    for j, name in enumerate(ROWS.columns):
        seen = ROWS[name].notna().to_numpy()
        assert lines.loc[name, "observed"] == seen.mean()
        if seen.any():
            mean = np.abs(why.removal[seen, j]).mean()
            assert lines.loc[name, "effect"] == pytest.approx(mean)
        else:
            assert np.isnan(lines.loc[name, "effect"])
        if not seen.all():
            mean = why.next_value[~seen, j].mean()
            assert lines.loc[name, "change"] == pytest.approx(mean)
