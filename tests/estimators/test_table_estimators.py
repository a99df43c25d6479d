"""The estimators as people use them: frames, pipelines, seeds, weights, groups, warm starts."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from imputefree import GILClassifier, GILRegressor, InputError, ParameterError
from imputefree.data import read_columns
from imputefree.errors import InterruptedWarning, UnseenCategoryWarning

rng = np.random.default_rng(0)
N = 240
FRAME = pd.DataFrame(
    {
        "age": rng.normal(50, 10, N),
        "lactate": rng.lognormal(0.5, 0.5, N),
        "sex": rng.choice(["f", "m"], N),
        "ward": pd.Categorical(rng.choice(["a", "b", "c"], N)),
    }
)
RISK = (FRAME["age"] - 50) / 10 + (FRAME["sex"] == "f") + rng.normal(0, 0.5, N)
Y = np.where(RISK.median() < RISK, "ill", "well")
FRAME.loc[rng.random(N) < 0.3, "age"] = np.nan
FRAME.loc[rng.random(N) < 0.5, "lactate"] = np.nan
FRAME.loc[rng.random(N) < 0.2, "sex"] = None
FRAME.loc[rng.random(N) < 0.2, "ward"] = None
SMALL = {"n_members": 2, "max_iter": 8, "hidden_layer_sizes": (16,), "random_state": 0}


def small(cls=GILClassifier, **options):
    return cls(**(SMALL | options))


def parameters(model):
    return list(model.predictor_.state_dict().values())


def same(left, right):
    return all(map(torch.equal, parameters(left), parameters(right)))


def polars_frame():
    texts = FRAME.astype({"ward": object}).replace({np.nan: None})
    return pl.DataFrame({name: texts[name].tolist() for name in texts})


class TestFrames:
    def test_pandas_nullable_and_polars_give_the_same_model(self):
        nullable = FRAME.astype({"age": "Float64", "lactate": "Float64", "sex": "string"})
        proba = small().fit(FRAME, Y).predict_proba(FRAME)
        assert np.array_equal(small().fit(nullable, Y).predict_proba(nullable), proba)
        frame = polars_frame()
        assert np.array_equal(small().fit(frame, Y).predict_proba(frame), proba)

    def test_columns_are_matched_by_name(self):
        clf = small().fit(FRAME, Y)
        turned = FRAME[FRAME.columns[::-1]]
        assert np.array_equal(clf.predict_proba(turned), clf.predict_proba(FRAME))
        with pytest.raises(InputError, match=r"missing now 'age'; not in training 'years'"):
            clf.predict(FRAME.rename(columns={"age": "years"}))

    def test_unseen_category_predicts_as_if_missing(self):
        clf = small().fit(FRAME, Y)
        new, gap = FRAME.astype({"ward": object}), FRAME.astype({"ward": object})
        new["ward"], gap["ward"] = "z", None
        with pytest.warns(UnseenCategoryWarning, match=r"'ward': 'z'") as caught:
            unseen = clf.predict_proba(new)
        assert len(caught) == 1
        assert np.array_equal(unseen, clf.predict_proba(gap))

    def test_learns_something(self):
        clf = GILClassifier(n_members=4, random_state=0).fit(FRAME[:180], Y[:180])
        assert roc_auc_score(Y[180:] == "well", clf.predict_proba(FRAME[180:])[:, 1]) > 0.75

    def test_a_row_without_any_value_gets_the_base_rate_roughly(self):
        clf = small().fit(FRAME, Y)
        nothing = pd.DataFrame([[None] * 4], columns=FRAME.columns)
        assert 0.1 < clf.predict_proba(nothing)[0, 0] < 0.9


class TestScikitLearn:
    def test_pipeline_grid_search_cross_validation_calibration(self):
        pipe = make_pipeline(FunctionTransformer(), small(max_iter=3))
        search = GridSearchCV(pipe, {"gilclassifier__dropout": [0.0, 0.5]}, cv=2)
        assert search.fit(FRAME, Y).best_score_ > 0.4
        assert cross_val_score(small(max_iter=3), FRAME, Y, cv=2).shape == (2,)
        calibrated = CalibratedClassifierCV(small(max_iter=3), cv=2).fit(FRAME, Y)
        assert np.allclose(calibrated.predict_proba(FRAME).sum(1), 1)

    @pytest.mark.parametrize("labels", [["no", "yes", "who"], [3, 5, 9], [0.0, 1.0, 2.0]])
    def test_multiclass_labels_come_back_as_they_were(self, labels):
        y = np.array(labels)[np.arange(N) % 3]
        clf = small().fit(FRAME, y)
        assert clf.classes_.tolist() == sorted(labels)
        assert clf.predict_proba(FRAME).shape == (N, 3)
        assert set(clf.predict(FRAME)) <= set(labels)


class TestRegressor:
    @pytest.mark.slow
    def test_predicts_in_the_units_of_the_target(self):
        X = rng.normal(size=(300, 3))
        y = 1e6 + 1e4 * X[:, 0]
        X[rng.random(X.shape) < 0.1] = np.nan
        reg = GILRegressor(n_members=4, random_state=0).fit(X[:200], y[:200])
        assert reg.score(X[200:], y[200:]) > 0.6

    def test_constant_target(self):
        assert np.allclose(
            small(GILRegressor).fit(FRAME, np.full(N, 7.0)).predict(FRAME), 7, atol=1
        )


class TestSeeds:
    @pytest.mark.parametrize("policy", ["none", "ddpg", "meta"])
    def test_same_seed_same_bits_and_the_global_seed_does_not_matter(self, policy):
        torch.manual_seed(1)
        np.random.seed(1)  # noqa: NPY002 - the global seed is what must not matter
        first = small(policy=policy).fit(FRAME, Y)
        torch.manual_seed(2)
        np.random.seed(2)  # noqa: NPY002
        state = torch.get_rng_state()
        second = small(policy=policy).fit(FRAME, Y)
        assert same(first, second)
        assert first.history_ == second.history_
        assert torch.equal(state, torch.get_rng_state())


class TestWeights:
    """What sample weights guarantee, mini-batches notwithstanding."""

    def test_weight_zero_is_as_good_as_absent(self):
        weight = np.ones(N)
        weight[::4] = 0
        without = FRAME.iloc[weight > 0], Y[weight > 0]
        # Scales are learned from all rows given; keep them out of the comparison.
        X = FRAME[["sex", "ward"]]
        left = small().fit(X, Y, sample_weight=weight)
        right = small().fit(without[0][["sex", "ward"]], without[1])
        assert same(left, right)

    def test_heavier_rows_are_fitted_better(self):
        noise = np.array(["ill", "well"])[rng.integers(0, 2, N)]  # two contradicting labels per row
        X, y = pd.concat([FRAME, FRAME]), np.concatenate([Y, noise])
        losses = []
        for first, second in ((9, 1), (1, 9)):
            weight = np.repeat([first, second], N)
            clf = small(max_iter=40).fit(X, y, sample_weight=weight)
            losses.append(log_loss(Y, clf.predict_proba(FRAME), labels=clf.classes_))
        assert losses[0] < losses[1] - 0.05


class TestValidation:
    def test_rotating_members_hold_out_different_rows_and_lose_none(self):
        clf = small(n_members=16)
        clf._rng = np.random.default_rng(0)
        _, held_out = clf._split(np.arange(N) % 2, None, None)
        first = torch.cat(held_out[:8])
        assert sorted(first.tolist()) == list(range(N))
        assert sorted(torch.cat(held_out[8:]).tolist()) == list(range(N))
        assert not torch.equal(held_out[0], held_out[8])  # a new shuffle

    def test_shared_members_hold_out_the_same_rows(self):
        clf = small(n_members=3, validation="shared")
        clf._rng = np.random.default_rng(0)
        _, held_out = clf._split(np.arange(N) % 2, None, None)
        assert all(torch.equal(held_out[0], rows) for rows in held_out)


class TestGoingOn:
    def test_warm_start_on_other_columns_or_classes_is_refused(self):
        clf = small(warm_start=True).fit(FRAME, Y)
        with pytest.raises(InputError, match="missing now 'sex'"):
            clf.fit(FRAME.drop(columns="sex"), Y)
        with pytest.raises(InputError, match="the class 'dead'"):
            clf.fit(FRAME, np.where(np.arange(N) < 5, "dead", Y))

    def test_partial_fit_learns_over_calls(self):
        clf = small(weight_decay=0.0)
        losses = []
        for _ in range(25):
            clf.partial_fit(FRAME[:120], Y[:120], classes=["ill", "well"])
            clf.partial_fit(FRAME[120:], Y[120:])
            losses.append(log_loss(Y, clf.predict_proba(FRAME)))
        assert losses[-1] < losses[0] - 0.05


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_model_so_far():
    small(max_iter=1).fit(FRAME, Y)  # whatever is imported late is imported now
    clf = small(max_iter=100_000, n_iter_no_change=100_000)

    def press_ctrl_c():
        time.sleep(1.0)
        signal.raise_signal(signal.SIGINT)

    # A job in the background is started with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=press_ctrl_c).start()
        with pytest.warns(InterruptedWarning, match="best weights so far are kept"):
            clf.fit(FRAME, Y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 0 < clf.n_iter_ < 100_000
    assert np.isfinite(clf.predict_proba(FRAME)).all()


def test_members_are_averaged():
    clf = small(n_members=3).fit(FRAME, Y)
    each = clf._predict_members(read_columns(FRAME))
    assert np.allclose(clf.predict_proba(FRAME), each.mean(0))
    assert not torch.allclose(each[0], each[1])


def test_a_row_alone_is_predicted_as_among_others_also_after_more_training():
    X = np.where(rng.random((N, 20)) < 0.2, np.nan, rng.normal(size=(N, 20)))
    clf = small(numeric_encoding="piecewise").fit(X, Y)
    assert clf.encoder_.few_rows.fans_out
    for _ in range(2):
        alone = np.concatenate([clf.predict_proba(row) for row in X[:10, None]])
        assert clf.predictor_.lone is not None
        assert np.allclose(alone, clf.predict_proba(X)[:10], atol=1e-6)
        clf.partial_fit(X, Y)


def test_prediction_in_chunks_is_the_same(monkeypatch):
    clf = small().fit(FRAME, Y)
    whole = clf.predict_proba(FRAME)
    monkeypatch.setattr("imputefree.gil._validation.CHUNK_ENTRIES", 16 * 2 * 7)  # seven rows
    assert np.allclose(clf.predict_proba(FRAME), whole, atol=1e-6)


def test_missing_values_carry_information():
    """Gaps that tell the class are used, thanks to the indicator."""
    X = rng.normal(size=(N, 2))
    y = np.arange(N) % 2
    X[y == 1, 0] = np.nan
    clf = small(max_iter=60).fit(X, y)
    assert clf.score(X, y) > 0.95
    filled = np.nan_to_num(X)  # the values alone tell far less
    assert LogisticRegression().fit(filled, y).score(filled, y) < 0.7


def test_weightless_rows_have_no_say_in_scales_either():
    X = rng.normal(size=(100, 2))
    y = X[:, 0]
    weight = np.append(np.ones(100), 0.0)
    left = small(GILRegressor).fit(np.vstack([X, [1e9, 1e9]]), np.append(y, 1e9), weight)
    assert same(left, small(GILRegressor).fit(X, y))


def test_warm_start_goes_on_with_the_policy_unless_another_is_asked_for():
    clf = small(warm_start=True, policy="meta").fit(FRAME, Y)
    policy = clf.policy_
    assert clf.fit(FRAME, Y).policy_ is policy
    assert type(clf.set_params(policy="random").fit(FRAME, Y).policy_).__name__ == "RandomPolicy"


@pytest.mark.parametrize(("policy", "figure"), [("ddpg", "td_error"), ("meta", "importance")])
def test_policies_learn_in_partial_fits_of_one_batch(policy, figure):
    clf = small(policy=policy)
    for start in range(0, 200, 40):
        clf.partial_fit(FRAME[start : start + 40], Y[start : start + 40], classes=["ill", "well"])
    assert len(clf.history_[figure]) >= 4


@pytest.mark.slow
def test_contrastive_reward_keeps_probabilities_honest():
    rare = np.where(np.arange(N) % 12 == 0, "ill", "well")
    for policy in ("none", "ddpg"):
        clf = small(policy=policy, reward="contrastive", max_iter=60).fit(FRAME, rare)
        assert clf.predict_proba(FRAME)[:, 0].mean() < 0.25


def test_contrastive_reward_with_a_class_still_to_come():
    clf = small(policy="ddpg", reward="contrastive")
    clf.partial_fit(FRAME, np.where(Y == "ill", "a", "b"), classes=["a", "b", "c"])
    assert clf.predict_proba(FRAME).shape == (N, 3)


def test_numbered_frames_are_matched_by_number():
    X = pd.DataFrame(rng.normal(size=(60, 3)))
    clf = small().fit(X, X[0] > 0)
    assert np.array_equal(clf.predict_proba(X[[2, 0, 1]]), clf.predict_proba(X))


def test_array_for_a_frame_is_taken_in_order_with_a_warning():
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    clf = small().fit(X, X["a"] > 0)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(clf.predict_proba(X.to_numpy()), clf.predict_proba(X))


def test_training_that_diverges_is_an_error_and_not_nan():
    with pytest.raises(ParameterError, match=r"loss became .* Lower learning_rate_init"):
        small(GILRegressor, learning_rate_init=900.0, early_stopping=False, max_iter=40).fit(
            FRAME, np.arange(N)
        )


@pytest.mark.parametrize("dtype", [float, "category"])
@pytest.mark.parametrize("policy", ["none", "observed", "ddpg"])
def test_a_table_without_entries_is_refused(dtype, policy):
    X = pd.DataFrame({"a": pd.Series([None] * 20, dtype=dtype)})
    with pytest.raises(InputError, match="no column holds a single entry"):
        small(policy=policy).fit(X, np.arange(20) % 2)


def test_extreme_dropout_stays_finite():
    assert np.isfinite(small(dropout=0.999).fit(FRAME, Y).predict_proba(FRAME)).all()
