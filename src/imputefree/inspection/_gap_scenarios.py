"""The same rows with other gaps: more of them, those of other rows, or none of a column.

To ask what the mask itself is worth to a model, the mask must change and the values must not. But a
row cannot show a value that was never measured. Hiding only (a row keeps its gaps and gets those of
another row too) leaves its own gaps visible, and with them the information they carry. So
`exchanged` returns two tables that differ only in whose gaps they have:

    cell of the row        cell of its partner    partner's gaps        own gaps
    observed               observed               own value             own value
    missing                observed               value of any row      missing
    observed               missing                missing               value of any row
    missing                missing                missing               missing

The partners are a permutation of the rows. So both tables have, column by column, the same number
of gaps, of the row's own values and of borrowed ones, which carry no information about the row; and
its own values are in the same cells. With the partner's gaps, the mask carries no information about
its row either. So the difference between the scores with a row's own gaps and with its partner's is
due to the mask.

In series, a value that should be seen at a step where it was not measured is taken from the nearest
step where it was; only a column that was never measured in a series is borrowed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..data import Panel, first_steps
from ..missingness import make_missing, put_gaps
from ._model_rows import ModelRows, read_rows, take_entries


@dataclass(frozen=True, eq=False)
class Cells:
    """A table, the steps of series, or their static columns; r rows of d columns.

    observed : (r, d) bool
    lengths : (n,) rows of each series; 1 for tables and static columns
    """

    observed: np.ndarray
    lengths: np.ndarray

    def nearest(self, observed: np.ndarray) -> np.ndarray:
        """The nearest row of the same series where a column is observed, -1 if none; (r, d).

        >>> seen = np.array([[True], [False], [False], [True], [False]])
        >>> Cells(seen, np.array([4, 1])).nearest(seen).ravel().tolist()
        [0, 0, 3, 3, -1]
        """
        end = np.cumsum(self.lengths)
        first, last = (np.repeat(at, self.lengths)[:, None] for at in (end - self.lengths, end - 1))
        row, far = np.arange(len(observed))[:, None], 4 * len(observed)
        before = np.maximum.accumulate(np.where(observed, row, -far))
        after = np.minimum.accumulate(np.where(observed, row, far)[::-1])[::-1]
        before = np.where(before < first, -far, before)
        after = np.where(after > last, far, after)
        best = np.where(row - before <= after - row, before, after)
        return np.where((best < 0) | (best >= far), -1, best)

    def borrowed(self, rng: np.random.Generator) -> np.ndarray:
        """For each cell a random row that has its column, if any does; (r, d)."""
        source = np.zeros(self.observed.shape, dtype=np.int64)
        for j, seen in enumerate(self.observed.T):
            pool = np.flatnonzero(seen)
            if len(pool):
                source[:, j] = rng.choice(pool, len(source))
        return source


class GapScenarios:
    """The same rows with other gaps; every draw comes from `rng`.

    >>> rows = read_rows(np.array([[1.0, np.nan], [3.0, 4.0]]))
    >>> scenarios = GapScenarios(rows, np.random.default_rng(0))
    >>> scenarios.without(0).X
    array([[nan, nan],
           [nan,  4.]])
    >>> partners, own = scenarios.exchanged()
    >>> partners.X, own.X                         # the only 4 can be borrowed from is row 1
    (array([[ 1.,  4.],
           [ 3., nan]]), array([[ 1., nan],
           [ 3.,  4.]]))
    """

    def __init__(self, rows: ModelRows, rng: np.random.Generator) -> None:
        self.rows, self.rng, self.cells = rows, rng, _cells(rows)

    def without(self, column: int) -> ModelRows:
        """The rows without this column."""
        kept = np.ones(self.rows.observed.shape, dtype=bool)
        kept[:, column] = False
        return self.rows.hidden(kept)

    def more(self, share: float) -> ModelRows:
        """The rows without this share of the observed values, chosen at random."""
        shown = []
        for cells in self.cells:
            values = np.where(cells.observed, 0.0, np.nan)
            rate = 1 - (1 - share) * cells.observed.mean()
            shown.append(make_missing("mcar", values, rate, self.rng).observed)
        return self._rebuilt(shown)

    def with_gaps_of(self, donors: np.ndarray) -> ModelRows:
        """Each row also has the gaps of another; donors (n,)."""
        partners = self._partner_rows(donors)
        return self._rebuilt(
            [
                cells.observed & cells.observed[of]
                for cells, of in zip(self.cells, partners, strict=True)
            ]
        )

    def exchanged(self) -> tuple[ModelRows, ModelRows]:
        """The rows with the gaps of other rows, and with their own; see above."""
        order = self.rng.permutation(len(self.rows))
        partners = np.empty_like(order)
        partners[order] = np.roll(order, 1)  # nobody is their own partner
        theirs, sources, own_sources = [], [], []
        for cells, of in zip(self.cells, self._partner_rows(partners), strict=True):
            shown, borrowed = cells.observed[of], cells.borrowed(self.rng)
            nearest = cells.nearest(cells.observed)
            place = cells.nearest(shown)  # where the partner's gaps show a value
            kept = np.take_along_axis(nearest, np.maximum(place, 0), 0)
            theirs.append(shown & cells.observed.any(0))
            sources.append(np.where(nearest >= 0, nearest, borrowed))
            own_sources.append(np.where((place >= 0) & (kept >= 0), kept, borrowed))
        seen = [cells.observed for cells in self.cells]
        return self._rebuilt(theirs, sources), self._rebuilt(seen, own_sources)

    def _partner_rows(self, partners: np.ndarray) -> list[np.ndarray]:
        """The partner of each row of each block of cells."""
        if isinstance(self.rows.X, Panel):
            return [self.rows.X.partner_steps(partners), partners][: len(self.cells)]
        return [partners]

    def _rebuilt(self, shown: list[np.ndarray], sources: list[np.ndarray] | None = None) -> Any:
        """The rows with these cells shown, each with the value that its source row has."""
        X = self.rows.X
        if not isinstance(X, Panel):
            moved = X if sources is None else _moved(X, sources[0])
            return ModelRows(put_gaps(moved, shown[0]), self.rows.names, shown[0])
        blocks: list[Any] = [X.steps, X.statics][: len(shown)]
        if sources is not None:
            blocks = [_moved(b, s) for b, s in zip(blocks, sources, strict=True)]
        hidden = [block.hidden(seen) for block, seen in zip(blocks, shown, strict=True)]
        panel = replace(X, steps=hidden[0], statics=hidden[1] if len(hidden) > 1 else None)
        return read_rows(panel)


def share_missing(rows: ModelRows) -> np.ndarray:
    """Share of the entries of each row, or series, that are missing; (n,)."""
    gaps, blocks = np.zeros(len(rows)), _cells(rows)
    for cells in blocks:
        gaps += np.add.reduceat((~cells.observed).sum(1), first_steps(cells.lengths))
    return gaps / sum(cells.lengths * cells.observed.shape[1] for cells in blocks)


def _cells(rows: ModelRows) -> list[Cells]:
    """The blocks of cells: a table, or the steps of series and their static columns."""
    ones = np.ones(len(rows), dtype=np.int64)
    if not isinstance(rows.X, Panel):
        return [Cells(rows.observed, ones)]
    cells = [Cells(rows.X.steps.observed, rows.X.lengths)]
    if rows.X.statics is not None:
        cells.append(Cells(rows.X.statics.observed, ones))
    return cells


def _moved(X: Any, source: np.ndarray) -> Any:
    """The same table, with its index, whose cell (i, j) is that of row source[i, j]."""
    moved = take_entries(X, source)
    return moved.set_axis(X.index) if isinstance(X, pd.DataFrame) else moved
