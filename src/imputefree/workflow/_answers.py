"""Predictions of a file compared with its answers: scores, and an audit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from ..data import Levels
from ..errors import InputError, InputTypeError, ParameterError, shorten
from ..estimators import predicts_steps
from ..inspection import Audit, audit_missingness
from ..io import KEY, NUMBER
from ..metrics import intervals
from ._chunks import Chunk, Chunks, Progress, about, is_of_series, roles_of
from ._predicting import class_labels, predictions, whole_series
from ._request import NO_MARKS, Marks
from ._series_files import Joined, open_joined

MUCH = 0.15  # a note is due if the share of missing values differs by more
FEWEST = 30  # rows, for such a note


def evaluate(
    model: Any,
    path: Path,
    target: str | None = None,
    skip: bool = False,
    in_memory: bool = False,
    progress: Progress | None = None,
    joined: Joined | None = None,
    marks: Marks = NO_MARKS,
) -> tuple[dict[str, Any], list[str]]:
    """Predict a whole file and compare with the answers; -> plain JSON, and notes on the file.

    target : the column with the answers; default: that of training
    skip, in_memory, progress : see `Chunks` and `whole_series`
    joined : the file as it was read together with others
    marks : how the file is written, where it is not to be found by itself

    The result has the unit that is counted ("row", "series" or "step"), the count of those with an
    answer and of those "without", shares of "missing" values by column, and "figures": by metric,
    the score ("value") with its 95% interval ("low", "high").
    """
    target, unit = _target_of(model, target), "row"
    if is_of_series(model):
        unit = "step" if predicts_steps(model) else "series"
    levels = _class_numbers(model) if is_classifier(model) else None
    cells: Counter[str] = Counter()
    gaps: Counter[str] = Counter()
    answers, predicted, without = [np.empty(0)], list[np.ndarray](), 0
    owners, n_series = [np.empty(0, dtype=np.int64)], 0  # of steps, which are not independent
    with open_joined(path, joined, marks) as reader:
        chunks = Chunks(model, reader, path, [target], skip, progress, marks=marks)
        for chunk, prediction in predictions(chunks, in_memory):
            numbers, n_gaps = _answers_of(chunk, chunks, levels, per_series=unit == "series")
            known = ~np.isnan(numbers)
            answers.append(numbers[known])
            predicted.append(prediction[known])
            without += n_gaps
            if unit == "step" and chunk.series is not None:
                owners.append(n_series + chunk.series[known])
                n_series += int(chunk.series.max()) + 1
            for name, missing_cells in _gaps(model, chunk).items():
                cells[name] += len(missing_cells)
                gaps[name] += int(missing_cells.sum())
    truth = np.concatenate(answers)
    _need_answers(len(truth), path, target)
    task = "regression" if levels is None else "classification"
    truth = truth if levels is None else truth.astype(np.int64)
    groups = np.concatenate(owners) if unit == "step" else None
    scores, _ = intervals(task, truth, {"model": np.concatenate(predicted)}, groups)
    missing = {name: gaps[name] / cells[name] for name in cells}
    notes = _comparison(model, (path.name, reader.format.sheet), len(truth), unit, missing)
    result = {
        "task": task,
        "target": str(target),
        "unit": unit,
        "count": len(truth),
        "without": without,
        "bad_rows": chunks.bad.count,
        "missing": missing,
        "figures": {name: figure._asdict() for name, figure in scores["model"].items()},
        "notes": notes,
        "share_missing": float(np.mean(list(missing.values()))),
    }
    return result, [*reader.notes, *chunks.notes, *notes]


def audit_file(
    model: Any,
    path: Path,
    target: str | None = None,
    group: str | None = None,
    progress: Progress | None = None,
    marks: Marks = NO_MARKS,
    **options: Any,
) -> tuple[Audit, list[str]]:
    """Audit a model on a whole file; -> the audit, and notes on the file.

    target : the column with the answers; default: that of training
    group : the column that says which group a row, or series, belongs to
    marks : how the file is written, where it is not to be found by itself
    options : of `audit_missingness`
    """
    target, series = _target_of(model, target), is_of_series(model)
    if series and predicts_steps(model):
        raise InputTypeError(
            "the model predicts every step",
            "An audit compares one answer per row or series",
            "Audit a model with per_step=False",
        )
    levels = _class_numbers(model) if is_classifier(model) else None
    with open_joined(path, None, marks) as reader:
        extra = [target] if group is None else [target, group]
        chunks = Chunks(model, reader, path, extra, progress=progress, marks=marks)
        parts = list(whole_series(chunks, in_memory=True) if series else chunks)
        chunk = Chunk.joined(parts) if parts and not series else next(iter(parts), None)
        if chunk is None:
            raise InputError(f"{path} has no rows", "Rows are audited", "Check the file")
        answers, without = _answers_of(chunk, chunks, levels, per_series=series)
    known = ~np.isnan(answers)
    _need_answers(int(known.sum()), path, target)
    names: Any = None if group is None else chunk.extra[group].to_numpy()
    y: Any = answers[known] if levels is None else model.classes_[answers[known].astype(np.int64)]
    if chunk.series is not None:  # by id, which needs no order
        first = np.unique(chunk.series, return_index=True)[1]
        ids = chunk.inputs[roles_of(model)["id"]].to_numpy()[first][known]
        y = pd.Series(y, index=ids)
        if names is not None:
            groups = pd.Series(names).groupby(chunk.series).first().to_numpy()
            names = pd.Series(groups[known], index=ids)
        known = known[chunk.series]
    elif names is not None:
        names = names[known]
    frame = chunk.inputs[known].reset_index(drop=True)
    notes = [*reader.notes, *chunks.notes]
    if without:
        notes.append(f"Without an answer, left out: {without}.")
    return audit_missingness(model, frame, y, groups=names, **options), notes


def _need_answers(count: int, path: Path, target: str) -> None:
    if not count:
        fact, rule = f"{path} has no answer in {target!r}", "Predictions are compared with answers"
        raise InputError(fact, rule, "Name their column with --target")


def _target_of(model: Any, target: str | None) -> str:
    """The column with the answers: as requested, or that of training."""
    target = target or about(model).get("target")
    if not target:
        fact, rule = "the model does not know its target's name", "It was saved from Python"
        raise ParameterError(fact, rule, "Pass --target COLUMN")
    return target


def _class_numbers(model: Any) -> Levels:
    """The number of each class by its name, as a file may write it."""
    labels = class_labels(model)
    numbers = {str(label): number for number, label in enumerate(labels.tolist())}
    if labels.dtype.kind == "b":
        numbers |= {str(int(name == "True")): number for name, number in numbers.items()}
    return Levels(numbers)


def _answers_of(
    chunk: Chunk, chunks: Chunks, levels: Levels | None, per_series: bool
) -> tuple[np.ndarray, int]:
    """Class codes, or numbers, NaN where missing; and how many are missing."""
    target, bad = chunks.extra[0], chunks.bad
    cells, lines = chunk.extra[target], chunk.extra.index
    if levels is None:
        values, wrong = chunks.values(target, cells, NUMBER)
        numbers = values.to_numpy(dtype=np.float64, copy=True)
        problem = "which is not a number"
    else:
        codes, wrong = levels.match(chunks.values(target, cells, KEY)[0])
        numbers = np.array([np.nan if code is None else code for code in codes], dtype=float)
        problem = f"which is none of the classes {shorten(list(levels.known), limit=8)}"
    bad.report(
        {
            int(lines[row]): f"the target {target!r} holds {cells.iloc[row]!r}, {problem}"
            for row in np.flatnonzero(wrong).tolist()
        }
    )
    numbers[wrong] = np.nan
    if not per_series or chunk.series is None:
        return numbers, int((np.isnan(numbers) & ~wrong).sum())
    first = pd.Series(numbers).groupby(chunk.series).first().to_numpy()
    changes = np.flatnonzero((numbers != first[chunk.series]) & ~np.isnan(numbers))
    if len(changes):
        raise InputError(
            f"{bad.path}, {bad.word} {lines[changes[0]]}: the target {target!r} changes"
            " within a series",
            "A series has one answer",
            "Name a column with one value per series",
        )
    return first, int(np.isnan(first).sum())


def _gaps(model: Any, chunk: Chunk) -> dict[str, pd.Series]:
    """Where each input has gaps; a static one by series, which lacks it if no row has it."""
    statics = getattr(model.encoder_, "statics", None)
    gaps = chunk.inputs.drop(columns=list(roles_of(model).values())).isna()
    return {
        str(name): gaps[name].groupby(chunk.series).all()
        if statics and name in statics.names and chunk.series is not None
        else gaps[name]
        for name in gaps
    }


def _comparison(
    model: Any, source: tuple[str, str], count: int, unit: str, missing: dict[str, float]
) -> list[str]:
    """Whether the file looks like that of training, and columns with far more or fewer gaps.

    source : the names of the file and of its sheet
    """
    data, form = (about(model).get(part) or {} for part in ("data", "reading"))
    learned = data.get("file"), form.get("file", {}).get("sheet", "")
    notes = []
    if learned == source and count == data.get("series" if unit == "series" else "rows"):
        notes.append(
            f"{source[0]} has the name and the size of the file that the model learned from: on"
            " rows it has seen, scores are too good."
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
