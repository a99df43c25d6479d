"""`PanelEncoder`: series to network inputs per step. One `TableEncoder` for the columns of steps,
one for the static columns (repeated at every step), and the time since each was last observed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ._panel import Panel
from ._panel_frames import first_steps
from ._table_encoder import Table, TableEncoder

LONGEST = 1e300  # keeps differences of any two times finite


class PanelEncoder:
    """Learn how to scale and encode series, and encode them.

    Inputs of a step, in this order: entries of its columns, static entries, indicators of both,
    and the times since.

    Parameters
    ----------
    time_since : add, per column with gaps, the time since its last observation before this step
        and, if steps are not evenly spaced in training, the time since the last step
    others : as for `TableEncoder`; `categorical_features` may name static columns too

    Examples
    --------
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
        distances = _since_last_step(panel)[_within(panel)]
        self.unit = float(np.median(distances)) if len(distances) else 1.0
        even = not len(distances) or np.ptp(distances) <= 1e-6 * self.unit
        self.uneven = bool(self.time_since and not even)
        return self

    @property
    def _parts(self) -> list[TableEncoder]:
        return [self.steps] if self.statics is None else [self.steps, self.statics]

    @property
    def names(self) -> list[str]:
        """The columns of the steps, then the static ones."""
        return [name for part in self._parts for name in part.names]

    @property
    def n_columns(self) -> int:
        """Columns of the steps and static ones."""
        return sum(part.n_columns for part in self._parts)

    @property
    def n_entries(self) -> int:
        """How many inputs hold entries; the rest are indicators and times."""
        return sum(part.n_entries for part in self._parts)

    @property
    def input_columns(self) -> np.ndarray:
        """For each input but the times the number of the column it comes from."""
        offsets = [0, self.steps.n_columns]
        columns = [part.input_columns + n for part, n in zip(self._parts, offsets, strict=False)]
        return self._entries_first(columns)

    def _entries_first(self, arrays: list[np.ndarray], *more: np.ndarray) -> np.ndarray:
        """Per part its inputs along the last axis -> entries of all, then indicators of all."""
        cuts = [part.n_entries for part in self._parts]
        entries = [array[..., :n] for array, n in zip(arrays, cuts, strict=True)]
        gaps = [array[..., n:] for array, n in zip(arrays, cuts, strict=True)]
        return np.concatenate([*entries, *gaps, *more], axis=-1)

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        entries = [name for part in self._parts for name in part.input_names[: part.n_entries]]
        gaps = [name for part in self._parts for name in part.input_names[part.n_entries :]]
        since = [f"time since {self.steps.plans[j].name}" for j in self.timed_columns()]
        return entries + gaps + since + ["time since the last step"] * self.uneven

    def transform(self, panel: Panel) -> Table:
        """Encode series with the same columns -> Table of (steps of all series, D)."""
        rule = "Series must have the columns of training"
        if self.statics is None and panel.statics is not None:
            raise InputError(
                f"static columns are given ({panel.statics.names[0]!r}, …), but training had none",
                rule,
                "Leave static= out, or train with it",
            )
        steps = self.steps.transform(panel.steps)
        values, observed = [steps.values], [steps.observed]
        if self.statics is not None:
            if panel.statics is None:
                names = ", ".join(repr(plan.name) for plan in self.statics.plans[:6])
                raise InputError(
                    f"no static columns are given, but training had {names}",
                    rule,
                    "Pass a Panel with static=, with NaN for what is unknown",
                )
            statics = self.statics.transform(panel.statics)
            values.append(np.repeat(statics.values, panel.lengths, axis=0))
            observed.append(np.repeat(statics.observed, panel.lengths, axis=0))
        since = self._times(panel, steps.observed)
        return Table(
            self._entries_first(values, since),
            self._entries_first(observed, np.ones(since.shape, dtype=bool)),
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
        first_input = np.searchsorted(
            self.steps.input_columns[: self.steps.n_entries], self.timed_columns()
        )
        starts = _starts(panel)
        columns = [_since_observed(panel.times, starts, observed[:, i]) for i in first_input]
        if self.uneven:
            columns.append(_since_last_step(panel))
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


def _starts(panel: Panel) -> np.ndarray:
    """For each step the number of its series' first step; (S,)."""
    return np.repeat(first_steps(panel.lengths), panel.lengths)


def _within(panel: Panel) -> np.ndarray:
    """True for all steps but the first of each series; (S,)."""
    return np.arange(len(panel.times)) > _starts(panel)


def _since_last_step(panel: Panel) -> np.ndarray:
    """Time since the step before, 0 at a series' first; (S,)."""
    with np.errstate(over="ignore"):
        gap = np.diff(panel.times, prepend=panel.times[:1])
    return np.where(_within(panel), np.minimum(gap, LONGEST), 0.0)


def _since_observed(times: np.ndarray, starts: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Time since the last observation *before* each step, or since the series began; (S,)."""
    here = np.arange(len(observed))
    last = np.maximum.accumulate(np.where(observed, here, 0))
    before = np.concatenate([[0], last[:-1]])
    with np.errstate(over="ignore"):
        return times - times[np.maximum(before, starts)]
