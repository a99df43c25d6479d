"""Linear models as a family: their loss is least, and their mean is what is predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from imputefree.data import Examples, draw_folds, read_columns
from imputefree.families import FamilyTask, LinearFamily
from imputefree.families._linear_family import SPREADS, logistic_lines, ridge_lines


def make_task(n_classes: int, n: int = 240) -> FamilyTask:
    """Five numbers, a fifth of them missing; the target is nearly linear."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    raw = 1.5 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n)
    cuts = np.quantile(raw, np.arange(1, max(n_classes, 1)) / max(n_classes, 1))
    target = np.searchsorted(cuts, raw) if n_classes else (raw - raw.mean()) / raw.std()
    X[rng.random(X.shape) < 0.2] = np.nan
    folds = draw_folds(5, rng, target if n_classes else np.zeros(n, dtype=np.int64))
    examples = Examples.read(read_columns(X), target, None)
    return FamilyTask(examples, target, n_classes, folds, seed=0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_small_step_lowers_the_penalised_log_loss(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(200, 4)), rng.uniform(0.5, 2, 200)
    target = rng.integers(0, n_classes, 200)
    (slopes, levels), *_ = logistic_lines(x, target, weight, [3.0, 0.3], n_classes)
    raw = x @ slopes.T + levels
    if n_classes == 2:
        error = expit(raw) - target[:, None]
    else:
        error = np.exp(raw) / np.exp(raw).sum(1, keepdims=True) - np.eye(n_classes)[target]
    error *= weight[:, None]
    gradient = np.column_stack([error.T @ x + 3.0 * slopes, error.sum(0)])
    assert np.abs(gradient).max() < 0.05  # the tolerance is 1e-4 of the mean over 200 rows


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [3, 80])
def test_ridge_solves_its_normal_equations(width: int, weighted: bool) -> None:
    """With fewer inputs than rows, and with more."""
    rng = np.random.default_rng(0)
    x, y = 0.5 + rng.normal(size=(50, width)), 1.0 + rng.normal(size=50)
    weight = rng.uniform(0.5, 2, 50) if weighted else np.ones(50)
    strengths = [20.0, 2.0, 0.2]
    lines = list(ridge_lines(x, y, weight if weighted else None, strengths))
    design = np.column_stack([x, np.ones(50)])
    for strength, (slopes, levels) in zip(strengths, lines, strict=True):
        penalty = np.diag([strength] * width + [0.0])
        normal = design.T @ (weight[:, None] * design) + penalty
        expected = np.linalg.solve(normal, design.T @ (weight * y))
        np.testing.assert_allclose([*slopes[0], *levels], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_learns_and_survives_a_file(n_classes: int) -> None:
    task = make_task(n_classes)
    family = LinearFamily()
    out_of_fold = family.fit(task)
    if n_classes:
        assert (out_of_fold.argmax(1) == task.target).mean() > 0.6
        assert np.allclose(out_of_fold.sum(1), 1)
    else:
        assert np.corrcoef(out_of_fold[:, 0], task.target)[0, 1] > 0.7
    arrays: dict[str, np.ndarray] = {}
    parts = family.parts(arrays)
    again = LinearFamily()
    again.restore(parts, arrays)
    inputs = task.examples.inputs
    assert np.array_equal(again.predict(inputs), family.predict(inputs))
    with pytest.raises(ValueError, match="fit together"):
        again.restore(parts, arrays | {"slopes": arrays["slopes"][:, 1:]})


def test_out_of_fold_rows_are_not_learned_from() -> None:
    """Labels that have nothing to do with the inputs cannot be predicted."""
    task = make_task(2)
    shuffled = np.random.default_rng(1).permutation(task.target)
    guess = LinearFamily().fit(FamilyTask(task.examples, shuffled, 2, task.folds, seed=0))
    assert ((guess[:, 1] > 0.5) == shuffled).mean() < 0.62


def test_chosen_spread_is_the_largest_within_a_standard_error() -> None:
    task, family = make_task(2), LinearFamily()
    probability = family.fit(task)[np.arange(240), task.target]
    inputs = family._inputs(task.examples.inputs)
    losses = []
    for spread in SPREADS:
        shares = np.empty(240)
        for train, held_out in task.folds:
            rows = inputs[train], task.target[train], None
            ((slopes, levels),) = logistic_lines(*rows, [inputs.shape[1] / spread], 2)
            raw = (inputs[held_out] @ slopes.T + levels)[:, 0]
            shares[held_out] = expit(np.where(task.target[held_out] == 1, raw, -raw))
        losses.append(-np.log(shares))
    best = losses[int(np.argmin([part.mean() for part in losses]))]
    within = [(part - best).mean() <= (part - best).std() / 240**0.5 for part in losses]
    assert family.spread == max(s for s, near in zip(SPREADS, within, strict=True) if near)
    chosen = losses[SPREADS.index(family.spread)]
    np.testing.assert_allclose(-np.log(probability), chosen, atol=0.02)


def test_weights_and_copies_count_in_the_choice() -> None:
    """Rows of almost no weight do not choose, and a second copy of all rows changes nothing."""
    task = make_task(2)
    rng, rows = np.random.default_rng(3), np.tile(np.arange(240), 2)
    target = np.where(np.arange(480) < 240, task.target[rows], rng.permutation(task.target[rows]))
    weight = np.where(np.arange(480) < 240, 1.0, 1e-9)
    folds = [(np.append(a, a + 240), np.append(b, b + 240)) for a, b in task.folds]
    inputs = task.examples.inputs.rows(rows)
    doubled = FamilyTask(Examples.read(inputs, target, weight), target, 2, folds, seed=0)
    families = [LinearFamily() for _ in range(3)]
    for family, part in zip(families, (task, doubled, task.copied(inputs)), strict=True):
        family.fit(part)
    assert len({family.spread for family in families}) == 1
    np.testing.assert_allclose(families[2].slopes, families[0].slopes, atol=0.02)


def test_values_are_straight_and_ends_have_far_scores() -> None:
    """Values up to five standard deviations enter as they are; the lowest has the score -3."""
    X = np.linspace(-2.0, 2.0, 101)[:, None]
    family, y = LinearFamily(), np.arange(101) % 2
    folds = draw_folds(5, np.random.default_rng(0), y)
    family.fit(FamilyTask(Examples.read(read_columns(X), y, None), y, 2, folds, seed=0))
    value, score = family._inputs(read_columns(np.array([[-2.0], [0.0], [4.0], [1e9]])))[:, :2].T
    np.testing.assert_allclose(
        value, np.array([-2.0, 0.0, 4.0, 5.0 * X.std()]) / X.std(), atol=1e-5
    )
    np.testing.assert_allclose(score, [-3.0, 0.0, 3.0, 3.0], atol=1e-6)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_late_fit_has_one_fold_and_one_line(n_classes: int) -> None:
    task, family = replace(make_task(n_classes), deadline=0.0), LinearFamily()
    out_of_fold = family.fit(task)
    held_out = np.flatnonzero(~np.isnan(out_of_fold[:, 0]))
    np.testing.assert_array_equal(held_out, np.sort(task.folds[0][1]))
    assert family.spread == SPREADS[0]


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_class_without_rows_is_improbable(n_classes: int) -> None:
    x = np.random.default_rng(0).normal(size=(40, 2))
    target = np.arange(40) % (n_classes - 1)
    ((slopes, levels),) = logistic_lines(x, target, None, [1.0], n_classes)
    raw = x @ slopes.T + levels
    logits = np.column_stack([np.zeros(40), raw]) if n_classes == 2 else raw
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert shares[:, -1].max() < 0.1
