"""Gaps in blocks: whole groups of columns or rows of pixels, driven by what is seen or nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import ImputefreeError, ParameterError
from imputefree.missingness import make_missing, pairwise_dependence
from tests.missingness.made import changed, frame, images, independent, table
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


def test_without_a_driver_no_value_matters():
    truth = table(3000)
    missing = make_missing("blocks", truth, 0.3, groups=GROUPS)
    again = make_missing("blocks", changed(truth, range(6)), 0.3, groups=GROUPS)
    np.testing.assert_array_equal(missing.observed, again.observed)
    actual = pairwise_dependence(missing.apply(truth), truth).to_numpy()[:5]
    assert np.abs(actual).max() < independent(1080, 1920)
    assert missing.mechanism == "MCAR"


def test_a_driver_makes_it_at_random():
    truth = table(3000)
    missing = make_missing("blocks", truth, 0.3, groups=GROUPS, driver=[5], at_most=1)
    again = make_missing(
        "blocks", changed(truth, range(5)), 0.3, groups=GROUPS, driver=5, at_most=1
    )
    np.testing.assert_array_equal(missing.observed, again.observed)
    actual = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    assert (np.abs(actual[:5, 5]) > 0.3).all()
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


def test_constant_columns_drive_no_blocks():
    X = table(300)
    X[:, 5] = 5.0
    drivers = make_missing("blocks", X, groups=[[0, 1], [2]], driver=[4, 5]).drivers
    assert not drivers["5"].any()
    assert drivers["4"].iloc[:3].all()


def test_the_rate_is_met_to_the_nearest_block():
    missing = make_missing("blocks", np.ones((40, 12)), 0.37, groups=[[*range(6)], [*range(6, 12)]])
    assert abs(missing.rate - 0.37) <= 3 / 480


def whole_rows(observed):
    """(n, height) bool: the rows of pixels seen; fails where a row is seen in part."""
    np.testing.assert_array_equal(observed.all(axis=2), observed.any(axis=2))
    return observed.all(axis=2)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.45])
def test_the_upper_part_is_seen_and_rows_of_the_lower_go(rate):
    missing = make_missing("mnist_mar", images(), rate)
    seen = whole_rows(missing.observed)
    assert seen[:, :4].all()
    assert abs(missing.rate - rate) < 0.001
    assert (seen[:, 4:].mean(axis=0) < 1).all()
    assert missing.mechanism == "MAR"


@pytest.mark.parametrize("pattern", ["rows", "quarters"])
@pytest.mark.parametrize("seen", ["upper", "lower"])
def test_only_the_seen_part_matters(pattern, seen):
    X = images()
    shown, hidden = slice(0, 4), slice(4, 8)
    if seen == "lower":
        shown, hidden = hidden, shown
    options = {"pattern": pattern, "seen": seen}
    observed = make_missing("mnist_mar", X, **options).observed
    other = X.copy()
    other[:, hidden] = np.random.default_rng(5).random(other[:, hidden].shape)
    np.testing.assert_array_equal(observed, make_missing("mnist_mar", other, **options).observed)
    other[:, shown] = other[:, shown] ** 6
    assert (observed != make_missing("mnist_mar", other, **options).observed).any()
    assert observed[:, shown].all()


def test_the_drivers_are_pixels_of_the_seen_part_and_tell_the_model():
    X = images(3000)
    missing = make_missing("mnist_mar", X, 0.25, strength=2.0)
    drivers = missing.drivers.to_numpy()
    assert drivers[32:, :32].any(axis=1).all()
    assert not drivers[:32].any()
    assert not drivers[:, 32:].any()
    flat = X.reshape(len(X), -1).astype(float)
    z = (flat - flat.mean(axis=0)) / np.maximum(flat.std(axis=0), 1e-9)
    for row in range(4, 8):
        eta = z @ drivers[8 * row]
        assert eta.std() == pytest.approx(2.0, rel=1e-3)
        lost = ~missing.observed[:, row, 0]
        assert eta[lost].mean() - eta[~lost].mean() > 1


def test_quarters_are_those_of_miwae():
    X = images(4000)
    missing = make_missing("mnist_mar", X, pattern="quarters")
    seen = whole_rows(missing.observed)
    assert seen[:, 4:].all()
    far, near = ~seen[:, :2], ~seen[:, 2:4]
    np.testing.assert_array_equal(far[:, 0], far[:, 1])
    np.testing.assert_array_equal(near[:, 0], near[:, 1])
    assert (far[:, 0] | near[:, 0]).all()
    h = X[:, 4:].mean(axis=(1, 2)) / X[:, 4:].max() + 0.3
    for low, high in ((0.3, 0.5), (0.5, 0.6), (0.6, 0.9)):
        some = (h >= low) & (h < high)
        assert far[some, 0].mean() == pytest.approx((1 - (1 - h[some]) ** 2).mean(), abs=0.05)
        assert near[some, 0].mean() == pytest.approx((1 - h[some] ** 2).mean(), abs=0.05)
    signs = np.sign(missing.drivers.to_numpy()[:32, 40])
    np.testing.assert_array_equal(signs, np.repeat([1, -1], 16))


def test_flat_images_frames_and_units_make_no_difference():
    X = images()
    flat = X.reshape(len(X), -1)
    for pattern in ("rows", "quarters"):
        wanted = make_missing("mnist_mar", X, pattern=pattern).observed.reshape(len(X), -1)
        for other in (flat, 256 * flat, pd.DataFrame(flat)):
            actual = make_missing("mnist_mar", other, pattern=pattern).observed
            np.testing.assert_array_equal(actual, wanted)


def test_shapes_and_shares():
    X = images().reshape(400, 16, 4)
    missing = make_missing("mnist_mar", X, 0.6, seen_share=0.25)
    assert whole_rows(missing.observed)[:, :4].all()
    assert abs(missing.rate - 0.6) < 0.01
    flat = make_missing("mnist_mar", X.reshape(400, 64), 0.6, seen_share=0.25, shape=(16, 4))
    np.testing.assert_array_equal(flat.observed, missing.observed.reshape(400, 64))


GAPPY = images(10)
GAPPY[0, 0, 0] = np.nan
ENOUGH = "cannot be reached: there are not enough blocks that may go missing."


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("blocks", {}, "groups is None. It must be a list of lists of columns, or a dict of such"),
        ("blocks", {"groups": [[9]]}, "groups holds 9, which is not a column of X"),
        ("blocks", {"groups": [[0, 1], [1, 2]]}, "column 1 is in two groups."),
        ("blocks", {"groups": GROUPS, "at_most": 3}, "at_most is 3. It must be a whole number"),
        ("blocks", {"groups": GROUPS, "at_most": 0}, "at_most is 0."),
        ("blocks", {"groups": GROUPS, "driver": [2]}, "driver holds column 2, which is in a group"),
        ("blocks", {"groups": GROUPS, "driver": [5], "strength": "x"}, "strength is 'x'."),
        ("blocks", {"groups": GROUPS, "at_most": 1, "rate": 0.9}, f"rate 0.9 {ENOUGH}"),
        ("mnist_mar", {"pattern": "x"}, "pattern is 'x'. It must be one of 'rows', 'quarters'."),
        ("mnist_mar", {"seen": "left"}, "seen is 'left'. It must be one of 'upper', 'lower'."),
        ("mnist_mar", {"seen_share": 0.01}, "seen_share is 0.01 for images of 8 rows of pixels."),
        ("mnist_mar", {"rate": 0.3, "pattern": "quarters"}, "rate is 0.3 for the pattern"),
        ("mnist_mar", {"rate": 0.9}, f"rate 0.9 {ENOUGH} At most 0.5"),
        ("mnist_mar", {"X": np.ones((4, 10))}, "shape is (3, 3). It must be (height, width)"),
        ("mnist_mar", {"shape": (4, 4)}, "shape is (4, 4). It must be (height, width)"),
        ("mnist_mar", {"X": GAPPY}, "the part of the images that is always seen has gaps."),
        ("mnist_mar", {"X": np.ones((5, 4, 4))}, "always seen is the same everywhere."),
    ],
)
def test_bad_options(name, options, words):
    run = {"X": images(10) if name == "mnist_mar" else table(50)} | options
    check_error(lambda: make_missing(name, **run), words, kind=ImputefreeError)
