"""Model files as commands use them: described, and frames cut to their columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILSequenceClassifier
from imputefree.errors import InputError, ModelFileError
from imputefree.workflow._loaded_model import inputs_of, load_model, select_inputs, wanted_columns
from tests.workflow.made import SMALL, classifier, long_table, sequence_classifier, table


def test_any_model_is_loaded_and_described(tmp_path):
    frame = table()
    classifier(frame).save(tmp_path / "m")
    inputs = {one.name: one for one in inputs_of(load_model(tmp_path / "m"))}
    assert list(inputs) == [name for name in frame.columns if name != "y"]
    assert [one.kind for one in inputs.values()] == ["number"] * 3 + ["category"] * 2
    assert inputs["code"].known == ["1", "2", "3", "X"]
    low, high = inputs["age"].known
    assert (low, high) == (frame["age"].min(), frame["age"].max())


def test_series_are_described_with_static_columns_last(tmp_path):
    sequence_classifier(long_table()).save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert [one.name for one in inputs_of(model)] == ["pulse", "rhythm", "age", "sex"]
    assert wanted_columns(model) == ["who", "hour", "pulse", "rhythm", "age", "sex"]
    low, high = inputs_of(model)[0].known  # series keep no quantiles: about the mean
    assert low < 80 < high


def test_columns_are_found_by_name_and_others_ignored():
    frame = table()
    model = classifier(frame)
    mixed = frame[frame.columns[::-1]].assign(more=1)
    kept, ignored = select_inputs(model, mixed)
    assert ignored == ["y", "more"]
    expected = model.predict_proba(frame.drop(columns="y"))
    np.testing.assert_array_equal(model.predict_proba(kept), expected)


def test_columns_that_are_missing_are_named():
    frame = table()
    model = classifier(frame)
    with pytest.raises(InputError, match="no column 'age', 'ward'"):
        select_inputs(model, frame.drop(columns=["age", "ward"]))


def test_a_model_without_names_takes_columns_by_order():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = GILClassifier(**SMALL).fit(X, [0, 1] * 20)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    kept, _ = select_inputs(model, frame)
    np.testing.assert_array_equal(model.predict_proba(kept), model.predict_proba(X))
    numbered = frame.set_axis(["0", "1", "2"], axis=1)[["2", "0", "1"]].assign(more=1)
    kept, ignored = select_inputs(model, numbered)
    assert ignored == ["more"]
    np.testing.assert_array_equal(model.predict_proba(kept), model.predict_proba(X))
    with pytest.raises(InputError, match="2 columns where the model was trained on 3"):
        select_inputs(model, frame[["a", "b"]])


def test_series_without_an_id_cannot_come_from_a_file():
    model = GILSequenceClassifier(**SMALL).fit([[[1.0], [2.0]], [[3.0]]] * 10, [0, 1] * 10)
    with pytest.raises(InputError, match="without an id column"):
        select_inputs(model, pd.DataFrame({"0": [1.0]}))


@pytest.mark.parametrize("content", [None, b"", b"a,b\n1,2\n"])
def test_what_is_no_model_is_said_so(tmp_path, content):
    path = tmp_path / "m"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError):
        load_model(path)
    with pytest.raises(ModelFileError, match="folder"):
        load_model(tmp_path)


def test_the_server_tells_what_inputs_of_tells():
    """Whole numbers, and two values alone, of which only `values` knows the ends."""
    from imputefree.serve._model_inputs import Inputs

    frame = table().assign(two=[1.0, 5.0] * 30, none=np.nan)
    for model in (classifier(frame), sequence_classifier(long_table())):
        inputs = Inputs.of(model)
        for one, column in zip(inputs_of(model), inputs.columns + inputs.statics, strict=True):
            own = column.levels if column.kind == "category" else (column.low, column.high)
            assert (one.name, one.kind) == (column.name, column.kind)
            assert tuple(one.known) == tuple(end for end in own if end is not None)
