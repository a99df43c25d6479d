"""One column at a time: what a number and what a category tells the networks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from imputefree.data._encoding import (
    FEW_VALUES,
    MAX_LEVELS,
    Category,
    Number,
    as_strings,
    from_state,
    to_state,
)
from imputefree.errors import InputError

NAN = np.nan
rng = np.random.default_rng(0)
MANY = rng.normal(size=200)
FEW = np.tile(np.arange(FEW_VALUES), 5).astype(float)

EXTREMES = np.array([1.7e308, -1.7e308, 1e200, 1e-200, 1e-300, 2.2e-308, 1e-310, 1e-313, 5e-324])


def texts(*values):
    return np.array(values, dtype=object)


def encode(plan, array):
    """What a plan writes, which rows it observed and which levels were new to it."""
    out = np.zeros((len(array), len(plan.inputs)), dtype=np.float32)
    seen, new = plan.encode(array, out, "column 'x'")
    return out, seen.tolist(), new


@pytest.mark.parametrize(
    "array", [MANY, FEW, [0.0, 1.0], [3.0] * 5, [NAN] * 4, EXTREMES, np.r_[MANY, EXTREMES]]
)
@pytest.mark.parametrize("rich", [True, False])
def test_a_number_is_finite_and_zero_where_missing(array, rich):
    plan = Number.learn("x", np.array(array), rich)
    later = np.r_[array, NAN, EXTREMES]
    out, seen, new = encode(plan, later)
    assert np.isfinite(out).all()
    assert seen == (~np.isnan(later)).tolist()
    assert (out[np.isnan(later)] == 0).all()
    assert new == []


def test_an_unscaled_number_stays_itself():
    array = np.array([0.0, 250.0, np.nan, -3.5])
    number = Number.learn("pixel", array, rich=False, scaled=False)
    out = np.full((4, 1), 7.0)
    seen, _ = number.encode(array, out, "pixel")
    assert number.inputs == ["pixel"]
    np.testing.assert_array_equal(out[seen, 0], array[seen])
    assert from_state(to_state(number)) == number


def test_a_plain_number_is_one_input():
    for array in (MANY, FEW):
        assert Number.learn("x", array, rich=False).inputs == ["x"]


def test_a_rich_number_of_few_values_has_an_input_a_value():
    plan = Number.learn("x", FEW, rich=True)
    out, _, _ = encode(plan, np.array([0.0, 9.0, 4.5, NAN]))
    own = out[:, 1:]
    assert own.shape[1] == FEW_VALUES
    assert (own > 0).sum(1).tolist() == [1, 1, 0, 0]  # a new value is none of the known
    assert own[0].argmax() != own[1].argmax()


def test_a_rich_number_of_many_values_has_a_rank_that_rises():
    plan = Number.learn("x", MANY, rich=True)
    assert plan.inputs == ["x", "rank of x"]
    out, _, _ = encode(plan, np.sort(np.r_[MANY, -100.0, 100.0]))
    assert (np.diff(out[:, 1]) >= 0).all()
    assert np.abs(out[:, 1]).max() < 5


@pytest.mark.parametrize("array", [np.full(9, 2.0), np.array([0.0, 1.0] * 5), np.full(3, NAN)])
def test_two_values_or_fewer_need_no_more_than_one_input(array):
    assert Number.learn("x", array, rich=True).inputs == ["x"]


def test_text_in_a_number_is_refused_under_its_label():
    plan = Number.learn("x", MANY, rich=True)
    with pytest.raises(InputError) as caught:
        encode(plan, texts(None, "much", "more"))
    assert str(caught.value).startswith(
        "column 'x' holds text such as 'much' in 2 rows (first: row 1), but none in training."
        " A column must keep its kind. Convert it with pd.to_numeric"
    )


def test_texts_without_an_entry_are_a_missing_number():
    assert encode(Number.learn("x", MANY, rich=True), texts(None, None))[1] == [False, False]


def test_a_category_is_one_at_its_level_and_nothing_where_missing():
    plan = Category.learn("x", texts("b", "a", "b", "a", None))
    assert plan.inputs == ["x=a", "x=b"]
    out, seen, new = encode(plan, texts("a", None, "b", "c"))
    assert out.tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]
    assert (seen, new) == ([True, False, True, False], ["c"])


def test_rare_levels_share_one_input_and_are_observed():
    array = texts(*"aaaaabbbbcd")
    plan = Category.learn("x", array)
    assert len(plan.inputs) == 3  # a, b and the rare
    out, seen, new = encode(plan, array)
    assert all(seen)
    assert new == []
    assert (out.sum(1) == 1).all()
    assert np.array_equal(out[9], out[10])
    assert not np.array_equal(out[9], out[0])


def test_only_the_most_frequent_of_many_levels_have_inputs_of_their_own():
    counts = {f"d{i}": MAX_LEVELS + 5 - i for i in range(MAX_LEVELS + 3)}
    array = texts(*(level for level, count in counts.items() for _ in range(count)))
    plan = Category.learn("x", array)
    assert set(plan.levels) == {f"d{i}" for i in range(MAX_LEVELS)}
    assert len(plan.inputs) == MAX_LEVELS + 1
    assert all(encode(plan, array)[1])


def test_a_rare_level_of_two_keeps_its_input():
    assert Category.learn("x", texts(*["no"] * 9, "yes")).inputs == ["x=no", "x=yes"]


def test_levels_do_not_depend_on_the_order_of_rows():
    array = texts(*"aabbccd")
    assert Category.learn("x", array) == Category.learn("x", array[::-1])


def test_numbers_become_texts_by_their_shortest_form():
    array = np.array([1.0, -0.0, 2.5, NAN, 1e20])
    assert as_strings(array).tolist() == ["1", "0", "2.5", None, "100000000000000000000"]
    assert as_strings(texts("a", None)).tolist() == ["a", None]


@pytest.mark.parametrize(
    "plan",
    [
        Number.learn("x", MANY, rich=True),
        Number.learn("x", np.r_[FEW, NAN], rich=True),
        Number.learn("x", np.array([1e308, -1e308, 5e-324]), rich=False),
        Category.learn("x", texts("a", "b", "b", "c", "c", None)),
        Category.learn("x", texts(None)),
    ],
)
def test_a_plan_comes_back_from_json(plan):
    assert from_state(json.loads(json.dumps(to_state(plan)))) == plan


def test_a_number_of_few_values_is_all_of_them_with_their_shares():
    values, shares = Number.learn("x", np.array([2.0, 1.0, 2.0, NAN, 2.0]), rich=False).plausible()
    assert values.tolist() == [1, 2]
    assert shares.tolist() == [0.25, 0.75]


def test_a_number_of_many_values_is_its_quantiles():
    array = rng.permutation(np.arange(900.0) ** 2)
    values, shares = Number.learn("x", np.r_[array, NAN], rich=False).plausible()
    assert np.isin(values, array).all()  # values of training, not between two
    assert [(array < value).sum() for value in values] == list(range(49, 900, 100))
    assert shares.sum() == pytest.approx(1)
    assert np.ptp(shares) == 0


def test_a_category_is_its_levels_and_one_of_the_rare():
    plan = Category.learn("x", texts(*"aaaaabbbbcd", None))
    values, shares = plan.plausible()
    assert values.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(shares, np.array([5, 4, 2]) / 11)
    assert all(encode(plan, values)[1])


@pytest.mark.parametrize("array", [[NAN] * 3, [NAN]])
def test_nothing_observed_leaves_nothing_plausible(array):
    for plan in (Number.learn("x", np.array(array), rich=True), Category.learn("x", texts(None))):
        values, shares = plan.plausible()
        assert len(values) == len(shares) == 0


@pytest.mark.parametrize("rich", [True, False])
@pytest.mark.parametrize("array", [MANY, FEW, [0.0, 1.0], np.r_[EXTREMES, EXTREMES]])
def test_a_plan_of_an_older_file_makes_do_with_what_it_knows(array, rich):
    array = np.array(array)
    state = to_state(Number.learn("x", array, rich))
    values, shares = from_state(
        {name: one for name, one in state.items() if name not in ("values", "shares")}
    ).plausible()
    assert np.isfinite(values).all()
    assert shares.sum() == pytest.approx(1)
    if array is MANY:
        middle = np.quantile(array, [0.1, 0.5, 0.9])
        np.testing.assert_allclose(np.quantile(values, [0.1, 0.5, 0.9]), middle, atol=0.35)


def test_a_category_of_an_older_file_takes_its_levels_for_equal():
    plan = Category("x", True, ["a", "b"], ["c", "d"])
    assert plan.plausible()[0].tolist() == ["a", "b", "c"]
    assert plan.plausible()[1].tolist() == [1 / 3] * 3
