"""Frames become the tensors of an exported model, or are refused as the estimator would."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import InputError, ModelFileError, UnseenCategoryWarning
from imputefree.onnx import encode, read_metadata

ABOUT = {
    "columns": [
        {"name": "age", "kind": "number"},
        {"name": "ward", "kind": "category", "levels": ["1", "2.5", "x"]},
    ],
    "named": True,
    "static": None,
    "layout": None,
}


def test_levels_are_found_by_their_name():
    X = pd.DataFrame({"ward": [1, 2.5, "x", True, None], "age": [1, None, 3, 4, 5]})
    encoded = encode(ABOUT, X)["X"]
    np.testing.assert_array_equal(encoded, [[1, 0], [np.nan, 1], [3, 2], [4, 0], [5, np.nan]])


def test_an_unseen_level_is_nan_with_a_warning():
    with pytest.warns(UnseenCategoryWarning, match="'ward': 'y'"):
        encoded = encode(ABOUT, pd.DataFrame({"age": [1.0], "ward": ["y"]}))["X"]
    assert np.isnan(encoded[0, 1])


def test_wrong_columns_are_refused():
    with pytest.raises(InputError, match="missing now 'ward'"):
        encode(ABOUT, pd.DataFrame({"age": [1.0]}))
    with pytest.raises(InputError, match="'age' holds text"):
        encode(ABOUT, pd.DataFrame({"age": ["old"], "ward": ["x"]}))


def test_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "model.onnx"
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_metadata(path)
    path.write_bytes(b"not a model")
    with pytest.raises(ModelFileError, match="not a model exported by imputefree"):
        read_metadata(path)
