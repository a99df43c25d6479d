"""A loaded model that answers requests: predictions, explanations, and how familiar an input is.

The model is only read, so requests may run in several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from ..data import FAR, Columns, Panel
from ..errors import ImputefreeError, ParameterError, shorten
from ..inspection import (
    USUAL_COVERAGE,
    NextMeasurements,
    SeriesExplanation,
    explain_rows,
    plain,
    restore_conformal,
)
from ._limits import Limits, RequestError
from ._model_schema import STEPS, Column, Schema
from ._requests import RequestReader
from ._uploads import read_upload

MOST_STEPS = 300_000  # removed values times steps: about two seconds; beyond, whole columns only


class Served:
    """Answers /predict, /explain and /read, from the bytes of a body to plain JSON.

    All methods may run in several threads at a time.

    rank : what says what to measure next in a row, if it is not to be the largest change
    """

    def __init__(
        self,
        model: Any,
        limits: Limits | None = None,
        rank: Callable[[Any], NextMeasurements] | None = None,
    ) -> None:
        self.model, self.rank, self.limits = model, rank, limits or Limits()
        self.schema = Schema.of(model, self.limits)
        self.reader = RequestReader(self.schema, self.limits.rows)
        self.conformal = restore_conformal(model)

    def predict(self, body: bytes) -> dict[str, Any]:
        """Predict one row or many."""
        X, notes = self.reader.read(body)
        return {"predictions": self._predictions(X), "notes": notes}

    def explain(self, body: bytes, of: str | None = None) -> dict[str, Any]:
        """Predict one row and say why; `of`: the class whose probability is explained."""
        X, notes = self.reader.read(body)
        if X.n_rows > 1:
            fact, rule = f"the body has {X.n_rows} rows", "One row is explained at a time"
            raise RequestError(422, fact, rule, "Send them one by one", "rows")
        prediction, single = self._predictions(X)[0], True
        if isinstance(X, Panel):
            values = sum(int(pd.notna(array).sum()) for array in X.steps.arrays)
            single = values * len(X.times) <= MOST_STEPS
        try:
            why = explain_rows(self.model, X, of=of, single=single)
        except ParameterError as error:  # no other parameter comes from the request
            raise _refused(error, "of") from None
        columns = _explained_columns(why)
        best = why.best_next()[0]
        best = best and {"name": best.pop("column"), **best}
        if self.rank is not None:
            best = _add_gains(columns, self.rank(X))
        label = None
        if why.of is not None and self.schema.classes is not None:
            label = self.schema.classes[self.model.classes_.tolist().index(why.of[0])]
        answer = {
            "prediction": prediction,
            "of": label,
            "explained": plain(why.prediction[0]),
            "columns": columns,
            "next": best,
            "familiarity": familiarity(X, self.schema, label),
            "notes": notes,
        }
        if isinstance(why, SeriesExplanation):
            names = why.columns[: len(self.schema.columns)]
            answer["steps"] = why.removal and [
                {name: float(x) for name, x in zip(names, step, strict=False) if np.isfinite(x)}
                for step in why.removal[0]
            ]
        return answer

    def read(self, content: bytes, name: str, sheet: str | None = None) -> dict[str, Any]:
        """Read an uploaded file; nothing is predicted and nothing is kept."""
        return read_upload(self.model, self.schema, content, name, self.limits, sheet)

    def _predictions(self, X: Any) -> list[dict[str, Any]]:
        classes, series = self.schema.classes, self.schema.series
        try:
            predicted = (self.model.predict_proba if classes else self.model.predict)(X)
        except ImputefreeError as error:  # what the checks of a request let through
            raise _refused(error) from None
        if series is not None and series.per_step:
            return [{STEPS: list(map(self._prediction, steps))} for steps in predicted]
        answers = list(map(self._prediction, predicted))
        if self.conformal is not None:
            for answer, within in zip(answers, self._within(X), strict=True):
                answer["within"] = {"coverage": USUAL_COVERAGE, **within}
        return answers

    def _within(self, X: Any) -> list[dict[str, Any]]:
        """The interval of each row, null where there is no bound, or its set of classes."""
        model: Any = self.conformal
        if self.schema.classes is None:
            ends = model.predict_interval(X, USUAL_COVERAGE)
            return [{"low": plain(low), "high": plain(high)} for low, high in ends]
        sets = model.predict_set(X, USUAL_COVERAGE)
        return [{"set": list(compress(self.schema.classes, members))} for members in sets]

    def _prediction(self, predicted: Any) -> dict[str, Any]:
        """A number, or a class and all probabilities."""
        if not np.isfinite(predicted).all():
            rule = "Values must be of a size that training could have seen"
            remedy = "Check the largest values; GET /schema has the ranges of training"
            raise RequestError(422, "the prediction is not a finite number", rule, remedy)
        classes = self.schema.classes
        if classes is None:
            return {"prediction": float(predicted)}
        shares = map(float, predicted)
        return {
            "prediction": classes[int(np.argmax(predicted))],
            "probability": dict(zip(map(str, classes), shares, strict=True)),
        }


def _explained_columns(why: Any) -> list[dict[str, Any]]:
    """What each column of the one row contributes, and what a missing one could change."""
    effect, importance = why.by_column()[0], why.importance_by_column()
    reach = {"change": why.next_value, "low": why.next_low, "high": why.next_high}
    return [
        {
            "name": name,
            "effect": plain(effect[j]),
            "next": None
            if np.isnan(why.next_value[0, j])
            else {key: float(values[0, j]) for key, values in reach.items()},
            "importance": None if importance is None else plain(importance[0, j]),
        }
        for j, name in enumerate(why.columns)
    ]


def _add_gains(columns: list[dict[str, Any]], ranked: NextMeasurements) -> dict[str, Any] | None:
    """Add gain and cost to what columns could change; returns the best one to measure."""
    places = {name: g for g, name in enumerate(ranked.measurements)}
    for column in columns:
        if column["next"] is not None:
            g = places[column["name"]]
            cost = float(ranked.cost[g])
            column["next"]["gain"] = float(ranked.gain[0, g])
            column["next"]["cost"] = cost if np.isfinite(cost) else None
    by_name = {column["name"]: column["next"] for column in columns}
    return next(({"name": name, **by_name[name]} for name in ranked.best()[0]), None)


def _refused(error: ImputefreeError, field: str | None = None) -> RequestError:
    return RequestError(422, error.fact, error.rule, error.remedy, field)


FEW = 0.5  # of the values that a row of training usually has


def familiarity(X: Columns | Panel, schema: Schema, of: Any = None) -> dict[str, Any]:
    """How similar one row, or series, is to those of training.

    Returns plain JSON: `level` is "nothing" (no value is given), "outside" (a number lies outside
    the range of training), "few" (less than half as many values as usual) or "like"; `sentence`
    says it; `given` and `usual` are numbers of values (usual: None if unknown).

    of : the class whose probability is explained, for the sentence about an empty row
    """
    columns, arrays = schema.columns, X.steps.arrays if isinstance(X, Panel) else X.arrays
    if isinstance(X, Panel) and X.statics is not None and schema.series is not None:
        columns = [*columns, *schema.series.static]
        arrays = [*arrays, *X.statics.arrays]
    pairs = list(zip(columns, arrays, strict=True))
    n_values = sum(bool(pd.notna(array).any()) for _, array in pairs)
    shares = [column.missing for column in columns if column.missing is not None]
    usual = None
    if shares and len(shares) == len(columns) and not isinstance(X, Panel):
        usual = round(len(shares) - sum(shares), 1)
    outside = [farthest for column, array in pairs if (farthest := _farthest(column, array))]
    answer = {"given": n_values, "usual": usual}
    if not n_values:
        sentence = " ".join(["Nothing is given.", *_in_training(schema, of)])
        return {"level": "nothing", "sentence": sentence, **answer}
    if outside:
        far = max(distance for _, distance in outside) > FAR
        words = shorten([text for text, _ in outside], 3, str)
        end = "do not rely on the prediction" if far else "take the prediction with care"
        sentence = f"{words}. The model never saw such a value: {end}."
        return {"level": "outside", "sentence": sentence, **answer}
    has, are = ("has", "is") if n_values == 1 else ("have", "are")
    noun = f"columns {has} a value" if isinstance(X, Panel) else f"values {are} given"
    count = f"{n_values} of {len(columns)} {noun}"
    if usual is not None and n_values < FEW * usual:
        sentence = (
            f"Only {count}; rows of training had {usual:g} on average. Enter more if you can."
        )
        return {"level": "few", "sentence": sentence, **answer}
    more = "" if usual is None else f" (in training {usual:g} on average)"
    sentence = f"Like the {schema.unit} of training: {count}{more}, none outside the ranges seen."
    return {"level": "like", "sentence": sentence, **answer}


def _farthest(column: Column, array: np.ndarray) -> tuple[str, float] | None:
    """The value farthest outside the range of training, in words, and how far it is."""
    if column.kind != "number":
        return None
    numbers = array[~np.isnan(array)]
    distances = np.array([column.beyond(float(number)) for number in numbers])
    if not len(numbers) or distances.max() <= 0:
        return None
    worst = int(distances.argmax())
    far = "far " * bool(distances[worst] > FAR)
    text = f"{column.name} = {numbers[worst]:g} is {far}outside training ({column.range_text})"
    return text, float(distances[worst])


def _in_training(schema: Schema, of: Any) -> list[str]:
    """The distribution of the target in training, as a sentence, if the file has it."""
    known = schema.training
    if known is None:
        return []
    if known.classes is None:
        return [f"In training, {schema.target} was {known.mean:.4g} on average."]
    share = 100 * known.classes.get(str(of), 0) / max(known.rows, 1)
    rows = f"{known.rows:,} {schema.unit}"
    return [f"In training, {share:.1f}\u00a0% of {rows} had {schema.target} = {of}."]
