"""`PanelEncoder`: series to network inputs per step. One `TableEncoder` for the columns of steps,
one for the static columns (repeated at every step), and the time since each was last observed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, shorten
from ._panel import Panel
from ._panel_frames import first_steps
from ._table_encoder import Table, TableEncoder

LONGEST = 1e300  # keeps differences of any two times finite


class PanelEncoder:
    """Learn how to scale and encode series, and encode them.

    Inputs of a step, in this order: entries of its columns, static entries, indicators of both,
    and the times since.

    time_since : add, per column with gaps, the time since its last observation before this step
        and, if steps are not evenly spaced in training, the time since the last step
    others : as for `TableEncoder`; `categorical_features` may name static columns too

    >>> from imputefree.data import read_panel
    >>> encoder = PanelEncoder().fit(read_panel([[[1.0], [np.nan]], [[3.0], [2.0], [4.0]]]))
    >>> encoder.input_names
    ['0', '0 is missing', 'time since 0']
    >>> encoder.transform(read_panel([[[np.nan], [np.nan], [2.5], [2.5]]])).values.round(2)
    array([[0.  , 1.  , 0.  ],
           [0.  , 1.  , 0.69],
           [0.  , 0.  , 1.1 ],
           [0.  , 0.  , 0.69]], dtype=float32)
    """

    def __init__(
        self,
        categorical_features: str | Sequence[Any] = "auto",
        indicator: bool = True,
        numeric_encoding: str = "plain",
        time_since: bool = True,
        owner: str = "PanelEncoder",
    ) -> None:
        self.categorical_features = categorical_features
        self.indicator, self.numeric_encoding = indicator, numeric_encoding
        self.time_since, self.owner = time_since, owner

    def fit(self, panel: Panel) -> PanelEncoder:
        """Learn scales, levels, gaps and the median distance of steps from training series."""
        for_steps, for_statics = self._categories(panel)
        options = (self.indicator, self.numeric_encoding, self.owner)
        self.steps = TableEncoder(for_steps, *options).fit(panel.steps)
        self.statics = None
        if panel.statics is not None:
            self.statics = TableEncoder(for_statics, *options).fit(panel.statics)
        later = np.arange(len(panel.times)) > _starts(panel)  # all steps but the first of a series
        distances = np.minimum(_since(panel)[later], LONGEST)
        self.unit = float(np.median(distances)) if len(distances) else 1.0
        even = not len(distances) or np.ptp(distances) <= 1e-6 * self.unit
        self.uneven = bool(self.time_since and not even)
        return self

    @property
    def together(self) -> TableEncoder:
        """One encoder for a table of steps that repeats the static columns at every step."""
        table = TableEncoder(indicator=self.steps.indicator)
        table.named, table.plans = self.steps.named, list(self.steps.plans)
        if self.statics is not None:
            table.plans += self.statics.plans
        return table

    @property
    def names(self) -> list[str]:
        """The columns of the steps, then the static ones."""
        return self.together.names

    @property
    def n_columns(self) -> int:
        """Columns of the steps and static ones."""
        return self.together.n_columns

    @property
    def n_entries(self) -> int:
        """How many inputs hold entries; the rest are indicators and times."""
        return self.together.n_entries

    @property
    def input_columns(self) -> np.ndarray:
        """For each input but the times the number of the column it comes from."""
        return self.together.input_columns

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        since = [f"time since {self.steps.names[j]}" for j in self.timed_columns()]
        since += ["time since the last step"] * self.uneven
        return self.together.input_names + since

    def transform(self, panel: Panel) -> Table:
        """Encode series with the same columns -> Table of (steps of all series, D)."""
        check_statics(self.statics, panel)
        arrays = self.steps.arranged(panel.steps).arrays
        if self.statics is not None and panel.statics is not None:
            statics = self.statics.arranged(panel.statics).arrays
            arrays += [np.repeat(array, panel.lengths) for array in statics]
        table = self.together.encode(arrays)
        since = self._times(panel, table.observed)
        return Table(
            np.hstack([table.values, since]),
            np.hstack([table.observed, np.ones(since.shape, dtype=bool)]),
        )

    def timed_columns(self) -> list[int]:
        """Columns of the steps whose time since the last observation is an input."""
        return [
            j
            for j, plan in enumerate(self.steps.plans)
            if self.time_since and plan.has_gaps and plan.inputs  # a category may have no level
        ]

    def _times(self, panel: Panel, observed: np.ndarray) -> np.ndarray:
        """log(1 + time since / median distance of steps); (steps, inputs) float32."""
        entries = self.steps.input_columns[: self.steps.n_entries]
        first_input = np.searchsorted(entries, self.timed_columns())
        columns = [_since(panel, observed[:, i]) for i in first_input]
        if self.uneven:
            columns.append(np.minimum(_since(panel), LONGEST))
        since = np.empty((len(panel.times), len(columns)), dtype=np.float32)
        for i, column in enumerate(columns):
            with np.errstate(over="ignore"):
                since[:, i] = np.log1p(np.minimum(column / self.unit, LONGEST))
        return since

    def _categories(self, panel: Panel) -> tuple[Any, Any]:
        """Which of `categorical_features` are columns of steps, and which static."""
        chosen = self.categorical_features
        if isinstance(chosen, str) or panel.statics is None or not isinstance(chosen, Iterable):
            return chosen, "auto"
        chosen = list(chosen)
        static = [name for name in chosen if name in panel.statics.names]
        return [name for name in chosen if name not in static], static

    def state(self) -> dict[str, Any]:
        """Everything learned, as plain JSON types."""
        return {
            "steps": self.steps.state(),
            "statics": None if self.statics is None else self.statics.state(),
            "time_since": self.time_since,
            "unit": self.unit,
            "uneven": self.uneven,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> PanelEncoder:
        """The reverse of `state`."""
        encoder = cls(time_since=bool(state["time_since"]))
        encoder.steps = TableEncoder.from_state(state["steps"])
        encoder.statics = state["statics"] and TableEncoder.from_state(state["statics"])
        encoder.unit, encoder.uneven = float(state["unit"]), bool(state["uneven"])
        return encoder


def check_statics(statics: TableEncoder | None, panel: Panel) -> None:
    """Refuse series with static columns if training had none, and the other way round."""
    if (statics is None) != (panel.statics is None):
        fact = f"{'no ' * (panel.statics is None)}static columns are given"
        rule = f"Training had {'none' if statics is None else shorten(statics.names)}"
        raise InputError(fact, rule, "Pass static= as in training, with NaN for what is unknown")


def _starts(panel: Panel) -> np.ndarray:
    """For each step the number of its series' first step; (S,)."""
    return np.repeat(first_steps(panel.lengths), panel.lengths)


def _since(panel: Panel, observed: Any = True) -> np.ndarray:
    """Time since the last observation *before* each step, or since the series began; (S,)."""
    here = np.arange(len(panel.times))
    last = np.maximum.accumulate(np.where(observed, here, 0))
    before = np.concatenate([[0], last[:-1]])
    with np.errstate(over="ignore"):
        return panel.times - panel.times[np.maximum(before, _starts(panel))]
