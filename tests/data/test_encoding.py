"""Columns as inputs: scaled from observed entries, robust to outliers, finite for any float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from imputefree.data import Expansion
from imputefree.data._column_plans import (
    FEW_VALUES,
    MAX_LEVELS,
    OUTLIER,
    Category,
    Number,
    bin_edges,
    location,
    normal_score_knots,
    scale,
)

NAN = np.nan
rng = np.random.default_rng(0)
MANY = rng.normal(size=200)
FEW = np.tile(np.arange(FEW_VALUES), 5).astype(float)

EXTREMES = np.array([1.7e308, -1.7e308, 1e200, 1e-200, 1e-300, 2.2e-308, 1e-310, 1e-313, 5e-324])


def strings(*values):
    return np.array(values, dtype=object)


def encode(plan, array):
    """The inputs of a column, which rows it observed and which levels were new to it."""
    codes, new = plan.code(array, "column 'x'")
    expansion = Expansion([plan], indicators=[])
    out = expansion.inputs(expansion.parts(codes[:, None])).numpy()
    return out, (~np.isnan(codes)).tolist(), new


def names(plan):
    return [name for of_kind in plan.inputs.values() for name in of_kind]


@pytest.mark.parametrize(
    "array", [MANY, FEW, [0.0, 1.0], [3.0] * 5, [NAN] * 4, EXTREMES, np.r_[MANY, EXTREMES]]
)
@pytest.mark.parametrize("encoding", ["plain", "rich", "piecewise"])
def test_a_number_is_finite_and_zero_where_missing(array, encoding):
    plan = Number.learn("x", np.array(array), encoding)
    later = np.r_[array, NAN, EXTREMES]
    out, seen, new = encode(plan, later)
    assert np.isfinite(out).all()
    assert seen == (~np.isnan(later)).tolist()
    assert (out[np.isnan(later)] == 0).all()
    assert new == []


def test_a_rich_number_of_few_values_has_an_input_per_value():
    plan = Number.learn("x", FEW)
    out, _, _ = encode(plan, np.array([0.0, 9.0, 4.5, NAN]))
    own = out[:, 1:]
    assert own.shape[1] == FEW_VALUES
    assert (own > 0).sum(1).tolist() == [1, 1, 0, 0]  # a new value is none of the known
    assert own[0].argmax() != own[1].argmax()


def test_a_rich_number_of_many_values_has_a_rank_that_rises():
    plan = Number.learn("x", MANY)
    assert names(plan) == ["x", "rank of x"]
    out, _, _ = encode(plan, np.sort(np.r_[MANY, -100.0, 100.0]))
    assert (np.diff(out[:, 1]) >= 0).all()
    assert np.abs(out[:, 1]).max() < 5


def test_bins_of_a_piecewise_number_hold_equal_shares():
    plan = Number.learn("x", MANY, "piecewise")
    low, high = plan.edges[3:5]
    assert names(plan)[5] == f"x from {low:g} to {high:g}"
    shares = np.histogram(MANY, plan.edges)[0] / len(MANY)
    assert shares == pytest.approx(np.full(12, 1 / 12), abs=2 / len(MANY))


@pytest.mark.parametrize("array", [np.full(9, 2.0), np.array([0.0, 1.0] * 5), np.full(3, NAN)])
def test_two_values_or_fewer_need_no_more_than_one_input(array):
    assert names(Number.learn("x", array)) == ["x"]


def test_a_category_is_one_at_its_level_and_nothing_where_missing():
    plan = Category.learn("x", strings("b", "a", "b", "a", None))
    assert names(plan) == ["x=a", "x=b"]
    out, seen, new = encode(plan, strings("a", None, "b", "c"))
    assert out.tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]
    assert (seen, new) == ([True, False, True, False], ["c"])


def test_rare_levels_share_one_input_and_are_observed():
    array = strings(*"aaaaabbbbcd")
    plan = Category.learn("x", array)
    assert len(names(plan)) == 3  # a, b and the rare
    out, seen, new = encode(plan, array)
    assert all(seen)
    assert new == []
    assert (out.sum(1) == 1).all()
    assert np.array_equal(out[9], out[10])
    assert not np.array_equal(out[9], out[0])


def test_only_the_most_frequent_of_many_levels_have_inputs_of_their_own():
    counts = {f"d{i}": MAX_LEVELS + 5 - i for i in range(MAX_LEVELS + 3)}
    array = strings(*(level for level, count in counts.items() for _ in range(count)))
    plan = Category.learn("x", array)
    assert set(plan.levels) == {f"d{i}" for i in range(MAX_LEVELS)}
    assert len(names(plan)) == MAX_LEVELS + 1
    assert all(encode(plan, array)[1])


def test_a_rare_level_of_two_keeps_its_input():
    assert names(Category.learn("x", strings(*["no"] * 9, "yes"))) == ["x=no", "x=yes"]


def test_levels_do_not_depend_on_the_order_of_rows():
    array = strings(*"cbdbac", None, "a")
    assert Category.learn("x", array) == Category.learn("x", array[::-1])


def test_numbers_become_strings_by_their_shortest_form():
    array = np.array([1.0, -0.0, 2.5, NAN, 1e20])
    assert Category.check(array).tolist() == ["1", "0", "2.5", None, "100000000000000000000"]
    assert Category.check(strings("a", None)).tolist() == ["a", None]


def test_a_number_of_many_values_is_its_quantiles():
    array = rng.permutation(np.arange(900.0) ** 2)
    values, shares = Number.learn("x", np.r_[array, NAN], "plain").plausible()
    assert np.isin(values, array).all()  # values of training, not between two
    assert [(array < value).sum() for value in values] == list(range(49, 900, 100))
    assert shares.sum() == pytest.approx(1)
    assert np.ptp(shares) == 0


def test_a_category_is_its_levels_and_one_of_the_rare():
    plan = Category.learn("x", strings(*"aaaaabbbbcd", None))
    values, shares = plan.plausible()
    assert values.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(shares, np.array([5, 4, 2]) / 11)
    assert all(encode(plan, values)[1])


@pytest.mark.parametrize("array", [[NAN] * 3, [NAN]])
def test_nothing_observed_leaves_nothing_plausible(array):
    for plan in (Number.learn("x", np.array(array)), Category.learn("x", strings(None))):
        values, shares = plan.plausible()
        assert len(values) == len(shares) == 0


NORMAL = rng.normal(5.0, 2.0, size=999)


def with_gaps(values):
    """The same entries with a NaN after each."""
    return np.column_stack([values, np.full(len(values), np.nan)]).ravel()


def test_statistics_come_from_observed_entries_only():
    center, spread = location(NORMAL)
    assert location(with_gaps(NORMAL)) == (center, spread)
    np.testing.assert_allclose([center, spread], [5.0, 2.0], atol=0.2)
    for gaps, whole in zip(
        normal_score_knots(with_gaps(NORMAL)), normal_score_knots(NORMAL), strict=True
    ):
        np.testing.assert_array_equal(gaps, whole)


@pytest.mark.parametrize("outlier", [1e12, -1e12, 1e200, -1.7e308])
def test_the_size_of_an_outlier_does_not_matter(outlier):
    spoiled, mild = NORMAL.copy(), NORMAL.copy()
    spoiled[:9], mild[:9] = outlier, np.sign(outlier) * 1e3
    np.testing.assert_allclose(location(spoiled), location(mild), rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, 7.0, -1e300, 1e308, 1e-300])
def test_a_constant_column_becomes_zero(value):
    for n in (1, 3, 5, 11):  # means of equal values are not always that value
        center, spread = location(np.full(n, value))
        assert (center, spread) == (value, 1.0)
    assert scale(np.full(3, value), center, spread).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("values", [np.array([]), np.full(4, np.nan)])
def test_an_unknown_column_keeps_its_numbers_near_zero(values):
    assert location(values) == (0.0, 1.0)


def test_outliers_are_pulled_in_to_the_outer_percent_of_a_half_constant_column():
    """101 values, so that percentiles are values: the second from either end."""
    inner = [0.0] * 80 + [float(k) for k in range(1, 18)]
    pulled = np.array([-20.0, -20.0, *inner, 30.0, 30.0])
    center, spread = location(np.array([-50.0, -20.0, NAN, *inner, 30.0, 900.0]))
    assert center == pytest.approx(pulled.mean())
    assert spread == pytest.approx(pulled.std())


def test_outliers_are_pulled_in_to_five_usual_deviations():
    """Quartiles 25 and 75 of 0 to 100: the deviation of a normal of such quartiles."""
    reach = OUTLIER * 50.0 / 1.349
    values = np.arange(101.0)
    values[0], values[100] = -900.0, 50.0 + reach / 2
    pulled = np.where(values < 0, 50.0 - reach, values)
    center, spread = location(values)
    assert (center, spread) == pytest.approx((pulled.mean(), pulled.std()))


def test_a_half_constant_column_still_tells_its_other_values_apart():
    values = np.array([0.0] * 90 + [1.0, 2.0, 3.0, 4.0, 5.0] * 2)
    center, spread = location(values)
    scaled = scale(np.arange(6.0), center, spread)
    assert (np.diff(scaled) > 0.05).all()


@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e9, 1e200])
def test_columns_of_any_size_come_to_the_same_scale(unit):
    small = scale(NORMAL, *location(NORMAL))
    np.testing.assert_allclose(scale(NORMAL * unit, *location(NORMAL * unit)), small, atol=1e-9)


EXTREME = np.finfo(np.float64).max
ENDS = [EXTREME, -EXTREME, 0.0]


floats = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, derandomize=True)
@given(st.lists(floats, min_size=1, max_size=20), st.lists(floats, min_size=2, max_size=20))
@example([1e308, -1e308], ENDS)
@example([EXTREME, -EXTREME, 0.0], ENDS)
@example([EXTREME] * 3 + [-EXTREME] * 3, ENDS)
@example([1e308, 1e308, 1.7e308], ENDS)
@example([5e-324, 0.0, 1e-323], ENDS)
@example([5e-324, 1e308], ENDS)
def test_scaling_keeps_the_order_of_any_numbers(training, values):
    center, spread = location(np.array(training))
    assert spread > 0
    scaled = scale(np.sort(np.array([*training, *values])), center, spread)
    assert np.isfinite(scaled).all()
    assert (np.diff(scaled) >= 0).all()


def score(training, values):
    return np.interp(values, *normal_score_knots(training))


def test_normal_scores_see_the_order_only():
    some = NORMAL[:100]  # few enough for a knot each
    np.testing.assert_allclose(score(np.exp(some), np.exp(some)), score(some, some))


def test_normal_scores_are_normal():
    scores = score(np.exp(NORMAL), np.exp(NORMAL))
    assert abs(scores.mean()) < 0.02
    assert abs(scores.std() - 1) < 0.05


SUBNORMAL = [5e-324, 1e-310, -1e-310, 1e-300, 2.2e-308, 0.0, 1e308, -1e308]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(floats | st.sampled_from(SUBNORMAL), min_size=1, max_size=300).map(np.array),
    st.lists(floats | st.sampled_from(SUBNORMAL), min_size=1, max_size=30).map(np.array),
)
def test_normal_scores_are_finite_and_rise_for_any_numbers(training, values):
    knots, scores = normal_score_knots(training)
    assert (knots[1:] > knots[:-1]).all()
    assert (np.diff(scores) > 0).all()
    for x in (np.sort(training), np.sort(values)):
        scored = score(training, x)
        assert np.isfinite(scored).all()
        assert (np.diff(scored) > -1e-12).all()  # up to rounding


@pytest.mark.parametrize(("encoding", "n_bins"), [("bins", 12), ("fine", 70)])
def test_bins_alone_reach_from_the_lowest_value_to_the_highest(encoding, n_bins):
    array = np.append(np.random.default_rng(0).exponential(size=5000), np.nan)
    plan = Number.learn("x", array, encoding)
    assert n_bins <= len(names(plan)) == len(plan.edges) - 1 <= n_bins + 10
    assert plan.edges[0] == np.nanmin(array)
    assert plan.edges[-1] == np.nanmax(array)


def test_few_values_have_no_bins():
    plan = Number.learn("x", np.array([1.0, 2.0, 3.0] * 20), "bins")
    assert names(plan) == ["x", "x=1", "x=2", "x=3"]


def test_switches_are_one_at_the_level_of_a_row():
    plan = Category.learn("x", strings(*"aaabbcd"))  # c and d are rare
    codes, _ = plan.code(strings("b", "d", None, "a"), "x")
    expected = [[0, 1, 0], [0, 0, 1], [NAN] * 3, [1, 0, 0]]
    np.testing.assert_array_equal(plan.switches(codes), expected)


@pytest.mark.parametrize(("times", "own"), [(15, False), (16, True)])
def test_a_value_of_more_rows_than_an_average_bin_is_an_edge(times, own):
    """Four bins of 60 rows: an average one has 15."""
    array = np.r_[np.arange(60.0 - times), np.full(times, 1000.0)]
    edges = bin_edges(array, np.linspace(0.0, 1.0, 5))
    others = array[: 60 - times] if own else array
    cuts = others[(np.linspace(0.0, 1.0, 5) * (len(others) - 1)).round().astype(int)]
    assert edges.tolist() == sorted({*cuts, 1000.0})
    assert len(edges) == 5 + own


@pytest.mark.parametrize(
    ("distinct", "known"), [(0, False), (1, True), (8, True), (9, False), (11, False)]
)
def test_values_of_up_to_eight_are_certain_to_be_all(distinct, known):
    """Nine may be quantiles of many."""
    assert Number.learn("x", np.r_[np.arange(distinct) * 1.0, NAN]).has_all_values == known
