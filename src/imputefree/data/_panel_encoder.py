"""From series to what a network reads: `PanelEncoder`, a `TableEncoder` for steps and more."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, UnseenCategoryWarning, shorten
from ._columns import Columns
from ._encoders import Encoder, Table, TableEncoder
from ._outside import Outside
from ._panel import Panel
from ._summaries import EXTENT, summarise, without_gap_summaries

if TYPE_CHECKING:
    from torch import Tensor

    from ._expansion import Expansion

LONGEST = 1e300  # keeps differences of any two times finite


class PanelEncoder(Encoder):
    """Learn how to scale and encode series, and encode them.

    Inputs of a step, in this order: entries of its columns, static entries, indicators of both,
    and the times since.

    time_since : add, per column with gaps, the time since its last observation before this step
        and, if steps are not evenly spaced in training, the time since the last step
    summary : numeric encoding of a summary of each series (see `summarise`), or None for none
    tells_gaps : whether summaries count observations and say when there were any
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
        summary: str | None = None,
        owner: str = "PanelEncoder",
        tells_gaps: bool = True,
    ) -> None:
        self.categorical_features = categorical_features
        self.indicator, self.numeric_encoding = indicator, numeric_encoding
        self.time_since, self.summary, self.owner = time_since, summary, owner
        self.tells_gaps = tells_gaps

    def fit(self, panel: Panel) -> PanelEncoder:
        """Learn scales, levels, gaps and the median distance of steps from training series."""
        for_steps, for_statics = self._categories(panel)
        options = (self.indicator, self.numeric_encoding, self.owner)
        self.steps = TableEncoder(for_steps, *options).fit(panel.steps)
        self.statics = None
        if panel.statics is not None:
            self.statics = TableEncoder(for_statics, *options).fit(panel.statics)
        self._join_plans()
        self.summaries = None
        if self.summary is not None:
            options = (self.indicator, self.summary, self.owner)
            self.summaries = TableEncoder("auto", *options, fine=EXTENT)
            self.summaries.fit(self.summarised(panel))
        later = np.arange(len(panel.times)) > panel.begins  # all steps but the first of a series
        distances = np.minimum(_since(panel)[later], LONGEST)
        self.unit = float(np.median(distances)) if len(distances) else 1.0
        even = not len(distances) or np.ptp(distances) <= 1e-6 * self.unit
        self.uneven = bool(self.time_since and not even)
        return self

    def _join_plans(self) -> None:
        """Static columns are encoded like those of the steps, repeated at every step."""
        self.__dict__.pop("expansion", None)
        self.named, self.plans = self.steps.named, list(self.steps.plans)
        if self.statics is not None:
            self.plans += self.statics.plans

    @property
    def input_names(self) -> list[str]:
        """One name per network input, in order."""
        since = [f"time since {self.steps.names[j]}" for j in self.timed_columns()]
        since += ["time since the last step"] * self.uneven
        return super().input_names + since

    def count_outside(self, panel: Panel, outside: Outside) -> None:
        """Count the values, of steps and of static columns, that are outside those of training."""
        self.steps.count_outside(panel.steps, outside)
        if self.statics is not None and panel.statics is not None:
            self.statics.count_outside(panel.statics, outside)

    def known_columns(self) -> tuple[list[str] | None, list[str]]:
        """Names of the columns of a step (None if training had none), and of static columns."""
        names = self.steps.names if self.steps.named else None
        return names, self.statics.names if self.statics else []

    def summarised(self, panel: Panel) -> Columns:
        """Summaries of series (see `summarise`), from columns and levels that training knew."""
        check_statics(self.statics, panel)
        statics = None
        if self.statics is not None and panel.statics is not None:
            statics = self.statics.known(panel.statics)
        panel = replace(panel, steps=self.steps.known(panel.steps), statics=statics)
        if not self.time_since:  # times do not matter
            panel = replace(panel, times=np.arange(len(panel.times), dtype=np.float64))
        table = summarise(panel)
        if not self.tells_gaps:
            table = without_gap_summaries(table)
        known = getattr(self.summaries, "plans", None)  # fewer in files of earlier versions
        return table if known is None else table.pick([plan.name for plan in known])

    @cached_property
    def expansion(self) -> Expansion:
        """How the columns of a step become inputs; the times since are inputs as they are."""
        from ._expansion import Expansion  # imports torch

        n_times = len(self.timed_columns()) + self.uneven
        return Expansion(self.plans, self._with_indicator(), n_times)

    def parts(self, panel: Panel) -> Tensor:
        """What networks keep of series; -> (steps of all series, M) float32, see `Expansion`."""
        import torch

        check_statics(self.statics, panel)
        codes = self.steps.codes(panel.steps)
        since = self._times(panel, ~np.isnan(codes))
        if self.statics is not None and panel.statics is not None:
            statics = self.statics.codes(panel.statics)
            codes = np.hstack([codes, np.repeat(statics, panel.lengths, axis=0)])
        return torch.cat([self.expansion.parts(codes), torch.from_numpy(since)], 1)

    def transform(self, panel: Panel) -> Table:
        """Encode series with the same columns -> Table of (steps of all series, D)."""
        summaries, parts = None, self.summary_parts(panel)
        if self.summaries is not None and parts is not None:
            summaries = self.summaries.expansion.inputs(parts).numpy()
        return Table.of(self.expansion, self.parts(panel), summaries)

    def summary_parts(self, panel: Panel) -> Tensor | None:
        """What networks keep of summaries; (series, ·) float32, or None if there are none."""
        if self.summaries is None:
            return None
        with warnings.catch_warnings():  # a level may be known, but never as the first of a series
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            return self.summaries.parts(self.summarised(panel))[:]

    def timed_columns(self) -> list[int]:
        """Columns of the steps whose time since the last observation is an input."""
        return [
            j
            for j, plan in enumerate(self.steps.plans)
            # a category may have no level
            if self.time_since and plan.has_gaps and any(plan.inputs.values())
        ]

    def _times(self, panel: Panel, observed: np.ndarray) -> np.ndarray:
        """log(1 + time since / median distance of steps); observed (steps, C) -> float32."""
        columns = [_since(panel, observed[:, j]) for j in self.timed_columns()]
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

    def nothing(self) -> Panel:
        """A series of one step of which nothing is known."""
        statics = None if self.statics is None else self.statics.nothing()
        first = np.zeros(1, dtype=np.int64)
        return Panel(
            steps=self.steps.nothing(),
            lengths=first + 1,
            times=first.astype(np.float64),
            statics=statics,
            ids=first.astype(object),
            keyed=False,
            source=first,
            apart={},
        )

    def state(self) -> dict[str, Any]:
        """Everything learned, as plain JSON types."""
        return {
            "steps": self.steps.state(),
            "statics": None if self.statics is None else self.statics.state(),
            "summaries": None if self.summaries is None else self.summaries.state(),
            "time_since": self.time_since,
            "unit": self.unit,
            "uneven": self.uneven,
        } | ({} if self.tells_gaps else {"tells_gaps": False})

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> PanelEncoder:
        """The reverse of `state`."""
        tells_gaps = bool(state.get("tells_gaps", True))
        encoder = cls(time_since=bool(state["time_since"]), tells_gaps=tells_gaps)
        encoder.steps = TableEncoder.from_state(state["steps"])
        encoder.indicator = encoder.steps.indicator
        encoder.statics = state["statics"] and TableEncoder.from_state(state["statics"])
        encoder.summaries = state["summaries"] and TableEncoder.from_state(state["summaries"])
        encoder._join_plans()
        encoder.unit, encoder.uneven = float(state["unit"]), bool(state["uneven"])
        return encoder


def check_statics(statics: TableEncoder | None, panel: Panel) -> None:
    """Refuse series with static columns if training had none, and the other way round."""
    if (statics is None) != (panel.statics is None):
        fact = f"{'no ' * (panel.statics is None)}static columns are given"
        rule = f"Training had {'none' if statics is None else shorten(statics.names)}"
        raise InputError(fact, rule, "Pass static= as in training, with NaN for what is unknown")


def _since(panel: Panel, observed: Any = True) -> np.ndarray:
    """Time since the last observation *before* each step, or since the series began; (S,)."""
    step = np.arange(len(panel.times))
    last = np.maximum.accumulate(np.where(observed, step, 0))
    before = np.concatenate([[0], last[:-1]])
    with np.errstate(over="ignore"):
        return panel.times - panel.times[np.maximum(before, panel.begins)]
