"""Which rows judge others: masks, row numbers and groups, and what is refused."""

import numpy as np
import pytest

from imputefree.data._examples import OTHER_GROUP, read_judges
from imputefree.errors import InputError

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
