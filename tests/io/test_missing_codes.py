"""Codes for a gap are found where they are, and not among whole numbers around zero."""

import numpy as np
import pytest

from imputefree.io._missing_codes import find_codes


def level(rest, value, rows, elsewhere=()):
    """How surely a value is a code, with so many rows among the rest: 0, 1 or 2 (sure)."""
    codes = {code.value: code for code in find_codes(np.r_[rest, [value] * rows], elsewhere)}
    assert value not in codes or codes[value].rows == rows
    return 1 + codes[value].sure if value in codes else 0


def to(high, count=40):
    """Numbers from 0 on."""
    return np.linspace(0.0, high, count)


def with_rows(values, **rows):
    """Each number once, but so many rows of the number in the place of each name: at_7=5."""
    return np.repeat(values, [rows.get(f"at_{place}", 1) for place in range(len(values))])


FEW = np.array([0.0, 1.5, 3.0, 4.5])
UNEVEN = np.cumsum([0, *[4.0] * 10, *[16.0] * 10, 4.0])  # a usual step of 10 up to the 20th
AROUND = np.arange(-2.75, 3.0, 0.5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spread", [2, 3, 5])
def test_whole_numbers_around_zero_are_not_codes(seed, spread):
    column = np.round(spread * np.random.default_rng(seed).normal(size=300))
    assert not [code for code in find_codes(column) if code.sure]


def test_several_codes_below_zero_are_still_codes():
    age = np.r_[np.arange(18.0, 80), np.repeat([-9.0, -8, -7, -2, -1], 4)]
    assert {code.value for code in find_codes(age)} == {-9, -8, -7, -2, -1}


@pytest.mark.parametrize(("last", "codes"), [(3, {-1, -2, -3}), (4, set())])
def test_four_numbers_that_count_down_are_numbers(last, codes):
    column = np.r_[np.arange(18.0, 80), np.repeat(-np.arange(1.0, last + 1), 4)]
    assert {code.value for code in find_codes(column)} == codes


def test_what_does_not_count_down_with_the_others_is_a_code():
    column = np.r_[np.arange(-5.0, 30), [-9.0] * 4, [-999.0] * 4]
    assert [code.value for code in find_codes(column)] == [-999.0]


@pytest.mark.parametrize(
    ("rest", "value", "rows", "expected"),
    [
        # one row: strong, large and ten ranges away
        (np.arange(889.0, 900.0), 999.0, 1, 1),
        (np.arange(888.0, 900.0), 999.0, 1, 0),
        (np.arange(889.0, 900.0), 998.0, 1, 0),
        (to(9.0), 99.9, 1, 1),
        (to(8.0), 99.0, 1, 0),
        (to(0.5), -9.0, 1, 0),
        (np.full(20, 100.0), 999.0, 1, 1),
        (np.arange(90.0), -999.0, 1, 1),
        # the only negative numbers
        (np.arange(101.0), -9.0, 3, 2),
        (np.arange(101.0), -9.0, 2, 1),
        (np.arange(100.0), -99.0, 2, 2),
        (np.arange(101.0), -99.0, 2, 1),
        (np.arange(0.0, 200.0, 8.0), -8.0, 3, 1),
        (np.arange(0.0, 300.0, 9.0), -8.0, 3, 0),
        (np.full(20, 5.0), -8.0, 3, 1),
        (UNEVEN, -8.0, 3, 0),
        # a range away, with other numbers below zero or none
        (AROUND, -9.0, 2, 2),
        (to(499.5), 999.0, 2, 2),
        (to(500.0), 999.0, 2, 0),
        (to(100.0), 32767.0, 2, 1),
        (to(100.0), 1e15, 2, 1),
        (to(100.0), 9e14, 9, 0),
        (to(2.0, 21), 9.0, 2, 2),
        (to(2.0, 20), 9.0, 2, 1),
        (np.repeat(FEW, 5), 9.0, 5, 1),
        (np.repeat(FEW, 5), 9.0, 4, 0),
        (np.repeat([0.0, 1.0, 2.0], 20), 9.0, 2, 0),
        (np.repeat([1.0, 2.0], 20), 9.0, 2, 1),
        # half a range away
        (to(666.0), 999.0, 3, 1),
        (to(666.0), 999.0, 2, 0),
        (to(667.0), 999.0, 3, 0),
        # nearer: the only end that so many rows share, two steps away; zeros do not count
        (np.arange(0.0, 94.0, 3.0), 99.0, 5, 1),
        (np.arange(0.0, 94.0, 3.0), 99.0, 4, 0),
        (np.arange(0.0, 94.0, 3.0), 98.0, 5, 0),
        (np.arange(3.0, 96.0, 4.0), 99.0, 5, 0),
        (np.r_[np.zeros(100), np.arange(80.0, 95.0)], 99.0, 5, 1),
        (with_rows(np.r_[0.0, np.arange(80.0, 95.0)], at_1=2), 99.0, 9, 0),
        # within the rest
        (to(1500.0, 990), 999.0, 10, 1),
        (to(1500.0, 900), 999.0, 9, 0),
        (to(1500.0, 991), 999.0, 10, 0),
        (with_rows(to(1500.0, 100), at_1=4), 999.0, 12, 1),
        (with_rows(to(1500.0, 100), at_1=4), 999.0, 11, 0),
        (to(1500.0, 100), 998.0, 50, 0),
        # as many other rows as there are of it, or eight
        (to(100.0, 7), 999.0, 7, 2),
        (to(100.0, 7), 999.0, 8, 0),
        (to(100.0, 8), 999.0, 30, 2),
        (to(100.0, 7), 999.0, 3, 2),
        (np.empty(0), 999.0, 9, 0),
    ],
)
def test_a_code_stands_apart_from_the_rest(rest, value, rows, expected):
    assert level(rest, value, rows) == expected


@pytest.mark.parametrize(
    ("rest", "value", "rows", "expected"),
    [
        (to(97.0), 98.0, 3, 1),
        (to(97.0), 98.0, 2, 0),
        (to(200.0), 98.0, 3, 1),
        (to(200.0), 98.0, 2, 0),
        (np.repeat(to(200.0), 2), 98.0, 3, 0),
        (np.repeat(to(200.0), 2), 98.0, 4, 1),
        # its rows are compared to those of twenty neighbours on either side
        (with_rows(np.arange(200.0) + 0.5, at_77=2), 98.0, 3, 1),
        (with_rows(np.arange(200.0) + 0.5, at_78=2), 98.0, 3, 0),
        (with_rows(np.arange(200.0) + 0.5, at_117=2), 98.0, 3, 0),
        (with_rows(np.arange(200.0) + 0.5, at_118=2), 98.0, 3, 1),
        (with_rows(np.arange(90.0, 120.0) + 0.5, at_0=2), 98.0, 3, 0),
    ],
)
def test_a_code_of_other_columns_needs_less(rest, value, rows, expected):
    assert level(rest, value, rows, elsewhere=[value]) == expected
    assert level(rest, value, rows) == 0


def test_a_value_that_is_not_a_code_belongs_to_the_rest_of_others():
    """98 is one of the values, so 99 does not stand apart; without it, both would."""
    assert level(np.arange(0.0, 94.0, 3.0), 99.0, 5) == 1
    assert find_codes(np.r_[np.arange(0.0, 94.0, 3.0), [98.0] * 5, [99.0] * 5]) == []


def test_the_most_frequent_code_is_first():
    column = np.r_[np.arange(40.0, 80.0), [-9.0] * 3, [999.0] * 5, np.zeros(4), np.nan, np.inf]
    found = find_codes(column)
    assert [(code.value, code.rows, code.sure) for code in found] == [
        (999.0, 5, True),
        (0.0, 4, False),
        (-9.0, 3, True),
    ]


def spread(low, twentieth, quarter, middle):
    """40 numbers with these at 0, 5, 25 and 50 percent, small steps first."""
    places, values = [0, 1, 9, 19, 39], [low, twentieth, quarter, middle, 2.0 * middle]
    return np.interp(np.arange(40), places, values)


@pytest.mark.parametrize(
    ("rest", "zeros", "expected"),
    [
        # the middle is 2.3 standard deviations away, and the edge as far as it is wide
        (spread(300.0, 600.0, 601.0, 851.0), 4, True),
        (spread(300.0, 601.0, 601.0, 851.0), 4, False),
        (spread(300.0, 600.0, 600.0, 851.0), 4, False),
        # the middle is 4 of them away, and the edge half as far
        (spread(400.0, 1200.0, 1230.0, 1480.0), 4, True),
        (spread(400.0, 1201.0, 1230.0, 1480.0), 4, False),
        (spread(400.0, 1200.0, 1229.0, 1480.0), 4, False),
        # seven steps to the edge
        (np.r_[np.arange(7.0, 28.0), np.full(60, 27.0)], 4, True),
        (np.r_[np.arange(6.0, 27.0), np.full(60, 26.0)], 4, False),
        # enough of both
        (np.arange(40.0, 60.0), 2, True),
        (np.arange(40.0, 60.0), 1, False),
        (np.arange(40.0, 60.0), 20, True),
        (np.arange(40.0, 60.0), 21, False),
        (np.arange(40.0, 59.0), 2, False),
        (np.repeat(np.arange(40.0, 45.0), 5), 4, True),
        (np.repeat(np.arange(40.0, 44.0), 5), 4, False),
        (np.r_[-0.5, np.arange(40.0, 80.0)], 4, False),
        (np.full(40, 3.0) + np.repeat([0.0, 1e-9, 2e-9, 3e-9, 4e-9], 8), 4, True),
    ],
)
def test_a_zero_is_a_code_where_the_rest_keeps_away_from_it(rest, zeros, expected):
    for unit in (1.0, 2.0**-30, 2.0**30):  # the unit does not matter
        found = find_codes(np.r_[np.zeros(zeros), unit * rest])
        assert [(code.value, code.rows) for code in found] == [(0.0, zeros)] * expected
