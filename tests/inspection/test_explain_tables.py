"""Rows of tables: every number equals its definition, worked out by changing the frame."""

from __future__ import annotations

import json
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError

from imputefree import GILClassifier, GILRegressor, ParameterError
from imputefree.errors import UnseenCategoryWarning
from imputefree.inspection import _explain_tables as tables
from imputefree.inspection import explain_rows
from tests.inspection.definition import plausible, predicted, with_entry
from tests.refusals import check_error

rng = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {
        "dose": rng.normal(size=N),
        "visits": rng.integers(0, 5, N).astype(float),
        "ward": rng.choice(np.array(["north", "south", "west"], dtype=object), N),
        "age": rng.normal(50, 9, N),  # never missing in training: it has no indicator
        "nothing": np.nan,
    }
)
for name in ("dose", "visits", "ward"):
    FRAME.loc[rng.random(N) < 0.4, name] = np.nan
SMALL = {"n_members": 2, "max_iter": 3, "hidden_layer_sizes": (6, 5), "random_state": 0}
TWO = np.array(["no", "yes"])[np.arange(N) % 2]
THREE = np.array(["low", "mid", "top"])[np.arange(N) % 3]
NUMBERS = FRAME["age"].to_numpy() * 3 + 100
MODELS = {
    "two classes": GILClassifier(**SMALL).fit(FRAME, TWO),
    "three classes": GILClassifier(**SMALL).fit(FRAME, THREE),
    "a number": GILRegressor(**SMALL).fit(FRAME, NUMBERS),
    "learned placeholder": GILClassifier(**SMALL, placeholder="learned").fit(FRAME, TWO),
    "placeholder": GILClassifier(**SMALL, placeholder=-2.0, indicator=False).fit(FRAME, TWO),
    "plain": GILRegressor(**SMALL, numeric_encoding="plain", policy="gate").fit(FRAME, NUMBERS),
}
ROWS = FRAME.head(6).copy()
ROWS.loc[0, "age"] = np.nan


def codes(model, X):
    """Per row the class that is explained by default; None for numbers."""
    if isinstance(model, GILRegressor):
        return [None] * len(X)
    probability = model.predict_proba(X)
    return [1] * len(X) if probability.shape[1] == 2 else probability.argmax(1).tolist()


@pytest.mark.parametrize("case", MODELS)
def test_each_number_is_what_changing_the_frame_gives(case):
    model = MODELS[case]
    found = explain_rows(model, ROWS)
    scale = 1.0 if case != "a number" and case != "plain" else model.target_scale_
    assert found.columns == list(FRAME.columns)
    for i, code in enumerate(codes(model, ROWS)):
        now = predicted(model, ROWS, code)[i]
        assert found.prediction[i] == pytest.approx(now, abs=1e-9 * scale)
        assert found.of is None if code is None else found.of[i] == model.classes_[code]
        for j, name in enumerate(FRAME.columns):
            if pd.notna(ROWS.iloc[i, j]):
                without = predicted(model, with_entry(ROWS, i, name, np.nan), code)[i]
                assert found.removal[i, j] == pytest.approx(now - without, abs=1e-6 * scale)
                assert np.isnan([found.next_value[i, j], found.next_low[i, j]]).all()
                continue
            assert np.isnan(found.removal[i, j])
            options = plausible(FRAME[name])
            then = [predicted(model, with_entry(ROWS, i, name, v), code)[i] for v, _ in options]
            change = sum(s * abs(p - now) for p, (_, s) in zip(then, options, strict=True))
            assert found.next_value[i, j] == pytest.approx(change, abs=1e-6 * scale)
            span = [min(then, default=now), max(then, default=now)]
            np.testing.assert_allclose(
                [found.next_low[i, j], found.next_high[i, j]], span, atol=1e-6 * scale
            )
    assert np.nanmax(np.abs(found.removal)) > 1e-4 * scale


def test_pieces_of_any_size_give_the_same():
    whole = explain_rows(MODELS["three classes"], FRAME)
    with patch.object(tables, "CHUNK_NUMBERS", 50), patch.object(tables, "ROWS", 7):
        pieces = explain_rows(MODELS["three classes"], FRAME)
    for name in ("prediction", "removal", "next_value", "next_low", "next_high"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), atol=1e-6)
    # A row alone too, whatever the order of its columns.
    alone = explain_rows(MODELS["three classes"], FRAME.iloc[[9], ::-1])
    np.testing.assert_allclose(alone.removal[0], whole.removal[9], atol=1e-6)


def test_of_names_the_class_whose_probability_is_explained():
    model = MODELS["three classes"]
    parts = [explain_rows(model, ROWS, of=label) for label in ("low", "mid", "top")]
    assert [set(part.of) for part in parts] == [{"low"}, {"mid"}, {"top"}]
    np.testing.assert_allclose(sum(part.prediction for part in parts), 1)
    there = ~np.isnan(parts[0].removal)
    np.testing.assert_allclose(sum(part.removal[there] for part in parts), 0, atol=1e-6)
    # Of two classes the effects are each other's opposite.
    model = MODELS["two classes"]
    no, yes = explain_rows(model, ROWS, of="no"), explain_rows(model, ROWS)
    np.testing.assert_allclose(no.removal, -yes.removal, atol=1e-9)
    np.testing.assert_allclose(no.next_value, yes.next_value, atol=1e-9)


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True]])
def test_a_text_finds_a_class_of_any_kind(labels):
    model = GILClassifier(**SMALL).fit(FRAME, np.array(labels)[np.arange(N) % 2])
    by_text = explain_rows(model, ROWS, of=str(labels[0]))
    np.testing.assert_array_equal(by_text.of, np.full(6, labels[0]))
    np.testing.assert_array_equal(
        by_text.prediction, explain_rows(model, ROWS, of=labels[0]).prediction
    )


def test_what_training_never_saw_counts_as_missing():
    row = with_entry(FRAME.iloc[:1], 0, "ward", "moon")
    with pytest.warns(UnseenCategoryWarning, match="moon"):
        found = explain_rows(MODELS["two classes"], row)
    gap = explain_rows(MODELS["two classes"], with_entry(row, 0, "ward", None))
    assert np.isnan(found.removal[0, 2])
    np.testing.assert_array_equal(found.next_value, gap.next_value)


def test_nothing_is_known_of_a_column_without_an_entry():
    """No value of it is plausible, so measuring it is worth nothing."""
    found = explain_rows(MODELS["two classes"], ROWS)
    assert (found.next_value[:, 4] == 0).all()
    np.testing.assert_array_equal(found.next_low[:, 4], found.prediction)
    np.testing.assert_array_equal(found.next_high[:, 4], found.prediction)


def test_the_best_next_is_the_missing_value_that_moves_most():
    found = explain_rows(MODELS["a number"], ROWS)
    for i, best in enumerate(found.best_next()):
        assert best["change"] == np.nanmax(found.next_value[i])
        assert best["low"] <= best["high"]
        assert pd.isna(ROWS.iloc[i][best["column"]])
    for one, ranked in zip(found.best_next(), found.best_next(3), strict=True):
        assert ranked[0] == one
        changes = [step["change"] for step in ranked]
        assert changes == sorted(changes, reverse=True)
    full = FRAME.drop(columns="nothing").dropna().head(2)
    model = GILClassifier(**SMALL).fit(FRAME.drop(columns="nothing"), TWO)
    assert explain_rows(model, full).best_next() == [None, None]
    assert explain_rows(model, full).best_next(3) == [[], []]


def test_importance_is_the_policys_where_there_is_one(tmp_path):
    model = GILClassifier(policy="observed", **SMALL).fit(FRAME, TWO)
    np.testing.assert_array_equal(explain_rows(model, ROWS).importance, model.importance(ROWS))
    del model.policy_  # as a model from an older file
    assert explain_rows(model, ROWS).importance is None


def test_a_model_from_a_file_explains_the_same(tmp_path):
    for case in ("three classes", "a number"):
        MODELS[case].save(tmp_path / "model")
        loaded = type(MODELS[case]).load(tmp_path / "model")
        one, other = explain_rows(MODELS[case], ROWS), explain_rows(loaded, ROWS)
        for name in ("prediction", "removal", "next_value", "next_low", "next_high"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_dictionary_is_plain_json():
    found = explain_rows(MODELS["three classes"], ROWS)
    back = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert back["columns"] == found.columns
    assert back["of"] == found.of.tolist()
    removal = np.array(back["removal"], dtype=float)  # None becomes NaN
    np.testing.assert_array_equal(removal, found.removal)
    assert back["best_next"] == found.best_next()
    assert explain_rows(MODELS["a number"], ROWS).to_dict()["of"] is None


def test_refusals():
    with pytest.raises(NotFittedError):
        explain_rows(GILClassifier(), FRAME)
    check_error(
        lambda: explain_rows(MODELS["two classes"], ROWS, of="maybe"),
        "of is 'maybe'",
        "The classes are",
        kind=ParameterError,
    )
    check_error(
        lambda: explain_rows(MODELS["a number"], ROWS, of="yes"),
        "predicts a number",
        kind=ParameterError,
    )


def test_explaining_leaves_the_random_state_and_the_model_alone():
    model = MODELS["two classes"]
    before = [weight.clone() for weight in model.predictor_.parameters()]
    state = torch.get_rng_state()
    explain_rows(model, ROWS)
    assert torch.equal(state, torch.get_rng_state())
    after = model.predictor_.parameters()
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
