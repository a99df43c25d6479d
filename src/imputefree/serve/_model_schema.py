"""What a model takes and predicts, read from its file: the answer of /schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, PrivateAttr
from sklearn.base import is_classifier

from .. import __version__
from ..data import GAP_WORDS, Category, Levels, Number, PanelEncoder, Plan, beyond
from ..estimators import predicts_steps
from ..io import CLOCKS, PARTS, YES_NO, ColumnReading
from ..workflow import class_labels, reading_of
from ._limits import Limits

STATIC, STEPS, ROWS = "static", "steps", "rows"
EXAMPLE_STEPS = 6
NAMED_LEVELS = 100  # levels named in the schema; more are only counted


class DatePart(BaseModel):
    """A number that is made of a date: the page has one field for all parts of a date.

    name : the column of dates
    part : "days" (since the day `since`), "month" (1 is January) or "weekday" (0 is Monday)
    """

    name: str
    part: str
    since: str


class Column(BaseModel):
    """One column of the model.

    levels : for a category, the first levels of training; `n_levels` counts all
    low, high : for a number, the range in training; None if the file does not say
    values : for a number, all values of training, if they are few
    unit : what its numbers are, to be read after them: "mmHg", or "days since 2024-01-31"
    date : of a part of a date, how to compute it: see `DatePart`
    truth : whether its numbers are 1 for yes and 0 for no
    missing : share of training rows without it, if the file says
    """

    name: str
    kind: Literal["number", "category"]
    levels: list[str] | None = None
    n_levels: int | None = None
    low: float | None = None
    high: float | None = None
    values: list[float] | None = None
    unit: str = ""
    truth: bool = False
    date: DatePart | None = None
    missing: float | None = None
    _known: Levels | None = PrivateAttr(None)
    _usual: list[Any] = PrivateAttr([None] * 3)  # below the middle, in it, above it

    @classmethod
    def of(cls, plan: Plan, missing: float | None, unit: str) -> Column:
        """From the column of an encoder."""
        column: Column
        if isinstance(plan, Category):
            levels = plan.all_levels
            column = cls(name=plan.name, kind="category", missing=missing)
            column.levels, column.n_levels = levels[:NAMED_LEVELS], len(levels)
            column._known = Levels(levels)
            common = int(np.argmax(plan.shares[: len(plan.levels)])) if plan.shares else 0
            column._usual = [levels[common] if levels else None] * 3
        else:
            column = cls(name=plan.name, kind="number", missing=missing)
            column.low, column.high = plan.low, plan.high
            column.truth = unit == YES_NO
            column.unit = "" if column.truth else unit
            column._usual = _usual_numbers(plan)
            if plan.has_all_values:
                column.values = plan.values
        return column

    def beyond(self, number: float) -> float:
        """How far outside the range of training, in widths of that range; 0 inside."""
        if self.low is None or self.high is None:
            return 0.0
        return float(beyond(number, self.low, self.high))

    @property
    def range_text(self) -> str:
        """The range in words: "0 to 8"."""
        return f"{self.low:g} to {self.high:g}"


class Time(BaseModel):
    """The field of a step that says when it was; unit: the usual distance in training."""

    name: str
    required: bool
    unit: float


class Series(BaseModel):
    """What is special about series. id: the id column of the file the model was trained on."""

    id: str | None
    time: Time | None
    static: list[Column]
    per_step: bool


class Training(BaseModel):
    """What the model learned from: rows or series by class, or the mean of the numbers."""

    rows: int
    classes: dict[str, int] | None = None
    mean: float | None = None


class Schema(BaseModel):
    """What a request may hold, and what is predicted.

    limits : see `Limits`; what is beyond is refused
    missing_words : what means a missing number in a file, for the page
    """

    task: Literal["classification", "regression"]
    target: str | None
    classes: list[Any] | None
    columns: list[Column]
    series: Series | None
    example: dict[str, Any]
    limits: dict[str, float]
    card: str | None
    training: Training | None
    missing_words: list[str] = sorted(GAP_WORDS)
    version: str = __version__

    @classmethod
    def of(cls, model: Any, limits: Limits) -> Schema:
        """From a fitted model, made by the command line or saved from Python."""
        about = getattr(model, "about_", None) or {}
        gaps = (about.get("data") or {}).get("missing") or {}
        encoder, series, readings = model.encoder_, None, reading_of(model)
        units, dates = _units(readings), _date_parts(readings)

        def columns(plans: list[Plan]) -> list[Column]:
            described = [Column.of(p, gaps.get(p.name), units.get(p.name, "")) for p in plans]
            for column in described:
                column.date = dates.get(column.name)
            return described

        if isinstance(encoder, PanelEncoder):
            layout = getattr(model, "layout_", None) or {}
            series = Series(
                id=layout.get("id"),
                time=_time(layout, encoder),
                static=columns(encoder.statics.plans if encoder.statics else []),
                per_step=predicts_steps(model),
            )
            encoder = encoder.steps
        schema = cls(
            task="classification" if is_classifier(model) else "regression",
            target=about.get("target"),
            classes=class_labels(model).tolist() if is_classifier(model) else None,
            columns=columns(encoder.plans),
            series=series,
            example={},
            limits=asdict(limits),
            card=getattr(model, "card_", None),
            training=_training(about.get("data") or {}),
        )
        schema.example = schema._example()
        return schema

    @property
    def unit(self) -> str:
        """What is predicted, one by one: "rows" or "series"."""
        return "rows" if self.series is None else "series"

    def _example(self) -> dict[str, Any]:
        """A row, or a series of a few steps, as a request may hold it; some values are missing."""
        if self.series is None:
            return _typical(self.columns) | {self.columns[-1].name: None}
        time, steps = self.series.time, []
        for i in range(EXAMPLE_STEPS):
            when = {time.name: round(i * time.unit, 6)} if time else {}
            values = {
                column.name: None if (i + 2 * j) % 4 == 1 else column._usual[(i + j) % 3]
                for j, column in enumerate(self.columns)
            }
            steps.append(when | values)
        static = {STATIC: _typical(self.series.static)} if self.series.static else {}
        return {**static, STEPS: steps}


def _units(readings: Mapping[str, ColumnReading]) -> dict[str, str]:
    """By input, what its numbers are."""
    units = {
        name: CLOCKS.get(reading.format) or reading.unit or reading.format
        for name, reading in readings.items()
    }
    for name, reading in readings.items():
        counted = (f"days since {reading.since}", "(1 is January)", "(0 is Monday)")
        of_date = dict(zip((f"{name}: {part}" for part in PARTS), counted, strict=True))
        units |= {part: of_date.get(part, "") for part in reading.parts}
    return units


def _date_parts(readings: Mapping[str, ColumnReading]) -> dict[str, DatePart]:
    """By input, the date that it is a part of."""
    return {
        f"{name}: {part}": DatePart(name=name, part=part, since=reading.since)
        for name, reading in readings.items()
        for part in PARTS
        if f"{name}: {part}" in reading.parts
    }


def _typical(columns: list[Column]) -> dict[str, Any]:
    return {column.name: column._usual[1] for column in columns}


def _training(data: dict[str, Any]) -> Training | None:
    """The target in training, as far as the file says."""
    target, rows = data.get("target") or {}, data.get("series") or data.get("rows")
    if not target or not rows:
        return None
    return Training(rows=rows, classes=target.get("classes"), mean=target.get("mean"))


def _usual_numbers(plan: Number) -> list[float | int]:
    """Three values near the middle, as in training: integers if those are integers."""
    few = plan.levels or plan.values or plan.knots
    middle = min(few, key=lambda value: abs(value - plan.center)) if few else plan.center
    around = plan.values[3:6] if len(plan.values) > 6 else [middle]
    usual = (float(f"{value:.4g}") for value in (around[0], middle, around[-1]))  # for display
    return [int(x) if x.is_integer() and abs(x) < 1e15 else x for x in usual]


def _time(layout: dict[str, Any], encoder: PanelEncoder) -> Time | None:
    """How a step says when it was; None if training counted steps."""
    if layout.get("time"):
        return Time(name=str(layout["time"]), required=True, unit=encoder.unit)
    if layout.get("id"):  # a long frame without a time column
        return None
    name = "time"
    while name in encoder.steps.names:
        name += "_"
    # Of lists of frames and frames indexed by time, only the distances are known.
    counted = encoder.unit == 1.0 and not encoder.uneven
    required = bool(layout.get("times")) or not counted
    return Time(name=name, required=required, unit=encoder.unit)
