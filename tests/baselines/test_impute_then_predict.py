"""Impute, then predict: only what stands in a gap differs from the plain network."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression

from imputefree import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    Panel,
)
from imputefree.baselines import Filler, ImputeThenPredict, ImputingEncoder
from imputefree.data import PanelEncoder, TableEncoder, read_columns, read_panel
from imputefree.errors import InputError, ParameterError, UnseenCategoryWarning
from imputefree.lab.imputers import Imputer, make_imputer
from tests.refusals import check_error

QUICK = {"max_iter": 4, "n_members": 2, "hidden_layer_sizes": (8,), "random_state": 0}

MICE = make_imputer("mice", random_state=0)
CARRY_FORWARD = make_imputer("carry_forward")


def table(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.1 * rng.normal(size=(n, d))
    y = (X[:, 0] > 0).astype(int)
    return np.where(rng.random(X.shape) < 0.3, np.nan, X), X, y


def series(n=60, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 7, n)
    X = [rng.normal(size=(k, 3)).cumsum(0) for k in lengths]
    y = np.array([int(one[-1, 0] > 0) for one in X])
    return [np.where(rng.random(one.shape) < 0.3, np.nan, one) for one in X], X, y


class Spy(Imputer):
    """The mean, and what it was given to learn from."""

    seen = None

    def _learn(self, values, observed, rng):
        Spy.seen = values.shape

    def _fill(self, values, observed, rng):
        return np.zeros_like(values)


def test_without_gaps_it_is_the_estimator_itself_bit_for_bit():
    _, X, y = table()
    plain = GILClassifier(**QUICK).fit(X, y)
    two_step = ImputeThenPredict(MICE, GILClassifier(**QUICK), indicator=True).fit(X, y)
    np.testing.assert_array_equal(two_step.predict_proba(X), plain.predict_proba(X))
    _, X, y = series()
    plain = GILSequenceClassifier(**QUICK).fit(X, y)
    two_step = ImputeThenPredict(CARRY_FORWARD, GILSequenceClassifier(**QUICK)).fit(X, y)
    np.testing.assert_array_equal(two_step.predict_proba(X), plain.predict_proba(X))


def test_the_imputer_learns_from_rows_that_count_and_are_not_held_out():
    X, _, y = table()
    held_out, weight = np.arange(120) < 30, np.where(np.arange(120) < 100, 1.0, 0.0)
    ImputeThenPredict(Spy(), GILClassifier(**QUICK)).fit(X, y, weight, held_out=held_out)
    assert Spy.seen == (70, 4)
    X, _, y = series()
    held_out = np.arange(60) < 20
    ImputeThenPredict(Spy(), GILSequenceClassifier(**QUICK)).fit(X, y, held_out=held_out)
    assert Spy.seen == (sum(len(one) for one in X[20:]), 3)


def test_an_indicator_lets_the_network_see_where_gaps_were():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (rng.random(300) < 0.5).astype(int)
    X[y == 1, 0] = np.where(rng.random(int(y.sum())) < 0.9, np.nan, X[y == 1, 0])
    network = GILClassifier(n_members=2, max_iter=30, random_state=0)
    with_indicator = ImputeThenPredict(None, network, indicator=True).fit(X[:200], y[:200])
    without = ImputeThenPredict(make_imputer("mixture", random_state=0), network)
    assert with_indicator.score(X[200:], y[200:]) > 0.85
    assert "0 is missing" in with_indicator.encoder_.input_names
    assert "0 is missing" not in without.fit(X[:200], y[:200]).encoder_.input_names
    assert without.n_features_in_ == 2


def test_frames_with_strings_regression_and_string_labels():
    X, _, y = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["word"] = np.where(np.isnan(X[:, 0]), None, np.where(y == 1, "yes", "no"))
    two_step = ImputeThenPredict(MICE, GILClassifier(**QUICK)).fit(frame, np.where(y, "u", "v"))
    assert set(two_step.predict(frame[[*list("dcba"), "word"]])) <= {"u", "v"}
    assert two_step.classes_.tolist() == ["u", "v"]
    number = ImputeThenPredict(None, GILRegressor(**QUICK)).fit(frame, y + 0.5)
    assert number.predict(frame).shape == (120,)
    assert is_regressor(number)
    assert not hasattr(number, "predict_proba")
    assert is_classifier(two_step)


@pytest.mark.parametrize("name", ["carry_forward", "em"])
def test_series_in_other_forms_give_the_same(name):
    X, _, y = series()
    static = pd.DataFrame({"age": np.where(np.arange(60) % 7, np.arange(60.0), np.nan)})
    estimator = GILSequenceClassifier(**QUICK)
    with_static = Panel.from_list(X, static=static)
    listed = ImputeThenPredict(make_imputer(name), estimator).fit(with_static, y)
    lengths = np.array([len(one) for one in X])
    padded = np.full((60, 6, 3), np.inf)
    for row, one in enumerate(X):
        padded[row, : len(one)] = one
    padded = Panel.from_array(padded, lengths, static=static)
    array = ImputeThenPredict(make_imputer(name), estimator).fit(padded, y)
    probability = listed.predict_proba(with_static)
    np.testing.assert_array_equal(probability, array.predict_proba(padded))
    long = pd.DataFrame(np.concatenate(X), columns=list("abc"))
    long["who"] = np.repeat(np.arange(60), lengths)
    long["hour"] = np.concatenate([np.arange(k) for k in lengths])
    long["age"], long["label"] = static["age"].to_numpy()[long["who"]], y[long["who"]]
    estimator.set_params(id="who", time="hour", static=["age"])
    framed = ImputeThenPredict(make_imputer(name), estimator).fit(long, "label")
    np.testing.assert_allclose(framed.predict_proba(long), probability, atol=1e-6)
    assert framed.score(long, "label") == listed.score(with_static, y)


@pytest.mark.slow
@pytest.mark.parametrize(
    "imputer",
    [
        make_imputer("gain", max_steps=20, check_every=10, random_state=0),
        make_imputer("miwae", max_steps=20, check_every=10, n_imputation=5, random_state=0),
        make_imputer("missforest", max_iter=1, random_state=0),
        make_imputer("brits", max_iter=2, random_state=0),
        make_imputer("saits", max_iter=2, random_state=0),
    ],
    ids=lambda imputer: type(imputer).__name__,
)
def test_every_imputer_fills_series(imputer):
    X, _, y = series()
    model = ImputeThenPredict(imputer, GILSequenceClassifier(**QUICK)).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_labels_per_step_and_pickling():
    X, _, _ = series()
    y = [(np.nan_to_num(one[:, 0]) > 0).astype(int) for one in X]
    model = ImputeThenPredict(CARRY_FORWARD, GILSequenceClassifier(per_step=True, **QUICK))
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    for one, other in zip(model.predict_proba(X), again.predict_proba(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_series_regression_with_groups_leaves_the_global_generator_alone():
    X, _, y = series()
    before = np.random.get_state()  # noqa: NPY002
    model = ImputeThenPredict(MICE, GILSequenceRegressor(**QUICK), indicator=True)
    model.fit(X, y + 0.25, groups=np.arange(60) // 2)
    assert np.isfinite(model.predict(X)).all()
    after = np.random.get_state()  # noqa: NPY002
    assert (after[1] == before[1]).all()
    assert after[2:] == before[2:]


def test_parameters_of_its_parts_are_cloned_and_set():
    model = ImputeThenPredict(make_imputer("knn", n_neighbors=3), GILClassifier(max_iter=7))
    copied = clone(model).set_params(imputer__n_neighbors=9)
    assert copied.get_params()["estimator__max_iter"] == 7
    assert (copied.imputer.n_neighbors, model.imputer.n_neighbors) == (9, 3)


def test_wrong_labels_are_found_before_anything_is_imputed():
    Spy.seen = None
    model = ImputeThenPredict(Spy(), GILClassifier(**QUICK))
    check_error(lambda: model.fit(X, Y[:-1]), "y", kind=InputError)
    model = ImputeThenPredict(Spy(), GILClassifier(max_iter=0))
    check_error(lambda: model.fit(X, Y), "max_iter is 0", kind=ParameterError)
    assert Spy.seen is None


def test_static_categories_and_positions_from_the_end():
    gappy, _, y = series()
    static = pd.DataFrame({"code": np.arange(60) % 3 + 1.0})
    estimator = GILSequenceClassifier(categorical_features=["code"], **QUICK)
    panel = Panel.from_list(gappy, static=static)
    model = ImputeThenPredict(CARRY_FORWARD, estimator).fit(panel, y)
    assert "code=2" in model.encoder_.input_names
    stages = np.column_stack([X, np.arange(120) % 4])
    estimator = GILClassifier(categorical_features=[-1], **QUICK)
    model = ImputeThenPredict(None, estimator, indicator=True).fit(stages, Y)
    assert "4=3" in model.encoder_.input_names


X, _, Y = table()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ImputeThenPredict("magic"), "imputer is 'magic'"),
        (ImputeThenPredict(LogisticRegression()), "imputer is LogisticRegression()"),
        (ImputeThenPredict(None, LogisticRegression()), "estimator is LogisticRegression()"),
        (ImputeThenPredict(None, GILClassifier(policy="ddpg")), "policy is 'ddpg'"),
        (
            ImputeThenPredict(CARRY_FORWARD),
            "CarryForwardImputer fills series",
        ),
        (ImputeThenPredict(None, indicator="yes"), "indicator is 'yes'"),
    ],
)
def test_refusals(model, words):
    check_error(lambda: model.fit(X, Y), words, kind=ParameterError)
    assert not hasattr(model, "estimator_")


def test_bad_input():
    model = ImputeThenPredict(None, GILClassifier(**QUICK))
    model.fit(X, Y)
    check_error(lambda: model.predict(X[:, :2]), "X has 2 features", kind=InputError)
    gappy, _, y = series()
    model = ImputeThenPredict(None, GILSequenceClassifier(**QUICK)).fit(gappy, y)
    panel = Panel.from_list(gappy, static=pd.DataFrame({"age": np.zeros(60)}))
    check_error(lambda: model.predict(panel), "Training had none", kind=InputError)
    model.fit(panel, y)
    check_error(lambda: model.predict(gappy), "static", kind=InputError)


def test_imputed_values_can_be_inspected():
    X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 5, "sex": ["f", "m", "m", None] * 5})
    model = ImputeThenPredict(None, GILClassifier(max_iter=1)).fit(X, [0, 1, 0, 1] * 5)
    filled = model.impute(X[["sex", "dose"]].head(4))
    assert filled[:, 0].tolist() == [1.0, pytest.approx(8 / 3), 3.0, 4.0]
    assert filled[:, 1].tolist() == ["f", "m", "m", "m"]


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b", "c"], n)
    size = np.select([kind == "a", kind == "b"], [0.0, 5.0], 10.0) + rng.normal(size=n) * 0.1
    stage = rng.integers(1, 5, n).astype(float)
    made = pd.DataFrame({"kind": kind, "size": size, "stage": stage})
    return made.mask(rng.random(made.shape) < 0.2)


def fill(gappy, imputer, lengths=None, **options):
    columns = read_columns(gappy)
    encoder = TableEncoder(**options).fit(columns)
    filled = Filler(encoder, imputer).fit(columns, lengths).fill(columns, lengths)
    return pd.DataFrame(dict(zip(filled.names, filled.arrays, strict=True)))


@pytest.mark.slow
def test_a_category_is_guessed_from_the_numbers_beside_it():
    gappy = frame()
    filled = fill(gappy, make_imputer("missforest", random_state=0))
    assert not filled.isna().any().any()
    seen = gappy.notna()
    for name in filled:
        assert (filled[name][seen[name]] == gappy[name][seen[name]]).all()
    known = gappy["kind"].isna() & gappy["size"].notna()
    truth = np.select([gappy["size"] < 2.5, gappy["size"] < 7.5], ["a", "b"], "c")[known]
    assert (filled["kind"][known] == truth).mean() > 0.9


def test_columns_come_in_the_order_of_training():
    columns = read_columns(frame())
    filler = Filler(TableEncoder().fit(columns), make_imputer("mean")).fit(columns)
    other = pd.DataFrame({"stage": [1.0, None], "size": [2.0, 3.0], "kind": ["z", "b"]})
    filled = filler.fill(read_columns(other))
    assert filled.names == ["kind", "size", "stage"]
    assert filled.arrays[0][1] == "b"
    assert filled.arrays[0][0] in ("a", "b", "c")  # training never saw "z": a gap


def test_empty_columns_of_either_kind():
    gappy = pd.DataFrame({"n": [np.nan, np.nan], "t": pd.Categorical([None, None]), "x": [1.0, 2]})
    filled = fill(gappy, make_imputer("em", random_state=0))
    assert filled["n"].tolist() == [0.0, 0.0]
    assert filled["x"].tolist() == [1.0, 2.0]
    assert filled["t"].isna().all()


def test_numbers_named_as_categories_are_filled_by_a_level():
    gappy = pd.DataFrame({"code": [1.0, 1.0, 7.0, None], "x": [0.0, 1.0, 2.0, 3.0]})
    filled = fill(gappy, make_imputer("mean"), categorical_features=["code"])
    assert filled["code"].tolist() == ["1", "1", "7", "1"]


def test_an_imputer_for_series_gets_one_series_at_a_time():
    gappy = pd.DataFrame({"x": [1.0, None, None, 4.0]})
    filled = fill(gappy, make_imputer("carry_forward"), np.array([2, 2]))
    # The third entry begins a series: what was before it belongs to another.
    assert filled["x"].tolist() == [1.0, 1.0, 2.5, 4.0]


@pytest.mark.parametrize("name", ["mean", "em", "mice"])
@pytest.mark.parametrize("indicator", [True, False])
def test_only_what_stands_in_gaps_differs_from_the_plain_encoding(name, indicator):
    columns = read_columns(frame())
    plain = TableEncoder(indicator=indicator).fit(columns)
    encoder = ImputingEncoder(
        TableEncoder(indicator=indicator), make_imputer(name, random_state=0), indicator
    ).fit(columns)
    assert encoder.input_names == plain.input_names  # levels, ranks and indicators alike
    gappy, full = plain.transform(columns), encoder.transform(columns)
    assert full.observed.all()
    np.testing.assert_array_equal(full.values[gappy.observed], gappy.values[gappy.observed])
    assert (full.values != gappy.values)[~gappy.observed].any()


def test_an_unseen_category_counts_as_missing_once():
    columns = read_columns(frame())
    encoder = ImputingEncoder(TableEncoder(), make_imputer("mean"), True).fit(columns)
    other = read_columns(pd.DataFrame({"kind": ["z"], "size": [2.0], "stage": [3.0]}))
    with pytest.warns(UnseenCategoryWarning) as told:
        table = encoder.transform(other)
    assert len(told) == 1
    assert table.values[0, encoder.input_names.index("kind is missing")] == 1.0


@pytest.mark.parametrize("indicator", [True, False])
def test_series_with_statics_and_times(indicator):
    rng = np.random.default_rng(0)
    X = [np.where(rng.random((k, 2)) < 0.4, np.nan, rng.normal(size=(k, 2))) for k in (5, 3, 7)]
    static = pd.DataFrame({"age": [40.0, None, 60.0], "sex": ["f", "m", None]})
    panel = read_panel(X, static=static)
    plain = PanelEncoder(indicator=indicator).fit(panel)
    encoder = ImputingEncoder(
        PanelEncoder(indicator=indicator), make_imputer("carry_forward"), indicator
    ).fit(panel)
    gappy, full = plain.transform(panel), encoder.transform(panel)
    assert full.values.shape == gappy.values.shape
    entries = slice(None, plain.n_entries)
    seen = gappy.observed[:, entries]
    np.testing.assert_array_equal(full.values[:, entries][seen], gappy.values[:, entries][seen])
    assert full.observed.all()
    beside = slice(plain.n_entries, None)
    same = np.array_equal(full.values[:, beside], gappy.values[:, beside])
    assert same == indicator  # without, times since say nothing of gaps either
    age = encoder.input_names.index("age")
    assert np.allclose(full.values[5:8, age], 0.0, atol=1e-6)  # the mean of 40 and 60
