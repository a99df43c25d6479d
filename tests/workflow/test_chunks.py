"""Model files as commands use them: loaded, described, their columns found in files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, GILSequenceClassifier
from imputefree.errors import InputError, ModelFileError
from imputefree.workflow._chunks import file_inputs, load_model
from tests.workflow.made import SMALL, classifier, long_table, sequence_classifier, table
from tests.workflow.test_predicting import streamed


def test_columns_of_series_come_after_their_roles_and_static_ones_last(tmp_path):
    sequence_classifier(long_table()).save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    wanted = ["who", "hour", "pulse", "rhythm", "age", "sex"]
    inputs = file_inputs(model, [*wanted[::-1], "y"])
    assert list(inputs) == wanted
    assert (inputs["who"], inputs["hour"]) == ("id", "time")


def test_columns_are_found_by_name_and_others_ignored():
    frame = table()
    model = classifier(frame)
    mixed = [*frame.columns[::-1], "more"]
    assert list(file_inputs(model, mixed)) == list(frame.columns.drop("y"))
    with pytest.raises(InputError, match="no column 'age', 'ward'"):
        file_inputs(model, ["beds", "smokes", "code"])


def test_a_model_without_names_takes_columns_by_order(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = GILClassifier(**SMALL).fit(X, [0, 1] * 20)
    expected = model.predict_proba(X)[:, 1]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    numbered = frame.set_axis(["0", "1", "2"], axis=1)[["2", "0", "1"]].assign(more=1)
    for data in (frame, numbered):
        data.to_csv(tmp_path / "d.csv", index=False)
        found, _, _ = streamed(model, tmp_path / "d.csv")
        np.testing.assert_allclose(found["p_1"], expected, atol=1e-7)
    with pytest.raises(InputError, match="2 columns where the model was trained on 3"):
        file_inputs(model, ["a", "b"])


def test_series_without_an_id_cannot_come_from_a_file():
    model = GILSequenceClassifier(**SMALL).fit([[[1.0], [2.0]], [[3.0]]] * 10, [0, 1] * 10)
    with pytest.raises(InputError, match="without an id column"):
        file_inputs(model, ["0"])


@pytest.mark.parametrize("content", [None, b"", b"a,b\n1,2\n"])
def test_files_that_are_not_models(tmp_path, content):
    path = tmp_path / "m"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError):
        load_model(path)
    with pytest.raises(ModelFileError, match="folder"):
        load_model(tmp_path)
