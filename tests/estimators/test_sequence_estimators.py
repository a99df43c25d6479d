"""The estimators for series as people use them: formats, labels, steps, statics, times, files."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score

from imputefree import (
    GILClassifier,
    GILSequenceClassifier,
    GILSequenceRegressor,
    InputError,
    Panel,
    ParameterError,
)
from imputefree.data import fill_labels
from imputefree.errors import UnseenCategoryWarning
from imputefree.estimators import _inputs as inputs_module
from tests.estimators.series_formats import (
    COLUMNS,
    FORMATS,
    LENGTHS,
    NAMES,
    PAIRS,
    SERIES,
    STATIC,
    STEP_Y,
    TIMED,
    TIMES,
    WIDE_TIMES,
    N,
    Y,
    frames,
    long,
    nested,
    padded,
    pairs,
    rng,
    same,
    small,
)
from tests.refusals import check_error


@pytest.fixture(scope="module")
def reference():
    """The model that every format must give, and its probabilities."""
    clf = small().fit(TIMED, Y)
    return clf, clf.predict_proba(TIMED)


class TestFormats:
    @pytest.mark.parametrize("name", FORMATS)
    def test_the_same_content_gives_the_same_model_and_predictions(self, name, reference):
        X, columns = FORMATS[name]()
        clf = small(**columns).fit(X, Y)
        assert same(clf, reference[0])
        assert np.array_equal(clf.predict_proba(X), reference[1])
        assert np.array_equal(clf.predict(X), clf.classes_[reference[1].argmax(1)])

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    @pytest.mark.parametrize("fitted", ["list of lists", "long frame", "pairs", "indexed frame"])
    def test_a_model_predicts_on_any_other_format(self, fitted, reference):
        X, columns = FORMATS[fitted]()
        clf = small(**columns).fit(X, Y)
        for name in set(FORMATS) - {"nested frame"}:
            X, columns = FORMATS[name]()
            if columns == PAIRS:
                X = Panel.from_pairs(X, **PAIRS)
            elif columns == COLUMNS:
                X = Panel.from_long(X, **COLUMNS)
            assert np.array_equal(clf.predict_proba(X), reference[1]), name

    def test_arrays_without_lengths_are_full(self):
        X = rng.normal(size=(12, 4, 2))
        left = small().fit(X, Y[:12])
        for right in (Panel.from_array(X, np.full(12, 4)), list(X)):
            assert same(left, small().fit(right, Y[:12]))
        turned = small(axes="ndt").fit(X.transpose(0, 2, 1), Y[:12])
        assert same(left, turned)
        proba = left.predict_proba(list(X))
        assert np.array_equal(turned.predict_proba(X.transpose(0, 2, 1)), proba)

    @pytest.mark.parametrize("filler", [np.inf, "text", None, (1, 2)])
    def test_what_stands_in_padding_does_not_matter(self, filler, reference):
        array = np.full((N, 50, 3), np.nan, dtype=object)
        array[:, :7] = padded(dtype=object)
        for i, steps in enumerate(LENGTHS):
            for cell in np.ndindex(array[i, steps:].shape):
                array[i, steps:][cell] = filler
        times = np.hstack([WIDE_TIMES, WIDE_TIMES[:, -1:] + 1 + np.arange(43)])
        panel = Panel.from_array(array, LENGTHS, times)
        clf = small().fit(panel, Y)
        assert same(clf, reference[0])
        assert np.array_equal(clf.predict_proba(panel), reference[1])

    def test_padding_without_lengths_is_missingness_and_another_model(self):
        known = Panel.from_array(padded(), LENGTHS)
        assert not same(small().fit(padded(), Y), small().fit(known, Y))

    def test_series_come_in_the_order_of_their_first_row(self, reference):
        frame, order = long(), rng.permutation(N)
        mixed = pd.concat(frame[frame["who"] == i].iloc[::-1] for i in order)
        clf = small(**COLUMNS).fit(frame, Y)
        assert np.allclose(clf.predict_proba(mixed), reference[1][order], atol=1e-6)
        assert clf.series_ids(mixed).tolist() == order.tolist()

    def test_columns_are_matched_by_name_and_number(self, reference):
        clf = small(**COLUMNS).fit(long(), Y)
        turned = long()[["c", "hour", "b", "who", "a"]]
        assert np.array_equal(clf.predict_proba(turned), reference[1])
        check_error(
            lambda: clf.predict(long().rename(columns={"a": "x"})),
            "missing now 'a'; not in training 'x'",
        )
        check_error(
            lambda: small().fit(SERIES, Y).predict([values[:, :2] for values in SERIES]),
            "X has 2 features, but GILSequenceClassifier is expecting 3 features",
        )
        frame = long()
        frame.columns = range(5)
        clf = small(id="0", time="1").fit(frame, Y)
        assert np.array_equal(clf.predict_proba(frame), reference[1])

    def test_few_series_and_single_columns(self):
        assert small().fit([[[1.0]]], ["x"]).predict([[[2.0], [np.nan]]]).tolist() == ["x"]
        for n in (1, 2, 3, 4):
            X = [np.full((1, 2), float(i)) for i in range(n)]
            assert np.isfinite(small(GILSequenceRegressor).fit(X, np.arange(n)).predict(X)).all()
        X = [[1.0, np.nan], [2.0], [3.0, 4.0, 5.0]]
        flat = small(GILSequenceRegressor).fit(X, [1, 2, 3]).predict(X)
        X = [np.array(values)[:, None] for values in X]
        assert np.array_equal(small(GILSequenceRegressor).fit(X, [1, 2, 3]).predict(X), flat)

    def test_a_table_is_not_taken_for_series(self):
        for X in (np.zeros((5, 3)), long()[NAMES]):
            with pytest.raises(InputError, match="GILClassifier or GILRegressor"):
                small().fit(X, Y[:5])

    def test_predictions_do_not_depend_on_company_or_chunk(self, monkeypatch):
        for options in ({"cell": "gru"}, {"summary": False}, {"per_step": True}):
            clf = small(**options).fit(SERIES, STEP_Y if "per_step" in options else Y)
            whole = clf.predict_proba(SERIES)
            alone = [clf.predict_proba([values])[0] for values in SERIES]
            monkeypatch.setattr("imputefree.gil._validation.CHUNK_ENTRIES", 100)
            for found in (alone, clf.predict_proba(SERIES)):
                for one, other in zip(found, whole, strict=True):
                    assert np.allclose(one, other, atol=1e-6)
            monkeypatch.undo()


class TestLayout:
    """What columns mean is said once."""

    def test_names_may_change_through_a_panel(self, reference):
        clf = small(**COLUMNS).fit(long(), Y)
        other = long().rename(columns={"who": "patient"})
        check_error(lambda: clf.predict(other), "id names 'who', which is not a column of X")
        panel = Panel.from_long(other, "patient", "hour")
        assert np.array_equal(clf.predict_proba(panel), reference[1])

    def test_from_pairs_to_a_column_per_variable(self, reference):
        clf = small(**PAIRS).fit(pairs(), Y)
        assert np.array_equal(clf.predict_proba(long()), reference[1])

    def test_a_variable_without_pairs_at_prediction_is_missing(self):
        frame = pairs()
        clf = small(**PAIRS).fit(frame, Y)
        without = frame[(frame["what"] == "a") | (frame["who"] != 3)]
        gone = frame[frame["what"] == "a"]
        assert np.allclose(clf.predict_proba(gone)[3], clf.predict_proba(without)[3], atol=1e-6)

    def test_labels_that_still_stand_in_the_frame_are_not_looked_at(self, reference):
        frame = long(label=Y)
        clf = small(**COLUMNS).fit(frame, "label")
        assert same(clf, reference[0])
        assert np.array_equal(clf.predict_proba(frame), reference[1])
        assert clf.score(frame, "label") == clf.score(long(), Y)

    def test_parameters_that_make_no_sense_are_refused_not_ignored(self):
        check_error(lambda: small(**COLUMNS, axes="ndt").fit(long(), Y), "axes is given, but X is")
        check_error(lambda: small(id="who").fit(SERIES, Y), "id is given, but X is a list")

    def test_partial_fit_goes_on_and_a_new_fit_forgets(self):
        clf = small(**COLUMNS).partial_fit(long(), Y).partial_fit(long(), Y)
        with pytest.warns(UserWarning, match="valid feature names"):
            clf.partial_fit(TIMED, Y)
        assert clf.predict(long()).shape == (N,)
        clf.set_params(id=None, time=None).fit(SERIES, Y)
        with pytest.raises(InputError, match="DataFrame without an id"):
            clf.predict(long())

    def test_clones_remember_parameters_and_forget_the_rest(self):
        clf = clone(small(**COLUMNS, cell="gru").fit(long(), Y))
        assert (clf.id, clf.time, clf.cell) == ("who", "hour", "gru")
        with pytest.raises(NotFittedError):
            clf.predict(long())


class TestLabels:
    def test_by_position_by_id_by_column(self, reference):
        ids = rng.permutation(N)
        by_id = pd.Series(Y[ids], index=ids)
        for y in (Y, Y.tolist(), by_id, by_id.to_dict(), pl.Series(Y.tolist())):
            assert same(small(**COLUMNS).fit(long(), y), reference[0])
        frame = long(label=Y)
        frame.loc[frame.index[1::2], "label"] = None
        frame.loc[frame.groupby("who").head(1).index, "label"] = Y
        assert same(small(**COLUMNS).fit(frame, "label"), reference[0])
        backwards = long().assign(who=lambda f: N - f["who"])
        check_error(lambda: small(**COLUMNS).fit(backwards, Y), "not in sorted order")

    @pytest.mark.parametrize(
        ("y", "words"),
        [
            (None, "requires y to be passed"),
            (Y[:3], "y has 3 labels for 24 series"),
            (np.stack([Y, Y], 1), "y has shape (24, 2)"),
            (dict.fromkeys(range(5), 1), "ids without labels"),
            (pd.Series(1, index=range(N + 1)), "labels without series: 24"),
            (np.where(np.arange(N) == 3, None, Y), "contains NaN or None in 1 row"),
            (np.where(np.arange(N) == 3, np.inf, 1.0), "contains infinity"),
            ("no such column", "y is 'no such column', which is not a column of X"),
            (np.array([1, "a"] * 12, dtype=object), "mixes values of the types int, str"),
            (np.linspace(0, 1, N), "Unknown label type"),
        ],
    )
    def test_bad_labels_are_refused(self, y, words):
        check_error(lambda: small(**COLUMNS).fit(long(), y), words)

    @pytest.mark.parametrize("role", ["y", "sample_weight", "groups", "held_out"])
    def test_a_string_names_a_column_of_a_frame_and_of_nothing_else(self, role):
        given = {"y": Y} | {role: "died"}
        check_error(lambda: small().fit(SERIES, **given), f"{role} is 'died', which is not")

    @pytest.mark.parametrize("labels", [["no", "yes", "who"], [3, 5, 9], ["only"]])
    def test_classes_come_back_as_they_were(self, labels):
        clf = small().fit(SERIES, np.array(labels)[np.arange(N) % len(labels)])
        assert clf.classes_.tolist() == sorted(labels)
        assert clf.predict_proba(SERIES).shape == (N, len(labels))
        assert set(clf.predict(SERIES)) <= set(labels)

    def test_a_regressor_refuses_strings_and_keeps_units(self):
        with pytest.raises(InputError, match="A regression target must be numbers"):
            small(GILSequenceRegressor).fit(SERIES, Y)
        reg = small(GILSequenceRegressor).fit(SERIES, 1e6 + np.arange(N))
        assert np.allclose(reg.predict(SERIES), 1e6, atol=1e3)

    def test_score(self):
        clf = small(**COLUMNS).fit(long(), Y)
        guess, weight = clf.predict(long()), np.arange(N) + 0.5
        for y in (Y, dict(enumerate(Y))):
            assert clf.score(long(), y) == accuracy_score(Y, guess)
        weighted = accuracy_score(Y, guess, sample_weight=weight)
        assert clf.score(long(), Y, weight) == clf.score(long(w=weight), Y, "w") == weighted
        check_error(lambda: clf.score(long(), Y[:3]), "y has 3 labels")
        reg = small(GILSequenceRegressor).fit(SERIES, np.arange(N))
        assert reg.score(SERIES, np.arange(N)) == r2_score(np.arange(N), reg.predict(SERIES))


STEP_FORMATS = {  # X, labels of all steps, and the parameters that describe X
    "padded array": lambda: (
        Panel.from_array(padded(), LENGTHS, WIDE_TIMES),
        np.stack([np.append(y, np.full(7 - len(y), np.nan)) for y in STEP_Y]),
        {},
    ),
    "list of frames": lambda: (frames(), STEP_Y, {}),
    "nested frame": lambda: (nested(), STEP_Y, {}),
    "long frame": lambda: (long(), np.concatenate(STEP_Y), COLUMNS),
    "long frame by column": lambda: (long().assign(y=np.concatenate(STEP_Y)), "y", COLUMNS),
    "panel": lambda: (Panel.from_long(long(), **COLUMNS), np.concatenate(STEP_Y), {}),
    "long polars frame": lambda: (pl.from_pandas(long()), np.concatenate(STEP_Y), COLUMNS),
    "indexed frame": lambda: (
        long().set_index(["who", "hour"]),
        pd.Series(
            np.concatenate(STEP_Y), index=pd.MultiIndex.from_frame(long()[["who", "hour"]])
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
    clf = small(per_step=True).fit(TIMED, STEP_Y)
    return clf, clf.predict_proba(TIMED)


class TestEveryStep:
    @pytest.mark.parametrize("name", STEP_FORMATS)
    def test_every_format_gives_the_same_model(self, name, expected):
        X, y, columns = STEP_FORMATS[name]()
        clf = small(per_step=True, **columns).fit(X, y)
        assert same(clf, expected[0])
        actual = clf.predict_proba(X)
        if isinstance(actual, list):
            assert [len(values) for values in actual] == LENGTHS.tolist()
            actual = np.concatenate(actual)
        assert np.array_equal(actual, np.concatenate(expected[1]))
        assert clf.score(X, y) == expected[0].score(TIMED, STEP_Y)

    @pytest.mark.parametrize("kind", ["pandas", "polars", "indexed"])
    def test_rows_of_a_frame_are_answered_in_their_order(self, kind, expected):
        frame = long().sample(frac=1, random_state=3)
        place = frame.index  # of each row in the order of series and steps
        X, columns = frame, COLUMNS
        if kind == "polars":
            X = pl.from_pandas(frame)
        elif kind == "indexed":
            X, columns = frame.set_index(["who", "hour"]), {}
        known = small(per_step=True, **COLUMNS).fit(long(), np.concatenate(STEP_Y))
        actual = known.predict_proba(X)
        assert np.allclose(actual, np.concatenate(expected[1])[place], atol=1e-6)
        assert np.array_equal(known.predict(X), known.classes_[actual.argmax(1)])
        # Labels by position follow the rows too, whatever the order of series in training.
        y = np.concatenate(STEP_Y)[place]
        by_column = small(per_step=True, **COLUMNS).fit(frame.assign(y=y), "y")
        assert same(by_column, small(per_step=True, **columns).fit(X, y))

    def test_labels_follow_the_rows_of_an_unsorted_frame(self):
        frame = pd.DataFrame({"who": [1, 1, 2, 2], "hour": [1, 0, 1, 0], "x": [11.0, 10, 21, 20]})
        lists = [[11.0, 10.0], [21.0, 20.0]]  # as groupby gives them
        reg = small(GILSequenceRegressor, per_step=True, **COLUMNS)
        models = [reg.fit(frame, y).predict(frame) for y in (lists, np.array(lists), frame["x"])]
        assert np.array_equal(models[0], models[1])
        assert np.array_equal(models[0], models[2])

    def test_only_steps_so_far_are_looked_at(self, expected):
        times = [t[: len(t) // 2 + 1] for t in TIMES]
        early = [values[: len(t)] for values, t in zip(SERIES, times, strict=True)]
        actual = expected[0].predict_proba(Panel.from_list(early, times))
        for part, whole in zip(actual, expected[1], strict=True):
            assert np.allclose(part, whole[: len(part)], atol=1e-6)

    def test_numbers_and_strings(self):
        y = [np.linspace(0, 1, steps) * 100 for steps in LENGTHS]
        reg = small(GILSequenceRegressor, per_step=True, max_iter=60, learning_rate_init=0.03)
        reg.set_params(weight_decay=0.0, dropout=0.0, batch_size=8).fit(SERIES, y)
        actual = reg.predict(SERIES)
        assert [values.shape for values in actual] == [(steps,) for steps in LENGTHS]
        assert reg.score(SERIES, y) == r2_score(np.concatenate(y), np.concatenate(actual)) > 0.3
        y = [np.where(labels == 1, "odd", "even") for labels in STEP_Y]
        actual = small(per_step=True).fit(SERIES, y).predict(SERIES)
        assert set(np.concatenate(actual)) <= {"odd", "even"}

    @pytest.mark.parametrize(
        ("y", "words"),
        [
            (Y, "y has 24 labels for"),
            (STEP_Y[:3], "y has 3 members for 24 series"),
            ([np.append(y, 0) for y in STEP_Y], "y of series 0 has shape (2,) for 1 steps"),
            (np.zeros((N, 3)), "y has shape (24, 3)"),
            ([y * np.nan for y in STEP_Y], "contains NaN or None"),
        ],
    )
    def test_bad_labels_are_refused(self, y, words):
        check_error(lambda: small(per_step=True).fit(SERIES, y), words)

    def test_steps_without_a_label_teach_nothing(self, monkeypatch):
        known = [np.arange(len(y)) % 2 == 0 for y in STEP_Y]
        gaps = [np.where(seen, y, np.nan) for y, seen in zip(STEP_Y, known, strict=True)]
        clf = small(per_step=True, class_weight="balanced").fit(SERIES, gaps)

        # Whatever stands in for the unknown labels, the model is the same.
        def otherwise(labels):
            guess, seen = fill_labels(labels)
            return np.where(seen, guess, guess.max() - guess), seen

        monkeypatch.setattr(inputs_module, "fill_labels", otherwise)
        again = small(per_step=True, class_weight="balanced").fit(SERIES, gaps)
        actual = np.concatenate(clf.predict_proba(SERIES))
        assert np.array_equal(actual, np.concatenate(again.predict_proba(SERIES)))
        right = clf.classes_[actual.argmax(1)] == np.concatenate(STEP_Y)
        assert clf.score(SERIES, gaps) == pytest.approx(right[np.concatenate(known)].mean())

    def test_labels_by_position_of_pairs_are_refused(self):
        with pytest.raises(InputError, match="matched by id and time"):
            small(per_step=True, **PAIRS).fit(pairs(), np.concatenate(STEP_Y))

    def test_score_weighs_each_step_as_its_series(self, expected):
        weight = np.arange(N) + 1.0
        truth, guess = map(np.concatenate, (STEP_Y, expected[0].predict(TIMED)))
        by_hand = accuracy_score(truth, guess, sample_weight=np.repeat(weight, LENGTHS))
        assert expected[0].score(TIMED, STEP_Y, weight) == by_hand


class TestStatics:
    NAMED = COLUMNS | {"static": ["age", "sex"]}
    FRAME = long(age=STATIC["age"], sex=STATIC["sex"].to_numpy(dtype=object))

    @pytest.fixture
    def fitted(self):
        return small(**self.NAMED).fit(self.FRAME, Y)

    def test_columns_and_tables_are_the_same(self, fitted):
        assert fitted.n_features_in_ == 3
        proba = fitted.predict_proba(self.FRAME)
        by_id = STATIC.assign(who=range(N)).sample(frac=1, random_state=0)
        for static in (STATIC, by_id, by_id.set_index("who"), pl.from_pandas(by_id)):
            panel = Panel.from_long(long(), **COLUMNS, static=static)
            assert same(fitted, small().fit(panel, Y))
            assert np.array_equal(fitted.predict_proba(panel), proba)
        listed = Panel.from_list(SERIES, TIMES, STATIC)
        again = small().fit(listed, Y)
        assert same(fitted, again)
        assert np.array_equal(again.predict_proba(listed), proba)

    def test_plain_tables_of_numbers_and_single_names(self):
        table = np.arange(2.0 * N).reshape(N, 2)
        left, right, turned = (
            Panel.from_list(SERIES, static=static)
            for static in (table, table.tolist(), table[::-1])
        )
        clf = small().fit(left, Y)
        assert same(clf, small().fit(right, Y))
        assert not np.array_equal(clf.predict_proba(left), clf.predict_proba(turned))
        frame = self.FRAME.drop(columns="sex")
        clf = small(**COLUMNS, static="age").fit(frame, Y)
        assert clf.layout_["static"] == ["age"]
        assert np.isfinite(clf.predict_proba(frame)).all()

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_missing_or_extra_at_prediction(self, fitted):
        check_error(lambda: fitted.predict(long()), "static names 'age', which is not a column")
        check_error(lambda: fitted.predict(SERIES), "no static columns are given", "'age', 'sex'")
        some = Panel.from_list(SERIES, static=STATIC[["age"]])
        check_error(lambda: fitted.predict(some), "missing now 'sex'")
        check_error(lambda: small().fit(SERIES, Y).predict(some), "Training had none")
        check_error(lambda: Panel.from_list(SERIES, static=STATIC[:2]), "static has 2 rows for 24")
        # A static table that only counts its rows cannot be matched by id.
        frame = pd.DataFrame({"who": [1, 2, 3], "x": 1.0})
        check_error(lambda: Panel.from_long(frame, "who", static=STATIC[:4]), "without ids")

    def test_unknown_values_are_missing_not_errors(self, fitted):
        gone = fitted.predict_proba(self.FRAME.assign(sex=None))
        with pytest.warns(UnseenCategoryWarning, match=r"'sex': 'x'"):
            unseen = fitted.predict_proba(self.FRAME.assign(sex="x"))
        assert np.array_equal(unseen, gone)
        frame = long().assign(drug=np.array(["x", "y", None], object)[np.arange(sum(LENGTHS)) % 3])
        clf = small(**COLUMNS).fit(frame, Y)
        with pytest.warns(UnseenCategoryWarning, match=r"'drug': 'z'"):
            unseen = clf.predict_proba(frame.assign(drug="z"))
        assert np.array_equal(unseen, clf.predict_proba(frame.assign(drug=None)))

    def test_a_static_that_tells_the_class_is_used_and_may_be_a_category(self):
        panel = Panel.from_list(SERIES, static=pd.DataFrame({"tells": np.arange(N) % 2}))
        clf = small(max_iter=60, learning_rate_init=0.02, weight_decay=0.0, dropout=0.0)
        clf.set_params(summary=False)  # few series have many summaries
        assert clf.fit(panel, Y).score(panel, Y) > 0.9
        for chosen in (["tells"], np.array(["tells"]), ("tells", 0)):
            names = small(categorical_features=chosen).fit(panel, Y).encoder_.input_names
            assert "tells=1" in names
        assert "0=" in " ".join(names)


class TestTime:
    def test_only_the_distance_of_steps_counts_and_not_its_unit(self, reference):
        for times in ([t * 4 for t in TIMES], [t + 1024 for t in TIMES]):
            panel = Panel.from_list(SERIES, times)
            other = small().fit(panel, Y)
            assert same(reference[0], other)
            assert np.array_equal(reference[1], other.predict_proba(panel))
        frame = long()
        dated = frame.assign(hour=pd.Timestamp("2020-02-28") + pd.to_timedelta(frame["hour"], "h"))
        clf = small(**COLUMNS).fit(dated, Y)
        assert same(reference[0], clf)
        assert np.array_equal(clf.predict_proba(dated), reference[1])

    def test_without_time_since_times_do_not_matter(self):
        plain = small(time_since=False).fit(SERIES, Y)
        assert same(plain, small(time_since=False).fit(TIMED, Y))

    def test_uneven_steps_tell_the_class(self):
        X, y = [np.zeros((4, 1)) for _ in range(40)], np.arange(40) % 2
        panel = Panel.from_list(X, [[0, 1, 2, 3] if label else [0, 5, 10, 15] for label in y])
        clf = small(max_iter=60, learning_rate_init=0.05, weight_decay=0.0, dropout=0.0)
        assert clf.fit(panel, y).score(panel, y) > 0.9

    def test_extreme_times_stay_finite(self):
        far = [-1.7e308, 0.0, 1.7e308]
        X, y = rng.normal(size=(10, 3, 2)), np.arange(10) % 2
        X[::2, 1, 0] = np.nan
        for times in (far, [0.0, 5e-324, 1e308], [[0.0, 1.0, 2.0]] * 9 + [far]):
            clf = small().fit(Panel.from_array(X, times=times), y)
            for later in (far, [0.0, 1.0, 2.0], [0.0, 5e-324, 1e-323]):
                assert np.isfinite(clf.predict_proba(Panel.from_array(X, times=later))).all()


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
            (np.full((2, 3, 2), np.nan), "no column holds a single entry"),
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
            {"hour": ["a", "b", "c"]},
            {"hour": [0.0, 0.0, 0.0]},
            {"who": [[1], [1], [2]]},
            {"a": "x"},
        ],
    )
    def test_bad_ids_times_and_values(self, change):
        frame = pd.DataFrame({"who": [0, 0, 1], "hour": [0.0, 1.0, 0.0], "a": [1.0, 2.0, 3.0]})
        clf = small(**COLUMNS).fit(frame, [0, 1])
        bad = frame.assign(**change)
        check_error(lambda: clf.predict(bad))
        if "a" not in change:
            check_error(lambda: small(**COLUMNS).fit(bad, [0, 1]))

    @pytest.mark.parametrize("indicator", [False, True])
    def test_a_category_without_a_level(self, indicator):
        for place in (0, 5):
            frame = long()
            frame.insert(place, "drug", pd.Categorical([None] * len(frame)))
            clf = small(indicator=indicator, **COLUMNS).fit(frame, Y)
            assert np.isfinite(clf.predict_proba(frame)).all()


FILES = {  # a model, and what it is fitted on
    "gru": (small(cell="gru", hidden_layer_sizes=(4, 3)), lambda: (SERIES, Y)),
    "no summary, ddpg": (small(summary=False, policy="ddpg"), lambda: (SERIES, Y)),
    "learned placeholder": (small(placeholder="learned"), lambda: (SERIES, Y)),
    "gate": (small(policy="gate"), lambda: (SERIES, Y)),
    "regressor": (small(GILSequenceRegressor), lambda: (SERIES, np.arange(N))),
    "per step": (small(per_step=True, **COLUMNS), lambda: (long(), np.concatenate(STEP_Y))),
    "statics": (small(**TestStatics.NAMED), lambda: (TestStatics.FRAME, Y)),
    "pairs": (small(**PAIRS), lambda: (pairs(), Y)),
    "panel with labels": (
        small(),
        lambda: (Panel.from_long(long(y=Y), **COLUMNS, labels="y"), "y"),
    ),
    "axes": (small(axes="ndt"), lambda: (rng.normal(size=(N, 2, 5)), Y)),
}


class TestFiles:
    @pytest.mark.parametrize("case", FILES)
    def test_save_and_load(self, case, tmp_path):
        model, make = FILES[case]
        X, y = make()
        model = clone(model).fit(X, y)
        model.save(tmp_path / "model")
        for loaded in (type(model).load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            assert type(loaded) is type(model)
            assert loaded.get_params() == model.get_params()
            assert loaded.layout_ == model.layout_
            assert loaded.encoder_.input_names == model.encoder_.input_names
            output = "predict_proba" if hasattr(model, "predict_proba") else "predict"
            np.testing.assert_array_equal(getattr(loaded, output)(X), getattr(model, output)(X))

    def test_loaded_and_pickled_models_go_on(self, tmp_path):
        small(**COLUMNS).partial_fit(long(), Y).save(tmp_path / "model")
        loaded = GILSequenceClassifier.load(tmp_path / "model")
        assert loaded.partial_fit(long(), Y).predict(long()).shape == (N,)
        model = small().partial_fit(SERIES, Y)
        other = pickle.loads(pickle.dumps(model))
        assert same(model.partial_fit(SERIES, Y), other.partial_fit(SERIES, Y))

    def test_of_the_wrong_kind(self, tmp_path):
        small().fit(SERIES, Y).save(tmp_path / "model")
        for cls in (GILClassifier, GILSequenceRegressor):
            with pytest.raises(ValueError, match="holds the estimator GILSequenceClassifier"):
                cls.load(tmp_path / "model")


def test_parameters():
    classifier, regressor = (
        cls().get_params() for cls in (GILSequenceClassifier, GILSequenceRegressor)
    )
    assert classifier.pop("class_weight") is None
    assert classifier == regressor
    for bad in (
        *({"cell": "rnn"}, {"per_step": "yes"}, {"time_since": None}, {"summary": "no"}),
        *({"hidden_layer_sizes": ()}, {"policy": "nope"}, {"numeric_encoding": "poor"}),
        *({"reward": "nope"}, {"encoder": 3}, {"class_weight": "foo"}),
        {"policy": "ddpg", "reward": "contrastive", "per_step": True},
    ):
        name = "reward" if len(bad) > 1 else next(iter(bad))
        check_error(lambda bad=bad: small(**bad).fit(SERIES, Y), f"{name} is ", kind=ParameterError)
    contrastive = small(policy="ddpg", reward="contrastive").fit(SERIES, Y)
    assert np.isfinite(contrastive.predict_proba(SERIES)).all()


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
    return [values[:steps] for values, steps in zip(X, lengths, strict=True)], y


LEARNING = {
    "hidden_layer_sizes": (16,),
    "n_members": 1,
    "learning_rate_init": 0.02,
    "weight_decay": 0.0,
    "batch_size": 32,
    "max_iter": 40,
    "random_state": 0,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "cell", "summary"),
    [(signs, "lstm", False), (gaps, "gru", False), (gaps, "lstm", True)],
)
def test_simulated_tasks_are_learned(task, cell, summary):
    clf = GILSequenceClassifier(cell=cell, summary=summary, **LEARNING)
    assert clf.fit(*task(200, 0)).score(*task(200, 1)) > 0.9


@pytest.mark.slow
def test_labels_of_steps_are_learned():
    """Whether the column was up at the step before: what is asked of each step differs."""
    r = np.random.default_rng(0)
    X = [r.normal(size=(steps, 2)) for steps in r.integers(3, 9, 150)]
    y = [np.append(0, values[:-1, 0] > 0).astype(int) for values in X]
    clf = GILSequenceClassifier(per_step=True, summary=False, **LEARNING)
    assert clf.fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.9
