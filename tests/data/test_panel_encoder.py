"""Series as networks read them, against definitions written as plain loops."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from imputefree.data import Layout, Outside, PanelEncoder, TableEncoder, read_columns, read_panel
from imputefree.errors import ParameterError, UnseenCategoryWarning
from tests.refusals import check_error

NAN = np.nan
rng = np.random.default_rng(0)
LENGTHS = [1, 4, 2, 6, 3, 1, 5]
SERIES = [rng.normal(size=(steps, 3)) for steps in LENGTHS]
for one in SERIES:
    one[:, :2][rng.random((len(one), 2)) < 0.4] = NAN
TIMES = [np.cumsum(rng.integers(1, 5, steps)) / 2 for steps in LENGTHS]
STATIC = pd.DataFrame(
    {"age": [30.0, NAN, 50.0, 61.0, 72.0, 18.0, 44.0], "sex": ["f", "m", None, "m", "f", "f", "m"]}
)


def panel(**options):
    return read_panel(SERIES, **({"times": TIMES} | options))


def time_since(series, times, j):
    """By definition: from the last observation before a step, or the first step, up to the step."""
    found = []
    for now in range(len(series)):
        last = times[0]
        for before in range(now):
            if not np.isnan(series[before][j]):
                last = times[before]
        found.append(times[now] - last)
    return found


def usual_distance(all_times):
    return np.median([b - a for times in all_times for a, b in pairwise(times)])


class TestTimes:
    def test_time_since_is_as_defined(self):
        encoder = PanelEncoder().fit(panel())
        assert encoder.input_names[-3:] == [
            "time since 0",
            "time since 1",  # column 2 has no gaps
            "time since the last step",
        ]
        unit = usual_distance(TIMES)
        assert encoder.unit == unit
        expected = []
        for series, times in zip(SERIES, TIMES, strict=True):
            since = [time_since(series, times, j) for j in (0, 1)]
            since.append([0.0, *np.diff(times)])
            expected += np.log(1 + np.array(since).T / unit).tolist()
        found = encoder.transform(panel())
        np.testing.assert_allclose(found.values[:, -3:], expected, rtol=1e-6)
        assert found.observed[:, -3:].all()
        assert found.values.dtype == np.float32

    def test_other_series_than_in_training_keep_its_unit(self):
        encoder = PanelEncoder().fit(panel())
        later = read_panel([[[NAN, 1, 2], [1, NAN, 2]]], times=[[3.0, 1003.0]])
        since = encoder.transform(later).values[:, -3:]
        np.testing.assert_allclose(since[1], np.log1p(1000 / encoder.unit), rtol=1e-6)
        assert not since[0].any()

    def test_even_steps_need_no_time_since_the_last_step(self):
        for times in (None, np.arange(6) * 7.0, np.arange(6) / 10):
            given = None if times is None else [times[:steps] for steps in LENGTHS]
            encoder = PanelEncoder().fit(panel(times=given))
            assert encoder.input_names[-1] == "time since 1"
            assert not encoder.uneven

    def test_unit_of_even_steps_cancels(self):
        hourly = PanelEncoder().fit(panel(times=None))
        daily = panel(times=[24.0 * np.arange(steps) for steps in LENGTHS])
        left = hourly.transform(panel(times=None)).values
        assert np.array_equal(PanelEncoder().fit(daily).transform(daily).values, left)

    def test_switched_off(self):
        encoder = PanelEncoder(time_since=False).fit(panel())
        assert not any("time" in name for name in encoder.input_names)
        plain = TableEncoder(numeric_encoding="plain").fit(panel().steps)
        left, right = encoder.transform(panel()), plain.transform(panel().steps)
        assert np.array_equal(left.values, right.values)
        assert np.array_equal(left.observed, right.observed)

    def test_single_steps_have_no_distance(self):
        encoder = PanelEncoder().fit(read_panel([[[1.0]], [[NAN]]]))
        assert encoder.unit == 1.0
        assert encoder.input_names == ["0", "0 is missing", "time since 0"]

    def test_any_finite_times_give_finite_inputs(self):
        series = np.array([[[1.0], [NAN], [NAN]]])
        stamps = [[-1.7e308, 0.0, 1.7e308], [0.0, 5e-324, 1.0], [0.0, 1e-300, 1e308], [0, 1, 2]]
        with np.errstate(all="raise", under="ignore"):
            for training in stamps:
                encoder = PanelEncoder().fit(read_panel(series, times=training))
                for later in stamps:
                    values = encoder.transform(read_panel(series, times=later)).values
                    assert np.isfinite(values).all()
                    assert (np.diff(values[:, 2]) >= 0).all()  # never observed again

    def test_a_category_without_a_level_has_no_time(self):
        frame = pd.DataFrame(
            {"who": [0, 0, 1], "drug": pd.Categorical([None] * 3), "a": [1, NAN, 2]}
        )
        for columns in (["who", "drug", "a"], ["who", "a", "drug"]):
            for indicator in (False, True):
                read = read_panel(frame[columns], Layout(id="who"))
                encoder = PanelEncoder(indicator=indicator).fit(read)
                since = [name for name in encoder.input_names if "since" in name]
                assert since == ["time since a"]
                found = encoder.transform(read).values[:, -1]
                np.testing.assert_allclose(found, np.log1p([0, 1, 0]), rtol=1e-6)


class TestStatics:
    def test_every_step_repeats_the_row_of_its_series(self):
        read = panel(static=STATIC)
        encoder = PanelEncoder().fit(read)
        assert encoder.input_names == [
            *("0", "1", "2", "age", "sex=f", "sex=m"),
            *("0 is missing", "1 is missing", "age is missing", "sex is missing"),
            *("time since 0", "time since 1", "time since the last step"),
        ]
        alone = TableEncoder(numeric_encoding="plain").fit(read_columns(STATIC))
        rows = alone.transform(read_columns(STATIC))
        found, at = encoder.transform(read), 0
        for i, steps in enumerate(LENGTHS):
            for step in range(at, at + steps):
                assert np.array_equal(found.values[step, 3:6], rows.values[i, :3])
                assert np.array_equal(found.values[step, 8:10], rows.values[i, 3:])
                assert np.array_equal(found.observed[step, 3:6], rows.observed[i, :3])
            at += steps
        assert len(found.values) == at

    def test_numbers_of_inputs_and_columns(self):
        encoder = PanelEncoder().fit(panel(static=STATIC))
        assert encoder.n_entries == 6
        assert encoder.n_columns == 5
        assert encoder.input_columns.tolist() == [0, 1, 2, 3, 4, 4, 0, 1, 3, 4]  # not the times
        assert len(encoder.input_names) == encoder.transform(panel(static=STATIC)).values.shape[1]

    def test_values_outside_the_range_of_training_are_told_of_steps_and_statics(self):
        for static, values in ((STATIC, STATIC.assign(age=9e6)), (None, None)):
            outside, encoder = Outside(), PanelEncoder().fit(panel(static=static))
            encoder.count_outside(panel(static=static), outside)
            assert outside.sentence == ""
            encoder.count_outside(panel(static=values), outside)
            assert ("'age'" in outside.sentence) == (static is not None)
        for before, now in ((STATIC, None), (None, STATIC)):  # refused, but not by counting
            PanelEncoder().fit(panel(static=before)).count_outside(panel(static=now), outside)

    def test_static_scales_count_series_and_not_steps(self):
        encoder = PanelEncoder().fit(panel(static=STATIC))
        alone = TableEncoder(numeric_encoding="plain").fit(read_columns(STATIC))
        assert encoder.statics.state()["plans"] == alone.state()["plans"]

    def test_missing_or_extra(self):
        with_statics, without = (
            PanelEncoder().fit(panel(static=STATIC)),
            PanelEncoder().fit(panel()),
        )
        check_error(
            lambda: with_statics.transform(panel()),
            "no static columns are given. Training had 'age', 'sex'",
            "Pass static= as in training",
        )
        check_error(
            lambda: without.transform(panel(static=STATIC)),
            "static columns are given. Training had none",
            "Pass static= as in training",
        )
        with pytest.warns(UnseenCategoryWarning, match="'sex': 'x'"):
            with_statics.transform(panel(static=STATIC.assign(sex="x")))

    @pytest.mark.parametrize("kind", [list, tuple, np.array])
    def test_chosen_categories_are_looked_for_in_both(self, kind):
        table = pd.DataFrame({"ward": [1, 2, 3, 1, 2, 3, 1], "age": STATIC["age"]})
        encoder = PanelEncoder(kind(["ward"])).fit(panel(static=table))
        assert [n for n in encoder.input_names if "ward" in n] == ["ward=1", "ward=2", "ward=3"]
        frame = pd.DataFrame({"who": [0, 0, 1], "code": [1, 2, 1], "ward": [3, 3, 4]})
        read = read_panel(frame, Layout(id="who", static=("ward",)))
        names = PanelEncoder(kind(["ward", "code"])).fit(read).input_names
        assert names == ["code=1", "code=2", "ward=3", "ward=4"]

    def test_chosen_categories_that_are_nowhere(self):
        for table in (None, STATIC):
            with pytest.raises(ParameterError, match="names 'no', which is not a column"):
                PanelEncoder(["no"]).fit(panel(static=table))
            with pytest.raises(ParameterError, match=r'must be "auto" or a list'):
                PanelEncoder(7).fit(panel(static=table))


class TestSteps:
    def test_entries_and_indicators_are_those_of_a_table_of_steps(self):
        table = TableEncoder(numeric_encoding="rich").fit(read_columns(np.concatenate(SERIES)))
        encoder = PanelEncoder(numeric_encoding="rich").fit(panel())
        width = len(table.input_names)
        assert encoder.input_names[:width] == table.input_names
        expected = table.transform(read_columns(np.concatenate(SERIES)))
        found = encoder.transform(panel())
        assert np.array_equal(found.values[:, :width], expected.values)
        assert np.array_equal(found.observed[:, :width], expected.observed)

    @pytest.mark.parametrize("filler", [NAN, np.inf, 1e300])
    def test_padding_leaves_no_trace(self, filler):
        wide = np.full((len(LENGTHS), 9, 3), filler)
        for row, series in zip(wide, SERIES, strict=True):
            row[: len(series)] = series
        times = np.stack([np.append(t, np.full(9 - len(t), NAN)) for t in TIMES])
        read = read_panel(wide, lengths=LENGTHS, times=times)
        left, right = PanelEncoder().fit(read), PanelEncoder().fit(panel())
        assert left.state() == right.state()
        assert np.array_equal(left.transform(read).values, right.transform(panel()).values)

    def test_a_series_alone_or_among_others(self):
        encoder = PanelEncoder().fit(panel(static=STATIC))
        whole = encoder.transform(panel(static=STATIC))
        at = 0
        for i, steps in enumerate(LENGTHS):
            single = read_panel(SERIES[i : i + 1], times=TIMES[i : i + 1], static=STATIC[i : i + 1])
            assert np.array_equal(encoder.transform(single).values, whole.values[at : at + steps])
            at += steps

    def test_chosen_series_are_encoded_the_same(self):
        read = panel(static=STATIC)
        kept = np.array([4, 0, 3])
        encoder = PanelEncoder().fit(read)
        left = encoder.transform(read.rows(kept)).values
        assert np.array_equal(left, encoder.transform(read).values[read.places(kept)])


@pytest.mark.parametrize("static", [None, STATIC])
@pytest.mark.parametrize("time_since", [True, False])
def test_state_is_plain_json_and_comes_back(static, time_since):
    encoder = PanelEncoder(time_since=time_since).fit(panel(static=static))
    again = PanelEncoder.from_state(json.loads(json.dumps(encoder.state())))
    assert again.state() == encoder.state()
    assert again.input_names == encoder.input_names
    assert again.input_columns.tolist() == encoder.input_columns.tolist()
    left, right = (one.transform(panel(static=static)) for one in (encoder, again))
    assert np.array_equal(left.values, right.values)
    assert np.array_equal(left.observed, right.observed)


def test_files_from_before_a_summary_was_added_still_work():
    encoder = PanelEncoder(summary="bins").fit(panel())
    state = encoder.state()
    names = [plan["name"] for plan in state["summaries"]["plans"]]
    kept = [name for name in names if not name.startswith("observations in the")]
    assert len(kept) < len(names)
    state["summaries"]["plans"] = [p for p in state["summaries"]["plans"] if p["name"] in kept]
    old = PanelEncoder.from_state(state)
    assert old.summarised(panel()).names == kept
    assert old.summary_parts(panel()).shape[0] == len(LENGTHS)


def test_summaries_tell_static_columns_as_training_knew_them():
    encoder = PanelEncoder().fit(panel(static=STATIC))
    later = STATIC.assign(sex=["new", *STATIC["sex"][1:]])
    table = encoder.summarised(panel(static=later))
    of = dict(table.items())
    np.testing.assert_array_equal(of["age (static)"], STATIC["age"])
    assert of["sex (static)"][0] is None
    assert of["sex (static)"][1:].tolist() == read_columns(STATIC).arrays[1][1:].tolist()
    without = PanelEncoder().fit(panel()).summarised(panel())
    assert not [name for name in without.names if "static" in name]
