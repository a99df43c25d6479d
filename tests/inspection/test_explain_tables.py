"""Rows of tables: every number equals its definition, computed by changing the frame."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError

from imputefree import (
    GILClassifier,
    GILRegressor,
    ImputeFreeClassifier,
    ImputefreeError,
    ImputeFreeRegressor,
    ParameterError,
)
from imputefree.errors import UnseenCategoryWarning
from imputefree.inspection import _explain_rows as tables
from imputefree.inspection import explain_rows
from tests.inspection.definition import plausible, predicted, with_entry

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
    "blend": ImputeFreeClassifier(time_limit=0.5, random_state=0).fit(FRAME, THREE),
    "trees": ImputeFreeRegressor(quality="fast", random_state=0).fit(FRAME, NUMBERS),
}
ROWS = FRAME.head(6).copy()
ROWS.loc[0, "age"] = np.nan


def codes(model, X):
    """The class explained by default, per row; None for numbers."""
    if not hasattr(model, "classes_"):
        return [None] * len(X)
    probability = model.predict_proba(X)
    return [1] * len(X) if probability.shape[1] == 2 else probability.argmax(1).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("case", MODELS)
def test_each_number_equals_its_definition(case):
    model = MODELS[case]
    why = explain_rows(model, ROWS)
    scale = getattr(model, "target_scale_", 1.0)
    assert why.columns == list(FRAME.columns)
    for i, code in enumerate(codes(model, ROWS)):
        now = predicted(model, ROWS, code)[i]
        assert why.prediction[i] == pytest.approx(now, abs=1e-9 * scale)
        assert why.of is None if code is None else why.of[i] == model.classes_[code]
        for j, name in enumerate(FRAME.columns):
            if pd.notna(ROWS.iloc[i, j]):
                without = predicted(model, with_entry(ROWS, i, name, np.nan), code)[i]
                assert why.removal[i, j] == pytest.approx(now - without, abs=1e-6 * scale)
                assert np.isnan([why.next_value[i, j], why.next_low[i, j]]).all()
                continue
            assert np.isnan(why.removal[i, j])
            options = plausible(FRAME[name])
            then = [predicted(model, with_entry(ROWS, i, name, v), code)[i] for v, _ in options]
            change = sum(s * abs(p - now) for p, (_, s) in zip(then, options, strict=True))
            assert why.next_value[i, j] == pytest.approx(change, abs=1e-6 * scale)
            span = [min(then, default=now), max(then, default=now)]
            np.testing.assert_allclose(
                [why.next_low[i, j], why.next_high[i, j]], span, atol=1e-6 * scale
            )
    assert np.nanmax(np.abs(why.removal)) > 1e-4 * scale


def test_the_size_of_chunks_does_not_matter():
    whole = explain_rows(MODELS["three classes"], FRAME)
    with patch.object(tables, "CHUNK_NUMBERS", 50), patch.object(tables, "ROWS", 7):
        pieces = explain_rows(MODELS["three classes"], FRAME)
    for name in ("prediction", "removal", "next_value", "next_low", "next_high"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), atol=1e-6)
    # Also for a single row with its columns in another order.
    alone = explain_rows(MODELS["three classes"], FRAME.iloc[[9], ::-1])
    np.testing.assert_allclose(alone.removal[0], whole.removal[9], atol=1e-6)


def test_of_names_the_class_whose_probability_is_explained():
    model = MODELS["three classes"]
    parts = [explain_rows(model, ROWS, of=label) for label in ("low", "mid", "top")]
    assert [set(part.of) for part in parts] == [{"low"}, {"mid"}, {"top"}]
    np.testing.assert_allclose(sum(part.prediction for part in parts), 1)
    there = ~np.isnan(parts[0].removal)
    np.testing.assert_allclose(sum(part.removal[there] for part in parts), 0, atol=1e-6)
    # With two classes, effects are opposite.
    model = MODELS["two classes"]
    no, yes = explain_rows(model, ROWS, of="no"), explain_rows(model, ROWS)
    np.testing.assert_allclose(no.removal, -yes.removal, atol=1e-9)
    np.testing.assert_allclose(no.next_value, yes.next_value, atol=1e-9)


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True]])
def test_a_string_finds_a_class_of_any_type(labels):
    model = GILClassifier(**SMALL).fit(FRAME, np.array(labels)[np.arange(N) % 2])
    by_string = explain_rows(model, ROWS, of=str(labels[0]))
    np.testing.assert_array_equal(by_string.of, np.full(6, labels[0]))
    np.testing.assert_array_equal(
        by_string.prediction, explain_rows(model, ROWS, of=labels[0]).prediction
    )


def test_unseen_categories_count_as_missing():
    row = with_entry(FRAME.iloc[:1], 0, "ward", "moon")
    with pytest.warns(UnseenCategoryWarning, match="moon"):
        why = explain_rows(MODELS["two classes"], row)
    gap = explain_rows(MODELS["two classes"], with_entry(row, 0, "ward", None))
    assert np.isnan(why.removal[0, 2])
    np.testing.assert_array_equal(why.next_value, gap.next_value)


def test_measuring_a_column_without_entries_changes_nothing():
    why = explain_rows(MODELS["two classes"], ROWS)
    assert (why.next_value[:, 4] == 0).all()
    np.testing.assert_array_equal(why.next_low[:, 4], why.prediction)
    np.testing.assert_array_equal(why.next_high[:, 4], why.prediction)


def test_importance_is_that_of_the_policy(tmp_path):
    model = GILClassifier(policy="observed", **SMALL).fit(FRAME, TWO)
    np.testing.assert_array_equal(explain_rows(model, ROWS).importance, model.importance(ROWS))
    del model.policy_  # as a model from an older file
    assert explain_rows(model, ROWS).importance is None


def test_a_loaded_model_explains_the_same(tmp_path):
    MODELS["three classes"].save(tmp_path / "model")
    why, again = (
        explain_rows(model, ROWS)
        for model in (MODELS["three classes"], GILClassifier.load(tmp_path / "model"))
    )
    for name in ("prediction", "removal", "next_value", "next_low", "next_high"):
        np.testing.assert_array_equal(getattr(why, name), getattr(again, name))


def test_a_wrong_model_or_class_is_refused():
    with pytest.raises(ImputefreeError, match="DummyRegressor is not an estimator of imputefree"):
        explain_rows(DummyRegressor(), FRAME)
    with pytest.raises(NotFittedError):
        explain_rows(GILClassifier(), FRAME)
    with pytest.raises(ParameterError, match=r"'maybe', which is not a class.*'no', 'yes'"):
        explain_rows(MODELS["two classes"], ROWS, of="maybe")
    with pytest.raises(ParameterError, match="predicts a number"):
        explain_rows(MODELS["a number"], ROWS, of="yes")


def test_explaining_changes_neither_the_model_nor_the_random_state():
    model = MODELS["two classes"]
    before = [weight.clone() for weight in model.predictor_.parameters()]
    state = torch.get_rng_state()
    explain_rows(model, ROWS)
    assert torch.equal(state, torch.get_rng_state())
    assert all(map(torch.equal, before, model.predictor_.parameters()))
