"""What a model file keeps for sets and intervals gives the same ones after it was read."""

import json

import numpy as np
import pytest

from imputefree.errors import ModelFileError
from imputefree.estimators import Engine
from imputefree.inspection import (
    MaskConformalClassifier,
    MaskConformalRegressor,
    keep_rows,
    keep_scores,
    predict_rows,
    read_rows,
    restore_conformal,
)
from tests.workflow.made import classifier, long_table, regressor, sequence_classifier, table


def test_rows_of_a_table_with_strings_come_back(tmp_path):
    frame = table(80)
    model = classifier(frame)
    X, y = table(40, seed=1).drop(columns="y"), table(40, seed=1)["y"]
    rows, codes = read_rows(X, model, once=True), np.searchsorted(model.classes_, y)
    model.conformal_ = keep_rows(model, rows, codes)
    checked = model.conformal_["checked"]
    assert checked["rows"] == 20
    assert 0 <= checked["covered"] <= 1 <= checked["size"] <= 2
    model.save(tmp_path / "m.imputefree")
    loaded = Engine.load(tmp_path / "m.imputefree")
    kept = restore_conformal(loaded)
    # All 40 rows are compared with: their order does not matter.
    fresh = MaskConformalClassifier(model, cv="prefit").fit(X, y)
    assert np.array_equal(kept.predict_set(X), fresh.predict_set(X))


def test_series_come_back(tmp_path):
    frame = long_table(30)
    model = sequence_classifier(frame)
    other = long_table(40, seed=1)
    rows = read_rows(other, model, once=True)
    y = other.groupby("who", sort=False)["y"].first()
    model.conformal_ = keep_rows(model, rows, np.searchsorted(model.classes_, y))
    model.save(tmp_path / "m.imputefree")
    kept = restore_conformal(Engine.load(tmp_path / "m.imputefree"))
    fresh = MaskConformalClassifier(model, cv="prefit").fit(other, y)
    assert np.array_equal(kept.predict_set(frame), fresh.predict_set(frame))


def test_scores_hold_no_value_and_give_the_intervals_of_their_group():
    rng = np.random.default_rng(0)
    frame = table(600)
    model = regressor(frame)
    rows = read_rows(frame.drop(columns="y"), model, once=True)
    target = rng.normal(size=600) * np.where(rows.observed.all(1), 1, 1000)
    predicted = np.zeros(600)
    kept = keep_scores(model, rows, predicted, target)
    assert set(kept) == {"method", "names", "scores", "gaps", "checked"}
    model.conformal_ = json.loads(json.dumps(kept))
    conformal = restore_conformal(model)
    assert isinstance(conformal, MaskConformalRegressor)
    X = frame.drop(columns="y")
    low, high = conformal.predict_interval(X, coverage=0.8).T
    assert (low + high) / 2 == pytest.approx(predict_rows(model, rows))
    complete = rows.observed.all(1)
    assert complete.sum() >= 100  # a group of its own
    ordered = np.sort(np.abs(target[complete]))
    rank = int(np.ceil(0.8 * (complete.sum() + 1) - 1e-9))
    assert (high - low)[complete] == pytest.approx(2 * ordered[rank - 1])
    assert (high - low)[~complete].min() > 100
    checked = kept["checked"]
    assert checked["covered"] == pytest.approx(0.9, abs=0.02)


def test_a_model_without_anything_kept_and_a_damaged_one():
    model = regressor(table())
    assert restore_conformal(model) is None
    model.conformal_ = {"method": "mask", "names": []}
    with pytest.raises(ModelFileError, match="damaged"):
        restore_conformal(model)
