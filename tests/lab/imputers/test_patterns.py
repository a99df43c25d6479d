"""Patterns of gaps: every row once, in chunks of bounded size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imputefree.lab.imputers import _patterns as patterns
from imputefree.lab.imputers._em import EMImputer
from imputefree.lab.imputers._patterns import Patterns
from tests.lab.imputers.made import hide, low_rank


def check_cover(observed):
    """Each row with an entry is in one chunk, with its own columns; padding points beyond."""
    n, d = observed.shape
    seen = np.zeros((n, d), dtype=int)
    masks = []
    for chunk in Patterns(observed).chunks():
        for columns, rows, size, count in zip(
            chunk.columns, chunk.rows, chunk.sizes, chunk.counts, strict=True
        ):
            assert (columns[size:] == d).all()
            assert (rows[count:] == n).all()
            seen[np.ix_(rows[:count], columns[:size])] += 1
            masks.append(tuple(columns[:size]))
    assert np.array_equal(seen, observed.astype(int))
    assert len(set(masks)) == len(masks)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 20), st.floats(0, 1), st.integers(0, 99))
def test_every_row_is_in_one_chunk(n, d, rate, seed):
    rng = np.random.default_rng(seed)
    check_cover(rng.random((n, d))[rng.integers(n, size=n)] < rate)


@pytest.mark.parametrize("distinct", [3, 3000])
def test_chunks_are_bounded(monkeypatch, distinct):
    monkeypatch.setattr(patterns, "ENTRIES", 5000)
    rng = np.random.default_rng(0)
    observed = (rng.random((distinct, 30)) < 0.5)[np.arange(3000) % distinct]
    chunks = list(Patterns(observed).chunks())
    for chunk in chunks:
        b, k = chunk.columns.shape
        assert b * k * k <= 5000 or b == 1
        assert chunk.rows.size * k <= 5000 or b == 1
    assert sum(len(chunk.columns) for chunk in chunks) <= distinct
    check_cover(observed)


def test_the_size_of_chunks_does_not_change_the_result(monkeypatch):
    x, _ = hide(low_rank(0, 100, 8), 0.4, 0)
    whole = EMImputer(max_iter=5, tol=0.0).fit(x)
    monkeypatch.setattr(patterns, "ENTRIES", 64)
    pieces = EMImputer(max_iter=5, tol=0.0).fit(x)
    np.testing.assert_allclose(pieces.covariance_, whole.covariance_, rtol=1e-9)
    np.testing.assert_allclose(pieces.log_likelihood_, whole.log_likelihood_, rtol=1e-9)
    np.testing.assert_allclose(pieces.transform(x), whole.transform(x), rtol=1e-9)
