from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import stats as scipy_stats

from imputefree.lab.report._paired_tests import corrected_t, signed_rank


def by_hand(differences, ratio):
    n = len(differences)
    mean = sum(differences) / n
    variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
    t = mean / sqrt(variance * (1 / n + ratio))
    return t, 2 * scipy_stats.t.cdf(-abs(t), n - 1)


@pytest.mark.parametrize("ratio", [0.0, 1 / 9, 0.25, 1.0])
def test_corrected_t_is_its_formula_in_every_column(ratio):
    d = np.random.default_rng(0).normal(0.01, 0.02, size=(7, 5))
    t, p = corrected_t(d, ratio)
    for column in range(5):
        np.testing.assert_allclose(
            (t[column], p[column]), by_hand(d[:, column].tolist(), ratio), rtol=1e-13
        )


def test_without_correction_it_is_the_paired_t_test():
    a, b = np.random.default_rng(1).normal(size=(2, 12))
    expected = scipy_stats.ttest_rel(a, b)
    np.testing.assert_allclose(corrected_t(a - b, 0.0), tuple(expected), rtol=1e-12)


def test_the_correction_makes_p_larger():
    d = np.random.default_rng(2).normal(0.5, 1, size=20)
    assert corrected_t(d, 0.25)[1] > corrected_t(d, 0.1)[1] > corrected_t(d, 0.0)[1]


def test_a_missing_pair_is_left_out():
    d = np.array([0.1, np.nan, 0.3, -0.1])
    assert corrected_t(d, 0.5) == corrected_t(d[[0, 2, 3]], 0.5)


def test_one_ratio_a_column():
    d = np.random.default_rng(3).normal(size=(6, 2))
    t, _ = corrected_t(d, np.array([0.1, 0.9]))
    assert t[0] == corrected_t(d[:, 0], 0.1)[0]
    assert t[1] == corrected_t(d[:, 1], 0.9)[0]


def test_defined_values_of_the_t_test():
    nothing = np.array([[0.0, 0.5, -0.5, np.nan, 0.3]] + [[0.0, 0.5, -0.5, np.nan, np.nan]] * 3)
    t, p = corrected_t(nothing, 0.2)
    np.testing.assert_array_equal(t, [0.0, np.inf, -np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(p, [1.0, np.nan, np.nan, np.nan, np.nan])


def test_constant_but_for_rounding_is_constant():
    d = np.array([0.9 - 0.8, 0.8 - 0.7, 0.7 - 0.6])
    assert len(set(d)) > 1
    t, p = corrected_t(d, 0.2)
    assert t == np.inf
    assert np.isnan(p)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 30])
def test_signed_rank_is_scipys_where_scipy_is_exact(n):
    d = np.random.default_rng(n).normal(0.3, 1, size=n)
    W, p = signed_rank(d)
    np.testing.assert_allclose(p, scipy_stats.wilcoxon(d, method="exact").pvalue, rtol=1e-12)
    greater = scipy_stats.wilcoxon(d, alternative="greater", method="exact")
    assert greater.statistic == W


@pytest.mark.parametrize("seed", range(5))
def test_signed_rank_with_ties_is_the_count_of_sign_patterns(seed):
    d = np.random.default_rng(seed).integers(-3, 5, size=9).astype(float)
    ranks = scipy_stats.rankdata(np.abs(d[d != 0]))
    seen = ranks[d[d != 0] > 0].sum()
    middle = ranks.sum() / 2
    sums = [np.dot(signs, ranks) for signs in product([0, 1], repeat=len(ranks))]
    extreme = np.mean([abs(s - middle) >= abs(seen - middle) for s in sums])
    W, p = signed_rank(d / 100)
    assert seen == W
    assert p == pytest.approx(extreme, rel=1e-13)


def test_signed_rank_ties_are_not_broken_by_rounding_noise():
    noisy = np.array([0.9 - 0.8, 0.7 - 0.8, 0.7 - 0.6, 0.35])
    assert signed_rank(noisy) == signed_rank(np.array([0.1, -0.1, 0.1, 0.35]))


def test_defined_values_of_signed_rank():
    assert signed_rank(np.zeros(4)) == (0.0, 1.0)
    assert np.isnan(signed_rank(np.array([]))).all()
    assert np.isnan(signed_rank(np.full(3, np.nan))).all()
    assert signed_rank(np.array([0.1])) == (1.0, 1.0)
    assert signed_rank(np.array([0.1, np.nan, 0.0])) == (1.0, 1.0)


def test_many_differences_stay_close_to_the_normal_law():
    d = np.random.default_rng(0).normal(0.1, 1, size=200)
    expected = scipy_stats.wilcoxon(d, method="asymptotic").pvalue
    assert signed_rank(d)[1] == pytest.approx(expected, abs=2e-3)
