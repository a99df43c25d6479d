"""Predictions for a file of any size, piece by piece and in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from ..errors import ParameterError
from ..estimators import predicts_steps
from ..io import BadRows
from ._chunks import Chunk
from ._loaded_model import is_of_series, roles_of
from ._series_groups import whole_series

PREDICTION = "prediction"


def predict_chunks(
    model: Any, chunks: Iterable[Chunk], bad: BadRows, in_memory: bool = False
) -> Iterator[tuple[Chunk, np.ndarray]]:
    """What the model says of each chunk: probabilities (n, classes), or numbers (n,).

    n counts rows; of series, series in the order of `Chunk.series`, or rows if every step is
    predicted.
    """
    if is_of_series(model):
        roles = roles_of(model)
        time = None if "variable" in roles else roles.get("time")
        chunks = whole_series(chunks, roles["id"], time, bad, in_memory)
    elif in_memory:
        every = list(chunks)
        chunks = [Chunk.joined(every)] if every else []
    for chunk in chunks:
        call = model.predict_proba if is_classifier(model) else model.predict
        yield chunk, call(chunk.inputs)


def by_step(model: Any) -> bool:
    """Whether a model of series predicts every row of a file."""
    return predicts_steps(model)


def class_labels(model: Any) -> np.ndarray:
    """The classes; whole numbers, which pandas reads as 0.0 beside gaps, without a point.

    >>> from types import SimpleNamespace
    >>> class_labels(SimpleNamespace(classes_=np.array([0.0, 1.0])))
    array([0, 1])
    """
    classes = model.classes_
    if classes.dtype.kind == "f" and (classes == np.round(classes)).all():
        return classes.astype(np.int64)
    return classes if classes.dtype.kind in "iubf" else classes.astype(object)


def class_names(model: Any) -> list[str]:
    """The classes as texts."""
    return [str(one) for one in class_labels(model).tolist()]


def output_names(model: Any) -> list[str]:
    """The columns that predictions take."""
    if not is_classifier(model):
        return [PREDICTION]
    return [PREDICTION, *(f"p_{name}" for name in class_names(model))]


def output_frame(model: Any, chunk: Chunk, found: np.ndarray, keep: list[str]) -> pd.DataFrame:
    """Columns to keep, then the predictions; of series the id first.

    keep : columns of `chunk.beside`; of a series the first value that is known
    """
    columns: dict[str, Any] = {}
    kept = chunk.beside[keep]
    if chunk.series is not None and not by_step(model):
        kept = kept.groupby(chunk.series, sort=True).first()
    for name in keep:
        columns[name] = kept[name].to_numpy()
    names = output_names(model)
    if is_classifier(model):
        columns[names[0]] = class_labels(model)[found.argmax(1)]
        columns |= {name: found[:, j] for j, name in enumerate(names[1:])}
    else:
        columns[names[0]] = found
    return pd.DataFrame(columns)


def columns_to_keep(model: Any, wanted: list[str]) -> list[str]:
    """With the id of series first, and the time if every step is predicted."""
    roles = roles_of(model)
    own = [roles[role] for role in ("id", "time") if role in roles]
    own = own if is_of_series(model) and by_step(model) else own[:1]
    keep = list(dict.fromkeys([*own, *wanted]))
    both = [name for name in keep if name in output_names(model)]
    if both:
        raise ParameterError(
            f"the column {both[0]!r} is to be kept, and a prediction has that name",
            "A column of the output has one meaning",
            "Leave it out of --keep, or rename it in the file",
        )
    return keep
