"""MCAR: the mask is independent of all values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from imputefree.errors import ParameterError
from imputefree.missingness import make_missing, mask_auc, pairwise_dependence
from tests.missingness.made import changed, independent, table
from tests.refusals import check_error


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_mask_does_not_look_at_values(rate):
    X = table()
    for other in (changed(X, range(6)), np.zeros_like(X)):
        first, second = (make_missing("mcar", one, rate).observed for one in (X, other))
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("seed", range(5))
def test_no_value_tells_anything_about_a_gap(seed):
    truth = table(3000, seed=seed)
    missing = make_missing("mcar", truth, 0.4, seed)
    found = pairwise_dependence(missing.apply(truth), truth).to_numpy()
    assert np.abs(found).max() < independent(1200, 1800)
    areas = mask_auc(missing.apply(truth), truth)["seen and own"]
    assert np.abs(areas - 0.5).max() < 0.06
    assert not missing.drivers.to_numpy().any()
    assert missing.mechanism == "MCAR"


def test_gaps_of_two_columns_are_independent_of_each_other():
    lost = ~make_missing("mcar", table(5000), 0.3).observed
    for i in range(6):
        for j in range(i):
            counts = np.histogram2d(lost[:, i], lost[:, j], bins=2)[0]
            assert chi2_contingency(counts).pvalue > 0.001


def test_only_the_columns_asked_for_lose_entries_and_all_of_them_equally():
    missing = make_missing("mcar", table(), 0.2, columns=[1, 4])
    assert missing.missing_by_column.tolist() == [0, 0.6, 0, 0, 0.6, 0]


@pytest.mark.parametrize("name", ["mcar", "mnar_self", "mnar_hidden"])
def test_keep_one_keeps_an_entry_a_row(name):
    X = table(500)
    assert not make_missing(name, X, 0.8).observed.any(axis=1).all()
    kept = make_missing(name, X, 0.8, keep_one=True)
    assert kept.observed.any(axis=1).all()
    assert kept.rate == pytest.approx(0.8)
    check_error(
        lambda: make_missing(name, X, 0.9, keep_one=True),
        "rate 0.9 cannot be reached: 6 of 6 columns may lose entries and keep_one keeps an entry a"
        " row. At most 0.833 of all entries can be missing here.",
        kind=ParameterError,
    )


def test_keep_one_leaves_empty_rows_empty():
    X = table(100)
    X[:10] = np.nan
    missing = make_missing("mcar", X, 0.6, keep_one=True)
    assert not missing.observed[:10].any()
    assert missing.observed[10:].any(axis=1).all()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([7], "columns holds 7, which is no column of X. Columns are 0 to 5."),
        (["x"], "columns holds 'x', which is no column of X"),
        ([], "columns is []. It must hold at least one column, and none twice"),
        ([1, 1], "columns is [1, 1]. It must hold at least one column, and none twice"),
        (1.5, "columns is 1.5. It must be a list of column names or positions"),
    ],
)
def test_refusals(columns, words):
    check_error(
        lambda: make_missing("mcar", table(20), columns=columns), words, kind=ParameterError
    )
