"""Padding is what lies beyond a length, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.data import Layout, read_panel
from imputefree.errors import InputTypeError
from tests.data.panel.made import NAN, VALUES, check_error, made, matrix


@pytest.mark.parametrize("junk", [NAN, np.inf, "text", None, {"no": "value"}])
@pytest.mark.parametrize("axes", ["ntd", "ndt"])
def test_what_lies_beyond_a_length_is_never_looked_at(junk, axes):
    padded = VALUES.astype(object)
    padded[1, 2:], padded[2, 1:] = junk, junk
    X = padded if axes == "ntd" else padded.transpose(0, 2, 1)
    panel = read_panel(X, Layout(axes=axes), lengths=[4, 2, 1])
    np.testing.assert_array_equal(
        matrix(panel), np.concatenate([VALUES[0], VALUES[1, :2], VALUES[2, :1]])
    )
    assert panel.times.tolist() == [0, 1, 2, 3, 0, 1, 0]
    assert panel.source.tolist() == list(range(7))
    assert panel.width == 4


def test_padding_is_never_guessed():
    panel = read_panel(np.full((2, 3, 1), NAN))
    assert panel.lengths.tolist() == [3, 3]


@pytest.mark.parametrize(
    "lengths", [[2.0, 3.0], np.array([2, 3], np.uint8), pd.Series([2, 3], dtype="Int64")]
)
def test_lengths_are_whole_numbers_of_any_type(lengths):
    assert read_panel(made(2, 3), lengths=lengths).lengths.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("lengths", "fact"),
    [
        ([4, 0, 1], "lengths holds 0 for series 1. A series has from 1 to 4 steps here"),
        ([4, 5, 1], "lengths holds 5 for series 1. A series has from 1 to 4 steps here"),
        ([4, -1, 1], "lengths holds -1 for series 1"),
        ([4, 1.5, 1], "lengths holds float64 values that are not whole numbers"),
        ([4, NAN, 1], "lengths holds float64 values that are not whole numbers"),
        ([4, np.inf, 1], "lengths holds inf for series 1"),
        ([True, True, True], "lengths holds bool values that are not whole numbers"),
        (["4", "1", "2"], "lengths holds object values that are not whole numbers"),
        ([4, 1], "lengths has shape (2,). It must be one whole number a series: (3,)"),
        (4, "lengths has shape ()"),
        ([[4], [1], [2]], "lengths has shape (3, 1)"),
    ],
)
def test_lengths_that_are_none_are_refused(lengths, fact):
    check_error(VALUES, fact, lengths=lengths)


@pytest.mark.parametrize("X", [None, "text", {"a": 1}, pd.Series([1.0]), pd.Index([1])])
def test_objects_that_are_no_series_are_refused(X):
    check_error(X, f"X is a {type(X).__name__}", "3D array", "Pass X", kind=InputTypeError)
