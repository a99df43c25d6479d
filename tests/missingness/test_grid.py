"""Reading: tables, series and images become rows and columns, and find their way back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import InputError, InputTypeError
from imputefree.missingness._grid import read_grid
from tests.missingness.made import frame, table
from tests.refusals import check_error


def test_frames_keep_names_and_texts_have_no_numbers():
    grid = read_grid(frame())
    assert grid.names == ["age", "ph", "ill", "sex"]
    assert [grid.is_text(j) for j in range(4)] == [False, False, False, True]
    check_error(lambda: grid.column(3), "column 'sex' holds texts. Only numbers can drive")


def test_masked_arrays_have_gaps_where_they_are_masked():
    X = np.ma.masked_greater(np.array([[1.0, 2.0], [3.0, 4.0]]), 3.5)
    np.testing.assert_array_equal(read_grid(X).present, [[True, True], [True, False]])


def test_scaled_columns_have_mean_0_and_deviation_1():
    X = table(500)
    X[:, 1], X[:5, 0] = 7.0, np.nan
    X[7, 2] = 1e300
    grid = read_grid(X)
    assert not grid.scaled(1).any()
    assert not grid.varies(1)
    for j in (0, 2, 3):
        seen = grid.scaled(j)[grid.present[:, j]]
        assert abs(seen.mean()) < 1e-9
        assert seen.std() == pytest.approx(1)
    assert not grid.scaled(0)[:5].any()


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_lists_of_series_come_back_as_lists(kind):
    X = [kind(table(n, 3)) for n in (4, 1, 6)]
    grid = read_grid(X)
    assert grid.lengths.tolist() == [4, 1, 6]
    assert [one.shape for one in grid.restore(grid.present)] == [(4, 3), (1, 3), (6, 3)]


def test_padded_series_come_back_padded():
    X = table(40, 3).reshape(8, 5, 3)
    lengths = np.array([5, 1, 2, 3, 4, 5, 5, 1])
    grid = read_grid(X, lengths)
    assert len(grid.present) == lengths.sum()
    np.testing.assert_array_equal(
        grid.restore(grid.present)[:, :, 0], np.arange(5) < lengths[:, None]
    )


def test_refusals_of_series():
    check_error(
        lambda: read_grid([table(4, 3), table(4, 2)]),
        "series 1 has shape (4, 2), series 0 has (4, 3). All series must be (steps, channels)",
    )
    check_error(lambda: read_grid([table(4, 3), np.ones(3)]), "series 1 has shape (3,)")
    check_error(lambda: read_grid([table(4, 3), np.ones((0, 3))]), "series 1 has shape (0, 3)")
    frames = [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})]
    check_error(
        lambda: read_grid(frames), "the series have different column names", kind=InputError
    )
    mixed = [pd.DataFrame({"a": [1.0]}), np.ones((1, 1))]
    check_error(lambda: read_grid(mixed), "X mixes kinds of series", kind=InputTypeError)
