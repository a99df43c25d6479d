"""How much one fit holds: the figures of docs/limits.md."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILSequenceClassifier, ImputeFreeClassifier
from imputefree.errors import InputError

COLUMNS, CLASSES, LEVELS, STEPS = 5_000, 300, 50_000, 5_000
FAST = {"quality": "fast", "random_state": 0}
QUICK = {"max_iter": 1, "n_members": 1, "random_state": 0}
rng = np.random.default_rng(0)


def check(model, X, y, rows):
    """It learns, and predicts finite probabilities of every class."""
    answer = model.fit(X, y).predict_proba(rows)
    assert answer.shape == (len(rows), len(np.unique(y)))
    assert np.isfinite(answer).all()


@pytest.mark.slow
@pytest.mark.parametrize("model", [ImputeFreeClassifier(**FAST), GILClassifier(**QUICK)])
def test_columns(model):
    X = rng.normal(size=(60, COLUMNS))
    X[rng.random(X.shape) < 0.3] = np.nan
    check(model, X, np.arange(60) % 2, X[:3])


@pytest.mark.slow
@pytest.mark.parametrize("model", [ImputeFreeClassifier(**FAST), GILClassifier(**QUICK)])
def test_classes(model):
    X = rng.normal(size=(4 * CLASSES, 3))
    check(model, X, np.arange(len(X)) % CLASSES, X[:3])


@pytest.mark.slow
def test_levels_of_a_category():
    names = [f"name {number % LEVELS}" for number in range(2 * LEVELS)]
    X = pd.DataFrame({"name": names, "age": rng.normal(size=len(names))})
    check(ImputeFreeClassifier(**FAST), X, np.arange(len(X)) % 2, X[:3])


@pytest.mark.slow
def test_steps_of_a_series():
    X = [rng.normal(size=(STEPS if number == 0 else 3, 2)) for number in range(20)]
    check(GILSequenceClassifier(**QUICK), X, np.arange(20) % 2, X[:2])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.array([[np.inf], [1.0]]), "inf"),
        (np.empty((2, 0)), "0 feature"),
        (np.empty((0, 2)), "0 sample"),
        (np.zeros((2, 2, 2)), "3D array"),
        (np.array([[1j], [2j]]), "omplex"),
    ],
)
def test_what_is_refused(X, words):
    with pytest.raises((InputError, ValueError), match=words):
        ImputeFreeClassifier(**FAST).fit(X, np.arange(len(X)) % 2)
