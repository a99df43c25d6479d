"""Large tables as a matrix: the same cells as columns, read when asked for, from memory or disk."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from imputefree.data import Columns, RowStore, TableEncoder, read_columns, read_training_table
from imputefree.data import _expansion as expansion
from imputefree.data import _row_store as row_store


def table(rows=500):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["a", "b", "c"])
    frame["ward"] = rng.choice(["A", "B", "C"], rows)
    frame["code"] = rng.integers(4, size=rows)
    return frame.mask(rng.random(frame.shape) < 0.2)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A table on disk, read in small blocks and pieces."""
    monkeypatch.setattr(row_store, "BLOCK", 60)
    monkeypatch.setattr(row_store, "PIECE", 7)
    monkeypatch.setattr(expansion, "FEW", 13)
    memory = RowStore.of(read_columns(table()))
    memory.matrix.tofile(tmp_path / "rows")
    matrix = np.memmap(tmp_path / "rows", np.float64, "r", shape=memory.matrix.shape)
    return RowStore(matrix, memory.names, True, memory.declared, memory.levels)


def same(mine, theirs):
    assert mine.names == theirs.names
    assert mine.n_rows == theirs.n_rows
    for array, expected in zip(mine.arrays, theirs.arrays, strict=True):
        np.testing.assert_array_equal(array, expected)


def test_rows_are_those_of_the_table(store):
    columns, rows = read_columns(table()), np.random.default_rng(1).permutation(500)[:90]
    same(store.whole(), columns)
    same(store.rows(rows).whole(), columns.rows(rows))
    same(store.rows(rows).rows(np.arange(30, 60)).whole(), columns.rows(rows[30:60]))
    same(store.rows(slice(20, 40)).whole(), columns.rows(np.arange(20, 40)))
    assert store.missing == pytest.approx(table().isna().mean().to_numpy())


@pytest.mark.parametrize("categories", ["auto", ["ward", "code"]])
@pytest.mark.parametrize("encoding", ["plain", "rich", "piecewise"])
def test_encoders_read_a_store_as_columns(store, categories, encoding):
    columns, rows = read_columns(table()), np.array([3, 499, 3, 0])
    encoder = TableEncoder(categories, numeric_encoding=encoding).fit(columns)
    learned = TableEncoder(categories, numeric_encoding=encoding).fit(store)
    assert learned.state() == encoder.state()
    np.testing.assert_array_equal(encoder.codes(store), encoder.codes(columns))
    if encoding == "plain":  # which trees read
        numbers = encoder.numbers(columns)[rows]
        np.testing.assert_array_equal(encoder.numbers(store.rows(rows)), numbers)
    parts = encoder.parts(store)
    expected = encoder.parts(columns)
    assert parts.shape == expected.shape
    picked = parts[torch.tensor([[3, 499], [3, 0]])]
    torch.testing.assert_close(
        picked, expected[rows].view(2, 2, -1), rtol=0, atol=0, equal_nan=True
    )
    together = torch.cat([*parts.blocks()])
    torch.testing.assert_close(together, expected, rtol=0, atol=0, equal_nan=True)


def test_columns_in_another_order_are_found_by_name(store):
    frame = table()
    encoder = TableEncoder().fit(read_columns(frame))
    turned = RowStore.of(read_columns(frame[frame.columns[::-1]]))
    np.testing.assert_array_equal(encoder.codes(turned), encoder.codes(read_columns(frame)))


def test_memory_of_a_file_is_given_back_after_a_block(store, monkeypatch):
    monkeypatch.setattr(expansion, "BLOCK", 20)
    released = []
    parts = TableEncoder().fit(store).parts(store)
    monkeypatch.setattr(type(parts.store), "release", lambda store: released.append(1))
    monkeypatch.setattr(row_store, "PIECE", 1000)
    for count, expected in ((19, 0), (1, 1), (10, 1), (9, 1), (1, 2)):
        parts[torch.arange(count)]
        assert len(released) == expected


def test_picked_columns_keep_their_order():
    picked = read_columns(np.arange(12.0).reshape(4, 3)).pick(["2", "0"])
    same(RowStore.of(picked).whole(), picked)
    turned = read_columns(np.arange(9.0).reshape(3, 3)).pick(["2", "0", "1"])
    same(RowStore.of(turned).whole(), turned)


def test_a_sample_is_the_same_for_all_tables_of_a_size(store, monkeypatch):
    monkeypatch.setattr(row_store, "SAMPLE_ROWS", 100)
    sample = store.sample()
    assert sample.n_rows == 100
    same(sample, RowStore.of(read_columns(table())).sample())
    whole = {tuple(row) for row in zip(*(a.astype(str) for a in store.whole().arrays), strict=True)}
    drawn = {tuple(row) for row in zip(*(a.astype(str) for a in sample.arrays), strict=True)}
    assert drawn < whole


def test_levels_are_counted_in_all_rows(store, monkeypatch):
    monkeypatch.setattr(row_store, "SAMPLE_ROWS", 20)
    counts = store.level_counts(3)
    assert counts.to_dict() == table()["ward"].value_counts().to_dict()
    assert counts.is_monotonic_decreasing
    assert store.level_counts(0) is None
    expected = TableEncoder().fit(read_columns(table())).plans[3]
    assert TableEncoder().fit(store).plans[3] == expected


class TestReadRows:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setattr(row_store, "SAMPLE_ROWS", 100)

    def test_a_small_table_is_columns(self):
        assert isinstance(read_training_table(table(100)), Columns)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_a_matrix_is_not_copied(self, dtype):
        X = np.random.default_rng(0).normal(size=(200, 3)).astype(dtype)
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        assert np.shares_memory(read_training_table(X).matrix, X)
        assert np.shares_memory(read_training_table(frame).matrix, frame.to_numpy())

    def test_anything_else_is_read_as_columns_are(self):
        frame = table(200)
        for part in (frame, frame[["a", "code"]], frame[["a"]].to_numpy().tolist()):
            same(read_training_table(part).whole(), read_columns(part))

    def test_infinity_is_refused(self):
        X = np.zeros((200, 2))
        X[7, 1] = np.inf
        with pytest.raises(ValueError, match="row 7"):
            read_training_table(X)
