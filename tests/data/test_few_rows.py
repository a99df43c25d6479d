"""Lines between knots against np.interp, for few rows and for many."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.data import Lines

KNOTS = [[0.0, 1.0], [-5.0, 0.0, 10.0, 11.0], [3.0], [-1.7e308, 1.7e308]]
HEIGHTS = [[5.0, 7.0], [1.0, -2.0, 4.0, 0.0], [2.0], [-1.0, 1.0]]


@pytest.mark.parametrize("rows", [1, 11, 4000])
def test_lines_are_linear_between_knots_and_constant_beyond(rows):
    rng = np.random.default_rng(rows)
    columns = [rng.uniform(2 * points[0] - 1, 2 * points[-1] + 1, rows) for points in KNOTS[:3]]
    columns.append(rng.uniform(-1.0, 1.0, rows) * 1.7e308)
    for column, points in zip(columns, KNOTS, strict=True):
        column[: len(points)] = points[:rows]  # at the knots themselves
    X = np.array(columns).T
    X[rows // 2, 1] = np.nan
    expected = [
        np.interp(x / 2, np.array(points) / 2, heights)
        for x, points, heights in zip(X.T, KNOTS, HEIGHTS, strict=True)
    ]
    np.testing.assert_allclose(Lines(KNOTS, HEIGHTS)(X), np.array(expected).T, rtol=1e-12)
