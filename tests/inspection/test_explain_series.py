"""Series: every number equals its definition, computed by changing the frame."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from imputefree import (
    GILSequenceClassifier,
    GILSequenceRegressor,
    ImputeFreeSequenceRegressor,
    ParameterError,
)
from imputefree.inspection import _explain_rows as series
from imputefree.inspection import explain_rows
from tests.inspection.definition import plausible, predicted, with_entry

rng = np.random.default_rng(1)
LENGTHS = rng.integers(1, 6, 24)
STEPS = int(LENGTHS.sum())
WHO = np.repeat(np.arange(24), LENGTHS)
FRAME = pd.DataFrame(
    {
        "who": WHO,
        "hour": np.concatenate([np.cumsum(rng.integers(1, 4, n)) for n in LENGTHS]),
        "pulse": rng.normal(80, 9, STEPS),
        "tube": rng.choice(np.array(["in", "out"], dtype=object), STEPS),
        "age": np.where(WHO % 3, 40.0 + WHO, np.nan),
        "sex": np.array(["f", "m"], dtype=object)[WHO % 2],
    }
)
FRAME.loc[rng.random(STEPS) < 0.4, "pulse"] = np.nan
FRAME.loc[rng.random(STEPS) < 0.4, "tube"] = None
NAMES = {"id": "who", "time": "hour", "static": ["age", "sex"]}
SMALL = {"n_members": 2, "max_iter": 3, "hidden_layer_sizes": (6,), "random_state": 0}
LABELS = {i: ["a", "b", "c"][i % 3] for i in range(24)}
CLASSES = GILSequenceClassifier(policy="observed", **NAMES, **SMALL).fit(FRAME, LABELS)
NUMBER = GILSequenceRegressor(**NAMES, **SMALL).fit(FRAME, {i: float(i) for i in range(24)})
BLEND = ImputeFreeSequenceRegressor(**NAMES, quality="fast", random_state=0).fit(
    FRAME, {i: float(i % 5) for i in range(24)}
)
COLUMNS = ["pulse", "tube", "age", "sex"]
FEW = FRAME[FRAME["who"] < 5]


@pytest.mark.slow
@pytest.mark.parametrize("model", [CLASSES, NUMBER, BLEND])
def test_each_number_equals_its_definition(model):
    why = explain_rows(model, FEW)
    assert why.columns == COLUMNS
    assert why.n_static == 2
    assert why.ids.tolist() == [0, 1, 2, 3, 4]
    scale = 1.0 if model is CLASSES else model.target_scale_
    for i in range(5):
        steps = FEW[FEW["who"] == i]
        code = None
        if model is CLASSES:
            code = int(model.predict_proba(steps)[0].argmax())
            assert why.of[i] == model.classes_[code]
        now = predicted(model, steps, code)[0]
        assert why.prediction[i] == pytest.approx(now, abs=1e-6 * scale)
        assert why.times[i].tolist() == steps["hour"].tolist()
        for j, name in enumerate(COLUMNS):
            static = name in NAMES["static"]
            there = steps[name].notna().to_numpy()
            for t in range(len(steps)):
                if static or not there[t]:
                    continue
                without = predicted(model, with_entry(steps, t, name, np.nan), code)[0]
                assert why.removal[i][t, j] == pytest.approx(now - without, abs=1e-6 * scale)
            if there.any():
                without = predicted(model, steps.assign(**{name: np.nan}), code)[0]
                assert why.column_removal[i, j] == pytest.approx(now - without, abs=1e-6 * scale)
            expected = there if not static else there & (np.arange(len(steps)) == 0)
            assert (~np.isnan(why.removal[i][:, j])).tolist() == expected.tolist()
            if static and there.any():
                assert why.removal[i][0, j] == why.column_removal[i, j]
            if there[-1]:
                assert np.isnan(why.next_value[i, j])
                continue
            training = FRAME.groupby("who")[name].first() if static else FRAME[name]
            options = plausible(training)
            then = []
            for value, _ in options:
                changed = steps.assign(**{name: value}) if static else None
                changed = with_entry(steps, len(steps) - 1, name, value) if not static else changed
                then.append(predicted(model, changed, code)[0])
            change = sum(s * abs(p - now) for p, (_, s) in zip(then, options, strict=True))
            assert why.next_value[i, j] == pytest.approx(change, abs=1e-6 * scale)
            assert why.next_low[i, j] == pytest.approx(min(then), abs=1e-6 * scale)
            assert why.next_high[i, j] == pytest.approx(max(then), abs=1e-6 * scale)


def test_the_size_of_chunks_does_not_matter():
    whole = explain_rows(CLASSES, FEW)
    with patch.object(series, "CHUNK_STEPS", 3):
        pieces = explain_rows(CLASSES, FEW)
    for name in ("prediction", "column_removal", "next_value"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), atol=1e-6)
    for one, other in zip(pieces.removal, whole.removal, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_rows_of_a_frame_may_come_in_any_order():
    mixed = FEW.sample(frac=1, random_state=0)
    why, straight = explain_rows(CLASSES, mixed), explain_rows(CLASSES, FEW)
    for place, who in enumerate(why.ids):
        np.testing.assert_allclose(why.removal[place], straight.removal[who], atol=1e-6)
        seen = FEW[FEW["who"] == who][COLUMNS].notna()
        np.testing.assert_array_equal(why.importance[place], seen)  # policy "observed"


def test_whole_columns_only():
    why = explain_rows(CLASSES, FEW, single=False, most_steps=0)
    assert why.removal is None
    assert why.sums() is None
    np.testing.assert_array_equal(why.column_removal, explain_rows(CLASSES, FEW).column_removal)


def test_too_much_work_is_refused():
    lengths = LENGTHS[FEW["who"].to_numpy()]
    values = FEW[["pulse", "tube"]].notna().to_numpy().sum(1)
    steps = int((lengths * values).sum())
    with pytest.raises(
        ParameterError, match=f"means {steps:,} steps.*The limit is 3.*single=False"
    ):
        explain_rows(CLASSES, FEW, most_steps=3)
    explain_rows(CLASSES, FEW, most_steps=steps)


def test_a_model_per_step_is_explained_at_the_last_step():
    arrays = [rng.normal(size=(n, 2)) for n in LENGTHS]
    arrays[0][0, 0] = np.nan
    labels = [np.arange(n) % 2 for n in LENGTHS]
    model = GILSequenceClassifier(per_step=True, **SMALL).fit(arrays, labels)
    why = explain_rows(model, arrays[:3])
    for i in range(3):
        now = model.predict_proba(arrays[i : i + 1])[0][-1, 1]
        assert why.prediction[i] == pytest.approx(now, abs=1e-6)
        changed = arrays[i].copy()
        changed[-1, 1] = np.nan
        without = model.predict_proba([changed])[0][-1, 1]
        assert why.removal[i][-1, 1] == pytest.approx(now - without, abs=1e-6)
