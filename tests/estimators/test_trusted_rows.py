"""Fits with trusted rows: shortcuts are found and not learned; what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score, roc_auc_score

from imputefree import GILClassifier, GILRegressor, GILSequenceClassifier
from imputefree.errors import InputError, ParameterError
from imputefree.gil import NoPolicy, TrustedPolicy
from tests.estimators.test_resuming import Killed, eager  # noqa: F401

N, TRUSTED = 400, 80
SHORT = TrustedPolicy(steps=20)  # where it does not matter what is learned
FAST = {"n_members": 2, "hidden_layer_sizes": 16, "max_iter": 30, "random_state": 0}


def shortcut_table(seed=0, n=N, n_trusted=TRUSTED):
    """Two honest columns, one that is a shortcut by its values and one by its gaps.

    Trusted rows come first; there, and in a table of trusted rows only, shortcuts say nothing.
    """
    rng = np.random.default_rng(seed)
    y, trusted = rng.integers(0, 2, n), np.arange(n) < n_trusted
    label = np.where(trusted, rng.integers(0, 2, n), y)
    X = rng.normal(size=(n, 4))
    X[:, :2] += 0.8 * (2 * y - 1)[:, None]
    X[:, 2] += 1.5 * (2 * label - 1)
    X[rng.random(n) < np.where(label, 0.8, 0.1), 3] = np.nan
    X[rng.random(n) < 0.1, 0] = np.nan
    return pd.DataFrame(X, columns=["honest", "plain", "shortcut", "gap"]), y, trusted


X, Y, MASK = shortcut_table()
X_TEST, Y_TEST, _ = shortcut_table(1, 3000, 3000)


def auc(model):
    return roc_auc_score(Y_TEST, model.predict_proba(X_TEST)[:, 1])


@pytest.fixture(scope="module")
def fitted():
    return GILClassifier(policy="meta", **FAST).fit(X, Y, trusted=MASK)


def test_shortcuts_are_found_and_predictions_do_not_rest_on_them(fitted):
    values, missing = fitted.column_importance_.T
    assert max(values[2], missing[3]) < 0.1 < 0.9 < values[:2].min()
    assert np.isnan(missing[[1, 2]]).all()
    report = fitted.distrusted_columns()
    assert {"shortcut values", "gap missing"} <= set(report.column + " " + report.part)
    assert not {"honest", "plain"} & set(report.column[report.part == "values"])
    assert report.importance.is_monotonic_increasing
    assert (report.importance < 0.5).all()
    assert auc(fitted) > auc(GILClassifier(**FAST).fit(X, Y)) + 0.08


@pytest.fixture(scope="module")
def briefly():
    return GILClassifier(policy=SHORT, **FAST).fit(X, Y, trusted=MASK)


def test_row_numbers_are_the_same_as_a_mask(briefly):
    listed = GILClassifier(policy=SHORT, **FAST).fit(X, Y, trusted=np.flatnonzero(MASK)[::-1])
    assert np.array_equal(listed.predict_proba(X_TEST), briefly.predict_proba(X_TEST))


def test_trees_that_learn_from_shortcuts_do_not_say_what_is_relevant(briefly):
    model = GILClassifier(policy=SHORT, relevance=False, **FAST).fit(X, Y, trusted=MASK)
    assert np.array_equal(model.predict_proba(X_TEST), briefly.predict_proba(X_TEST))


def test_rows_of_weight_zero_neither_teach_nor_judge(briefly):
    doubled = pd.concat([X, X]).reset_index(drop=True)
    weight, mask = np.repeat([1.0, 0.0], N), np.concatenate([MASK, ~MASK])
    model = GILClassifier(policy=SHORT, **FAST)
    model.fit(doubled, np.concatenate([Y, 1 - Y]), sample_weight=weight, trusted=mask)
    assert np.array_equal(model.column_importance_, briefly.column_importance_, equal_nan=True)
    assert np.array_equal(model.predict_proba(X_TEST), briefly.predict_proba(X_TEST))


def test_rows_of_other_groups_judge():
    """A column that tells the class in another way at each site teaches little; new sites gain."""
    rng = np.random.default_rng(0)
    y, site = rng.integers(0, 2, 800), np.arange(800) % 4
    table = rng.normal(size=(800, 2))
    table[:, 0] += 0.8 * (2 * y - 1)
    table[:, 1] += np.array([2.0, 2.0, 1.0, -2.0])[site] * (2 * y - 1)
    model = GILClassifier(policy="meta", **FAST)
    model.fit(table, y, groups=site, trusted="other_group")
    values = model.column_importance_[:, 0]
    assert values[0] > 0.9 > 0.1 > values[1]
    assert model.distrusted_columns().column.tolist() == ["1"]


def test_numbers_are_predicted_without_the_shortcut():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=N)
    shortcut = np.where(MASK, rng.normal(size=N), truth)
    table = np.column_stack([truth + rng.normal(size=N), shortcut + 0.3 * rng.normal(size=N)])
    model = GILRegressor(policy="meta", **FAST).fit(table, truth, trusted=MASK)
    assert model.column_importance_[0, 0] > 0.9 > 0.1 > model.column_importance_[1, 0]
    new = rng.normal(size=1000)
    test = np.column_stack([new + rng.normal(size=1000), rng.normal(size=1000)])
    plain = GILRegressor(**FAST).fit(table, truth)
    assert r2_score(new, model.predict(test)) > r2_score(new, plain.predict(test)) + 0.2


def test_files_keep_the_report_and_the_predictions(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = GILClassifier.load(tmp_path / "model")
    pd.testing.assert_frame_equal(loaded.distrusted_columns(), fitted.distrusted_columns())
    assert np.array_equal(loaded.predict_proba(X_TEST), fitted.predict_proba(X_TEST))


def test_importance_of_rows_is_that_of_their_columns(fitted):
    given = fitted.importance(X_TEST.head(3))
    assert given == pytest.approx(np.tile(fitted.column_importance_[:, 0], (3, 1)))


def test_a_new_fit_without_trusted_rows_forgets_the_report():
    model = GILClassifier(policy=SHORT, **FAST).set_params(max_iter=1).fit(X, Y, trusted=MASK)
    model.partial_fit(X, Y)  # continues with the same importance
    assert model.policy_.after_preconditioner
    model.set_params(policy="meta").fit(X, Y)
    assert not hasattr(model, "column_importance_")
    with pytest.raises(ParameterError, match="without trusted rows"):
        model.distrusted_columns()
    assert not hasattr(clone(model), "policy_")


def test_settings_of_the_policy_can_be_chosen():
    model = GILClassifier(policy=TrustedPolicy(steps=1, start_at=0.6), **FAST)
    model.fit(X, Y, trusted=MASK)
    assert np.nanmax(abs(model.column_importance_ - 0.6)) < 0.2  # three steps: one epoch
    assert model.policy.__dict__.keys() == TrustedPolicy().__dict__.keys()  # it is not changed


def test_a_killed_fit_resumes_to_the_same_model(briefly, eager, tmp_path):  # noqa: F811
    path = tmp_path / "checkpoint"
    eager["left"] = 3
    with pytest.raises(Killed):
        GILClassifier(policy=SHORT, **FAST).fit(X, Y, trusted=MASK, checkpoint=path)
    eager.clear()
    other = MASK.copy()
    other[0] = False
    with pytest.raises(ValueError, match="belongs to another fit"):
        GILClassifier(policy=SHORT, **FAST).fit(X, Y, trusted=other, checkpoint=path)
    model = GILClassifier(policy=SHORT, **FAST).fit(X, Y, trusted=MASK, checkpoint=path)
    assert np.array_equal(model.predict_proba(X_TEST), briefly.predict_proba(X_TEST))


@pytest.mark.parametrize(
    ("trusted", "fact"),
    [
        (MASK[:-1], "trusted"),
        ([0, N], f"row {N} of {N}"),
        ([-1, 3], "row -1"),
        ([3, 3], "twice"),
        (MASK.astype(int), "twice"),  # a mask must be boolean
        (MASK.astype(float), "float64"),
        (np.zeros(N, bool), "marks 0 of"),
        (np.ones(N, bool), f"marks {N} of"),
        ([], "shape"),
        (MASK[:, None], "shape"),
        ("trusted", "'trusted'"),
        ("other_group", "groups is 0"),
        (np.flatnonzero(MASK & (Y == 1)), "classes .* is 1"),
    ],
)
def test_bad_trusted_rows_are_refused(trusted, fact):
    with pytest.raises(InputError, match=fact):
        GILClassifier(policy="meta", **FAST).fit(X, Y, trusted=trusted)


def test_one_group_is_not_enough():
    with pytest.raises(InputError, match="groups is 1"):
        GILClassifier(policy="meta", **FAST).fit(X, Y, groups=np.zeros(N), trusted="other_group")


def test_too_few_rows_besides_trusted_ones_are_refused():
    rows, held_out = np.arange(6), np.array([False, False, False, False, True, True])
    with pytest.raises(InputError, match="are trusted"):
        GILClassifier(policy="meta", **FAST).fit(
            X[:6], [0, 1] * 3, trusted=rows < 4, held_out=held_out
        )


@pytest.mark.parametrize("policy", ["none", "observed", "random", "ddpg", "gate", NoPolicy()])
def test_other_policies_refuse_trusted_rows(policy):
    with pytest.raises(ParameterError, match="'meta'"):
        GILClassifier(policy=policy).fit(X, Y, trusted=MASK)


def test_what_does_not_go_together_is_refused():
    for learn in (GILClassifier.fit, GILClassifier.partial_fit):
        with pytest.raises(ParameterError, match="no trusted rows"):
            learn(GILClassifier(policy=TrustedPolicy()), X, Y)
    with pytest.raises(ParameterError, match="warm_start"):
        GILClassifier(policy="meta", warm_start=True).fit(X, Y, trusted=MASK)
    series = [np.zeros((2, 1)), np.ones((3, 1))] * 4
    with pytest.raises(ParameterError, match="series"):
        GILSequenceClassifier(policy=TrustedPolicy()).fit(series, [0, 1] * 4)
