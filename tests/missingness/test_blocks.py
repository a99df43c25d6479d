"""Blocks: whole groups, no more of them a row than allowed, driven by what is seen or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.errors import ParameterError
from imputefree.missingness import make_missing, pairwise_dependence
from tests.missingness.made import changed, frame, independent, table
from tests.refusals import check_error

GROUPS = [[0, 1], [2, 3, 4]]


def lost_groups(missing, groups=GROUPS):
    """(rows, groups) bool; fails where a group is lost in part."""
    columns = []
    for group in groups:
        part = ~missing.observed[:, group]
        np.testing.assert_array_equal(part.all(axis=1), part.any(axis=1))
        columns.append(part.all(axis=1))
    return np.column_stack(columns)


@pytest.mark.parametrize("at_most", [None, 1, 2])
@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_whole_groups_and_not_too_many(rate, at_most):
    missing = make_missing("blocks", table(1000), rate, groups=GROUPS, at_most=at_most)
    lost = lost_groups(missing)
    assert lost.sum(axis=1).max() == (1 if at_most == 1 else 2)
    assert missing.observed[:, 5].all()
    assert abs(lost[:, 0].mean() - lost[:, 1].mean()) < 0.07
    assert abs(missing.rate - rate) < 0.001


def test_without_a_driver_no_value_has_a_say():
    truth = table(3000)
    missing = make_missing("blocks", truth, 0.3, groups=GROUPS)
    again = make_missing("blocks", changed(truth, range(6)), 0.3, groups=GROUPS)
    np.testing.assert_array_equal(missing.observed, again.observed)
    found = pairwise_dependence(missing.apply(truth), truth).to_numpy()[:5]
    assert np.abs(found).max() < independent(1080, 1920)
    assert missing.mechanism == "MCAR"


def test_a_driver_makes_it_at_random():
    truth = table(3000)
    missing = make_missing("blocks", truth, 0.3, groups=GROUPS, driver=[5], at_most=1)
    again = make_missing(
        "blocks", changed(truth, range(5)), 0.3, groups=GROUPS, driver=5, at_most=1
    )
    np.testing.assert_array_equal(missing.observed, again.observed)
    found = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    assert (np.abs(found[:5, 5]) > 0.3).all()
    assert missing.mechanism == "MAR"
    assert missing.drivers.iloc[:5, 5].all()
    assert not missing.drivers.iloc[:, :5].any(axis=None)
    lost_groups(missing)


def test_names_dicts_and_mixed_frames():
    groups = {"measured": ["ph"], "person": ["sex", "ill"]}
    missing = make_missing("blocks", frame(), 0.3, groups=groups, driver="age")
    lost_groups(missing, [[1], [3, 2]])
    assert missing.apply(frame())["sex"].isna().sum() == (~missing.observed[:, 3]).sum()


def test_a_group_can_count_as_one_entry_as_in_the_paper():
    wide = np.ones((1000, 45))
    groups = [list(range(20)), list(range(20, 40))]
    missing = make_missing("blocks", wide, 0.1, groups=groups, groups_as_one=True, at_most=1)
    lost = lost_groups(missing, groups)
    assert lost.sum() == 700  # of 1,000 rows of two groups and five columns
    assert missing.rate == pytest.approx(0.1)
    with pytest.raises(ParameterError, match=r"At most 0\.143 of all"):
        make_missing("blocks", wide, 0.2, groups=groups, groups_as_one=True, at_most=1)


def test_groups_that_are_missing_already_count_towards_at_most():
    X = table(1000)
    X[:500, :2] = np.nan
    X[500:, 3] = np.nan  # in part: what is left of the group can still go
    missing = make_missing("blocks", X, 0.4, groups=GROUPS, at_most=1)
    assert missing.observed[:500, 2:5].all()
    assert (~missing.observed[500:, 2]).any()
    assert abs(missing.rate - 0.4) < 0.01


def test_constant_columns_drive_nothing():
    X = table(300)
    X[:, 5] = 5.0
    drivers = make_missing("blocks", X, groups=[[0, 1], [2]], driver=[4, 5]).drivers
    assert not drivers["5"].any()
    assert drivers["4"].iloc[:3].all()


def test_the_rate_is_met_to_the_nearest_block():
    missing = make_missing("blocks", np.ones((40, 12)), 0.37, groups=[[*range(6)], [*range(6, 12)]])
    assert abs(missing.rate - 0.37) <= 3 / 480


def refused(words, rate=0.3, **options):
    check_error(
        lambda: make_missing("blocks", table(50), rate, **options), words, kind=ParameterError
    )


def test_refusals():
    refused("groups is None. It must be a list of lists of columns, or a dict of such lists.")
    refused("groups holds 9, which is no column of X", groups=[[9]])
    refused("column 1 is in two groups.", groups=[[0, 1], [1, 2]])
    refused("at_most is 3. It must be a whole number from 1 to 2", groups=GROUPS, at_most=3)
    refused("at_most is 0.", groups=GROUPS, at_most=0)
    refused("driver holds column 2, which is in a group.", groups=GROUPS, driver=[2])
    refused("strength is 'x'.", groups=GROUPS, driver=[5], strength="x")
    refused(
        "rate 0.9 cannot be reached: there are not enough blocks that may go missing.",
        rate=0.9,
        groups=GROUPS,
        at_most=1,
    )
