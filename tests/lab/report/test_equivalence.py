"""Paired differences, intervals, two one-sided tests and Holm's correction."""

from __future__ import annotations

from math import nan

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from imputefree.lab.report._stats import (
    equivalence_p,
    holm,
    interval,
    paired_differences,
    verdicts,
)
from tests.lab.report.test_stats import made_up, pick, runs_of


@pytest.fixture
def differences():
    return np.random.default_rng(0).normal(0.002, 0.01, 7)


def test_intervals_are_scipys(differences):
    expected = scipy_stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    np.testing.assert_allclose(interval(differences, 0.0), tuple(expected), rtol=1e-12)
    wider = interval(differences, 0.25)
    factor = np.sqrt(1 + 7 * 0.25)  # s²/n becomes s² (1/n + 1/4)
    assert np.diff(wider)[0] == pytest.approx(np.diff(tuple(expected))[0] * factor)
    assert np.isnan(interval(differences[:1], 0.0)).all()


@pytest.mark.parametrize("margin", [0.001, 0.005, 0.02])
def test_equivalence_is_the_worse_of_two_one_sided_tests(differences, margin):
    for d in (differences, -differences):
        low = scipy_stats.ttest_1samp(d, -margin, alternative="greater").pvalue
        high = scipy_stats.ttest_1samp(d, margin, alternative="less").pvalue
        assert equivalence_p(d, margin, 0.0) == pytest.approx(max(low, high), rel=1e-10)


def test_equivalence_without_spread():
    assert equivalence_p(np.zeros(3), 0.01, 0.1) == 0.0
    assert np.isnan(equivalence_p(np.full(3, 0.25), 0.01, 0.1))
    assert np.isnan(equivalence_p(np.array([0.0]), 0.01, 0.1))


def rejected(p, alpha):
    """Holm's procedure, step by step: the smallest p against alpha / m, the next against …"""
    found = np.zeros(len(p), dtype=bool)
    for step, place in enumerate(np.argsort(p)):
        if p[place] > alpha / (len(p) - step):
            break
        found[place] = True
    return found


@pytest.mark.parametrize("seed", range(5))
def test_holms_corrected_p_is_the_level_at_which_his_procedure_rejects(seed):
    p = np.random.default_rng(seed).random(6) ** 3
    corrected = holm(p)
    for place, level in enumerate(corrected):
        if level < 1:
            assert rejected(p, level * (1 + 1e-9))[place]
        assert not rejected(p, level * (1 - 1e-9))[place]


def test_missing_p_do_not_count():
    np.testing.assert_allclose(holm(np.array([nan, 0.02, nan])), [nan, 0.02, nan])
    assert len(holm(np.array([]))) == 0


def test_settings_are_averaged_before_masks_and_splits_are_compared():
    runs = made_up(studies=2)
    found = paired_differences(runs, "accuracy", "gil-h", margin=0.01, test_to_train=0.1)
    assert len(found) == 2 * 3
    for line in found.to_dict("records"):
        d = np.mean(
            [
                pick(runs, line["study"], setting, line["method"])
                - pick(runs, line["study"], setting, "gil-h")
                for setting in ("rate-0", "rate-1")
            ],
            axis=0,
        )
        assert line["pairs"] == d.size == 6
        assert line["difference"] == pytest.approx(d.mean())
        assert (line["low"], line["high"]) == pytest.approx(interval(d.ravel(), 0.1))
        assert line["p_equivalent"] == pytest.approx(equivalence_p(d.ravel(), 0.01, 0.1))


def test_only_runs_that_both_finished_are_pairs():
    runs = runs_of(gil=[0.5, nan, 0.7], network=[0.4, 0.5, nan], random=[nan, nan, nan])
    found = paired_differences(runs, "accuracy", "network", margin=0.01, test_to_train=0.1)
    assert found["method"].tolist() == ["gil"]
    assert found["pairs"].tolist() == [1]
    assert np.isnan(found["low"]).all()
    assert verdicts(found) == ["undecided"]


def test_verdicts():
    rows = [
        (0.02, 1e-6, 0.9),  # far above
        (-0.02, 1e-6, 0.9),
        (0.001, 0.5, 1e-6),  # within the margin
        (0.001, 1e-6, 1e-6),  # there is a difference, too small to matter
        (0.003, 0.3, 0.3),
        (0.02, nan, nan),  # a single pair
    ]
    found = pd.DataFrame(rows, columns=["difference", "p", "p_equivalent"])
    expected = ["better", "worse", "equivalent", "equivalent", "undecided", "undecided"]
    assert verdicts(found) == expected


def test_many_comparisons_raise_the_bar():
    alone = pd.DataFrame({"difference": [0.1], "p": [0.03], "p_equivalent": [0.9]})
    assert verdicts(alone) == ["better"]
    many = pd.concat([alone, *[alone.assign(p=0.8)] * 3])
    assert verdicts(many)[0] == "undecided"
