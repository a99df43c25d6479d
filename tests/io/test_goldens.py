"""Model files of this and earlier formats load, and predict what they did."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from scripts.goldens import HOME, answers

FILES = sorted(HOME.glob("format-*/*.imputefree"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_predicts_what_it_did(path):
    known = json.loads((path.parent / "predictions.json").read_text())[path.stem]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(answers(path), known, rtol=1e-4, atol=1e-6)


def test_there_are_goldens_of_this_format():
    assert len(FILES) >= 9
