"""Weighted figures against figures of repeated rows, intervals against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from imputefree.metrics import _intervals as module
from imputefree.metrics._intervals import intervals, resamples
from imputefree.metrics._scores import scores as figures
from imputefree.metrics._scores import weighted_scores

RNG = np.random.default_rng(0)


def case(task, n=70, classes=2):
    if task == "regression":
        truth = RNG.normal(size=n) * 50 + 1000
        return truth, truth + RNG.normal(size=n) * 20
    truth = RNG.integers(0, classes, n)
    scores = np.round(RNG.random((n, classes)), 1) + 0.05 + 0.5 * np.eye(classes)[truth]  # ties
    return truth, scores / scores.sum(1, keepdims=True)


CASES = [("classification", 2), ("classification", 4), ("regression", 0)]


@pytest.mark.parametrize(("task", "classes"), CASES)
def test_weights_are_repeated_rows(task, classes):
    truth, prediction = case(task, classes=classes)
    weights = RNG.integers(0, 4, (20, len(truth))).astype(float)
    actual = weighted_scores(task, truth, prediction, weights)
    for i, times in enumerate(weights.astype(int)):
        rows = np.repeat(np.arange(len(truth)), times)
        expected = figures(task, truth[rows], prediction[rows])
        assert set(expected) == set(actual)
        for metric, value in expected.items():
            assert actual[metric][i] == pytest.approx(value, abs=1e-12)


def test_a_class_that_is_not_drawn_leaves_figures_undefined():
    truth, probability = np.array([0, 0, 1]), np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])
    actual = weighted_scores("classification", truth, probability, np.array([[1.0, 2.0, 0.0]]))
    assert np.isnan(actual["auc"][0])
    assert np.isnan(actual["average_precision"][0])
    assert actual["accuracy"][0] == 1


@pytest.mark.slow
def test_intervals_are_percentiles_of_a_plain_bootstrap(monkeypatch):
    """The definition, written as a loop over the same draws."""
    monkeypatch.setattr(module, "RESAMPLES", 200)
    truth, ours = case("classification", 60)
    theirs = np.clip(ours + RNG.normal(size=ours.shape) * 0.1, 0.01, None)
    theirs /= theirs.sum(1, keepdims=True)
    scores, differences = intervals(
        "classification", truth, {"imputefree": ours, "other": theirs}, seed=3
    )
    generator = np.random.default_rng(3)
    draws = generator.integers(0, 60, (200, 60))
    mine = np.array([roc_auc_score(truth[rows], ours[rows, 1]) for rows in draws])
    yours = np.array([roc_auc_score(truth[rows], theirs[rows, 1]) for rows in draws])
    assert scores["imputefree"]["auc"][1:] == pytest.approx(np.percentile(mine, [2.5, 97.5]))
    assert differences["other"]["auc"][1:] == pytest.approx(
        np.percentile(mine - yours, [2.5, 97.5])
    )
    assert differences["other"]["auc"].value == pytest.approx(
        roc_auc_score(truth, ours[:, 1]) - roc_auc_score(truth, theirs[:, 1])
    )


def test_the_interval_of_a_mean_is_that_of_theory():
    """For accuracy the percentile interval is nearly the normal one, sqrt(p (1 - p) / n)."""
    truth = np.zeros(2000, dtype=int)
    right = RNG.random(2000) < 0.8
    probability = np.where(right[:, None], [[0.9, 0.1]], [[0.1, 0.9]])
    scores, _ = intervals("classification", truth, {"imputefree": probability})
    value, low, high = scores["imputefree"]["accuracy"]
    spread = 1.96 * np.sqrt(value * (1 - value) / 2000)
    assert low == pytest.approx(value - spread, abs=0.1 * spread)
    assert high == pytest.approx(value + spread, abs=0.1 * spread)


def test_groups_are_drawn_whole():
    groups = np.repeat(["a", "b", "c"], [5, 2, 3])
    drawn = np.concatenate(list(resamples(10, groups)))
    assert drawn.shape == (1000, 10)
    for name in "abc":
        assert (np.ptp(drawn[:, groups == name], axis=1) == 0).all()
    assert (drawn[:, [0, 5, 7]].sum(1) == 3).all()


def test_dependent_rows_widen_the_interval():
    truth = np.repeat(RNG.normal(size=30), 20)
    guess = np.repeat(RNG.normal(size=30), 20) * 0.5 + truth
    groups = np.repeat(np.arange(30), 20).astype(str)
    alone, _ = intervals("regression", truth, {"imputefree": guess})
    together, _ = intervals("regression", truth, {"imputefree": guess}, groups)

    def width(scores):
        return scores["imputefree"]["mae"].high - scores["imputefree"]["mae"].low

    assert width(together) > 2 * width(alone)


def test_parts_of_the_draws_do_not_matter(monkeypatch):
    whole = np.concatenate(list(resamples(50)))
    monkeypatch.setattr(module, "AT_ONCE", 300)
    assert np.array_equal(np.concatenate(list(resamples(50))), whole)
