"""How much an input is like the rows of training, in one word and one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..data import FAR, Columns, Panel
from ..errors import shorten
from ._model_schema import Column, Schema

FEW = 0.5  # of the values that a row of training usually has


def familiarity(X: Columns | Panel, schema: Schema, of: Any = None) -> dict[str, Any]:
    """How much one row, or series, is like those of training.

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
    """What is farthest outside the range of training, in words, and how far."""
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
    """What one knows of the target without any value, as a sentence, if the file says."""
    known = schema.training
    if known is None:
        return []
    if known.classes is None:
        return [f"In training, {schema.target} was {known.mean:.4g} on average."]
    share = 100 * known.classes.get(str(of), 0) / max(known.rows, 1)
    rows = f"{known.rows:,} {schema.unit}"
    return [f"In training, {share:.1f}\u00a0% of {rows} had {schema.target} = {of}."]
