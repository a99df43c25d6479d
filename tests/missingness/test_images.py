"""MNIST's MAR: a part is always seen, rows of pixels go, and only the seen part has a say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import InputError, ParameterError
from imputefree.missingness import make_missing
from tests.missingness.made import images
from tests.refusals import check_error


def whole_rows(observed):
    """(n, height) bool: the rows of pixels seen; fails where a row is seen in part."""
    np.testing.assert_array_equal(observed.all(axis=2), observed.any(axis=2))
    return observed.all(axis=2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.45])
def test_the_upper_part_is_seen_and_rows_of_the_lower_go(rate, seed):
    X = images(seed=seed)
    missing = make_missing("mnist_mar", X, rate, seed)
    seen = whole_rows(missing.observed)
    assert seen[:, :4].all()
    assert abs(missing.rate - rate) < 0.001
    assert (seen[:, 4:].mean(axis=0) < 1).all()
    assert missing.mechanism == "MAR"


@pytest.mark.parametrize("pattern", ["rows", "quarters"])
@pytest.mark.parametrize("seen", ["upper", "lower"])
def test_only_the_seen_part_has_a_say(pattern, seen):
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
            found = make_missing("mnist_mar", other, pattern=pattern).observed
            np.testing.assert_array_equal(found, wanted)


def test_shapes_and_shares():
    X = images().reshape(400, 16, 4)
    missing = make_missing("mnist_mar", X, 0.6, seen_share=0.25)
    assert whole_rows(missing.observed)[:, :4].all()
    assert abs(missing.rate - 0.6) < 0.01
    flat = make_missing("mnist_mar", X.reshape(400, 64), 0.6, seen_share=0.25, shape=(16, 4))
    np.testing.assert_array_equal(flat.observed, missing.observed.reshape(400, 64))


def refused(*parts, X=None, kind=ParameterError, rate=None, **options):
    X = images(10) if X is None else X
    check_error(lambda: make_missing("mnist_mar", X, rate, **options), *parts, kind=kind)


def test_refusals():
    refused("pattern is 'x'. It must be one of 'rows', 'quarters'.", pattern="x")
    refused("seen is 'left'. It must be one of 'upper', 'lower'.", seen="left")
    refused("seen_share is 0.01 for images of 8 rows of pixels.", seen_share=0.01)
    refused("rate is 0.3 for the pattern 'quarters'.", rate=0.3, pattern="quarters")
    refused(
        "rate 0.9 cannot be reached: there are not enough blocks that may go missing. At most 0.5",
        rate=0.9,
    )
    refused("shape is (3, 3) for images of 10 pixels.", X=np.ones((4, 10)))
    refused("shape is (4, 4) for images of 64 pixels.", shape=(4, 4))
    gappy = images(10)
    gappy[0, 0, 0] = np.nan
    refused("the part of the images that is always seen has gaps.", X=gappy, kind=InputError)
    refused("always seen is the same everywhere.", X=np.ones((5, 4, 4)), kind=InputError)
