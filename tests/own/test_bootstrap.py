"""Intervals cover as often as they say, and shrink with the rows."""

from __future__ import annotations

import numpy as np

from imputefree.bench.metrics import of_classes
from imputefree.own import bootstrap as module
from imputefree.own.bootstrap import bootstrap, bootstrap_figures


def share(truth, guess):
    return float((truth == guess).mean())


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng, hits = np.random.default_rng(0), 0
    for seed in range(100):
        right = (rng.random(200) < 0.8).astype(int)
        low, high = bootstrap(share, np.ones(200, int), right, n=200, seed=seed)
        hits += low <= 0.8 <= high
    assert 88 <= hits <= 99


def test_many_rows_take_smaller_resamples_and_give_the_same_interval(monkeypatch):
    rng = np.random.default_rng(0)
    right = (rng.random(4000) < 0.7).astype(int)
    full = bootstrap(share, np.ones(4000, int), right)
    monkeypatch.setattr(module, "MOST_ROWS", 400)
    small = bootstrap(share, np.ones(4000, int), right)
    np.testing.assert_allclose(small, full, atol=0.004)


def test_figures_that_are_not_defined_have_no_interval():
    truth, sure = np.zeros(20, int), np.tile([0.9, 0.1], (20, 1))
    found = bootstrap_figures(of_classes, truth, sure, n=20)
    assert found["auc"] is None
    assert found["accuracy"] == (1.0, 1.0)
    few = np.array([1] + [0] * 19)  # some resamples lack the one
    low, high = bootstrap_figures(of_classes, few, sure, n=50)["auc"]
    assert low <= 0.5 <= high


def test_the_same_seed_gives_the_same_interval():
    truth = np.arange(50) % 3 % 2
    guess = np.arange(50) % 2
    assert bootstrap(share, truth, guess, n=50) == bootstrap(share, truth, guess, n=50)
    assert bootstrap(share, truth, guess, n=50) != bootstrap(share, truth, guess, n=50, seed=1)
