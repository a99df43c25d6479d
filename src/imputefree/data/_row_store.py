"""Large tables as one matrix of numbers, in memory or on disk, read a few rows at a time.

Above `SAMPLE_ROWS` rows, encodings are learned from a sample of rows, and what networks and trees
read is made from the rows that they ask for. A table in memory and the same table in a file are
read in the same way, so that they give the same model.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError
from ._columns import Columns, factorized, frame_names, read_columns

SAMPLE_ROWS = 2**18  # from which encodings are learned, at most
SAMPLE_CELLS, LEAST_ROWS = 2**23, 2**15  # of a wide table, fewer rows
BLOCK = 2**16  # rows that are read at a time
PIECE = 2**12  # rows, of many that are not neighbours
Coder = Callable[[np.ndarray], np.ndarray]  # (n,) -> (n,)


def lookup(meanings: Sequence[Any], dtype: Any = np.float64) -> Coder:
    """From the numbers of levels to what they mean; the last meaning is that of a gap."""
    table = np.array(meanings, dtype)
    return lambda codes: table[np.where(np.isnan(codes), -1, codes).astype(np.int64)]


@dataclass(frozen=True, eq=False)
class RowStore:
    """A table as a matrix of numbers, some or all of its rows.

    matrix : (N, C) float32 or float64, maybe a `np.memmap`; a category holds the numbers of its
        levels, and NaN is missing
    names, named, declared : as for `Columns`
    levels : by column, the strings that the codes of a category represent, in any order
    index : which rows, or all
    order : which columns, or all
    coders : by place in this order, what is made of a column's numbers when rows are read

    >>> store = RowStore.of(read_columns(pd.DataFrame({"age": [31, None], "sex": ["f", "m"]})))
    >>> store.read(slice(0, 2))
    array([[31.,  0.],
           [nan,  1.]])
    >>> store.rows(np.array([1])).whole().arrays
    [array([nan]), array(['m'], dtype=object)]
    """

    matrix: np.ndarray
    names: list[str]
    named: bool
    declared: list[bool]
    levels: Mapping[int, Sequence[str]] = field(default_factory=dict)
    index: np.ndarray | None = None
    order: Sequence[int] | None = None
    coders: Mapping[int, Coder] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Columns) -> RowStore:
        """A table in memory, copied."""
        matrix, levels = np.empty((columns.n_rows, len(columns.names))), {}
        for j, array in enumerate(columns.arrays):
            if array.dtype == object:
                codes, strings = factorized(array)
                matrix[:, j], levels[j] = np.where(codes < 0, np.nan, codes), strings.tolist()
            else:
                matrix[:, j] = array
        return cls(matrix, columns.names, columns.named, columns.declared, levels)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.matrix if self.index is None else self.index)

    @property
    def columns(self) -> Columns:
        """The columns without rows: their names."""
        none = [np.empty(0, object if j in self.levels else float) for j in range(len(self.names))]
        return Columns(self.names, self.named, none, self.declared, 0)

    def rows(self, rows: np.ndarray | slice) -> RowStore:
        """These rows only; nothing is read yet."""
        if self.index is not None:
            return replace(self, index=self.index[rows])
        if isinstance(rows, slice):
            return replace(self, matrix=self.matrix[rows])
        return replace(self, index=rows)

    def read(self, rows: Any) -> np.ndarray:
        """The numbers of these rows; (n,) or a slice -> (n, C) float64."""
        rows = rows if self.index is None else self.index[rows]
        if isinstance(rows, slice) or len(rows) <= PIECE:
            values = np.array(self.matrix[rows], dtype=np.float64)
        else:  # rows far from each other touch most of a file
            values = np.empty((len(rows), self.matrix.shape[1]))
            for begin in range(0, len(rows), PIECE):
                piece = slice(begin, begin + PIECE)
                values[piece] = self.matrix[rows[piece]]
                self.release()
        values = values if self.order is None else values[:, self.order]
        for place, coder in self.coders.items():
            values[:, place] = coder(values[:, place])
        return values

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """All rows in order, a block at a time: which, and their numbers."""
        for begin in range(0, self.n_rows, BLOCK):
            rows = slice(begin, min(begin + BLOCK, self.n_rows))
            yield rows, self.read(rows)
            self.release()

    def release(self) -> None:
        """Let the system have back what it keeps in memory of a file; it is read again if needed.

        These pages are free for others at any time, but count as memory of this process.
        """
        file = getattr(self.matrix, "_mmap", None)
        if file is not None and hasattr(mmap, "MADV_DONTNEED"):
            file.madvise(mmap.MADV_DONTNEED)

    def sample(self) -> Columns:
        """At most `SAMPLE_ROWS` rows, the same of all tables of this size."""
        n = self.n_rows
        count = min(SAMPLE_ROWS, max(SAMPLE_CELLS // len(self.names), LEAST_ROWS))
        if n <= count:
            return self.whole()
        rows = np.random.default_rng(0).choice(n, count, replace=False, shuffle=False)
        return self.rows(np.sort(rows)).whole()

    def whole(self) -> Columns:
        """All rows as columns in memory; of a store without coders."""
        arrays = [np.empty(self.n_rows, array.dtype) for array in self.columns.arrays]
        strings = {j: lookup([*names, None], object) for j, names in self.levels.items()}
        for rows, values in self.blocks():
            for j, array in enumerate(arrays):
                array[rows] = strings[j](values[:, j]) if j in strings else values[:, j]
        return replace(self.columns, arrays=arrays, n_rows=self.n_rows)

    @cached_property
    def _census(self) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """How many gaps each column has, and how many rows each level; one look at all rows."""
        gaps = np.zeros(len(self.names), dtype=np.int64)
        counts = {j: np.zeros(len(names), dtype=np.int64) for j, names in self.levels.items()}
        for _, values in self.blocks():
            missing = np.isnan(values)
            gaps += missing.sum(0)
            for j, count in counts.items():
                seen = values[~missing[:, j], j].astype(np.int64)
                count += np.bincount(seen, minlength=len(count))
        return gaps, counts

    @property
    def missing(self) -> np.ndarray:
        """The share of missing entries of each column; (C,)."""
        return self._census[0] / self.n_rows

    def has_gaps(self, j: int) -> bool:
        """Whether an entry of a column is missing."""
        return bool(self._census[0][j])

    def level_counts(self, j: int) -> pd.Series | None:
        """How many rows each level of a column of strings has, most frequent first; else None."""
        if j not in self.levels:
            return None
        counts = self._census[1][j]
        levels = np.array(self.levels[j], dtype=object)
        seen = np.flatnonzero(counts)
        order = seen[np.argsort(-counts[seen], kind="stable")]
        return pd.Series(counts[order], index=levels[order])


def read_training_table(X: Any) -> Columns | RowStore:
    """A table to learn from: its columns or, above `SAMPLE_ROWS` rows, a `RowStore`.

    A large matrix of numbers is not copied.
    """
    if isinstance(X, RowStore):
        return X
    if _is_plain(X) and len(X) > SAMPLE_ROWS:
        matrix = X.to_numpy() if isinstance(X, pd.DataFrame) else X
        names, named = frame_names(X) if isinstance(X, pd.DataFrame) else (None, False)
        names = names or [str(j) for j in range(matrix.shape[1])]
        store = RowStore(matrix, names, named, [False] * len(names))
        if not any(np.isinf(values).any() for _, values in store.blocks()):
            return store
    columns = read_columns(X)
    return columns if columns.n_rows <= SAMPLE_ROWS else RowStore.of(columns)


def refuse_empty(inputs: Any) -> None:
    """Refuse a table, or series, in which no column holds a single entry."""
    if isinstance(inputs, RowStore):
        empty = bool((inputs.missing == 1).all())
    else:
        empty = all(pd.isna(array).all() for array in inputs.columns.arrays)
    if empty:
        raise InputError(
            "no column holds a single entry",
            "There must be something to learn from",
            "Check how the table was read",
        )


def _is_plain(X: Any) -> bool:
    """Whether X is an array or a pandas frame of float32, or of float64, all the same."""
    if isinstance(X, pd.DataFrame):
        dtypes = set(X.dtypes)
    elif type(X) in (np.ndarray, np.memmap) and X.ndim == 2 and X.shape[1]:
        dtypes = {X.dtype}
    else:
        return False
    return dtypes in ({np.dtype(np.float32)}, {np.dtype(np.float64)})
