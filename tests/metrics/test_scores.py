"""Every figure against its definition, written out in loops and double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

from imputefree.metrics._scores import (
    calibration_error,
    classification_scores,
    imputation_scores,
    regression_scores,
)


def drawn(n=60, classes=2, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    score = rng.random((n, classes)) + 0.01
    if ties:
        score = score.round(1) + 0.1
    return rng.integers(classes, size=n), score / score.sum(1, keepdims=True)


def auc(positive, score):
    """Share of pairs in the right order; a tie counts half."""
    pairs = [(p, q) for p in score[positive] for q in score[~positive]]
    return math.fsum(1.0 if p > q else 0.5 if p == q else 0.0 for p, q in pairs) / len(pairs)


def average_precision(positive, score):
    """Precision at each threshold, weighted by the recall that it adds."""
    area, recall_before = 0.0, 0.0
    for threshold in sorted(set(score), reverse=True):
        chosen = score >= threshold
        recall = (chosen & positive).sum() / positive.sum()
        area += (recall - recall_before) * (chosen & positive).sum() / chosen.sum()
        recall_before = recall
    return area


def calibration(truth, probability, bins=15):
    error = 0.0
    for b in range(bins):
        inside = []
        for label, row in zip(truth, probability, strict=True):
            claimed = max(row)
            if b / bins < claimed <= (b + 1) / bins:
                inside.append((claimed, float(label == list(row).index(claimed))))
        if inside:
            claimed, right = zip(*inside, strict=True)
            gap = math.fsum(right) / len(right) - math.fsum(claimed) / len(claimed)
            error += abs(gap) * len(inside) / len(truth)
    return error


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_classes(classes, seed):
    truth, probability = drawn(classes=classes, seed=seed)
    actual = classification_scores(truth, probability)
    rows = list(zip(truth, probability, strict=True))
    kinds = [1] if classes == 2 else range(classes)
    expected = {
        "accuracy": np.mean([t == list(p).index(max(p)) for t, p in rows]),
        "auc": np.mean([auc(truth == k, probability[:, k]) for k in kinds]),
        "average_precision": np.mean(
            [average_precision(truth == k, probability[:, k]) for k in kinds]
        ),
        "log_loss": -math.fsum(math.log(p[t]) for t, p in rows) / len(truth),
    }
    for name, value in expected.items():
        assert actual[name] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("classes", [2, 5])
def test_calibration(classes):
    truth, probability = drawn(300, classes, ties=False)
    actual = calibration_error(truth, probability)
    assert actual == pytest.approx(calibration(truth, probability), abs=1e-12)
    assert actual == classification_scores(truth, probability)["calibration_error"]


def test_two_classes_are_told_apart_at_one_half():
    probability = np.array([[0.51, 0.49], [0.5, 0.5], [0.49, 0.51]])
    assert classification_scores(np.array([0, 0, 1]), probability)["accuracy"] == 1.0


def test_sure_errors_count_but_do_not_decide_everything():
    probability = np.array([[1.0, 0.0], [1.0, 0.0]])
    loss = classification_scores(np.array([0, 1]), probability)["log_loss"]
    assert loss == pytest.approx(-math.log(1e-7) / 2)


def test_what_is_not_defined_is_none():
    actual = classification_scores(np.array([1, 1]), np.array([[0.2, 0.8], [0.4, 0.6]]))
    assert actual["auc"] is None
    assert actual["average_precision"] is None
    assert actual["accuracy"] == 1.0
    assert regression_scores(np.array([2.0, 2.0]), np.array([1.0, 3.0])) == {
        "r2": None,
        "rmse": 1.0,
    }


def test_a_class_that_nobody_has_is_left_out_of_the_mean():
    truth, probability = drawn(classes=3)
    truth = np.minimum(truth, 1)
    expected = np.mean([auc(truth == k, probability[:, k]) for k in (0, 1)])
    assert classification_scores(truth, probability)["auc"] == pytest.approx(expected, abs=1e-12)


def test_numbers():
    rng = np.random.default_rng(0)
    truth = rng.normal(1e6, 1, 50)  # in single precision nothing would be left of it
    guess = truth + rng.normal(0, 0.1, 50)
    error = math.fsum((t - g) ** 2 for t, g in zip(truth, guess, strict=True))
    centre = math.fsum(truth) / 50
    actual = regression_scores(truth, guess)
    expected = 1 - error / math.fsum((t - centre) ** 2 for t in truth)
    assert actual["r2"] == pytest.approx(expected, abs=1e-9)
    assert actual["rmse"] == pytest.approx(math.sqrt(error / 50), abs=1e-12)


def test_imputation():
    rng = np.random.default_rng(0)
    truth, filled = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    hidden = rng.random((30, 4)) < 0.4
    truth[:5] = np.nan  # natural gaps
    spread = np.array([1.0, 2.0, 0.0, 5.0])
    plain, scaled = [], []
    for i, j in zip(*np.nonzero(hidden), strict=True):
        if not math.isnan(truth[i, j]):
            plain.append((truth[i, j] - filled[i, j]) ** 2)
            if spread[j]:
                scaled.append(plain[-1] / spread[j] ** 2)
    actual = imputation_scores(filled, truth, hidden, spread)
    assert actual["imputation_mse"] == pytest.approx(math.fsum(plain) / len(plain), abs=1e-12)
    expected = math.fsum(scaled) / len(scaled)
    assert actual["imputation_mse_scaled"] == pytest.approx(expected, abs=1e-12)
    nothing = imputation_scores(filled, truth, np.zeros_like(hidden), spread)
    assert nothing == {"imputation_mse": None, "imputation_mse_scaled": None}
