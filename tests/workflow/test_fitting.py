"""Folds and references: the same rows for all methods, nothing scored that was learned from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import ParameterError
from imputefree.workflow import _fitting as module
from imputefree.workflow._card import METHODS, OURS
from imputefree.workflow._fitting import (
    Fold,
    Plan,
    estimate,
    learn,
    make,
    plan,
    predict,
)
from imputefree.workflow._partial import Partial
from imputefree.workflow._problem import Problem, read_problem
from imputefree.workflow._request import Request
from tests.workflow.made import table


def problem(y, groups=None, **options):
    y = np.asarray(y)
    frame, unit = pd.DataFrame({"a": np.arange(len(y))}), np.arange(len(y))
    request = Request(Path("d.csv"), "y", Path("m"), group="ward", **options)
    return Problem(request, "d.csv", frame, unit, y, [], groups)


@pytest.mark.parametrize("share", [None, 0.3])
def test_nothing_is_on_both_sides(share):
    of = problem([0] * 60 + [1] * 30, test=share, seed=1)
    folds, _ = plan(of)
    for fold in folds:
        assert not np.intersect1d(fold.train, fold.test).size
        assert np.union1d(fold.train, fold.test).tolist() == list(range(90))
        assert abs(of.y[fold.test].mean() - 1 / 3) < 0.05


def test_every_row_is_scored_once():
    folds, how = plan(problem(np.arange(53.0)))
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(53))
    assert how == "5-fold cross-validation"


def test_the_latest_are_scored_and_nothing_from_then_on_is_learned():
    rng = np.random.default_rng(0)
    began = rng.permutation(100)
    spans = np.column_stack([began, began + rng.integers(0, 9, 100)])
    groups = np.array([f"g{i // 2}" for i in range(100)])
    of = replace(problem(np.arange(100) % 2, groups, by_time="day", test=0.3), spans=spans)
    ((train, test),), how = plan(of)
    assert len(test) == 30
    assert spans[train, 1].max() < spans[test, 0].min()
    assert not np.intersect1d(groups[train], groups[test]).size
    assert "by 'day'" in how


def test_the_only_example_of_a_class_is_learned():
    folds, _ = plan(problem([0] * 10 + [1] * 10 + [2], folds=5))
    assert all(20 in fold.train for fold in folds)


@pytest.mark.parametrize("share", [None, 0.25])
def test_groups_stay_whole(share):
    groups = np.array([f"g{i // 4}" for i in range(80)])
    folds, how = plan(problem(np.arange(80) % 2, groups, test=share))
    assert "'ward' kept together" in how
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])


def test_many_rows_are_held_out_once(monkeypatch):
    monkeypatch.setattr(module, "MANY", 50)
    folds, how = plan(problem([0, 1] * 40))
    assert (len(folds), len(folds[0].test)) == (1, 16)
    assert how == "16 rows held out (20 %)"
    assert len(plan(problem([0, 1] * 40, folds=3)).folds) == 3


def test_the_seed_decides():
    tests = (plan(problem([0, 1] * 40, folds=4, seed=seed))[0][0].test for seed in (1, 1, 2))
    first, same, other = (test.tolist() for test in tests)
    assert first == same != other


def test_impossible_splits_are_refused():
    with pytest.raises(ValueError, match="30 folds, and 20"):
        plan(problem([0, 1] * 10, folds=30))
    with pytest.raises(ValueError, match="5 folds, and 2 groups"):
        plan(problem([0, 1] * 10, np.array(["a", "b"] * 10)))
    grouped = problem([0] * 10 + [1] * 10, np.repeat(["a", "b"], 10), folds=2)
    with pytest.raises(ValueError, match="no two different targets"):
        plan(grouped)


@pytest.fixture
def problems(tmp_path):
    """A table and the same rows as series of one step, with a column that shows the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    frame = pd.DataFrame({"a": y + rng.normal(size=90) * 0.1, "who": rng.permutation(90), "y": y})
    frame.to_csv(tmp_path / "d.csv", index=False)
    files = tmp_path / "d.csv", "y", tmp_path / "m"
    asked = [
        Request(*files, drop=("who",), quality="fast"),
        Request(*files, id="who", model="network", max_iter=40, members=1),
    ]
    return [read_problem(request) for request in asked]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in METHODS if name != "mask_only"])
def test_predictions_belong_to_their_units(problems, name):
    units = np.arange(0, 90, 2)
    for of in problems:
        probability = predict(learn(make(name, of), of, units), of, units)
        assert probability.shape == (45, 3)
        assert probability.sum(1) == pytest.approx(1)
        assert (probability.argmax(1) == of.truth[units]).mean() > 0.8


def test_a_class_that_was_not_learned_has_no_probability(problems):
    of = problems[0]
    without = np.flatnonzero(of.y != 1)
    probability = predict(learn(make("mask_only", of), of, without), of, without)
    assert (probability[:, 1] == 0).all()
    assert probability.shape == (len(without), 3)


@pytest.mark.parametrize(
    ("options", "estimator", "settings"),
    [
        ({}, "ImputeFreeClassifier", {"families": None, "quality": "balanced"}),
        ({"quick": True}, "ImputeFreeClassifier", {"quality": "fast"}),
        ({"quick": True, "quality": "best"}, "ImputeFreeClassifier", {"quality": "best"}),
        ({"model": "trees", "time_limit": 9}, "ImputeFreeClassifier", {"families": ["trees"]}),
        ({"model": "network", "members": 3}, "GILClassifier", {"n_members": 3, "policy": "none"}),
        ({"model": "network", "quick": True}, "GILClassifier", {"max_iter": 10}),
    ],
)
def test_options_decide_the_estimator(options, estimator, settings):
    model = make(OURS, problem([0, 1] * 40, **options))
    assert type(model).__name__ == estimator
    assert settings.items() <= model.get_params().items()


@pytest.mark.parametrize(
    "options",
    [{"policy": "meta"}, {"model": "network", "quality": "fast"}, {"model": "density", "id": "a"}],
)
def test_options_of_another_model_are_refused(options):
    with pytest.raises(ParameterError, match=r"--(policy|quality|model) .*was given (with|for)"):
        problem([0, 1] * 40, **options)


class Guess:
    """Half for each class, so that only failures matter."""

    classes_ = np.array(["ill", "well"])

    def predict_proba(self, rows):
        return np.full((len(rows), 2), 0.5)


@pytest.fixture
def estimated(tmp_path, monkeypatch):
    """Estimate with an error in the training of one method."""
    table().to_csv(tmp_path / "d.csv", index=False)
    request = Request(tmp_path / "d.csv", "y", tmp_path / "m")
    of = read_problem(request)
    planned = Plan([Fold(np.arange(30), np.arange(30, 60))])

    def run(error, method):
        def learn(model, problem, units, checkpoint):
            if method in checkpoint.name:
                raise error
            return Guess()

        monkeypatch.setattr(module, "learn", learn)
        return estimate(of, of, planned, Partial(tmp_path, {}), lambda step: None)

    return run


@pytest.mark.parametrize("error", [RuntimeError("no luck"), OSError("no luck")])
def test_a_reference_that_fails_in_any_way_is_a_result(estimated, error):
    result = estimated(error, "mask_only")
    assert result["failed"] == {"mask_only": "no luck"}
    assert "mask_only" not in result["scores"]
    assert OURS in result["scores"]


def test_our_failure_and_an_interrupt_end_the_fit(estimated):
    with pytest.raises(RuntimeError):
        estimated(RuntimeError("no luck"), OURS)
    with pytest.raises(KeyboardInterrupt):
        estimated(KeyboardInterrupt(), "mask_only")


def test_a_piece_of_another_size_is_damaged(estimated, tmp_path):
    Partial(tmp_path, {}).keep(f"{OURS}-0", prediction=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="is not whole"):
        estimated(RuntimeError("no luck"), "mask_only")
