"""One run: which rows are learned from, chosen by and scored; settings; peak memory."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from imputefree.errors import ParameterError
from imputefree.lab.runs import _protocol as protocol
from imputefree.lab.runs._pictures import PictureWarning
from imputefree.lab.runs._protocol import Run, carry_out, configure, make_method
from imputefree.lab.studies import load
from imputefree.lab.studies._study import Study
from imputefree.metrics import classification_scores
from tests.lab.simulated import table
from tests.refusals import check_error

ICU = {"n_series": 60}
X, Y = table(150)


def study(y=Y, **more):
    about = {"citation": "here", "licence": "none", "simulated": True}
    return Study("toy", more.pop("X", X), np.asarray(y), **about | more)


class Spy:
    """A method that notes what it is shown."""

    def __init__(self, log, loss=0.5):
        self.log, self.loss = log, loss

    def get_params(self, deep=True):
        return {"loss": self.loss}

    def set_params(self, loss):
        self.loss = loss

    def fit(self, X, y, *, held_out=None):
        self.classes_ = np.unique(y)
        self.log.append(("fit", X.index.to_list(), held_out))
        return self

    def predict_proba(self, X):
        self.log.append(("predict", X.index.to_list(), self.loss))
        return np.tile([self.loss, 1 - self.loss], (len(X), 1))


def spied(monkeypatch, run):
    log = []
    monkeypatch.setattr(protocol, "make_method", lambda *given: Spy(log))
    actual = carry_out(run, study())
    return actual, log


def test_test_rows_are_seen_once_and_after_everything_is_chosen(monkeypatch):
    found, log = spied(monkeypatch, Run("toy", "x", grid={"loss": [0.9, 0.5, 0.1]}, split_seed=4))
    train, validation, test = (part.tolist() for part in study().split(4))
    fits = [one for one in log if one[0] == "fit"]
    assert len(fits) == 3
    for _, rows, held_out in fits:
        assert rows == train + validation
        assert [row for row, held in zip(rows, held_out, strict=True) if held] == validation
    predicted = [rows for what, rows, _ in log if what == "predict"]
    assert predicted == [validation] * 3 + [test]
    assert log[-1][1] == test
    assert found["rows"] == [len(train), len(validation), len(test)]


def test_a_list_of_settings_is_a_grid(monkeypatch):
    found, _ = spied(monkeypatch, Run("toy", "x", grid=[{"loss": 0.9}, {"loss": 0.5}]))
    assert [setting for setting, _ in found["tried"]] == [{"loss": 0.9}, {"loss": 0.5}]
    assert found["chosen"] == {"loss": 0.5}


def test_the_grid_is_chosen_by_validation_loss(monkeypatch):
    found, log = spied(monkeypatch, Run("toy", "x", grid={"loss": [0.9, 0.5, 0.1]}))
    rows = study().split(0).validation
    truth = Y[rows]
    losses = []
    for p in (0.9, 0.5, 0.1):
        losses.append(-np.mean(np.log(np.where(truth == 0, p, 1 - p))))
    assert [loss for _, loss in found["tried"]] == pytest.approx(losses, abs=1e-12)
    assert found["chosen"] == found["tried"][int(np.argmin(losses))][0]
    assert log[-1][2] == found["chosen"]["loss"]  # that very model was tested


def test_scores_are_those_of_the_test_part():
    run = Run("toy", "linear")
    actual = carry_out(run, study())
    split = study().split(0)
    rest = np.concatenate([split.train, split.validation])
    held_out = np.isin(rest, split.validation)
    model = protocol.make_method("linear", random_state=run.random_state)
    model.fit(X.iloc[rest], Y[rest], held_out=held_out)
    expected = classification_scores(Y[split.test], model.predict_proba(X.iloc[split.test]))
    assert actual["scores"] == pytest.approx(expected)
    assert actual["tried"] == []
    cost = actual["cost"]
    assert set(cost) == {"fit_seconds", "search_seconds", "predict_seconds", "peak_memory_mb"}
    assert min(cost.values()) > 0


@pytest.mark.parametrize("names", [["no", "yes"], ["a", "b", "c"]])
def test_labels_may_be_strings(names):
    labels = np.array(names)[table(150, classes=len(names))[1]]
    scores = carry_out(Run("toy", "linear"), study(labels))["scores"]
    assert scores["auc"] > 0.6
    json.dumps(scores, allow_nan=False)


def test_a_class_never_learned_gets_no_probability():
    labels = Y.copy()
    labels[study().split(0).test[:2]] = 2
    y = study(labels)
    actual = protocol._scores((np.full((5, 2), 0.5), np.array([0, 1])), y, np.arange(5))
    assert actual["log_loss"] > 0
    assert np.isfinite(actual["log_loss"])


def test_numbers():
    scores = carry_out(Run("toy", "ridge"), study(table(150, classes=0)[1]))["scores"]
    assert set(scores) == {"r2", "rmse"}
    assert scores["r2"] > 0.3


def test_predictions_that_are_not_finite_are_an_error():
    wrong = (np.full((5, 2), np.nan), np.array([0, 1]))
    check_error(lambda: protocol._scores(wrong, study(), np.arange(5)), "NaN", kind=ParameterError)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_filled_gaps_that_are_not_finite_are_an_error(value):
    toy = study(Y, X=np.where(np.eye(150, 3), np.nan, 1.0), truth=np.ones((150, 3)))
    model = SimpleNamespace(impute=lambda X: np.where(np.isnan(X), value, X))
    score = partial(protocol._imputation_scores, model, toy, toy)
    check_error(score, "fills gaps", kind=ParameterError)


def test_imputation_of_series_is_scored_by_the_truth():
    cohort = load("icu", **ICU)
    setting = {"max_iter": 1, "n_members": 1, "hidden_layer_sizes": 4}
    scores = carry_out(Run("icu", "mean+network", ICU, setting), cohort)["scores"]
    split = cohort.split(0)
    train = pd.concat([cohort.X[row] for row in split.train])
    gaps = pd.concat([cohort.X[row] for row in split.test]).isna().to_numpy()
    truth = pd.concat([cohort.truth[row] for row in split.test]).to_numpy()
    squared = (truth - train.mean().to_numpy()) ** 2
    assert scores["imputation_mse"] == pytest.approx(squared[gaps].mean())
    scaled = squared / train.std(ddof=0).to_numpy() ** 2
    assert scores["imputation_mse_scaled"] == pytest.approx(scaled[gaps].mean())


def test_imputation_of_tables_is_scored_by_the_truth():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(80, 3))
    gappy = np.where(rng.random(truth.shape) < 0.3, np.nan, truth)
    y = (truth[:, 0] > 0).astype(int)
    toy = replace(study(y), X=gappy, truth=truth)
    network = {"max_iter": 1, "n_members": 1}
    scores = carry_out(Run("toy", "zero+network", setting=network), toy)["scores"]
    test = toy.split(0).test
    expected = (truth[test][np.isnan(gappy[test])] ** 2).mean()
    assert scores["imputation_mse"] == pytest.approx(expected)
    unknown = carry_out(Run("toy", "zero+network", setting=network), replace(toy, truth=None))
    assert "imputation_mse" not in unknown["scores"]
    untouched = carry_out(Run("toy", "linear"), toy)
    assert "imputation_mse" not in untouched["scores"]


def test_what_a_method_ignores_is_recorded():
    run = Run("icu", "gru-d", ICU, setting={"max_iter": 1})
    assert carry_out(run, run.load())["ignored"] == ["times"]


def test_a_run_repeats_itself_and_restores_the_threads():
    run = Run("toy", "network", setting={"max_iter": 1, "n_members": 2})
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        scores = carry_out(run, study())["scores"]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert carry_out(run, study())["scores"] == scores
    other = replace(run, split_seed=1)
    assert other.random_state != run.random_state
    assert carry_out(other, study())["scores"] != scores


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gil", "linear"])
def test_pictures_change_no_score(method):
    small = {} if method == "linear" else {"max_iter": 2, "n_members": 2, "hidden_layer_sizes": 4}
    run = Run("icu", method, ICU, setting=small)
    without, looked_at = (carry_out(run, run.load(), pictures=asked) for asked in (False, True))
    shown = looked_at.pop("pictures")
    assert json.dumps(shown, allow_nan=False)
    assert ("importance" in shown) == (method == "gil")
    assert ("features" in shown) == (method != "linear")
    for found in (without, looked_at):
        del found["cost"]  # times differ
    assert looked_at == without


def test_pictures_come_after_the_cost(monkeypatch):
    """With a clock that only pictures move, and memory that only they take."""
    now, taken = [100.0], [10.0]

    def slow(*given, **how):
        now[0], taken[0] = 1e6, 1e6
        return {}

    monkeypatch.setattr(protocol, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(protocol, "peak_memory_mb", lambda: taken[0])
    monkeypatch.setattr(protocol._pictures, "pictures", slow)
    actual = carry_out(Run("toy", "mask_only"), study(), pictures=True)
    assert actual["pictures"] == {}
    assert now == [1e6]
    assert actual["cost"].pop("peak_memory_mb") == 10.0
    assert set(actual["cost"].values()) == {0.0}


@pytest.mark.parametrize(
    ("picture", "error"),
    [(lambda model: 1 / 0, "ZeroDivisionError"), (lambda model: {"curves": np.nan}, "ValueError")],
)
def test_pictures_that_fail_do_not_fail_the_run(monkeypatch, picture, error):
    monkeypatch.setattr(protocol._pictures, "_curves", picture)
    with pytest.warns(PictureWarning, match=f"no picture of curves: {error}: "):
        actual = carry_out(Run("toy", "linear"), study(), pictures=True)
    assert actual["scores"]
    assert actual["pictures"] == {}


def test_identity():
    one = Run("mnist", "gil", {"rate": 0.5, "mechanism": "mar"}, {"hidden_layer_sizes": (5, 5)})
    two = Run("mnist", "gil", {"mechanism": "mar", "rate": 0.5}, {"hidden_layer_sizes": [5, 5]})
    assert one.identity == two.identity
    for change in ({"mask_seed": 1}, {"split_seed": 1}, {"method": "meta"}, {"grid": {"a": [1]}}):
        assert replace(one, **change).identity != one.identity


def test_settings_reach_the_part_they_are_for():
    model = make_method("miwae+network", random_state=5)
    configure(model, {"max_iter": 3, "indicator": True, "imputer__max_steps": 9})
    assert model.indicator is True
    assert model.estimator.max_iter == 3
    assert model.imputer.max_steps == 9
    assert model.imputer.random_state == 5
    policy = configure(make_method("gil"), {"policy__actor_rate": 0.5}).policy
    assert policy.actor_rate == 0.5


def test_with_redrawn_masks_networks_hide_while_they_train(monkeypatch):
    """The method gets complete training rows, and the rate to hide at; others stay masked."""

    @dataclass(frozen=True, eq=False)
    class Redrawn(Study):
        def for_training(self, rows):
            return replace(self, X=self.X.fillna(0.0))

    seen = {}

    class Network(Spy):
        def get_params(self, deep=True):
            return {"hide": 0.0}

        def set_params(self, hide):
            seen["hide"] = hide

        def fit(self, X, y, *, held_out=None):
            seen["gaps"] = X.isna().to_numpy().any()
            return super().fit(X, y, held_out=held_out)

    monkeypatch.setattr(protocol, "make_method", lambda *given: Network([]))
    toy = study(X=X[list("abcd")])
    parts = {name: getattr(toy, name) for name in ("X", "y", "citation", "licence", "simulated")}
    carry_out(Run("toy", "network"), Redrawn("toy", **parts, redrawn_rate=0.4))
    assert seen == {"hide": 0.4, "gaps": False}
    carry_out(Run("toy", "network"), toy)
    assert seen["gaps"]


def test_rewards_have_settings():
    model = configure(make_method("gil-d"), {"reward__weight": 10.0, "policy__per_batch": True})
    assert model.reward.weight == 10.0
    assert model.policy.per_batch


@pytest.mark.parametrize(
    ("method", "name", "part"),
    [
        ("gil-d", "reward__depth", "the reward 'contrastive' has no option 'depth'"),
        ("naive_bayes", "depth", "ObservedNaiveBayes has no option 'depth'"),
        ("naive_bayes", "imputer__depth", "has no option 'imputer__depth'"),
        ("gil", "policy__depth", "the policy 'ddpg' has no option 'depth'"),
        ("em+network", "imputer__depth", "ImputeThenPredict has no option 'imputer__depth'"),
    ],
)
def test_unknown_settings_are_an_error(method, name, part):
    check_error(lambda: configure(make_method(method), {name: 1}), part, kind=ParameterError)


def test_errors():
    for run, *parts in (
        (Run("icu", "gill"), "there is no method 'gill'", "mask_only"),
        (Run("icu", "gil", mask_seed=1), "mask_seed is 1", "'icu' hides nothing", "split_seed"),
        (Run("mnist", "gil", {"mask_seed": 1}), "options holds 'mask_seed'"),
        (Run("mnist", "mean+network", {"masks": "redrawn"}), "redrawn", "complete rows"),
        (Run("mnist", "zero+network", {"masks": "redrawn"}), "redrawn", "without scaling"),
    ):
        check_error(run.check, *parts, kind=ParameterError)
    written = Run("icu", "gil", setting={"policy": object()})
    check_error(lambda: written.identity, "'gil' on 'icu'", "written as JSON", kind=ParameterError)
    empty = Run("toy", "linear", grid={"max_iter": []})
    check_error(lambda: carry_out(empty, study()), "the grid is empty", kind=ParameterError)


def test_a_machine_that_does_not_count_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(protocol, "STATUS", tmp_path / "none")
    monkeypatch.setattr(protocol, "CLEAR_REFS", tmp_path / "none" / "either")
    assert protocol.peak_memory_mb() > 1  # by getrusage
    monkeypatch.setitem(sys.modules, "resource", None)  # Windows
    actual = carry_out(Run("toy", "mask_only"), study())
    assert actual["cost"]["peak_memory_mb"] is None
    assert actual["scores"]


@pytest.mark.skipif(not protocol.CLEAR_REFS.exists(), reason="Linux alone forgets a peak")
def test_peak_memory_of_a_large_run_does_not_show_in_the_next():
    protocol.reset_peak_memory()
    small = protocol.peak_memory_mb()
    np.ones(200 * 2**17).sum()  # 200 MB, and given back
    assert protocol.peak_memory_mb() > small + 150
    protocol.reset_peak_memory()
    assert protocol.peak_memory_mb() < small + 150
