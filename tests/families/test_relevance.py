"""Which columns matter, as a few trees see it."""

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILSequenceClassifier
from imputefree.data import Examples, read_columns
from imputefree.families import FamilyTask, _relevance, column_relevance
from imputefree.metrics import classification_scores


def made(n, columns=6, seed=0):
    """The first two columns decide; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def task(X, y, n_classes=2, weight=None):
    return FamilyTask(Examples.read(read_columns(X), y, weight), y, n_classes, [], seed=0)


def test_columns_that_matter_have_nearly_all_of_it():
    X, y = made(4000)
    (shares,) = column_relevance(task(X, y), [np.arange(len(y))])
    assert shares.sum() == pytest.approx(1)
    assert shares[:2].sum() > 0.85
    assert shares.min() > 0  # no column is given up


def test_only_the_rows_of_a_set_decide():
    X, y = made(600)
    first, second = np.arange(300), np.arange(300, 600)
    before = column_relevance(task(X, y), [first, second])
    changed = np.where(np.arange(600) < 300, y, np.random.default_rng(1).permutation(y))
    after = column_relevance(task(X, changed), [first, second])
    assert np.array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])


def test_what_chance_gains_does_not_count(monkeypatch):
    """Gains above 10 times the learning rate, and 100 more for all columns together."""
    X, y = made(50)
    gains = np.array([0, 0, 1]), np.array([310.0, 5.0, 60.0])
    monkeypatch.setattr(_relevance, "split_gains", lambda trees: gains)
    (shares,) = column_relevance(task(X, y), [np.arange(50)])
    expected = np.array([60.0, 10.0, 0, 0, 0, 0]) + 100 / 6
    np.testing.assert_allclose(shares, expected / 170)


def test_few_rows_and_no_signal_mean_equal_shares():
    X, y = made(60)
    (few,) = column_relevance(task(X, y), [np.arange(60)])
    assert few.max() < 2 / 6
    rng = np.random.default_rng(0)
    (noise,) = column_relevance(task(X, rng.normal(size=60) * 0, 0), [np.arange(60)])
    assert noise == pytest.approx(np.full(6, 1 / 6))


@pytest.mark.parametrize("rows", [1, 2, 19])
def test_a_set_too_small_for_a_split_means_equal_shares(rows):
    X, y = made(60)
    every, few = column_relevance(task(X, y), [np.arange(60), np.arange(rows)])
    assert few == pytest.approx(1 / 6)
    assert every.sum() == pytest.approx(1)


def test_levels_and_classes_count_for_their_column():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c", None], 2000)
    frame = pd.DataFrame({"noise": rng.normal(size=2000), "kind": kind})
    y = frame["kind"].map({"a": 0, "b": 1, "c": 2}).fillna(0).astype(int).to_numpy()
    (shares,) = column_relevance(task(frame, y, 3), [np.arange(2000)])
    assert shares[1] > 0.8


def losses(network, X, y, X_test, y_test, **options):
    """Log-loss of networks that are told what matters, and of others."""
    return [
        classification_scores(
            y_test,
            network(random_state=0, relevance=relevant, **options).fit(X, y).predict_proba(X_test),
        )["log_loss"]
        for relevant in (True, False)
    ]


def test_networks_find_the_columns_that_matter():
    X, y = made(1500, columns=80)
    told, others = losses(GILClassifier, X, y, *made(3000, 80, seed=1), n_members=2, max_iter=30)
    assert told < others - 0.05


def test_networks_for_series_find_the_summaries_that_matter():
    X, y = made(800, columns=20)
    X_test, y_test = made(2000, columns=20, seed=1)
    parts = X[:, None], y, X_test[:, None], y_test  # series of one step
    told, others = losses(GILSequenceClassifier, *parts, n_members=1, max_iter=10)
    assert told < others - 0.05
