"""Predictions for a file of any size, piece by piece, and their comparison with known answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from ..data import Levels, parse_numbers
from ..errors import InputError, ParameterError, shorten
from ..estimators import predicts_steps
from ..io import BadRows
from ..metrics import intervals
from ._chunks import Chunk, Chunks, whole_series
from ._loaded_model import about, is_of_series, roles_of, static_names

PREDICTION = "prediction"
MUCH = 0.15  # a note is due if the share of missing values differs by more
FEWEST = 30  # rows, for such a note


def predict_chunks(
    model: Any, chunks: Iterable[Chunk], bad: BadRows, in_memory: bool = False
) -> Iterator[tuple[Chunk, np.ndarray]]:
    """The predictions for each chunk: probabilities (n, classes), or numbers (n,).

    n counts rows; for series it counts series in the order of `Chunk.series`, or rows if every
    step is predicted.
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
        yield chunk, call(chunk.inputs if is_of_series(model) else chunk.columns)


def class_labels(model: Any) -> np.ndarray:
    """The classes; whole numbers, which pandas reads as 0.0 in a column with gaps, as integers.

    >>> from types import SimpleNamespace
    >>> class_labels(SimpleNamespace(classes_=np.array([0.0, 1.0])))
    array([0, 1])
    """
    classes = model.classes_
    if classes.dtype.kind == "f" and (classes == np.round(classes)).all():
        return classes.astype(np.int64)
    return classes if classes.dtype.kind in "iubf" else classes.astype(object)


def class_names(model: Any) -> list[str]:
    """The classes as strings."""
    return [str(label) for label in class_labels(model).tolist()]


def output_names(model: Any) -> list[str]:
    """The columns of predictions."""
    if not is_classifier(model):
        return [PREDICTION]
    return [PREDICTION, *(f"p_{name}" for name in class_names(model))]


def output_frame(model: Any, chunk: Chunk, values: np.ndarray, keep: list[str]) -> pd.DataFrame:
    """Columns to keep, then the predictions; for series the id first.

    keep : columns of `chunk.extra`; for a series the first known value
    """
    kept = chunk.extra[keep]
    if chunk.series is not None and not predicts_steps(model):
        kept = kept.groupby(chunk.series, sort=True).first()
    columns: dict[str, Any] = {name: kept[name].to_numpy() for name in keep}
    names = output_names(model)
    if is_classifier(model):
        columns[names[0]] = class_labels(model)[values.argmax(1)]
        columns |= {name: values[:, j] for j, name in enumerate(names[1:])}
    else:
        columns[names[0]] = values
    return pd.DataFrame(columns)


def columns_to_keep(model: Any, wanted: list[str]) -> list[str]:
    """The wanted columns, after the id of series, and the time if every step is predicted."""
    roles = roles_of(model)
    keys = [roles[role] for role in ("id", "time") if role in roles]
    keys = keys if is_of_series(model) and predicts_steps(model) else keys[:1]
    keep = list(dict.fromkeys([*keys, *wanted]))
    both = [name for name in keep if name in output_names(model)]
    if both:
        raise ParameterError(
            f"the column {both[0]!r} is to be kept, but a prediction has that name",
            "Columns of the output have different names",
            "Leave it out of --keep, or rename it in the file",
        )
    return keep


@dataclass(frozen=True)
class Evaluation:
    """How well a model does on a file.

    unit : what is counted: "row", "series" or "step"
    count, without : those with an answer, and those without
    bad_rows : rows of the file that could not be read and were left out
    missing : share without a value, by input column
    figures : by metric, the score ("value") and its 95% interval ("low", "high")
    """

    task: str
    target: str
    unit: str
    count: int
    without: int
    bad_rows: int
    missing: dict[str, float]
    figures: dict[str, dict[str, float | None]]
    notes: list[str]

    @property
    def share_missing(self) -> float:
        """Share of all input cells without a value."""
        return float(np.mean(list(self.missing.values())))


def target_of(model: Any, name: str | None) -> str:
    """The column with the answers: the named one, or the target of training."""
    target = name or about(model).get("target")
    if not target:
        raise ParameterError(
            "the model does not say which column it predicts",
            "Models saved from Python do not know their target's name",
            "Pass --target COLUMN",
        )
    return str(target)


def evaluate(
    model: Any, chunks: Chunks, target: str, bad: BadRows, in_memory: bool = False
) -> Evaluation:
    """Predict a whole file and compare with the answers; rows without one are left out."""
    answers = _Answers(model, target, bad)
    cells: Counter[str] = Counter()
    gaps: Counter[str] = Counter()
    parts, without = [], 0
    for chunk, prediction in predict_chunks(model, chunks, bad, in_memory):
        values, known, n_unknown = answers.read(chunk)
        parts.append((values[known], prediction[known]))
        without += n_unknown
        for name, column in _inputs(model, chunk):
            cells[name] += len(column)
            gaps[name] += int(column.isna().sum())
    truth = np.concatenate([values for values, _ in parts]) if parts else np.empty(0)
    if not len(truth):
        raise InputError(
            f"{bad.path} has no row with an answer in {target!r}",
            "Predictions are compared with answers",
            "Name the column of the answers with --target",
        )
    predicted = np.concatenate([prediction for _, prediction in parts])
    task = "classification" if is_classifier(model) else "regression"
    scores, _ = intervals(task, truth, {"imputefree": predicted})
    missing = {name: gaps[name] / cells[name] for name in cells}
    return Evaluation(
        task=task,
        target=target,
        unit=answers.unit,
        count=len(truth),
        without=without,
        bad_rows=bad.count,
        missing=missing,
        figures={name: figure._asdict() for name, figure in scores["imputefree"].items()},
        notes=_notes(model, bad.path.name, len(truth), answers.unit, missing),
    )


class _Answers:
    """Reads the answers in a file: as the model's classes, or as numbers."""

    def __init__(self, model: Any, target: str, bad: BadRows) -> None:
        self.target, self.bad = target, bad
        self.per_series = is_of_series(model) and not predicts_steps(model)
        self.unit = "series" if self.per_series else "step" if is_of_series(model) else "row"
        self.levels: Levels | None = None
        if is_classifier(model):
            classes = class_names(model)
            known = {name: number for number, name in enumerate(classes)}
            if class_labels(model).dtype.kind == "b":
                known |= {str(int(name == "True")): number for name, number in known.items()}
            self.levels, self.words = Levels(known), shorten(classes, limit=8)

    def read(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, int]:
        """Numbers of classes, or numbers; which are known; and how many are gaps."""
        cells = chunk.extra[self.target].reset_index(drop=True)
        if self.levels is None:
            numbers, wrong = parse_numbers(cells)
            rule = "which is not a number"
        else:
            codes, wrong = self.levels.match(cells)
            numbers = np.array([np.nan if code is None else code for code in codes], dtype=float)
            rule = f"which is none of the classes {self.words}"
        self.bad.report(
            {
                int(chunk.lines[row]): f"the target {self.target!r} holds {cells[row]!r}, {rule}"
                for row in np.flatnonzero(wrong).tolist()
            }
        )
        numbers[wrong] = np.nan
        if self.per_series:
            numbers = self._per_series(numbers, chunk)
            wrong = np.zeros(len(numbers), dtype=bool)
        known = ~np.isnan(numbers)
        if self.levels is not None:
            numbers = np.where(known, numbers, 0).astype(np.int64)
        return numbers, known, int((~known & ~wrong).sum())

    def _per_series(self, numbers: np.ndarray, chunk: Chunk) -> np.ndarray:
        """The only known answer of each series."""
        assert chunk.series is not None
        first = pd.Series(numbers).groupby(chunk.series).first().to_numpy()
        changes = np.flatnonzero((numbers != first[chunk.series]) & ~np.isnan(numbers))
        if len(changes):
            raise InputError(
                f"{self.bad.path}, {self.bad.word} {chunk.lines[changes[0]]}: the target"
                f" {self.target!r} changes within a series",
                "A series has one answer",
                "Name a column with one value per series",
            )
        return first


def _inputs(model: Any, chunk: Chunk) -> Iterator[tuple[str, pd.Series]]:
    """The model's input columns in a chunk; static ones with one value per series."""
    roles, static = set(roles_of(model).values()), static_names(model)
    for name in chunk.inputs.columns:
        if name not in roles:
            column = chunk.inputs[name]
            if name in static and chunk.series is not None:
                column = column.groupby(chunk.series).first()
            yield str(name), column


def _notes(model: Any, file: str, count: int, unit: str, missing: dict[str, float]) -> list[str]:
    """Whether the file looks like that of training, and columns with far more or fewer gaps."""
    data = about(model).get("data") or {}
    notes = []
    if data.get("file") == file and count == data.get("series" if unit == "series" else "rows"):
        notes.append(
            f"{file} has the name and the size of the file that the model learned from: on rows it"
            " has seen, scores are too good."
        )
    before = data.get("missing") or {}
    change = {name: abs(missing[name] - before[name]) for name in missing if name in before}
    far = sorted((name for name in change if change[name] > MUCH), key=lambda name: -change[name])
    if far and count >= FEWEST:
        shares = shorten(
            far, word=lambda name: f"{name!r} {before[name]:.0%} then, {missing[name]:.0%} now"
        )
        notes.append(f"Shares of missing values differ from training: {shares}.")
    return notes
