"""What a model takes and gives, read from its file: the columns of a row or of a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..data import Category, Levels, Number, PanelEncoder, Plan
from ..workflow import class_labels, described, rounded

STATIC, STEPS, ROWS = "static", "steps", "rows"
MANY_LEVELS = 100  # so many are named in the schema; more are counted


@dataclass(frozen=True)
class Column:
    """One input of the model.

    Attributes
    ----------
    kind : "number" or "category"
    levels : of a category, the texts of training; rare ones count as one
    low, high : of a number, what training saw; None where the file does not say
    exact : whether `low` and `high` hold all values of training, or most of them
    missing : share of training rows without it, where the file says
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    exact: bool = False
    missing: float | None = None
    typical: Any = None
    known: Levels = field(default_factory=lambda: Levels(()), repr=False, compare=False)

    def is_beyond(self, number: float) -> bool:
        """Whether training is known to have seen no number so small or so large."""
        if not self.exact or self.low is None or self.high is None:
            return False
        return not self.low <= number <= self.high

    def described(self) -> dict[str, Any]:
        """For the schema; plain JSON."""
        found: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "category":
            found["levels"] = list(self.levels[:MANY_LEVELS])
            found["n_levels"] = len(self.levels)
        else:
            found["low"], found["high"] = self.low, self.high
            found["range_holds"] = None if self.low is None else ("all" if self.exact else "most")
        found["missing"] = self.missing
        return found


@dataclass(frozen=True)
class Time:
    """When a step was: the field of it, and whether it must be there."""

    name: str
    required: bool
    unit: float  # the usual distance of steps in training


@dataclass(frozen=True)
class Inputs:
    """What a request may hold. Of a table: `columns`; of series also `statics` and `time`."""

    columns: tuple[Column, ...]
    statics: tuple[Column, ...] = ()
    time: Time | None = None
    series: bool = False
    id: str | None = None  # the column of ids in the file the model was made from
    task: str = "regression"
    target: str | None = None
    classes: tuple[Any, ...] = ()
    per_step: bool = False
    card: str | None = None

    @classmethod
    def of(cls, model: Any) -> Inputs:
        """From a fitted model, made by the command line or saved from Python."""
        about = getattr(model, "about_", None) or {}
        gaps = (about.get("data") or {}).get("missing") or {}
        shared: dict[str, Any] = {
            "task": "classification" if is_classifier(model) else "regression",
            "target": about.get("target"),
            "classes": tuple(class_labels(model).tolist()) if is_classifier(model) else (),
            "card": getattr(model, "card_", None),
        }
        encoder = model.encoder_
        if not isinstance(encoder, PanelEncoder):
            return cls(_columns(encoder.plans, gaps), **shared)
        steps = _columns(encoder.steps.plans, gaps)
        statics = () if encoder.statics is None else _columns(encoder.statics.plans, gaps)
        layout = getattr(model, "layout_", None) or {}
        return cls(
            steps,
            statics,
            _time(layout, [one.name for one in steps], encoder),
            series=True,
            id=layout.get("id"),
            per_step=bool(model.predictor_.shape["per_step"]),
            **shared,
        )

    def example(self) -> dict[str, Any]:
        """A row, or a series of two steps, as a request may hold it; one value is missing."""
        if not self.series:
            return _typical(self.columns, blank=len(self.columns) - 1)
        steps = []
        for i in range(2):
            when = {self.time.name: round(i * self.time.unit, 6)} if self.time else {}
            steps.append(when | _typical(self.columns, blank=(-1 - i) % len(self.columns)))
        static = {STATIC: _typical(self.statics)} if self.statics else {}
        return {**static, STEPS: steps}


def _columns(plans: list[Plan], gaps: dict[str, float]) -> tuple[Column, ...]:
    return tuple(_column(plan, gaps.get(plan.name)) for plan in plans)


def _column(plan: Plan, missing: float | None) -> Column:
    told = described(plan)
    if isinstance(plan, Category):
        levels = tuple(map(str, told.known))
        typical = None
        if levels:
            shares = plan.shares
            typical = levels[int(np.argmax(shares[: len(plan.levels)]))] if shares else levels[0]
        return Column(
            plan.name, told.kind, levels, missing=missing, typical=typical, known=Levels(levels)
        )
    low, high = (float(told.known[0]), float(told.known[1])) if told.known else (None, None)
    return Column(
        plan.name,
        told.kind,
        low=low,
        high=high,
        exact=told.exact,
        missing=missing,
        typical=_typical_number(plan),
    )


def _typical_number(plan: Number) -> float | int:
    """A value near the middle that looks as those of training do: whole where they are."""
    few = plan.levels or getattr(plan, "values", None) or plan.knots
    middle = min(few, key=lambda value: abs(value - plan.center)) if few else plan.center
    found = rounded(middle)
    return int(found) if found.is_integer() and abs(found) < 1e15 else found


def _typical(columns: tuple[Column, ...], blank: int = -1) -> dict[str, Any]:
    return {one.name: None if i == blank else one.typical for i, one in enumerate(columns)}


def _time(layout: dict[str, Any], columns: list[str], encoder: PanelEncoder) -> Time | None:
    """How a step says when it was; None where training counted steps."""
    unit = encoder.unit
    if layout.get("time"):
        return Time(str(layout["time"]), True, unit)
    if layout.get("id"):  # a long frame without a column of times
        return None
    name = "time"
    while name in columns:
        name += "_"
    # Lists of frames and frames with an index of times leave only the distances they had.
    counted = unit == 1.0 and not encoder.uneven
    return Time(name, bool(layout.get("times")) or not counted, unit)
