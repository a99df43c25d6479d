"""Numbers outside the range of training: told once, by column, and only if it matters."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILSequenceClassifier
from imputefree.data import Number, Outside, beyond
from imputefree.errors import OutsideRangeWarning
from tests.workflow.made import SMALL

PLAN = Number.learn("age", np.array([20.0, np.nan, 60.0]))


def told(*parts):
    outside = Outside()
    for part in parts:
        outside.add(PLAN, np.array(part, dtype=float))
    return outside.sentence


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([20, 60, np.nan], ""),
        ([61, 19, 99], ""),  # just outside, and few
        ([100], ""),  # as far as the range is wide
        ([101], "101"),
        ([-20], ""),
        ([-21], "-21"),
        ([-999, 30], "-999"),
        ([61] * 10 + [30] * 10, "61"),  # just outside, but many
        ([61] * 9 + [30], ""),
        ([61] * 10 + [30] * 90, "61"),
        ([61] * 10 + [30] * 91, ""),
        ([np.nan], ""),
        ([1e308, -1e308], "-1e+308 and 1e+308"),
    ],
)
def test_what_is_worth_a_word(values, word):
    assert bool(told(values)) == bool(word)
    assert word in told(values)


def test_a_range_of_one_number_is_as_wide_as_the_number():
    values = np.array([50.0, 99.0, 100.0, 151.0])
    np.testing.assert_allclose(beyond(values, 50.0, 50.0), [0.0, 0.98, 1.0, 2.02])
    np.testing.assert_allclose(beyond(values, -50.0, -50.0)[0], 2.0)
    np.testing.assert_allclose(beyond(np.array([0.25, -2.0]), 0.0, 0.0), [0.25, 2.0])


def test_parts_of_a_file_are_counted_together():
    assert "in 12 rows" in told([61] * 6, [62] * 6)


def test_predict_warns_of_tables_and_series():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = np.arange(60) % 2
    clf = GILClassifier(**SMALL).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutsideRangeWarning)
        clf.predict(X)
    with pytest.warns(OutsideRangeWarning, match="'b' reaches 99 in 1 row"):
        clf.predict(X.assign(b=[99.0] + [0.0] * 59)[["b", "a"]])
    series = [rng.normal(size=(3, 2)) for _ in range(30)]
    model = GILSequenceClassifier(**SMALL).fit(series, y[:30])
    with pytest.warns(OutsideRangeWarning, match="reaches -5"):
        model.predict([values - 50 for values in series])
