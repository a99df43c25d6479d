"""Rows as LightGBM reads them, and boosters that grow trees on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lightgbm
import numpy as np

from ..data import BLOCK, Columns, RowStore, TableEncoder

SAMPLED = 50_000  # rows that decide where the bins of an input begin
MANY_ROWS = 10_000  # of fewer, one thread grows trees faster than several
HUGE_ROWS = 500_000  # of more, memory matters: no row is kept twice


class TreeInputs(lightgbm.Sequence):
    """What trees read of some rows; that of a large table is made when it is asked for.

    The rest is what LightGBM asks of a table that it reads a batch at a time.
    """

    batch_size = BLOCK

    def __init__(self, encoder: TableEncoder, inputs: Columns | RowStore) -> None:
        self.encoder, self.n_rows = encoder, inputs.n_rows
        self.store = encoder.recoded(inputs) if isinstance(inputs, RowStore) else None
        self.matrix = encoder.numbers(inputs) if isinstance(inputs, Columns) else None

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: Any) -> np.ndarray:
        """(n,) or a slice -> (n, inputs)."""
        if self.matrix is not None:
            return self.matrix[rows]
        assert self.store is not None
        values = self.encoder.switched(self.store.read(rows))
        self.store.release()
        return values

    def blocks(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """The inputs of these rows, a block at a time."""
        size = len(rows) if self.store is None else BLOCK
        return (self[rows[begin : begin + size]] for begin in range(0, len(rows), size))


class _Some(lightgbm.Sequence):
    """Some rows of a table that LightGBM reads a batch at a time."""

    batch_size = BLOCK

    def __init__(self, inputs: TreeInputs, rows: np.ndarray) -> None:
        self.inputs, self.rows = inputs, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return self.inputs[self.rows[rows]]


class BinnedRows:
    """Numbers as bins, a byte each, which begin at the same numbers in all sets of rows.

    Binning takes longer than growing some trees, so it is done once. Only of a huge table is it
    done again for each set of rows: bins of all rows beside those of some would double the memory.

    target, weight : (n,) of the rows; no weight if all count the same
    """

    def __init__(
        self, inputs: TreeInputs, target: np.ndarray, weight: np.ndarray | None, seed: int
    ) -> None:
        self.inputs, self.target, self.weight, count = inputs, target, weight, len(inputs)
        self.options = {
            "bin_construct_sample_cnt": SAMPLED,
            "feature_pre_filter": False,  # it would depend on how trees grow
            "num_threads": _n_threads(count),
            "verbosity": -1,
        }
        self.first = self.every = None
        if inputs.matrix is None:  # where bins begin is learned from a sample
            rng = np.random.default_rng(seed)
            sample = rng.choice(count, min(count, SAMPLED), replace=False)
            first = lightgbm.Dataset(inputs[np.sort(sample)], params=self.options)
            self.first = first.construct()
        if self.first is None or count < HUGE_ROWS:
            data: Any = inputs if inputs.matrix is None else inputs.matrix
            self.every = self._binned(data, target, weight)

    def some(self, rows: np.ndarray) -> lightgbm.Dataset:
        """Some of the rows, in their order."""
        rows = np.sort(rows)
        if self.every is None:
            weight = None if self.weight is None else self.weight[rows]
            return self._binned(_Some(self.inputs, rows), self.target[rows], weight)
        some: Any = self.every.subset([])
        some.used_indices = rows.astype(np.int32)  # a list of Python's integers is large
        return some.construct()

    def _binned(self, data: Any, target: np.ndarray, weight: np.ndarray | None) -> lightgbm.Dataset:
        whole = lightgbm.Dataset(data, target, self.first, weight=weight, params=self.options)
        return whole.construct()


def booster(options: dict[str, Any], train: lightgbm.Dataset, seed: int) -> lightgbm.Booster:
    """A booster without trees; equal seeds give equal trees.

    Of a huge table it reads columns: to read rows, it would copy all bins.
    """
    layout = "force_col_wise" if train.num_data() >= HUGE_ROWS else "force_row_wise"
    options = options | {
        "bagging_freq": 1,
        "seed": seed,
        "deterministic": True,
        layout: True,
        "num_threads": _n_threads(train.num_data()),
        "verbosity": -1,
    }
    return lightgbm.Booster(options, train)


def _n_threads(n_rows: int) -> int:
    return 1 if n_rows < MANY_ROWS else 0  # 0: all cores
