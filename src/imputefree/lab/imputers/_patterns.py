"""Rows that lack the same columns belong together; groups of alike size are worked on at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

ENTRIES = 2**21  # of a chunk's largest array: 16 MiB of float64


@dataclass(frozen=True)
class Chunk:
    """B patterns, each with up to k observed columns and up to R rows.

    columns : (B, k) int64, the observed columns of each pattern; then d, one beyond the last
    rows : (B, R) int64, the rows of each pattern; then n, one beyond the last
    sizes, counts : (B,) int64, how many of these are real
    """

    columns: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray


class Patterns:
    """The different rows of `observed` (n, d), in chunks of bounded memory.

    sizes : (P,) observed columns of each pattern that has any

    >>> patterns = Patterns(np.array([[True, False], [True, True], [True, False]]))
    >>> patterns.sizes
    array([2, 1])
    >>> [chunk.rows.tolist() for chunk in patterns.chunks()]
    [[[1]], [[0, 2]]]
    """

    def __init__(self, observed: np.ndarray) -> None:
        self.n_rows, self.n_columns = observed.shape
        packed = np.packbits(observed, axis=1)
        keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1])))[:, 0]
        _, first, inverse, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        masks = observed[first]
        sizes = masks.sum(1)
        self._by_pattern = np.argsort(inverse, kind="stable")
        self._start = np.cumsum(counts) - counts
        # Alike in the number of rows (to a factor of 2), then of columns: little padding.
        doublings = np.ceil(np.log2(counts)).astype(np.int64)
        order = np.lexsort((sizes, doublings))
        order = order[sizes[order] > 0]  # a row without an entry says nothing
        self._masks, self._counts, self._order = masks, counts, order
        self._doublings, self._sizes = doublings, sizes
        self.sizes = sizes[order]

    def chunks(self) -> Iterator[Chunk]:
        """All patterns with at least one observed column."""
        for part in self._parts():
            sizes, counts = self._sizes[part], self._counts[part]
            k, most = int(sizes.max()), int(counts.max())
            columns = np.argsort(~self._masks[part], axis=1, kind="stable")[:, :k]
            columns[np.arange(k) >= sizes[:, None]] = self.n_columns
            real = np.arange(most) < counts[:, None]
            place = self._start[part][:, None] + np.where(real, np.arange(most), 0)
            rows = np.where(real, self._by_pattern[place], self.n_rows)
            yield Chunk(columns, rows, sizes, counts)

    def _parts(self) -> Iterator[np.ndarray]:
        """The order of patterns, cut where a chunk would get too large or too uneven."""
        order, begin = self._order, 0
        while begin < len(order):
            most = ENTRIES // int(self._sizes[order[begin]]) ** 2 + 1
            left = order[begin : begin + most]
            k, double = self._sizes[left], self._doublings[left]
            rows = 2.0**double
            # Sizes ascend within one doubling, so the last of a chunk is its largest.
            cost = np.arange(1, len(left) + 1) * np.maximum(k, rows) * k
            alike = (double == double[0]) & (k <= 1.25 * k[0] + 2) & (cost <= ENTRIES)
            length = max(int(np.argmin(alike)) if not alike.all() else len(left), 1)
            yield left[:length]
            begin += length
