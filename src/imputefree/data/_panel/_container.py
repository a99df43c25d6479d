"""What all formats of series become: steps, one series after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._columns import Columns


def first_steps(lengths: np.ndarray) -> np.ndarray:
    """The number of each series' first step; (n,) -> (n,)."""
    return np.cumsum(lengths) - lengths


@dataclass(frozen=True)
class Panel:
    """Series one after the other, each in the order of time: n series, S steps in all.

    Attributes
    ----------
    steps : one row a step
    lengths : (n,) int64, steps of each series, at least 1
    times : (S,) float64, strictly increasing within a series; dates are hours since the first
        step of their series, timedeltas are hours, numbers stay what they are
    statics : one row a series, or None
    ids : (n,) object, from the frame, or 0 … n-1
    keyed : whether the ids came with the data rather than by position
    source : (S,) int64, the row of the input each step came from
    apart : columns that are not values, (S,) object each
    by_row : whether a row of the input is a step; not so for (variable, value) pairs
    width : steps along the time axis of the array, or of the longest series
    starts : (n,) datetime64, what the times of each series count from; None without dates

    Examples
    --------
    >>> import pandas as pd
    >>> from imputefree.data import Layout, read_panel
    >>> frame = pd.DataFrame(
    ...     {"who": ["b", "a", "b"], "hour": [2, 0, 1], "pulse": [80, None, 70]}
    ... )
    >>> panel = read_panel(frame, Layout(id="who", time="hour"))
    >>> panel.ids.tolist(), panel.lengths.tolist(), panel.times.tolist()
    (['b', 'a'], [2, 1], [1.0, 2.0, 0.0])
    >>> panel.steps.names, panel.steps.arrays
    (['pulse'], [array([70., 80., nan])])
    """

    steps: Columns
    lengths: np.ndarray
    times: np.ndarray
    statics: Columns | None
    ids: np.ndarray
    keyed: bool
    source: np.ndarray
    apart: dict[str, np.ndarray]
    by_row: bool = True
    width: int = 0
    starts: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of series."""
        return len(self.lengths)

    @property
    def columns(self) -> Columns:
        """The columns of the steps; of a table, the table itself."""
        return self.steps

    @property
    def series(self) -> np.ndarray:
        """For each step the number of its series; shape (S,)."""
        return np.repeat(np.arange(self.n_rows), self.lengths)

    def places(self, kept: np.ndarray) -> np.ndarray:
        """The numbers of the steps of some series, series after series; kept (k,) -> (steps,)."""
        lengths = self.lengths[kept]
        ahead = first_steps(lengths)  # steps of the new panel before each series
        return np.repeat(first_steps(self.lengths)[kept] - ahead, lengths) + np.arange(
            lengths.sum()
        )

    def rows(self, kept: np.ndarray) -> Panel:
        """These series only, in that order; kept (k,) holds their numbers."""
        kept = np.arange(self.n_rows)[kept]
        steps = self.places(kept)
        return replace(
            self,
            steps=self.steps.rows(steps),
            lengths=self.lengths[kept],
            times=self.times[steps],
            statics=None if self.statics is None else self.statics.rows(kept),
            ids=self.ids[kept],
            source=self.source[steps],
            apart={name: values[steps] for name, values in self.apart.items()},
            starts=None if self.starts is None else self.starts[kept],
        )
