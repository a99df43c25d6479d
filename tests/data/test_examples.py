"""What belongs to a row stays with it, whichever rows are left out; and which rows judge others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.data import Examples, read_columns, read_panel
from imputefree.data._examples import OTHER_GROUP, read_judges
from imputefree.errors import InputError
from tests.refusals import check_error

TABLE = read_columns(np.arange(12.0).reshape(6, 2))
LENGTHS = [2, 1, 3, 1, 2, 4]
PANEL = read_panel([np.full((steps, 1), 1.0 * i) for i, steps in enumerate(LENGTHS)])
STEP_TARGET = np.concatenate([10 * i + np.arange(k) for i, k in enumerate(LENGTHS)])
TARGET = np.arange(6)


def read(weight=None, groups=None, held_out=None, inputs=TABLE, target=TARGET, per_step=False):
    return Examples.read(inputs, target, weight, groups, held_out, per_step)


def test_nothing_given():
    found = read()
    assert found.inputs is TABLE
    assert found.weight.tolist() == [1] * 6
    assert found.groups is None
    assert found.held_out is None


@pytest.mark.parametrize("inputs", [TABLE, PANEL], ids=["table", "series"])
def test_rows_of_weight_zero_are_left_out_with_all_that_is_theirs(inputs):
    found = read([1, 0, 2, 0, 4, 1], list("aabbcd"), [0, 0, 1, 1, 0, 1], inputs)
    assert found.inputs.n_rows == 4
    assert found.target.tolist() == [0, 2, 4, 5]
    assert (found.weight / found.weight[0]).tolist() == [1, 2, 4, 1]
    assert found.groups.tolist() == ["a", "b", "c", "d"]
    assert found.held_out.tolist() == [False, True, False, True]
    assert found.inputs.columns.arrays[0][0] == inputs.columns.arrays[0][0]


def test_labels_of_steps_go_with_their_series():
    found = read([1, 0, 2, 0, 4, 0], inputs=PANEL, target=STEP_TARGET, per_step=True)
    assert found.target.tolist() == [0, 1, 20, 21, 22, 40, 41]
    assert found.inputs.lengths.tolist() == [2, 3, 2]
    assert found.inputs.steps.arrays[0].tolist() == [0, 0, 2, 2, 2, 4, 4]


class TestWeights:
    def test_of_rows_are_one_on_average(self):
        found = read([1, 2, 3, 1, 2, 3]).label_weights(np.ones(6))
        np.testing.assert_allclose(found, [0.5, 1, 1.5, 0.5, 1, 1.5])

    def test_equal_ones_are_no_weights(self):
        assert read([7.0] * 6).label_weights(np.ones(6)) is None
        assert read(7.0).label_weights(np.ones(6)) is None

    def test_of_steps_are_those_of_their_series_times_their_own(self):
        found = read([1, 2, 1, 1, 1, 3], inputs=PANEL, target=STEP_TARGET, per_step=True)
        own = np.arange(13) + 1.0
        expected = np.repeat([1, 2, 1, 1, 1, 3], LENGTHS) * own
        weights = found.label_weights(own)
        np.testing.assert_allclose(weights / weights[0], expected)
        # Summed over all steps of all series: one per series, as the loss divides by series.
        assert weights.sum() == pytest.approx(6)

    @pytest.mark.parametrize("size", [1e308, 5e-324, 1.0])
    def test_of_any_size(self, size):
        given = np.array([1, 1, 1, 1, 1, 0]) * size
        assert read(given).label_weights(np.ones(6)) is None
        found = read(given).reweighted(np.array([1e300, 1, 1, 1, 1]))
        assert np.isfinite(found.label_weights(np.ones(6))).all()

    def test_reweighted_rows_of_nothing_are_left_out(self):
        found = read(held_out=[0, 0, 0, 1, 1, 1]).reweighted(np.array([1, 0, 2, 1, 0, 1]))
        assert found.target.tolist() == [0, 2, 3, 5]
        assert found.weight.tolist() == [1, 2, 1, 1]
        with pytest.raises(ValueError, match="class_weight gives every row the weight zero"):
            read().reweighted(np.zeros(6))

    def test_no_step_counts(self):
        found = read(inputs=PANEL, target=STEP_TARGET, per_step=True)
        with pytest.raises(ValueError, match="class_weight gives every step the weight zero"):
            found.with_weighted_steps(np.zeros(13))

    def test_series_without_a_step_that_counts_are_left_out(self):
        found = read(inputs=PANEL, target=STEP_TARGET, per_step=True)
        factor = (STEP_TARGET // 10 != 2).astype(float)  # no step of the third series
        factor[0] = 0.0
        kept, own = found.with_weighted_steps(factor)
        assert kept.inputs.n_rows == 5
        assert len(kept.target) == len(own) == 10
        assert own[0] == 0


class TestGroups:
    @pytest.mark.parametrize("given", [[1, 1, 2, 2, 3, 3], list("aabbcc")])
    def test_are_compared_as_strings(self, given):
        groups = read(groups=given).groups
        assert len(set(groups)) == 3
        assert groups[0] == groups[1]

    def test_missing_ones_are_refused(self):
        check_error(lambda: read(groups=[None, 1, 1, 1, 2, 2]), "groups is missing in 1 row")

    def test_are_not_split_by_a_given_validation_part(self):
        check_error(
            lambda: read(groups=list("aabbcc"), held_out=[0, 1, 0, 0, 0, 0]),
            "held_out splits group 'a'.",
            "never split",
        )

    @pytest.mark.parametrize("given", [[1, 2], [[1, 2]] * 6, 3, [[1], [1, 2]]])
    def test_of_another_shape_are_refused(self, given):
        check_error(lambda: read(groups=given), "groups")


class TestHeldOut:
    @pytest.mark.parametrize(
        "given",
        [
            [True, False] * 3,
            [1, 0] * 3,
            [1.0, 0.0] * 3,
            pd.array([True, False] * 3, dtype="boolean"),
            np.array([True, False] * 3, dtype=object),
        ],
    )
    def test_says_true_or_false(self, given):
        assert read(held_out=given).held_out.tolist() == [True, False] * 3

    @pytest.mark.parametrize(
        "given",
        [
            [True] * 5,
            [[True]] * 6,
            True,
            [0, 1, 2, 3, 4, 5],
            ["True"] * 6,
            [True, None] * 3,
            [True, np.nan] * 3,
            pd.array([True, pd.NA] * 3, dtype="boolean"),
            np.array([True, [1], "a", 2, 3, None], dtype=object),
            pd.date_range("2020", periods=6),
            [[True], [True, False]],
        ],
    )
    def test_anything_else_is_refused(self, given):
        check_error(lambda: read(held_out=given), "held_out")

    def test_all_or_none(self):
        for given, count in ((np.ones(6), 6), (np.zeros(6), 0)):
            check_error(
                lambda given=given: read(held_out=given),
                f"held_out marks {count} of 6 rows",
                "Leave held_out out",
            )

    def test_all_or_none_of_the_rows_that_count(self):
        check_error(
            lambda: read([1, 1, 1, 0, 0, 0], held_out=[0, 0, 0, 1, 1, 1]),
            "held_out marks 0 of 3 rows that count",
        )
        chosen = read(held_out=[0, 0, 0, 1, 1, 1])
        check_error(
            lambda: chosen.reweighted(np.array([0, 0, 0, 1, 1, 1])),
            "held_out marks 3 of 3 rows that count",
        )


ONES = np.ones(4)


@pytest.mark.parametrize(
    ("trusted", "expected"),
    [
        ([True, False, True, False], [0, -1, 0, -1]),
        ([3], [-1, -1, -1, 0]),
        ([0, 1, 2], [0, 0, 0, -1]),
    ],
)
def test_trusted_rows_have_the_number_0(trusted, expected):
    assert read_judges(np.array(trusted), None, ONES).tolist() == expected


@pytest.mark.parametrize(
    "trusted",
    [[], [[0, 1]], [0.0], ["a"], [True, False], [True] * 4, [False] * 4, [-1], [4], [1, 1]],
)
def test_what_marks_no_rows_or_all_is_refused(trusted):
    with pytest.raises(InputError):
        read_judges(np.array(trusted), None, ONES)


def test_rows_of_weight_0_do_not_count():
    weight = np.array([1.0, 1.0, 0.0, 0.0])
    with pytest.raises(InputError):
        read_judges(np.array([2, 3]), None, weight)
    with pytest.raises(InputError):
        read_judges(np.array([0, 1]), None, weight)
    assert read_judges(np.array([0, 2]), None, weight).tolist() == [0, -1, 0, -1]
    groups = np.array(["a", "a", "b", "b"])
    with pytest.raises(InputError):
        read_judges(OTHER_GROUP, groups, weight)
    assert read_judges(OTHER_GROUP, groups, ONES).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(("word", "groups"), [("all", np.arange(4)), (OTHER_GROUP, None)])
def test_other_words_and_groups_that_are_not_there_are_refused(word, groups):
    with pytest.raises(InputError):
        read_judges(word, groups, ONES)
