"""What all estimators share: seeds, validation, weights, going on, failing, importance."""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    InputError,
    Panel,
    ParameterError,
)
from imputefree.baselines import ImputeThenPredict
from imputefree.errors import InterruptedWarning, UnseenCategoryWarning
from imputefree.gil import ObservedPolicy, Policy
from tests.estimators.series_formats import (
    COLUMNS,
    LENGTHS,
    SERIES,
    STEP_Y,
    N,
    Y,
    long,
    padded,
    rng,
    same,
    small,
)
from tests.refusals import check_error

POLICIES = ["none", "observed", "random", "ddpg", "gate", "meta"]
TABLE = pd.DataFrame({"a": ["x", "y", None] * 8, "b": np.arange(24.0)})
FAMILIES = [(SERIES, GILSequenceClassifier), (TABLE, GILClassifier)]
each_family = pytest.mark.parametrize(("X", "cls"), FAMILIES, ids=["series", "table"])


class TestSeeds:
    @pytest.mark.parametrize("policy", POLICIES)
    def test_same_seed_same_bits_and_the_global_seeds_are_untouched(self, policy):
        torch.manual_seed(1)
        np.random.seed(1)  # noqa: NPY002 - the global seed is what must not matter
        first = small(policy=policy).fit(SERIES, Y)
        torch.manual_seed(2)
        np.random.seed(2)  # noqa: NPY002
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        second = small(policy=policy).fit(SERIES, Y)
        assert same(first, second)
        assert first.history_ == second.history_
        assert torch.equal(before[0], torch.get_rng_state())
        assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002

    def test_other_seed_cell_or_policy_other_model(self):
        first = small().fit(SERIES, Y)
        assert not same(first, small(random_state=1).fit(SERIES, Y))
        assert small(random_state=None).fit(SERIES, Y).n_iter_ >= 1
        lstm = small(cell="lstm").fit(SERIES, Y)
        assert not np.allclose(first.predict_proba(SERIES), lstm.predict_proba(SERIES), atol=1e-4)
        none, observed = (
            small(policy=p, placeholder=1.0, learning_rate_init=0.05, weight_averaging=0.0)
            for p in ("none", "observed")
        )
        assert not same(none.fit(SERIES, Y), observed.fit(SERIES, Y))

    def test_placeholder_of_three_times_the_largest_value(self, tmp_path):
        clf = small(placeholder="3max", numeric_encoding="unscaled", policy="observed")
        clf.fit(SERIES, Y)
        largest = np.nanmax(np.concatenate(SERIES))
        assert clf.placeholder_ == pytest.approx(3 * largest)
        clf.save(tmp_path / "model.imputefree")
        again = GILSequenceClassifier.load(tmp_path / "model.imputefree")
        np.testing.assert_array_equal(again.predict_proba(SERIES), clf.predict_proba(SERIES))
        below = [-1 - np.abs(values) for values in SERIES]
        assert clf.fit(below, Y).placeholder_ == 0

    @pytest.mark.parametrize("cell", ["lstm", "gru"])
    @pytest.mark.parametrize("per_step", [False, True])
    def test_observed_with_placeholder_zero_is_none_to_the_last_bit(self, cell, per_step):
        options = {"cell": cell, "per_step": per_step, "indicator": per_step, "max_iter": 3}
        y = STEP_Y if per_step else Y
        none, observed = (small(policy=p, **options).fit(SERIES, y) for p in ("none", "observed"))
        assert same(none, observed)
        assert none.history_ == observed.history_


def split_of(monkeypatch, model, *given, **options):
    """Fit, and tell which rows each member trained on and which it held out."""
    seen = []

    def run(self, data, train_rows, held_out=None, **others):
        seen.extend([train_rows, held_out])
        self.history["loss"].append(0.0)

    monkeypatch.setattr("imputefree.estimators._base.Trainer.run", run)
    model.fit(*given, **options)
    return [[rows.tolist() for rows in part] for part in seen]


class TestValidation:
    def test_groups_are_never_split(self, monkeypatch):
        groups = np.array(list("abcdefgh"))[np.arange(N) // 3]
        clf = small(n_members=8)
        given = [(SERIES, groups), (long(group=groups), "group"), (long(), pd.Series(groups))]
        for X, passed in given:
            if X is not SERIES:
                clf.set_params(**COLUMNS)
            train, held_out = split_of(monkeypatch, clf, X, Y, groups=passed)
            for mine, out in zip(train, held_out, strict=True):
                assert sorted(mine + out) == list(range(N))
                assert not set(groups[mine]) & set(groups[out])

    def test_classes_are_spread_over_the_folds(self, monkeypatch):
        _, held_out = split_of(monkeypatch, small(n_members=8), SERIES, Y)
        assert sorted(np.concatenate(held_out)) == list(range(N))
        for out in held_out:
            assert 1 <= sum(Y[out] == "ill") <= 2

    def test_held_out_rows_are_the_ones_validated_on(self, monkeypatch):
        chosen = np.isin(np.arange(N), [1, 5, 20])
        expected = [np.flatnonzero(~chosen).tolist()] * 2, [[1, 5, 20]] * 2
        for given in (chosen, chosen.tolist(), chosen.astype(int)):
            assert (*split_of(monkeypatch, small(), SERIES, Y, held_out=given),) == expected
        named = long(validate=chosen), Y
        actual = split_of(monkeypatch, small(**COLUMNS), *named, held_out="validate")
        assert (*actual,) == expected
        actual = split_of(monkeypatch, small(GILRegressor), TABLE, np.arange(N), held_out=chosen)
        assert (*actual,) == expected

    def test_held_out_rows_teach_nothing(self):
        """Other labels there change which epoch is kept, but no gradient and no scale."""
        chosen = np.arange(N) < 8
        other = np.where(chosen, np.roll(Y, 1), Y)
        first, second = (small().fit(SERIES, y, held_out=chosen).history_ for y in (Y, other))
        assert first["loss"] == second["loss"]
        assert first["validation_loss"] != second["validation_loss"]
        shifted = [values + 1000 * out for values, out in zip(SERIES, chosen, strict=True)]
        y = np.arange(N, dtype=float)
        plain = small(GILSequenceRegressor).fit(SERIES, y, held_out=chosen)
        moved = small(GILSequenceRegressor).fit(shifted, y + 1000 * chosen, held_out=chosen)
        assert plain.encoder_.state() == moved.encoder_.state()
        assert plain.target_mean_ == moved.target_mean_

    @each_family
    def test_held_out_without_those_of_weight_zero(self, X, cls, monkeypatch):
        chosen, weight = np.arange(N) < 4, np.ones(N)
        weight[:4] = 0
        model = small(cls)
        check_error(
            lambda: model.fit(X, Y, weight, held_out=chosen),
            "held_out marks 0 of 20 rows that count",
        )
        weight[1:4] = 1
        weight[10] = 0
        _, held_out = split_of(monkeypatch, model, X, Y, weight, held_out=chosen)
        assert held_out == [[0, 1, 2]] * 2  # numbered among the rows that count

    @each_family
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (np.zeros(N, bool), "held_out marks 0 of 24 rows"),
            (np.ones(N, bool), "held_out marks 24 of 24 rows"),
            (np.arange(N), "It must be True or False for each row"),
            ([True, None] * 12, "It must be True or False for each row"),
            (pd.Series([True, pd.NA] * 12, dtype="boolean"), "It must be True or False"),
            ([True] * 3, "held_out has"),
        ],
    )
    def test_bad_held_out_is_refused(self, X, cls, given, words):
        check_error(lambda: small(cls).fit(X, Y, held_out=given), words)

    @each_family
    def test_held_out_needs_early_stopping(self, X, cls):
        model = small(cls, early_stopping=False)
        check_error(
            lambda: model.fit(X, Y, held_out=np.arange(N) < 3),
            "held_out is given and early_stopping is False",
            kind=ParameterError,
        )

    @pytest.mark.parametrize("groups", [np.zeros(23), np.zeros((24, 1)), [[1], [2, 3]]])
    def test_bad_groups_are_refused(self, groups):
        check_error(lambda: small(GILClassifier).fit(TABLE, Y, groups=groups), "groups ", "per row")

    def test_early_stopping_and_its_absence(self):
        stopped = small(n_members=1, max_iter=400, weight_averaging=0.0, batch_size=2)
        stopped.set_params(learning_rate_init=0.05, weight_decay=0.0).fit(SERIES, Y)
        assert stopped.n_iter_ == len(stopped.history_["validation_loss"]) < 400
        full = small(early_stopping=False, max_iter=3).fit(SERIES, Y)
        assert full.n_iter_ == 3
        assert "validation_loss" not in full.history_


class TestWeights:
    @pytest.mark.parametrize("per_step", [False, True])
    def test_weight_zero_is_as_good_as_absent(self, per_step):
        weight = np.where(np.arange(N) % 4, 1.0, 0.0)
        kept = np.flatnonzero(weight)
        y = STEP_Y if per_step else Y
        left = small(per_step=per_step).fit(SERIES, y, sample_weight=weight)
        right = small(per_step=per_step).fit([SERIES[i] for i in kept], [y[i] for i in kept])
        assert same(left, right)
        frame = long(weight=weight)
        some = frame[frame["weight"] > 0]
        labels = np.concatenate(STEP_Y) if per_step else Y
        clf = small(per_step=per_step, **COLUMNS)
        left = clf.fit(frame, labels, sample_weight="weight")
        labels = labels[some.index] if per_step else Y[kept]
        clf = small(per_step=per_step, **COLUMNS)
        assert same(left, clf.fit(some.drop(columns="weight"), labels))

    def test_only_proportions_count_in_any_form(self):
        weight = np.arange(N) + 1.0
        plain, weighted = small().fit(SERIES, Y), small().fit(SERIES, Y, weight)
        assert all(
            same(weighted, small().fit(SERIES, Y, c * weight)) for c in (8, 2.0**1000, 2.0**-1000)
        )
        assert same(plain, small().fit(SERIES, Y, sample_weight=3.0))
        assert not same(plain, weighted)
        model = small(**COLUMNS).fit(long(), Y, weight)
        for given in (dict(enumerate(weight)), pd.Series(weight)[::-1], weight.tolist()):
            assert same(model, small(**COLUMNS).fit(long(), Y, given))

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (np.ones(3), "sample_weight has 3 labels for 24 series"),
            (np.ones((N, 2)), "sample_weight has shape (24, 2)"),
            (-np.ones(N), "sample_weight holds -1.0 in 24 rows (first: row 0)"),
            (np.full(N, np.nan), "sample_weight holds nan"),
            (np.zeros(N), "all sample weights are zero"),
            (-1.0, "sample_weight holds -1.0"),
            ([[1.0], [1.0, 2.0]], "sample_weight cannot be read as an array"),
        ],
    )
    def test_bad_weights_are_refused(self, given, words):
        check_error(lambda: small().fit(SERIES, Y, sample_weight=given), words)
        with pytest.raises(InputError):
            small().fit(SERIES, Y).score(SERIES, Y, sample_weight=given)

    @pytest.mark.parametrize("per_step", [False, True])
    def test_class_weight_moves_predictions_to_the_class(self, per_step):
        rare = [np.arange(k) % 3 == 2 for k in LENGTHS] if per_step else np.arange(N) % 6 == 0
        share = []
        for weight in (None, "balanced", {True: 1, False: 0.01}):
            clf = small(class_weight=weight, per_step=per_step, max_iter=20)
            clf.set_params(weight_decay=0.0, learning_rate_init=0.02).fit(SERIES, rare)
            actual = clf.predict_proba(SERIES)
            share.append((np.concatenate(actual) if per_step else actual)[:, 1].mean())
        assert share[0] < share[1] < share[2]

    @pytest.mark.parametrize("per_step", [False, True])
    def test_bad_class_weights(self, per_step):
        y = STEP_Y if per_step else np.arange(N) % 2
        clf = small(class_weight={0: 0, 1: 0}, per_step=per_step)
        with pytest.raises(InputError, match="weight zero"):
            clf.fit(SERIES, y)
        for bad in ("foo", 3, {1: -1}, {"dead": 2}):
            with pytest.raises(ParameterError, match="class_weight"):
                clf.set_params(class_weight=bad).fit(SERIES, y)


class TestGoingOn:
    @pytest.mark.parametrize("policy", ["none", "ddpg", "meta"])
    def test_warm_start_goes_on_from_the_last_weights(self, policy):
        clf = small(warm_start=True, policy=policy, learning_rate_init=1e-9, weight_decay=0.0)
        before = clf.fit(SERIES, Y).predict_proba(SERIES)
        assert np.allclose(clf.fit(SERIES, Y).predict_proba(SERIES), before, atol=1e-5)

    def test_warm_start_with_another_network_is_refused(self):
        clf = small(warm_start=True).fit(SERIES, Y)
        params = clf.get_params()
        for change in ({"n_members": 1}, {"cell": "lstm"}, {"per_step": True}, {"summary": False}):
            clf.set_params(**params | change)
            with pytest.raises(ParameterError, match=r"was .* their shape cannot change"):
                clf.fit(SERIES, STEP_Y if "per_step" in change else Y)

    @pytest.mark.parametrize("cls", [GILClassifier, GILRegressor])
    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_columns_are_those_of_before(self, cls, method):
        y = np.arange(24) // 2 % 2
        model = small(cls, warm_start=True).fit(TABLE, y)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(model, method)(TABLE.assign(a="new"), y)
        assert [warning.category for warning in caught] == [UnseenCategoryWarning]
        before = model.predict(TABLE)
        with pytest.raises(InputError, match=r"missing now 'b'; not in training 'B'"):
            getattr(model, method)(TABLE.rename(columns={"b": "B"}), y)
        assert np.array_equal(model.predict(TABLE), before)

    @pytest.mark.parametrize(
        "policy", ["none", *(pytest.param(p, marks=pytest.mark.slow) for p in ("ddpg", "meta"))]
    )
    def test_partial_fit_learns_over_calls(self, policy):
        y = (np.array([np.nan_to_num(values[-1, 0]) for values in SERIES]) > 0).astype(int)
        clf = small(policy=policy, weight_decay=0.0, learning_rate_init=0.02, dropout=0.0)
        for _ in range(25):
            clf.partial_fit(SERIES[:12], y[:12], classes=[0, 1])
            clf.partial_fit(SERIES[12:], y[12:])
        assert clf.score(SERIES, y) > 0.75

    def test_partial_fit_knows_classes_to_come(self):
        clf = small().partial_fit(SERIES[:4], ["a"] * 4, classes=["a", "b"])
        assert clf.predict_proba(SERIES).shape == (N, 2)
        with pytest.raises(InputError, match="the class 'c'"):
            clf.partial_fit(SERIES[:4], ["c"] * 4)
        with warnings.catch_warnings():  # a list of classes is not a target without repetition
            warnings.simplefilter("error")
            small().partial_fit(SERIES[:4], [0, 1, 2, 3], classes=range(30))
        reg = small(GILSequenceRegressor, per_step=True)
        for part in (slice(0, 12), slice(12, N)):
            reg.partial_fit(SERIES[part], STEP_Y[part])
        assert np.isfinite(np.concatenate(reg.predict(SERIES))).all()

    def test_ctrl_c_keeps_what_was_learned(self):
        class Impatient(Policy):
            steps = 0

            def importance(self, state):
                self.steps += 1
                if self.steps > 4:
                    raise KeyboardInterrupt

        clf = small(policy=Impatient(), batch_size=8, max_iter=1000)
        with pytest.warns(InterruptedWarning, match="best weights so far are kept"):
            clf.fit(SERIES, Y)
        assert np.isfinite(clf.predict_proba(SERIES)).all()


class TestNothingHalfDone:
    def test_failed_first_fit_leaves_it_unfitted(self, tmp_path):
        clf = small(reward="nope", **COLUMNS)
        with pytest.raises(ParameterError, match="reward is 'nope'"):
            clf.fit(long(), Y)
        assert vars(clf) == vars(small(reward="nope", **COLUMNS))
        for use in (clf.predict, clf.predict_proba, clf.features, clf.importance):
            with pytest.raises(NotFittedError):
                use(long())
        with pytest.raises(NotFittedError):
            clf.save(tmp_path / "model")

    def test_failed_refit_keeps_the_old_model(self):
        clf = small(**COLUMNS).fit(long(), Y)
        before = clf.predict_proba(long())
        with pytest.raises(InputError):
            clf.fit([[[np.inf]]], ["x"])
        clf.set_params(categorical_features=["no such column"])
        with pytest.raises(ParameterError, match="no such column"):
            clf.fit(long(), np.arange(N))
        assert clf.classes_.tolist() == ["ill", "well"]
        assert np.array_equal(clf.predict_proba(long()), before)
        clf = small()
        with pytest.raises(InputError):
            clf.partial_fit([[[np.inf]]], [0], classes=[0, 1, 2])
        assert clf.fit(SERIES, Y).classes_.tolist() == ["ill", "well"]

    def test_a_warm_start_that_diverges_keeps_the_old_weights(self):
        reg = small(GILSequenceRegressor, warm_start=True).fit(SERIES, np.arange(N))
        before = reg.predict(SERIES)
        reg.set_params(learning_rate_init=999.0, weight_decay=1000.0, max_iter=50)
        with pytest.raises(ParameterError, match="Lower learning_rate_init"):
            reg.set_params(early_stopping=False).fit(SERIES, np.arange(N))
        assert np.array_equal(reg.predict(SERIES), before)

    def test_an_epoch_that_diverges_leaves_the_weights_as_they_were(self):
        X = np.random.default_rng(0).normal(size=(40, 3))
        model = small(GILRegressor, n_members=1).partial_fit(X, X[:, 0])
        model.set_params(learning_rate_init=999.0, weight_decay=1000.0)
        for _ in range(50):
            before = model.predict(X)
            try:
                model.partial_fit(X, X[:, 0])
            except ParameterError:
                break
        else:
            pytest.fail("training did not diverge: the test shows nothing")
        assert np.array_equal(model.predict(X), before)

    @pytest.mark.parametrize("policy", ["meta", "ddpg"])
    def test_a_diverged_fit_leaves_the_policy_as_it_was(self, policy):
        clf = small(policy=policy, warm_start=True).fit(SERIES, Y)
        clf.set_params(learning_rate_init=999.0, weight_decay=1000.0, max_iter=60)
        with contextlib.suppress(ParameterError):
            clf.fit(SERIES, Y)
        clf.set_params(learning_rate_init=1e-3, weight_decay=0.0, max_iter=1)
        assert np.isfinite(clf.fit(SERIES, Y).predict_proba(SERIES)).all()

    def test_changed_parameters_do_not_change_a_fitted_model(self):
        clf = small().fit(SERIES, Y)
        before, score = clf.predict_proba(SERIES), clf.score(SERIES, Y)
        clf.set_params(placeholder=2.0, per_step=True, time_since=False, indicator=False)
        clf.set_params(cell="lstm", n_members=1, summary=False)
        assert np.array_equal(clf.predict_proba(SERIES), before)
        assert clf.score(SERIES, Y) == score

    def test_input_is_not_changed(self):
        frame, array, copies = long(), padded(), [values.copy() for values in SERIES]
        small(**COLUMNS).fit(frame, Y).predict(frame)
        panel = Panel.from_array(array, LENGTHS)
        small().fit(panel, Y).predict(panel)
        small(placeholder=3.0).fit(SERIES, Y).predict(SERIES)
        pd.testing.assert_frame_equal(frame, long())
        np.testing.assert_array_equal(array, padded())
        for values, copy in zip(SERIES, copies, strict=True):
            np.testing.assert_array_equal(values, copy)


class TestInsight:
    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize("cls", [GILClassifier, GILRegressor])
    def test_tables(self, cls, policy):
        model = small(cls, policy=policy).fit(TABLE, np.arange(N) % 2)
        assert model.features(TABLE).shape == (N, 2 * 4)
        actual = model.importance(TABLE)
        assert actual.shape == (N, 2)  # columns, not inputs
        assert 0 <= actual.min() <= actual.max() <= 1
        if policy == "observed":
            np.testing.assert_array_equal(actual, TABLE.notna())
        alone = model.importance(TABLE[["b", "a"]].iloc[3:4])  # by name: order of training
        np.testing.assert_allclose(alone, actual[3:4], atol=1e-6)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_series(self, policy):
        age = pd.DataFrame({"age": np.where(np.arange(N) % 3, 20.0 + np.arange(N), np.nan)})
        panel = Panel.from_list(SERIES, static=age)
        model = small(policy=policy).fit(panel, Y)
        assert model.features(panel).shape == (N, 2 * 4)
        actual = model.importance(panel)
        assert [values.shape for values in actual] == [(steps, 4) for steps in LENGTHS]
        flat = np.concatenate(actual)
        assert 0 <= flat.min() <= flat.max() <= 1
        if policy == "observed":
            np.testing.assert_array_equal(flat[:, :3], ~np.isnan(np.concatenate(SERIES)))
            seen = np.repeat(age["age"].notna().to_numpy(), LENGTHS)
            np.testing.assert_array_equal(flat[:, 3], seen)
        for i in (0, 7):  # a series alone, without padding, gives the same
            alone = model.importance(panel[[i]])
            np.testing.assert_allclose(alone[0], actual[i], atol=1e-6)

    def test_features_of_series_are_the_hidden_state_after_the_last_step(self):
        model = small(cell="gru").fit(SERIES, Y)
        actual = model.features(SERIES)
        table = model.encoder_.transform(Panel.from_list(SERIES))
        ends = np.cumsum(LENGTHS)
        for i in (1, 5, 9):
            steps = torch.from_numpy(table.values[ends[i] - LENGTHS[i] : ends[i]])
            with torch.no_grad():
                hidden = model.predictor_.encoder(steps.expand(2, 1, -1, -1), None)[:, 0, -1]
            np.testing.assert_allclose(actual[i], hidden.flatten(), atol=1e-6)

    def test_importance_of_a_step_does_not_know_what_comes_after(self):
        model = small(policy="ddpg").fit(SERIES, Y)
        i = int(LENGTHS.argmax())
        whole = model.importance(SERIES)[i]
        np.testing.assert_allclose(whole[:3], model.importance([SERIES[i][:3]])[0], atol=1e-6)

    def test_steps_are_arranged_as_predictions_are(self):
        frame = long().sample(frac=1, random_state=0)
        y = np.concatenate(STEP_Y)[frame.index]
        model = small(policy="observed", per_step=True, **COLUMNS).fit(frame, y)
        assert model.features(frame).shape == (len(frame), 2 * 4)
        np.testing.assert_array_equal(model.importance(frame), frame[["a", "b", "c"]].notna())
        panel = Panel.from_long(frame, **COLUMNS)
        assert [len(values) for values in model.features(panel)] == panel.lengths.tolist()

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_model_from_a_file_gives_the_same(self, policy, tmp_path):
        model = small(GILClassifier, policy=policy).fit(TABLE, Y)
        model.save(tmp_path / "model")
        loaded = GILClassifier.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.features(TABLE), model.features(TABLE))
        np.testing.assert_array_equal(loaded.importance(TABLE), model.importance(TABLE))
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()

    def test_a_custom_policy_is_not_in_the_file(self, tmp_path):
        class Custom(ObservedPolicy):
            pass

        small(GILClassifier, policy=Custom()).fit(TABLE, Y).save(tmp_path / "model")
        with pytest.warns(UserWarning, match="could not keep the parameter policy"):
            loaded = GILClassifier.load(tmp_path / "model")
        check_error(
            lambda: loaded.importance(TABLE), "file without its policy", kind=ParameterError
        )
        loaded.set_params(policy="meta").partial_fit(TABLE, Y)
        assert loaded.importance(TABLE).shape == (N, 2)  # it has one again

    def test_a_custom_encoder_is_passed_in(self):
        seen = []

        def custom(encoder):
            seen.append(encoder)
            encoder.indicator = False
            return encoder

        model = small(GILClassifier, encoder=custom).fit(TABLE, Y)
        assert seen == [model.encoder_]
        assert same(model, small(GILClassifier, indicator=False).fit(TABLE, Y))
        X = pd.DataFrame({"x": np.where(np.arange(N) % 3, rng.normal(size=N), np.nan)})
        network = small(GILClassifier, numeric_encoding="plain")
        filled = ImputeThenPredict(estimator=network).fit(X, Y)
        np.testing.assert_allclose(
            filled.features(X), filled.features(X.fillna(X.mean())), atol=1e-6
        )


def test_progress_is_shown_on_a_terminal_and_nowhere_else(monkeypatch, capsys):
    small().fit(SERIES, Y).predict(SERIES)
    assert capsys.readouterr() == ("", "")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    small(verbose=True, max_iter=3).fit(SERIES, Y)
    assert "GILSequenceClassifier" in screen.getvalue()
