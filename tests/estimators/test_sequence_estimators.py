"""The estimators for series as people use them: formats, seeds, labels, steps, statics, files."""

from __future__ import annotations

import contextlib
import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    InputError,
    ParameterError,
)
from imputefree.errors import InterruptedWarning, UnseenCategoryWarning
from imputefree.gil._policies import Policy
from tests.refusals import check_error

rng = np.random.default_rng(0)
N, NAMES = 24, ["a", "b", "c"]
LENGTHS = rng.permutation(np.arange(N) % 5 + 2)
LENGTHS[:2] = 1
SERIES = [rng.normal(size=(steps, 3)).round(2) for steps in LENGTHS]
for one in SERIES:
    one[rng.random(one.shape) < 0.3] = np.nan
SERIES[2][:] = np.nan  # a series without a single observation
TIMES = [np.cumsum(rng.integers(1, 4, steps)).astype(float) for steps in LENGTHS]
Y = np.array(["ill", "well"])[np.arange(N) % 2]
AGE = pd.DataFrame({"age": np.where(np.arange(N) % 3, 20.0 + np.arange(N), np.nan)})
AGE["sex"] = np.array(["f", "m", None], dtype=object)[np.arange(N) % 3]
STEP_Y = [np.arange(steps) % 2 for steps in LENGTHS]
POLICIES = ["none", "observed", "random", "ddpg", "gate", "meta"]
SMALL = {"n_members": 2, "max_iter": 2, "hidden_layer_sizes": (4,), "random_state": 0}
COLUMNS = {"id": "who", "time": "hour"}
PAIRS = COLUMNS | {"variable": "what", "value": "much"}


def small(cls=GILSequenceClassifier, **options):
    return cls(**(SMALL | options))


def weights(model):
    return list(model.predictor_.state_dict().values())


def same(left, right):
    return all(map(torch.equal, weights(left), weights(right)))


def padded(filler=np.nan, dtype=float):
    array = np.full((N, max(LENGTHS) + 1, 3), filler, dtype=dtype)
    for row, series in zip(array, SERIES, strict=True):
        row[: len(series)] = series
    return array


def long(**static):
    frame = pd.DataFrame(np.concatenate(SERIES), columns=NAMES)
    frame.insert(0, "who", np.repeat(np.arange(N), LENGTHS))
    frame.insert(1, "hour", np.concatenate(TIMES))
    for name, values in static.items():
        frame[name] = np.repeat(np.asarray(values), LENGTHS)
    return frame


def pairs():
    return long().melt(["who", "hour"], var_name="what", value_name="much")


def objects():
    array = np.empty(N, dtype=object)
    array[:] = SERIES
    return array


def nested():
    cells = {
        name: [pd.Series(s[:, j], index=t) for s, t in zip(SERIES, TIMES, strict=True)]
        for j, name in enumerate(NAMES)
    }
    return pd.DataFrame(cells)


def frames(**options):
    return [
        pd.DataFrame(s, columns=NAMES, index=t, **options)
        for s, t in zip(SERIES, TIMES, strict=True)
    ]


WIDE_TIMES = np.stack([np.append(t, t[-1] + 1 + np.arange(7 - len(t))) for t in TIMES])
FORMATS = {  # the same content in every form: X, and what fit is told about it
    "padded array": lambda: (padded(), {"lengths": LENGTHS, "times": WIDE_TIMES}),
    "array with columns before steps": lambda: (
        padded().transpose(0, 2, 1),
        {"lengths": LENGTHS, "times": WIDE_TIMES, "axes": "ndt"},
    ),
    "array, the rest in lists": lambda: (
        padded(),
        {"lengths": LENGTHS.tolist(), "times": WIDE_TIMES.tolist()},
    ),
    "list of arrays": lambda: (SERIES, {"times": TIMES}),
    "tuple of lists": lambda: (tuple(s.tolist() for s in SERIES), {"times": TIMES}),
    "array of arrays": lambda: (objects(), {"times": TIMES}),
    "list of frames": lambda: (frames(), {}),
    "list of polars frames": lambda: (
        [pl.DataFrame(s, schema=NAMES) for s in SERIES],
        {"times": TIMES},
    ),
    "nested frame": lambda: (nested(), {}),
    "long frame": lambda: (long(), COLUMNS),
    "long frame, shuffled": lambda: (shuffled(long()), COLUMNS),
    "long frame, nullable": lambda: (long().convert_dtypes(), COLUMNS),
    "long polars frame": lambda: (pl.from_pandas(long()), COLUMNS),
    "pairs": lambda: (pairs(), PAIRS),
    "polars pairs": lambda: (pl.from_pandas(pairs()), PAIRS),
    "indexed frame": lambda: (long().set_index(["who", "hour"]), {}),
}


def shuffled(frame, seed=0):
    """Rows in any order, but series in the order they had."""
    order = np.random.default_rng(seed).permutation(len(frame))
    mixed = frame.iloc[order]
    return pd.concat(part for _, part in mixed.groupby("who", sort=True))


@pytest.fixture(scope="module")
def reference():
    """Probabilities of the model that every format must give."""
    clf = small().fit(SERIES, Y, times=TIMES)
    return clf, clf.predict_proba(SERIES, times=TIMES)


class TestFormats:
    @pytest.mark.parametrize("name", FORMATS)
    def test_the_same_content_gives_the_same_model_and_predictions(self, name, reference):
        X, how = FORMATS[name]()
        clf = small().fit(X, Y, **how)
        assert same(clf, reference[0])
        assert np.array_equal(clf.predict_proba(X, **how), reference[1])
        assert np.array_equal(clf.predict(X, **how), clf.classes_[reference[1].argmax(1)])

    @pytest.mark.parametrize("name", [name for name in FORMATS if name != "nested frame"])
    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    @pytest.mark.parametrize("fitted", ["list of arrays", "long frame", "pairs", "indexed frame"])
    def test_a_model_predicts_on_any_other_format(self, fitted, name, reference):
        X, how = FORMATS[fitted]()
        clf = small().fit(X, Y, **how)
        X, how = FORMATS[name]()
        assert np.array_equal(clf.predict_proba(X, **how), reference[1])

    def test_arrays_without_lengths_are_full(self):
        X = rng.normal(size=(12, 4, 2))
        left = small().fit(X, Y[:12])
        right = small().fit(X, Y[:12], lengths=np.full(12, 4))
        listed = small().fit(list(X), Y[:12])
        assert same(left, right)
        assert same(left, listed)
        assert np.array_equal(left.predict_proba(X), left.predict_proba(list(X)))

    @pytest.mark.parametrize("filler", [np.nan, np.inf, 1e300, "text", None, (1, 2)])
    def test_what_stands_in_padding_does_not_matter(self, filler, reference):
        array = padded(dtype=object)
        for i, steps in enumerate(LENGTHS):
            for cell in np.ndindex(array[i, steps:].shape):
                array[i, steps:][cell] = filler
        clf = small().fit(array, Y, lengths=LENGTHS, times=WIDE_TIMES)
        assert same(clf, reference[0])
        found = clf.predict_proba(array, lengths=LENGTHS, times=WIDE_TIMES)
        assert np.array_equal(found, reference[1])

    def test_padding_without_lengths_is_missingness_and_another_model(self):
        assert not same(small().fit(padded(), Y), small().fit(padded(), Y, lengths=LENGTHS))

    def test_series_come_in_the_order_of_their_first_row(self, reference):
        frame = long()
        order = rng.permutation(N)
        mixed = pd.concat(frame[frame["who"] == i].iloc[::-1] for i in order)
        clf = small().fit(long(), Y, **COLUMNS)
        assert np.allclose(clf.predict_proba(mixed), reference[1][order], atol=1e-6)

    def test_all_rows_in_any_order_with_labels_by_id(self):
        frame = long().sample(frac=1, random_state=1)
        clf = small().fit(frame, pd.Series(Y), **COLUMNS)
        found = dict(zip(frame["who"].unique(), clf.predict_proba(frame).tolist(), strict=True))
        again = clf.predict_proba(long())
        assert np.allclose([found[i] for i in range(N)], again, atol=1e-6)

    def test_columns_are_matched_by_name(self, reference):
        clf = small().fit(long(), Y, **COLUMNS)
        turned = long()[["c", "hour", "b", "who", "a"]]
        assert np.array_equal(clf.predict_proba(turned), reference[1])
        with pytest.raises(InputError, match=r"missing now 'a'; not in training 'x'"):
            clf.predict(long().rename(columns={"a": "x"}))

    def test_other_number_of_columns_is_refused(self, reference):
        check_error(
            lambda: reference[0].predict([one[:, :2] for one in SERIES], times=TIMES),
            "X has 2 features, but GILSequenceClassifier is expecting 3 features",
        )

    def test_a_single_series_one_step_few_series(self):
        assert small().fit([[[1.0]]], ["x"]).predict([[[2.0], [np.nan]]]).tolist() == ["x"]
        for n in (1, 2, 3, 4):
            X = [np.full((1, 2), float(i)) for i in range(n)]
            reg = small(GILSequenceRegressor).fit(X, np.arange(n))
            assert np.isfinite(reg.predict(X)).all()

    def test_single_columns_as_flat_lists(self):
        X = [[1.0, np.nan], [2.0], [3.0, 4.0, 5.0]]
        left = small(GILSequenceRegressor).fit(X, [1, 2, 3]).predict(X)
        X = [np.array(one)[:, None] for one in X]
        assert np.array_equal(small(GILSequenceRegressor).fit(X, [1, 2, 3]).predict(X), left)

    def test_a_table_is_not_taken_for_series(self):
        with pytest.raises(InputError, match="GILClassifier or GILRegressor"):
            small().fit(np.zeros((5, 3)), Y[:5])
        with pytest.raises(InputError, match="GILClassifier or GILRegressor"):
            small().fit(long()[NAMES], Y)


class TestLayout:
    """What a fit was told about columns need not be told again, and may be told otherwise."""

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_frames_then_lists_then_indexed_frames(self, reference):
        clf = small().fit(long(), Y, **COLUMNS)
        assert np.array_equal(clf.predict_proba(long()), reference[1])
        assert np.array_equal(clf.predict_proba(SERIES, times=TIMES), reference[1])
        assert np.array_equal(clf.predict_proba(frames()), reference[1])
        assert np.array_equal(clf.predict_proba(long().set_index(["who", "hour"])), reference[1])

    def test_names_may_change(self, reference):
        clf = small().fit(long(), Y, **COLUMNS)
        other = long().rename(columns={"who": "patient"})
        check_error(lambda: clf.predict(other), "id names 'who', which is no column of X")
        assert np.array_equal(clf.predict_proba(other, id="patient"), reference[1])

    def test_from_pairs_to_a_column_a_variable_and_back(self, reference):
        clf = small().fit(pairs(), Y, **PAIRS)
        assert np.array_equal(clf.predict_proba(pairs()), reference[1])
        assert np.array_equal(clf.predict_proba(long()), reference[1])
        clf = small().fit(long(), Y, **COLUMNS)
        found = clf.predict_proba(pairs(), variable="what", value="much")
        assert np.array_equal(found, reference[1])

    def test_labels_that_still_stand_in_the_frame_are_not_looked_at(self, reference):
        frame = long(label=Y)
        clf = small().fit(frame, "label", **COLUMNS)
        assert same(clf, reference[0])
        assert np.array_equal(clf.predict_proba(frame), reference[1])
        assert np.array_equal(clf.predict_proba(long()), reference[1])
        assert clf.score(frame, "label") == clf.score(long(), Y)

    def test_axes_are_remembered_unless_told(self, reference):
        how = {"lengths": LENGTHS, "times": WIDE_TIMES}
        turned = padded().transpose(0, 2, 1)
        clf = small().fit(turned, Y, axes="ndt", **how)
        assert np.array_equal(clf.predict_proba(turned, **how), reference[1])
        assert np.array_equal(clf.predict_proba(padded(), axes="ntd", **how), reference[1])
        assert np.array_equal(clf.predict_proba(SERIES, times=TIMES), reference[1])
        assert np.array_equal(clf.predict_proba(objects(), times=TIMES), reference[1])

    def test_options_that_make_no_sense_are_refused_not_ignored(self):
        clf = small().fit(long(), Y, **COLUMNS)
        with pytest.raises(InputError, match="axes is given, but X is a long frame"):
            clf.predict(long(), axes="ndt")
        with pytest.raises(InputError, match="id is given, but X is a list"):
            clf.predict(SERIES, id="who")

    def test_partial_fit_goes_on_with_what_it_was_told(self):
        clf = small().partial_fit(long(), Y, **COLUMNS)
        clf.partial_fit(long(), Y)
        with pytest.warns(UserWarning, match="valid feature names"):
            clf.partial_fit(SERIES, Y, times=TIMES)
        assert clf.layout_["id"] == "who"
        assert clf.predict(long()).shape == (N,)

    def test_a_new_fit_forgets(self):
        clf = small().fit(long(), Y, **COLUMNS).fit(SERIES, Y)
        with pytest.raises(InputError, match="DataFrame without an id"):
            clf.predict(long())

    def test_frames_of_numbered_columns(self, reference):
        frame = long()
        frame.columns = range(5)
        clf = small().fit(frame, Y, id="0", time="1")
        assert np.array_equal(clf.predict_proba(frame), reference[1])


class TestLabels:
    def test_by_position_by_id_by_column(self, reference):
        ids = rng.permutation(N)
        by_id = pd.Series(Y[ids], index=ids)
        for y in (Y, Y.tolist(), by_id, by_id.to_dict(), pl.Series(Y.tolist())):
            assert same(small().fit(long(), y, **COLUMNS), reference[0])
        frame = long(label=Y)
        frame.loc[frame.index[1::2], "label"] = None
        frame.loc[frame.groupby("who").head(1).index, "label"] = Y
        assert same(small().fit(frame, "label", **COLUMNS), reference[0])

    @pytest.mark.parametrize(
        ("y", "words"),
        [
            (None, "requires y to be passed"),
            (Y[:3], "y has 3 labels for 24 series"),
            (np.stack([Y, Y], 1), "y has shape (24, 2)"),
            (dict.fromkeys(range(5), 1), "ids without labels"),
            (pd.Series(1, index=range(N + 1)), "labels without series: 24"),
            (np.where(np.arange(N) == 3, None, Y), "contains NaN or None in 1 rows"),
            (np.where(np.arange(N) == 3, np.inf, 1.0), "contains infinity"),
            ("no such column", "y is 'no such column', which is no column of X"),
            (np.array([1, "a"] * 12, dtype=object), "mixes values of the types int, str"),
            (np.linspace(0, 1, N), "Unknown label type"),
        ],
    )
    def test_bad_labels_are_refused(self, y, words):
        check_error(lambda: small().fit(long(), y, **COLUMNS), words)

    def test_labels_by_position_of_unsorted_ids_are_refused(self):
        frame = long().assign(who=lambda f: N - f["who"])
        check_error(lambda: small().fit(frame, Y, **COLUMNS), "not in sorted order")

    @pytest.mark.parametrize("role", ["y", "sample_weight", "groups", "held_out"])
    def test_a_text_names_a_column_of_a_frame_and_of_nothing_else(self, role):
        given = {"y": Y} | {role: "died"}
        check_error(lambda: small().fit(SERIES, **given), f"{role} is 'died', which is no column")

    @pytest.mark.parametrize("labels", [["no", "yes", "who"], [3, 5, 9], [0.0, 1.0, 2.0]])
    def test_classes_come_back_as_they_were(self, labels):
        clf = small().fit(SERIES, np.array(labels)[np.arange(N) % 3])
        assert clf.classes_.tolist() == sorted(labels)
        assert clf.predict_proba(SERIES).shape == (N, 3)
        assert set(clf.predict(SERIES)) <= set(labels)

    def test_one_class_predicts_it(self):
        clf = small().fit(SERIES, ["only"] * N)
        assert set(clf.predict(SERIES)) == {"only"}
        assert np.allclose(clf.predict_proba(SERIES), 1)

    def test_a_regressor_refuses_texts_and_keeps_units(self):
        with pytest.raises(InputError, match="A regression target must be numbers"):
            small(GILSequenceRegressor).fit(SERIES, Y)
        reg = small(GILSequenceRegressor).fit(SERIES, 1e6 + np.arange(N))
        assert np.allclose(reg.predict(SERIES), 1e6, atol=1e3)
        assert np.isfinite(reg.predict(SERIES)).all()


class TestBatches:
    """Who else is predicted does not matter, nor does padding within a batch."""

    @pytest.mark.parametrize("cell", ["lstm", "gru"])
    @pytest.mark.parametrize("per_step", [False, True])
    @pytest.mark.parametrize("summary", [False, True])
    def test_predictions_do_not_depend_on_company_or_chunk(
        self, cell, per_step, summary, monkeypatch
    ):
        y = STEP_Y if per_step else Y
        clf = small(cell=cell, per_step=per_step, summary=summary, max_iter=3).fit(SERIES, y)
        whole = clf.predict_proba(SERIES)
        alone = [clf.predict_proba([one])[0] for one in SERIES]
        some = rng.permutation(N)[:7]
        part = clf.predict_proba([SERIES[i] for i in some])
        monkeypatch.setattr("imputefree.gil._validation.CHUNK_ENTRIES", 100)
        chunked = clf.predict_proba(SERIES)
        for i in range(N):
            assert np.allclose(alone[i], whole[i], atol=1e-6)
            assert np.allclose(chunked[i], whole[i], atol=1e-6)
        for i, found in zip(some, part, strict=True):
            assert np.allclose(found, whole[i], atol=1e-6)

    def test_any_width_of_padding_gives_the_same_predictions(self, reference):
        wide = np.full((N, 50, 3), 7.0)
        wide[:, :7] = padded()
        clf = small().fit(SERIES, Y)
        assert np.array_equal(clf.predict_proba(wide, lengths=LENGTHS), clf.predict_proba(SERIES))


class TestSeeds:
    @pytest.mark.parametrize("cell", ["lstm", "gru"])
    @pytest.mark.parametrize("policy", POLICIES)
    def test_same_seed_same_bits_and_the_global_seeds_are_untouched(self, policy, cell):
        torch.manual_seed(1)
        np.random.seed(1)  # noqa: NPY002 - the global seed is what must not matter
        first = small(policy=policy, cell=cell).fit(SERIES, Y)
        torch.manual_seed(2)
        np.random.seed(2)  # noqa: NPY002
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        second = small(policy=policy, cell=cell).fit(SERIES, Y)
        assert same(first, second)
        assert first.history_ == second.history_
        assert np.array_equal(first.predict_proba(SERIES), second.predict_proba(SERIES))
        assert torch.equal(before[0], torch.get_rng_state())
        assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002

    @pytest.mark.parametrize("policy", ["ddpg", "meta"])
    def test_same_bits_per_step(self, policy):
        models = [small(policy=policy, per_step=True).fit(SERIES, STEP_Y) for _ in range(2)]
        assert same(*models)

    def test_other_seed_other_model_and_none_is_no_error(self):
        first = small().fit(SERIES, Y)
        assert not same(first, small(random_state=1).fit(SERIES, Y))
        assert small(random_state=None).fit(SERIES, Y).n_iter_ >= 1

    def test_cells_and_policies_differ(self):
        models = [small(cell=cell).fit(SERIES, Y).predict_proba(SERIES) for cell in ("lstm", "gru")]
        assert not np.allclose(*models, atol=1e-4)
        none, taught = (
            small(policy=p, placeholder=1.0, learning_rate_init=0.05, weight_averaging=0.0)
            .fit(SERIES, Y)
            .predict_proba(SERIES)
            for p in ("none", "observed")
        )
        assert not np.allclose(none, taught, atol=1e-6)

    @pytest.mark.parametrize("cell", ["lstm", "gru"])
    @pytest.mark.parametrize("per_step", [False, True])
    @pytest.mark.parametrize("indicator", [False, True])
    def test_observed_with_placeholder_zero_is_none_to_the_last_bit(
        self, cell, per_step, indicator
    ):
        options = {"cell": cell, "per_step": per_step, "indicator": indicator, "max_iter": 3}
        y = STEP_Y if per_step else Y
        none, taught = (small(policy=p, **options).fit(SERIES, y) for p in ("none", "observed"))
        assert same(none, taught)
        assert none.history_ == taught.history_


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
        groups = np.arange(N) // 3
        train, held_out = split_of(monkeypatch, small(n_members=8), SERIES, Y, groups=groups)
        for mine, out in zip(train, held_out, strict=True):
            assert sorted(mine + out) == list(range(N))
            assert not set(groups[mine]) & set(groups[out])

    @pytest.mark.parametrize("how", ["column", "dict", "series"])
    def test_groups_by_id_or_column(self, monkeypatch, how):
        frame, groups = long(), np.array(list("abcdef"))[np.arange(N) // 4]
        given = {"dict": dict(enumerate(groups)), "series": pd.Series(groups), "column": "group"}
        if how == "column":
            frame = long(group=groups)
        train, held_out = split_of(
            monkeypatch, small(n_members=3), frame, Y, groups=given[how], **COLUMNS
        )
        for mine, out in zip(train, held_out, strict=True):
            assert not set(groups[mine]) & set(groups[out])

    def test_classes_are_spread_over_the_folds(self, monkeypatch):
        _, held_out = split_of(monkeypatch, small(n_members=8), SERIES, Y)
        assert sorted(np.concatenate(held_out)) == list(range(N))
        for out in held_out:
            assert 1 <= sum(Y[out] == "ill") <= 2

    def test_held_out_series_are_the_ones_judged_on(self, monkeypatch):
        chosen = np.isin(np.arange(N), [1, 5, 20])
        for given in (chosen, chosen.tolist(), chosen.astype(int)):
            train, held_out = split_of(monkeypatch, small(), SERIES, Y, held_out=given)
            assert held_out == [[1, 5, 20]] * 2
            assert train == [np.flatnonzero(~chosen).tolist()] * 2
        frame = long(validate=chosen)
        assert split_of(monkeypatch, small(), frame, Y, held_out="validate", **COLUMNS)[1] == (
            [[1, 5, 20]] * 2
        )

    def test_held_out_rows_of_a_table(self, monkeypatch):
        X, chosen = rng.normal(size=(N, 2)), np.arange(N) % 4 == 0
        for cls, y in ((GILClassifier, Y), (GILRegressor, np.arange(N))):
            train, held_out = split_of(monkeypatch, small(cls), X, y, held_out=chosen)
            assert held_out == [np.flatnonzero(chosen).tolist()] * 2
            assert train == [np.flatnonzero(~chosen).tolist()] * 2

    def test_labels_of_held_out_series_teach_nothing(self):
        """Other labels there change which epoch is kept, but no gradient."""
        chosen = np.arange(N) < 8
        other = np.where(chosen, np.roll(Y, 1), Y)
        first, second = (small().fit(SERIES, y, held_out=chosen).history_ for y in (Y, other))
        assert first["loss"] == second["loss"]
        assert first["validation_loss"] != second["validation_loss"]

    def test_held_out_without_those_of_weight_zero(self, monkeypatch):
        chosen, weight = np.arange(N) < 4, np.ones(N)
        weight[[0, 10]] = 0
        _, held_out = split_of(monkeypatch, small(), SERIES, Y, weight, held_out=chosen)
        assert held_out == [[0, 1, 2]] * 2  # numbered among the series that count
        weight[:4] = 0
        for X, cls in ((SERIES, GILSequenceClassifier), (np.ones((N, 2)), GILClassifier)):
            check_error(
                lambda X=X, cls=cls: small(cls).fit(X, Y, weight, held_out=chosen),
                "of the 19 rows that count, held_out marks 0",
            )

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (np.zeros(N, bool), "held_out marks 0 of 24 rows"),
            (np.ones(N, bool), "held_out marks 24 of 24 rows"),
            (np.arange(N), "It must be True or False for each row"),
            (["yes", "no"] * 12, "It must be True or False for each row"),
            ([True, None] * 12, "It must be True or False for each row"),
            (pd.Series([True, pd.NA] * 12, dtype="boolean"), "It must be True or False"),
            ([True] * 3, "held_out has"),
        ],
    )
    def test_bad_held_out_is_refused(self, given, words):
        for X, cls in ((SERIES, GILSequenceClassifier), (np.ones((N, 2)), GILClassifier)):
            check_error(lambda X=X, cls=cls: small(cls).fit(X, Y, held_out=given), words)

    def test_held_out_needs_early_stopping(self):
        for X, cls in ((SERIES, GILSequenceClassifier), (np.ones((N, 2)), GILClassifier)):
            model = small(cls, early_stopping=False)
            check_error(
                lambda X=X, model=model: model.fit(X, Y, held_out=np.arange(N) < 3),
                "held_out is given and early_stopping is False",
                kind=ParameterError,
            )

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
        options = {"per_step": per_step}
        left = small(**options).fit(SERIES, y, sample_weight=weight)
        right = small(**options).fit([SERIES[i] for i in kept], [y[i] for i in kept])
        assert same(left, right)
        frame = long(weight=weight)
        some = frame[frame["weight"] > 0]
        labels = np.concatenate(STEP_Y) if per_step else Y
        left = small(**options).fit(frame, labels, sample_weight="weight", **COLUMNS)
        labels = labels[some.index] if per_step else Y[kept]
        right = small(**options).fit(some.drop(columns="weight"), labels, **COLUMNS)
        assert same(left, right)

    def test_only_proportions_count(self):
        weight = np.arange(N) + 1.0
        models = [small().fit(SERIES, Y, c * weight) for c in (1, 8, 2.0**1000, 2.0**-1000)]
        assert all(same(models[0], other) for other in models)
        assert same(small().fit(SERIES, Y), small().fit(SERIES, Y, sample_weight=3.0))
        assert not same(small().fit(SERIES, Y), models[0])

    def test_weights_by_id(self):
        weight = np.arange(N) % 3 + 1.0
        model = small().fit(long(), Y, weight, **COLUMNS)
        for given in (dict(enumerate(weight)), pd.Series(weight)[::-1], weight.tolist()):
            assert same(model, small().fit(long(), Y, given, **COLUMNS))

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (np.ones(3), "sample_weight has 3 labels for 24 series"),
            (np.ones((N, 2)), "sample_weight has shape (24, 2)"),
            (-np.ones(N), "sample_weight holds -1.0 (first: row 0)"),
            (np.full(N, np.nan), "sample_weight holds nan"),
            (np.zeros(N), "all sample weights are zero"),
            (-1.0, "sample_weight holds -1.0"),
            (["heavy"] * N, "sample_weight cannot be read as an array"),
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
            clf = small(class_weight=weight, per_step=per_step, max_iter=25, hide=0.0)
            clf.set_params(weight_decay=0.0, learning_rate_init=0.02).fit(SERIES, rare)
            found = clf.predict_proba(SERIES)
            share.append((np.concatenate(found) if per_step else found)[:, 1].mean())
        assert share[0] < share[1] < share[2]

    @pytest.mark.parametrize("per_step", [False, True])
    def test_class_weight_zero_everywhere(self, per_step):
        y = STEP_Y if per_step else np.arange(N) % 2
        clf = small(class_weight={0: 0, 1: 0}, per_step=per_step)
        with pytest.raises(InputError, match="weight zero"):
            clf.fit(SERIES, y)

    @pytest.mark.parametrize("bad", ["foo", 3, {"ill": -1}, {"dead": 2}])
    def test_class_weight_is_checked(self, bad):
        with pytest.raises(ParameterError, match="class_weight"):
            small(class_weight=bad).fit(SERIES, Y)


class TestGoingOn:
    @pytest.mark.parametrize("policy", ["none", "ddpg", "meta"])
    def test_warm_start_goes_on_from_the_last_weights(self, policy):
        clf = small(warm_start=True, policy=policy, learning_rate_init=1e-9, weight_decay=0.0)
        before = clf.fit(SERIES, Y).predict_proba(SERIES)
        assert np.allclose(clf.fit(SERIES, Y).predict_proba(SERIES), before, atol=1e-5)

    @pytest.mark.parametrize(
        "change",
        [
            {"n_members": 1},
            {"cell": "gru"},
            {"per_step": True},
            {"hidden_layer_sizes": (5,)},
            {"summary": False},
        ],
    )
    def test_warm_start_with_another_network_is_refused(self, change):
        clf = small(warm_start=True).fit(SERIES, Y)
        y = STEP_Y if "per_step" in change else Y
        with pytest.raises(ParameterError, match=r"was .* their shape cannot change"):
            clf.set_params(**change).fit(SERIES, y)

    @pytest.mark.parametrize("policy", ["none", "ddpg", "meta"])
    def test_partial_fit_learns_over_calls(self, policy):
        y = (np.array([np.nan_to_num(one[-1, 0]) for one in SERIES]) > 0).astype(int)
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

    def test_partial_fit_of_a_regressor_and_per_step(self):
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
        clf = small(reward="nope")
        with pytest.raises(ParameterError, match="reward is 'nope'"):
            clf.fit(long(), Y, **COLUMNS)
        assert vars(clf) == vars(small(reward="nope"))
        for use in (clf.predict, clf.predict_proba, lambda X: clf.score(X, Y)):
            with pytest.raises(NotFittedError):
                use(long())
        with pytest.raises(NotFittedError):
            clf.save(tmp_path / "model")

    def test_failed_refit_keeps_the_old_model(self):
        clf = small().fit(long(), Y, **COLUMNS)
        before = clf.predict_proba(long())
        with pytest.raises(InputError):
            clf.fit([[[np.inf]]], ["x"])
        clf.set_params(categorical_features=["no such column"])
        with pytest.raises(ParameterError, match="no such column"):
            clf.fit(SERIES, np.arange(N))
        assert clf.classes_.tolist() == ["ill", "well"]
        assert np.array_equal(clf.predict_proba(long()), before)

    def test_a_warm_start_that_diverges_keeps_the_old_weights(self):
        reg = small(GILSequenceRegressor, warm_start=True).fit(SERIES, np.arange(N))
        before = reg.predict(SERIES)
        reg.set_params(learning_rate_init=999.0, weight_decay=1000.0, max_iter=50)
        with pytest.raises(ParameterError, match="Lower learning_rate_init"):
            reg.set_params(early_stopping=False).fit(SERIES, np.arange(N))
        assert np.array_equal(reg.predict(SERIES), before)

    def test_failed_partial_fit_fixes_neither_classes_nor_columns(self):
        clf = small()
        with pytest.raises(InputError):
            clf.partial_fit([[[np.inf]]], [0], classes=[0, 1, 2])
        assert clf.fit(SERIES, Y).classes_.tolist() == ["ill", "well"]

    def test_changed_parameters_do_not_change_a_fitted_model(self):
        clf = small().fit(SERIES, Y)
        before, score = clf.predict_proba(SERIES), clf.score(SERIES, Y)
        clf.set_params(placeholder=2.0, per_step=True, time_since=False, indicator=False)
        clf.set_params(cell="gru", n_members=1, summary=False)
        assert np.array_equal(clf.predict_proba(SERIES), before)
        assert clf.score(SERIES, Y) == score

    def test_input_is_not_changed(self):
        frame, array, copies = long(), padded(), [one.copy() for one in SERIES]
        small().fit(frame, Y, **COLUMNS).predict(frame)
        small().fit(array, Y, lengths=LENGTHS).predict(array, lengths=LENGTHS)
        small(placeholder=3.0).fit(SERIES, Y).predict(SERIES)
        pd.testing.assert_frame_equal(frame, long())
        np.testing.assert_array_equal(array, padded())
        for one, other in zip(SERIES, copies, strict=True):
            np.testing.assert_array_equal(one, other)


STEP_FORMATS = {  # X, labels of all steps, what fit is told, and where each output row belongs
    "list of arrays": lambda: (SERIES, STEP_Y, {"times": TIMES}),
    "padded array": lambda: (
        padded(),
        np.stack([np.append(y, np.full(7 - len(y), np.nan)) for y in STEP_Y]),
        {"lengths": LENGTHS, "times": WIDE_TIMES},
    ),
    "list of frames": lambda: (frames(), STEP_Y, {}),
    "nested frame": lambda: (nested(), STEP_Y, {}),
    "long frame": lambda: (long(), np.concatenate(STEP_Y), COLUMNS),
    "long frame by column": lambda: (long().assign(y=np.concatenate(STEP_Y)), "y", COLUMNS),
    "long polars frame": lambda: (pl.from_pandas(long()), np.concatenate(STEP_Y), COLUMNS),
    "indexed frame": lambda: (
        long().set_index(["who", "hour"]),
        pd.Series(
            np.concatenate(STEP_Y),
            index=pd.MultiIndex.from_frame(long()[["who", "hour"]]),
        ).sample(frac=1, random_state=0),
        {},
    ),
    "pairs": lambda: (
        pairs(),
        long().assign(y=np.concatenate(STEP_Y)).set_index(["who", "hour"])["y"],
        PAIRS,
    ),
}


@pytest.fixture(scope="module")
def expected():
    """The model for steps that every format must give, and its probabilities."""
    clf = small(per_step=True).fit(SERIES, STEP_Y, times=TIMES)
    return clf, clf.predict_proba(SERIES, times=TIMES)


class TestEveryStep:
    @pytest.mark.parametrize("name", STEP_FORMATS)
    def test_every_format_gives_the_same_model(self, name, expected):
        X, y, how = STEP_FORMATS[name]()
        clf = small(per_step=True).fit(X, y, **how)
        assert same(clf, expected[0])
        found = clf.predict_proba(X, **how)
        if isinstance(found, list):
            assert [len(one) for one in found] == LENGTHS.tolist()
            found = np.concatenate(found)
        assert np.array_equal(found, np.concatenate(expected[1]))
        assert clf.score(X, y, **how) == expected[0].score(SERIES, STEP_Y, times=TIMES)

    @pytest.mark.parametrize("kind", ["pandas", "polars", "indexed"])
    def test_rows_of_a_frame_are_answered_in_their_order(self, kind, expected):
        frame = long().sample(frac=1, random_state=3)
        place = frame.index  # of each row in the order of series and steps
        X, how = frame, COLUMNS
        if kind == "polars":
            X = pl.from_pandas(frame)
        elif kind == "indexed":
            X, how = frame.set_index(["who", "hour"]), {}
        known = small(per_step=True).fit(long(), np.concatenate(STEP_Y), **COLUMNS)
        found = known.predict_proba(X, **how)
        assert np.allclose(found, np.concatenate(expected[1])[place], atol=1e-6)
        assert np.array_equal(known.predict(X, **how), known.classes_[found.argmax(1)])
        # Labels by position follow the rows too, whatever the order of series in training.
        y = np.concatenate(STEP_Y)[place]
        by_column = small(per_step=True).fit(frame.assign(y=y), "y", **COLUMNS)
        assert same(by_column, small(per_step=True).fit(X, y, **how))

    def test_only_steps_so_far_are_looked_at(self, expected):
        early = [one[: len(one) // 2 + 1] for one in SERIES]
        times = [t[: len(t) // 2 + 1] for t in TIMES]
        for part, whole in zip(
            expected[0].predict_proba(early, times=times), expected[1], strict=True
        ):
            assert np.allclose(part, whole[: len(part)], atol=1e-6)

    def test_regression(self):
        y = [np.linspace(0, 1, steps) * 100 for steps in LENGTHS]
        reg = small(GILSequenceRegressor, per_step=True, max_iter=80, learning_rate_init=0.03)
        reg.set_params(weight_decay=0.0, hide=0.0, dropout=0.0, batch_size=8).fit(SERIES, y)
        found = reg.predict(SERIES)
        assert [one.shape for one in found] == [(steps,) for steps in LENGTHS]
        assert reg.score(SERIES, y) == r2_score(np.concatenate(y), np.concatenate(found))
        assert reg.score(SERIES, y) > 0.3

    def test_text_labels_come_back(self):
        y = [np.where(one == 1, "odd", "even") for one in STEP_Y]
        found = small(per_step=True).fit(SERIES, y).predict(SERIES)
        assert set(np.concatenate(found)) <= {"odd", "even"}
        assert [len(one) for one in found] == LENGTHS.tolist()

    @pytest.mark.parametrize(
        ("y", "words"),
        [
            (Y, "y has 24 labels for"),
            (STEP_Y[:3], "y has 3 members for 24 series"),
            ([one[:1] for one in STEP_Y], "y of series"),
            ([np.append(one, 0) for one in STEP_Y], "y of series 0 has shape (2,) for 1 steps"),
            (np.zeros((N, 3)), "y has shape (24, 3)"),
            ([np.where(one == 1, np.nan, 0) for one in STEP_Y], "contains NaN or None"),
        ],
    )
    def test_bad_labels_are_refused(self, y, words):
        check_error(lambda: small(per_step=True).fit(SERIES, y), words)

    def test_labels_by_position_of_pairs_are_refused(self):
        with pytest.raises(InputError, match="matched by id and time"):
            small(per_step=True).fit(pairs(), np.concatenate(STEP_Y), **PAIRS)

    def test_contrastive_reward_is_refused(self):
        clf = small(per_step=True, policy="ddpg", reward="contrastive")
        with pytest.raises(ParameterError, match="compares series of different classes"):
            clf.fit(SERIES, STEP_Y)

    def test_score_weighs_each_step_as_its_series(self, expected):
        weight = np.arange(N) + 1.0
        truth, guess = (
            np.concatenate(one) for one in (STEP_Y, expected[0].predict(SERIES, times=TIMES))
        )
        by_hand = accuracy_score(truth, guess, sample_weight=np.repeat(weight, LENGTHS))
        assert expected[0].score(SERIES, STEP_Y, weight, times=TIMES) == by_hand


class TestScore:
    def test_of_series(self):
        clf = small().fit(long(label=Y), "label", **COLUMNS)
        found = clf.predict(long())
        assert clf.score(long(), Y) == accuracy_score(Y, found)
        assert clf.score(long(label=Y), "label") == accuracy_score(Y, found)
        assert clf.score(long(), dict(enumerate(Y))) == accuracy_score(Y, found)
        weight = np.arange(N) + 0.5
        by_hand = accuracy_score(Y, found, sample_weight=weight)
        assert clf.score(long(), Y, weight) == by_hand
        assert clf.score(long(w=weight), Y, "w") == by_hand
        assert clf.score(long(), Y, 2.0) == accuracy_score(Y, found)
        with pytest.raises(InputError, match="y has 3 labels"):
            clf.score(long(), Y[:3])

    def test_of_a_regressor(self):
        reg = small(GILSequenceRegressor).fit(SERIES, np.arange(N))
        assert reg.score(SERIES, np.arange(N)) == r2_score(np.arange(N), reg.predict(SERIES))


class TestStatics:
    STATIC = COLUMNS | {"static": ["age", "sex"]}

    def frame(self):
        return long(age=AGE["age"], sex=AGE["sex"].to_numpy(dtype=object))

    def test_columns_and_tables_are_the_same(self):
        frame = self.frame()
        clf = small().fit(frame, Y, **self.STATIC)
        assert clf.n_features_in_ == 3
        proba = clf.predict_proba(frame)
        again = small().fit(long(), Y, **COLUMNS, static=AGE)
        assert np.array_equal(again.predict_proba(long(), static=AGE), proba)
        by_id = AGE.assign(who=range(N)).sample(frac=1, random_state=0)
        for table in (by_id, by_id.set_index("who"), pl.from_pandas(by_id)):
            assert same(clf, small().fit(long(), Y, **COLUMNS, static=table))
            assert np.array_equal(clf.predict_proba(long(), static=table), proba)
        listed = small().fit(SERIES, Y, times=TIMES, static=AGE)
        assert same(clf, listed)
        assert np.array_equal(listed.predict_proba(SERIES, times=TIMES, static=AGE), proba)

    def test_plain_tables_of_numbers(self):
        table = np.arange(2.0 * N).reshape(N, 2)
        left = small().fit(SERIES, Y, static=table)
        right = small().fit(SERIES, Y, static=table.tolist())
        assert same(left, right)
        assert not np.array_equal(
            left.predict_proba(SERIES, static=table), left.predict_proba(SERIES, static=table[::-1])
        )

    def test_a_single_name(self):
        frame = self.frame().drop(columns="sex")
        clf = small().fit(frame, Y, **COLUMNS, static="age")
        assert clf.layout_["static"] == ["age"]
        assert np.isfinite(clf.predict_proba(frame)).all()

    def test_missing_or_extra_at_prediction(self):
        frame = self.frame()
        clf = small().fit(frame, Y, **self.STATIC)
        check_error(lambda: clf.predict(long()), "static names 'age', which is no column of X")
        check_error(
            lambda: clf.predict(SERIES),
            "no static columns are given, but training had 'age', 'sex'",
            "Pass static=",
        )
        with pytest.raises(InputError, match=r"missing now 'sex'"):
            clf.predict(SERIES, static=AGE[["age"]])
        check_error(
            lambda: small().fit(SERIES, Y).predict(SERIES, static=AGE),
            "static columns are given ('age', …), but training had none",
        )
        with pytest.raises(InputError, match="static has 2 rows for 24 series"):
            clf.predict(SERIES, static=AGE[:2])

    def test_unknown_statics_are_missing_not_errors(self):
        clf = small().fit(self.frame(), Y, **self.STATIC)
        gone = self.frame().assign(age=np.nan, sex=None)
        assert np.isfinite(clf.predict_proba(gone)).all()

    def test_unseen_category_predicts_as_if_missing(self):
        clf = small().fit(self.frame(), Y, **self.STATIC)
        with pytest.warns(UnseenCategoryWarning, match=r"'sex': 'x'"):
            unseen = clf.predict_proba(self.frame().assign(sex="x"))
        assert np.array_equal(unseen, clf.predict_proba(self.frame().assign(sex=None)))

    def test_unseen_category_of_a_step(self):
        frame = long().assign(drug=np.array(["x", "y", None], object)[np.arange(sum(LENGTHS)) % 3])
        clf = small().fit(frame, Y, **COLUMNS)
        with pytest.warns(UnseenCategoryWarning, match=r"'drug': 'z'"):
            unseen = clf.predict_proba(frame.assign(drug="z"))
        assert np.array_equal(unseen, clf.predict_proba(frame.assign(drug=None)))

    def test_a_static_that_tells_the_class_is_used(self):
        table = pd.DataFrame({"tells": np.arange(N) % 2})
        clf = small(max_iter=60, learning_rate_init=0.02, weight_decay=0.0, dropout=0.0)
        assert clf.fit(SERIES, Y, static=table).score(SERIES, Y, static=table) > 0.9

    def test_categories_may_be_static(self):
        table = pd.DataFrame({"ward": np.arange(N) % 3})
        for chosen in (["ward"], np.array(["ward"]), ("ward", 0)):
            clf = small(categorical_features=chosen).fit(SERIES, Y, static=table)
            assert "ward=2" in clf.encoder_.input_names
        assert "0=" in " ".join(clf.encoder_.input_names)


class TestTime:
    def test_only_the_distance_of_steps_counts_and_not_its_unit(self):
        clf = small().fit(SERIES, Y, times=TIMES)
        for times in ([t * 4 for t in TIMES], [t + 1024 for t in TIMES]):
            other = small().fit(SERIES, Y, times=times)
            assert same(clf, other)
            assert np.array_equal(
                clf.predict_proba(SERIES, times=TIMES), other.predict_proba(SERIES, times=times)
            )

    def test_dates_are_hours(self):
        frame = long()
        clf = small().fit(frame, Y, **COLUMNS)
        dated = frame.assign(hour=pd.Timestamp("2020-02-28") + pd.to_timedelta(frame["hour"], "h"))
        assert same(clf, small().fit(dated, Y, **COLUMNS))
        assert np.array_equal(clf.predict_proba(dated), clf.predict_proba(frame))

    def test_without_time_since_times_do_not_matter(self):
        left = small(time_since=False).fit(SERIES, Y, times=TIMES)
        assert same(left, small(time_since=False).fit(SERIES, Y))

    def test_uneven_steps_tell_the_class(self):
        X = [np.zeros((4, 1)) for _ in range(40)]
        y = np.arange(40) % 2
        times = [[0, 1, 2, 3] if one else [0, 5, 10, 15] for one in y]
        clf = small(max_iter=60, learning_rate_init=0.05, weight_decay=0.0, dropout=0.0, hide=0.0)
        assert clf.fit(X, y, times=times).score(X, y, times=times) > 0.9

    def test_extreme_times_stay_finite(self):
        far = [-1.7e308, 0.0, 1.7e308]
        X = rng.normal(size=(10, 3, 2))
        X[::2, 1, 0] = np.nan
        y = np.arange(10) % 2
        for times in (far, [0.0, 5e-324, 1e308], [[0.0, 1.0, 2.0]] * 9 + [far]):
            clf = small().fit(X, y, times=times)
            for later in (far, [0.0, 1.0, 2.0], [0.0, 5e-324, 1e-323]):
                assert np.isfinite(clf.predict_proba(X, times=later)).all()


FILES = {  # a model, and what it is fitted on
    "classes": (small(), lambda: (SERIES, Y, {})),
    "gru": (small(cell="gru", hidden_layer_sizes=(4, 3)), lambda: (SERIES, Y, {})),
    "no summary": (small(summary=False), lambda: (SERIES, Y, {})),
    "learned placeholder": (small(placeholder="learned"), lambda: (SERIES, Y, {})),
    "gate": (small(policy="gate"), lambda: (SERIES, Y, {})),
    "ddpg": (small(policy="ddpg"), lambda: (SERIES, Y, {})),
    "regressor": (small(GILSequenceRegressor), lambda: (SERIES, np.arange(N), {})),
    "per step": (small(per_step=True), lambda: (long(), np.concatenate(STEP_Y), COLUMNS)),
    "statics": (small(), lambda: (TestStatics().frame(), Y, TestStatics.STATIC)),
    "pairs": (small(), lambda: (pairs(), Y, PAIRS)),
    "label column": (small(), lambda: (long(label=Y), "label", COLUMNS)),
    "axes": (small(), lambda: (rng.normal(size=(N, 2, 5)), Y, {"axes": "ndt"})),
}


class TestFiles:
    @pytest.mark.parametrize("case", FILES)
    def test_save_and_load(self, case, tmp_path):
        model, make = FILES[case]
        X, y, how = make()
        model = clone(model).fit(X, y, **how)
        model.save(tmp_path / "model")
        for loaded in (
            type(model).load(tmp_path / "model"),
            pickle.loads(pickle.dumps(model)),
        ):
            assert type(loaded) is type(model)
            assert loaded.get_params() == model.get_params()
            assert loaded.layout_ == model.layout_
            assert loaded.encoder_.input_names == model.encoder_.input_names
            # Nothing is told again: what columns mean is in the file.
            np.testing.assert_array_equal(
                np.asarray(loaded.predict(X)), np.asarray(model.predict(X))
            )
            if hasattr(model, "predict_proba"):
                np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))

    def test_a_loaded_model_goes_on(self, tmp_path):
        small().partial_fit(long(), Y, **COLUMNS).save(tmp_path / "model")
        loaded = GILSequenceClassifier.load(tmp_path / "model")
        assert loaded.partial_fit(long(), Y).predict(long()).shape == (N,)

    def test_of_the_wrong_kind(self, tmp_path):
        small().fit(SERIES, Y).save(tmp_path / "model")
        with pytest.raises(ValueError, match=r"holds a GILSequenceClassifier"):
            GILClassifier.load(tmp_path / "model")
        with pytest.raises(ValueError, match=r"holds a GILSequenceClassifier"):
            GILSequenceRegressor.load(tmp_path / "model")

    def test_pickle_after_partial_fit_goes_on_the_same(self):
        one = small().partial_fit(SERIES, Y)
        other = pickle.loads(pickle.dumps(one))
        assert same(one.partial_fit(SERIES, Y), other.partial_fit(SERIES, Y))


class TestScikitLearn:
    @pytest.mark.parametrize("X", [padded(), SERIES, objects()], ids=["array", "list", "objects"])
    def test_cross_validation_and_grid_search(self, X):
        clf = small(max_iter=1)
        assert cross_val_score(clf, X, Y, cv=2).shape == (2,)
        assert cross_val_predict(clf, X, Y, cv=2, method="predict_proba").shape == (N, 2)
        search = GridSearchCV(clf, {"policy": ["none", "observed"], "cell": ["gru"]}, cv=2)
        assert search.fit(X, Y).best_estimator_.cell == "gru"
        assert search.predict(X).shape == (N,)

    def test_fit_parameters_are_cut_with_the_series_and_missed_at_scoring(self):
        """scikit-learn hands lengths to fit alone: better an error than padding read as data."""
        given = {"cv": 2, "params": {"lengths": LENGTHS}, "error_score": "raise"}
        with pytest.raises(InputError, match="lengths is not given, but in training it was"):
            cross_val_score(small(max_iter=1), padded(), Y, **given)

    def test_clones_forget_what_was_learned(self):
        clf = clone(small(cell="gru", per_step=True, time_since=False).fit(SERIES, STEP_Y))
        assert clf.cell == "gru"
        assert clf.per_step
        assert not hasattr(clf, "predictor_")
        with pytest.raises(NotFittedError):
            clf.predict(SERIES)

    def test_both_share_their_defaults(self):
        classifier, regressor = (cls().get_params() for cls in GILSequence)
        assert classifier.pop("class_weight") is None
        assert classifier == regressor

    @pytest.mark.parametrize(
        "bad",
        [
            {"cell": "rnn"},
            {"per_step": "yes"},
            {"time_since": None},
            {"summary": "no"},
            {"hidden_layer_sizes": ()},
            {"policy": "nope"},
            {"numeric_encoding": "poor"},
        ],
    )
    def test_parameters_are_checked(self, bad):
        for cls in GILSequence:
            check_error(
                lambda cls=cls: small(cls, **bad).fit(SERIES, np.arange(N)),
                f"{next(iter(bad))} is ",
                kind=ParameterError,
            )

    def test_contrastive_reward(self):
        clf = small(policy="ddpg", reward="contrastive").fit(SERIES, Y)
        assert np.isfinite(clf.predict_proba(SERIES)).all()
        with pytest.raises(ParameterError, match="compares features of different classes"):
            small(GILSequenceRegressor, policy="ddpg", reward="contrastive").fit(SERIES, Y)

    def test_verbose_shows_progress_on_a_terminal_and_does_not_crash(self, monkeypatch):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        screen = Terminal()
        monkeypatch.setattr("sys.stderr", screen)
        small(verbose=True, max_iter=3).fit(SERIES, Y)
        assert "GILSequenceClassifier" in screen.getvalue()

    def test_silence_by_default(self, capsys):
        small().fit(SERIES, Y).predict(SERIES)
        assert capsys.readouterr() == ("", "")


GILSequence = GILSequenceClassifier, GILSequenceRegressor


class TestBadSeries:
    @pytest.mark.parametrize(
        ("X", "words"),
        [
            ([[[np.inf]]], "infinity"),
            ([[[1.0]], np.empty((0, 1))], "series 1 is empty"),
            ([[[1.0]], [[1.0, 2.0]]], "series 1 has 2 columns while series 0 has 1"),
            ([], "no series at all"),
            (np.empty((0, 3, 2)), "no series at all"),
            (np.empty((2, 3, 0)), "0 feature(s)"),
            (np.empty((2, 0, 3)), "empty"),
            (None, "X is a NoneType"),
            ("text", "X is a str"),
            (7, "0D"),
        ],
    )
    def test_are_refused(self, X, words):
        check_error(lambda: small().fit(X, [0, 1]), words)
        fitted = small().fit([[[1.0]], [[2.0], [3.0]]], [0, 1])
        with pytest.raises(InputError):
            fitted.predict(X)

    @pytest.mark.parametrize(
        "change",
        [
            {"who": [0.0, np.nan, 1.0]},
            {"hour": [0.0, np.nan, 1.0]},
            {"hour": [0.0, np.inf, 1.0]},
            {"hour": ["a", "b", "c"]},
            {"hour": [0.0, 0.0, 0.0]},
            {"who": [[1], [1], [2]]},
        ],
    )
    def test_bad_ids_and_times(self, change):
        frame = pd.DataFrame({"who": [0, 0, 1], "hour": [0.0, 1.0, 0.0], "a": [1.0, 2.0, 3.0]})
        clf = small().fit(frame, [0, 1], **COLUMNS)
        bad = frame.assign(**change)
        check_error(lambda: small().fit(bad, [0, 1], **COLUMNS))
        check_error(lambda: clf.predict(bad))

    def test_text_in_a_column_of_numbers(self):
        clf = small().fit(long(), Y, **COLUMNS)
        check_error(lambda: clf.predict(long().assign(a="x")), "column 'a' holds text such as 'x'")

    def test_no_entry_at_all(self):
        nothing = long().assign(**{name: pd.Series(None, dtype="category") for name in NAMES})
        for policy in ("none", "ddpg"):
            clf = small(policy=policy)
            check_error(lambda clf=clf: clf.fit(nothing, Y, **COLUMNS), "no column holds a single")

    @pytest.mark.parametrize("indicator", [False, True])
    @pytest.mark.parametrize("place", [0, 2, 5])
    def test_a_category_without_a_level(self, indicator, place):
        frame = long()
        frame.insert(place, "drug", pd.Categorical([None] * len(frame)))
        clf = small(indicator=indicator).fit(frame, Y, **COLUMNS)
        assert np.isfinite(clf.predict_proba(frame)).all()


def signs(n, seed):
    """Whether the first of twelve steps was up or down; everything after is noise with gaps."""
    r = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = r.normal(size=(n, 12, 2))
    X[r.random(X.shape) < 0.3] = np.nan
    X[:, 0, 0] = np.where(y, 1.5, -1.5)
    return list(X), y


def gaps(n, seed):
    """Noise that is missing at even or at odd steps: nothing but the gaps tells the class."""
    X = np.random.default_rng(seed).normal(size=(n, 8, 1))
    y = np.arange(n) % 2
    X[y == 0, ::2] = X[y == 1, 1::2] = np.nan
    lengths = 4 + 2 * (np.arange(n) // 2 % 3)  # even: the number of gaps tells nothing
    return [one[:steps] for one, steps in zip(X, lengths, strict=True)], y


@pytest.mark.parametrize(("cell", "summary"), [("lstm", False), ("gru", False), ("lstm", True)])
@pytest.mark.parametrize("task", [signs, gaps])
def test_made_tasks_are_learned(task, cell, summary):
    clf = GILSequenceClassifier(
        cell=cell,
        summary=summary,
        hidden_layer_sizes=(16,),
        n_members=1,
        learning_rate_init=0.02,
        weight_decay=0.0,
        batch_size=32,
        max_iter=40,
        random_state=0,
    )
    assert clf.fit(*task(200, 0)).score(*task(200, 1)) > 0.9


def test_labels_of_steps_are_learned():
    """Whether the column was up at the step before: what is asked of each step differs."""
    r = np.random.default_rng(0)
    X = [r.normal(size=(steps, 2)) for steps in r.integers(3, 9, 150)]
    y = [np.append(0, one[:-1, 0] > 0).astype(int) for one in X]
    clf = GILSequenceClassifier(
        per_step=True,
        summary=False,
        hidden_layer_sizes=(16,),
        n_members=1,
        learning_rate_init=0.02,
        weight_decay=0.0,
        hide=0.0,
        batch_size=32,
        max_iter=40,
        random_state=0,
    )
    assert clf.fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.9


def test_a_variable_without_pairs_at_prediction_is_missing():
    rows = [(p, t, v, float(p + t)) for p in range(8) for t in range(3) for v in ("hr", "lactate")]
    pairs = pd.DataFrame(rows, columns=["who", "hour", "what", "value"])
    told = {"id": "who", "time": "hour", "variable": "what", "value": "value"}
    options = {"n_members": 1, "max_iter": 1, "hidden_layer_sizes": (4,), "random_state": 0}
    clf = GILSequenceClassifier(**options).fit(pairs, np.arange(8) % 2, **told)
    without = pairs[(pairs["what"] == "hr") | (pairs["who"] != 3)]
    gone = pairs[pairs["what"] == "hr"]
    assert np.allclose(clf.predict_proba(gone)[3], clf.predict_proba(without)[3], atol=1e-6)


class TestReview:
    """Ways to get a silently wrong answer, closed."""

    def test_labels_of_steps_follow_the_rows_of_an_unsorted_frame(self):
        frame = pd.DataFrame({"who": [1, 1, 2, 2], "hour": [1, 0, 1, 0], "x": [11.0, 10, 21, 20]})
        lists = [[11.0, 10.0], [21.0, 20.0]]  # as groupby gives them
        told = {"id": "who", "time": "hour"}
        models = [
            small(GILSequenceRegressor, per_step=True).fit(frame, labels, **told).predict(frame)
            for labels in (lists, np.array(lists), frame["x"].to_numpy())
        ]
        assert np.array_equal(models[0], models[1])
        assert np.array_equal(models[0], models[2])

    def test_lengths_and_times_must_be_told_again(self):
        clf = small().fit(padded(), Y, lengths=LENGTHS)
        check_error(lambda: clf.predict(padded()), "lengths is not given, but in training it was")
        clf = small().fit(SERIES, Y, times=TIMES)
        check_error(lambda: clf.predict(SERIES), "times is not given, but in training it was")

    @pytest.mark.parametrize("unknown", ["held_out", "groups", "keep", "beside", "foo"])
    def test_unknown_options_are_refused(self, unknown):
        clf = small().fit(SERIES, Y)
        for call in (clf.predict, lambda X, **how: clf.partial_fit(X, Y, **how)):
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{unknown}'"):
                call(SERIES, **{unknown: None})

    def test_ids_of_predictions(self):
        frame = pd.DataFrame({"who": ["b", "a", "b", "c"], "hour": [0, 0, 1, 0], "x": 1.0})
        clf = small().fit(frame, {"a": 0, "b": 1, "c": 0}, id="who", time="hour")
        assert clf.series_ids(frame).tolist() == ["b", "a", "c"]
        assert clf.series_ids(frame[::-1]).tolist() == ["c", "b", "a"]

    def test_a_static_table_that_only_counts_its_rows_is_refused(self):
        frame = pd.DataFrame({"who": [1, 2, 3], "hour": 0, "x": [1.0, 2.0, 3.0]})
        static = pd.DataFrame({"PatientID": [1, 2, 3, 4], "age": [10, 20, 30, 40]})
        told = {"id": "who", "time": "hour", "static": static}
        check_error(lambda: small().fit(frame, [0, 1, 0], **told), "without ids")

    def test_scales_do_not_know_what_is_held_out(self):
        held_out = np.arange(len(SERIES)) % 4 == 0
        shifted = [one + 1000 * out for one, out in zip(SERIES, held_out, strict=True)]
        y = np.arange(len(SERIES), dtype=float) + 1000 * held_out
        plain = small(GILSequenceRegressor).fit(SERIES, np.arange(len(SERIES)), held_out=held_out)
        moved = small(GILSequenceRegressor).fit(shifted, y, held_out=held_out)
        assert plain.encoder_.state() == moved.encoder_.state()
        assert plain.target_mean_ == moved.target_mean_

    def test_series_of_gaps_alone_are_refused(self):
        nothing = np.full((6, 3, 2), np.nan)
        check_error(lambda: small().fit(nothing, [0, 1] * 3), "no column holds a single entry")

    @pytest.mark.parametrize("policy", ["meta", "ddpg"])
    def test_a_diverged_fit_leaves_the_policy_as_it_was(self, policy):
        clf = small(policy=policy, warm_start=True).fit(SERIES, Y)
        clf.set_params(learning_rate_init=999.0, weight_decay=1000.0, max_iter=60)
        with contextlib.suppress(ParameterError):
            clf.fit(SERIES, Y)
        clf.set_params(learning_rate_init=1e-3, weight_decay=0.0, max_iter=1)
        assert np.isfinite(clf.fit(SERIES, Y).predict_proba(SERIES)).all()
