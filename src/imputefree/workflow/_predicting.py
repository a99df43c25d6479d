"""Predictions for a file of any size, piece by piece, and their comparison with known answers."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from ..data import Levels
from ..errors import InputError, OutsideRangeWarning, ParameterError, shorten
from ..estimators import predicts_steps
from ..inspection import restore_conformal
from ..io import KEY, NUMBER, parts_of
from ..metrics import intervals
from ._chunks import (
    Chunk,
    Chunks,
    Marks,
    Progress,
    about,
    is_of_series,
    roles_of,
    whole_series,
)
from ._joined_files import Joined, open_joined, read_joined
from ._request import split_names

PREDICTION = "prediction"
SET, LOW, HIGH = "set", "low", "high"
MUCH = 0.15  # a note is due if the share of missing values differs by more
FEWEST = 30  # rows, for such a note


def predict_file(
    model: Any,
    path: Path,
    write: Callable[[pd.DataFrame], None],
    keep: Sequence[str] = (),
    skip: bool = False,
    in_memory: bool = False,
    progress: Progress | None = None,
    coverage: float | None = None,
    may_be_empty: bool = False,
    joined: Joined | None = None,
    last: bool = False,
    marks: Marks | None = None,
) -> tuple[int, list[str]]:
    """Predict all rows, or series, of a file, or all rows of a folder's tables, by name.

    Returns how many there are, and notes.

    The output has the columns to keep, after the id of series (and the time, if every step is
    predicted), then the predictions; with a coverage also the ends of an interval, or a set.

    write : called with each piece of the output
    keep : columns of the file to copy, as in `split_names`; for a series the first known value
    skip, in_memory, progress, may_be_empty : see `Chunks` and `whole_series`; parts may be empty
    joined : the file as it was read together with others; series have only new steps predicted
    last : of a model that predicts every step, only the last of each series
    marks : how the file is written, where it is not to be found by itself
    """
    parts, done, notes, written = parts_of(path), 0, list[str](), 0
    within = None
    if coverage is not None:  # one for all parts, as it remembers masks
        within = partial(_within, conformal_of(model), coverage)
    if len(parts) > 1 and is_of_series(model):
        fact = f"{path} has {len(parts)} files, and the model predicts series"
        rule = "A series may be in several files, and would be predicted in each"
        raise InputError(fact, rule, "Predict one file at a time")
    sizes = [part.stat().st_size for part in parts if path.is_dir()] or [0]
    for part, size in zip(parts, sizes, strict=True):
        shown = _shifted(progress, done, sum(sizes)) if progress and path.is_dir() else progress
        options: Any = (keep, skip, in_memory, shown, within, may_be_empty or path.is_dir())
        options += (joined, last, marks)
        count, columns, more = _predict_part(model, part, write, *options)
        written, notes, done = written + count, [*notes, *more], done + size
    if not written:  # all rows were left out: a header without rows
        write(pd.DataFrame(columns=columns, dtype=object))
    return written, notes


def read_joined_for(
    model: Any, paths: Sequence[Path], history: Path | None = None, marks: Marks | None = None
) -> Joined:
    """Files of series, joined as the model's columns say; see `read_joined`."""
    roles = roles_of(model)
    option = "--history" if history else "--join"
    if "id" not in roles or (history and "time" not in roles):
        rule = "Series are joined by id" + " and time" * bool(history)
        fact = f"{option} was given, and the model knows no such column"
        raise ParameterError(fact, rule, "Leave it out, or fit with --id and --time")
    clock = (about(model).get("series") or {}).get("clock")
    found = marks or Marks()
    how = {"sep": found.sep, "decimal": found.decimal, "encoding": found.encoding}
    id, time = roles["id"], roles.get("time")
    return read_joined(paths, id, time, clock, history=history, marks=how)


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    """The progress of one file among several."""
    return lambda done, _: progress(before + done, total)


def _predict_part(
    model: Any,
    path: Path,
    write: Callable[[pd.DataFrame], None],
    keep: Sequence[str],
    skip: bool,
    in_memory: bool,
    progress: Progress | None,
    within: Callable[[Any], dict[str, Any]] | None,
    may_be_empty: bool,
    joined: Joined | None,
    last: bool,
    marks: Marks | None,
) -> tuple[int, list[str], list[str]]:
    """As `predict_file`, for one file; -> how many rows, columns of the output, notes.

    within : from inputs, the columns that hold a set or an interval
    """
    names, labels, written = [PREDICTION], np.empty(0), 0
    if is_classifier(model):
        labels = class_labels(model)
        names += [f"p_{label}" for label in labels.tolist()]
    n_predicted = len(names)
    if within is not None:
        names += [SET] if is_classifier(model) else [LOW, HIGH]
    with open_joined(path, joined, marks) as reader:
        roles = roles_of(model)
        keys = [roles[role] for role in ("id", "time") if role in roles]
        keys = keys if roles and predicts_steps(model) else keys[:1]
        columns = list(dict.fromkeys([*keys, *split_names(keep, reader.names)]))
        both = [name for name in columns if name in names]
        if both:
            fact = f"the column {both[0]!r} is to be kept, but a prediction has that name"
            rule = "Columns of the output have different names"
            raise ParameterError(fact, rule, "Leave it out of --keep, or rename it in the file")
        chunks = Chunks(model, reader, path, columns, skip, progress, may_be_empty, marks)
        for chunk, values in _predictions(chunks, in_memory):
            kept = chunk.extra[columns]
            if chunk.series is not None and not predicts_steps(model):
                kept = kept.groupby(chunk.series, sort=True).first()
            output: dict[str, Any] = {name: kept[name].to_numpy() for name in columns}
            output[PREDICTION] = labels[values.argmax(1)] if is_classifier(model) else values
            output |= {name: values[:, j] for j, name in enumerate(names[1:n_predicted])}
            if within is not None:
                output |= within(chunk.inputs if chunk.series is not None else chunk.columns)
            frame = pd.DataFrame(output)
            if roles and predicts_steps(model):
                frame = frame[_wanted_steps(chunk, roles, joined, last)]
            write(frame)
            written += len(frame)
    return written, [*columns, *names], chunks.notes


def _wanted_steps(
    chunk: Chunk, roles: dict[str, str], joined: Joined | None, last: bool
) -> np.ndarray:
    """Which steps to write: all, those that are new, or only the last of each series; (n,)."""
    wanted = np.ones(len(chunk.inputs), dtype=bool)
    if joined is not None:
        wanted = joined.new[chunk.inputs.index.to_numpy() - 1]
    if last and chunk.series is not None:
        times = chunk.inputs[roles["time"]] if "time" in roles else np.arange(len(wanted))
        steps = pd.DataFrame({"series": chunk.series, "time": times}).reset_index(drop=True)
        final = steps.sort_values("time", kind="stable").drop_duplicates("series", keep="last")
        wanted = wanted & np.isin(np.arange(len(wanted)), final.index)
    return wanted


def conformal_of(model: Any) -> Any:
    """Sets or intervals around a model, from what its file keeps; a ParameterError if nothing."""
    conformal = restore_conformal(model)
    if conformal is None:
        raise ParameterError(
            "the model file keeps nothing that sets or intervals could be calibrated with",
            "They need predictions of rows that a model has not seen",
            "Fit again with `imputefree fit` of this version, without --no-estimate",
        )
    return conformal


def _within(conformal: Any, coverage: float, X: Any) -> dict[str, Any]:
    """The columns of the output that hold a set, its classes separated by "|", or an interval."""
    if is_classifier(conformal):
        names = list(map(str, class_labels(conformal.estimator_).tolist()))
        sets = conformal.predict_set(X, coverage)
        return {SET: ["|".join(itertools.compress(names, members)) for members in sets]}
    low, high = conformal.predict_interval(X, coverage).T
    return {LOW: low, HIGH: high}


def _predictions(chunks: Chunks, in_memory: bool) -> Iterator[tuple[Chunk, Any]]:
    """The predictions for each chunk: probabilities (n, classes), or numbers (n,).

    n counts rows; for series it counts series in the order of `Chunk.series`, or rows if every
    step is predicted.
    """
    model, series = chunks.model, is_of_series(chunks.model)
    parts: Any = whole_series(chunks, in_memory) if series else chunks
    if in_memory and not series:
        every = list(chunks)
        parts = [Chunk.joined(every)] if every else []
    predict = model.predict_proba if is_classifier(model) else model.predict
    for chunk in parts:
        with warnings.catch_warnings():  # `Chunks.notes` tell it for the whole file
            warnings.simplefilter("ignore", OutsideRangeWarning)
            values = predict(chunk.inputs if series else chunk.columns)
        yield chunk, values


def class_labels(model: Any) -> np.ndarray:
    """The classes; whole numbers, which pandas reads as 0.0 in a column with gaps, as integers."""
    classes = model.classes_
    if classes.dtype.kind == "f" and (classes == np.round(classes)).all():
        return classes.astype(np.int64)
    return classes if classes.dtype.kind in "iubf" else classes.astype(object)


def evaluate(
    model: Any,
    path: Path,
    target: str | None = None,
    skip: bool = False,
    in_memory: bool = False,
    progress: Progress | None = None,
    joined: Joined | None = None,
    marks: Marks | None = None,
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
    target = target_of(model, target)
    unit = "row"
    if is_of_series(model):
        unit = "step" if predicts_steps(model) else "series"
    levels = class_numbers(model) if is_classifier(model) else None
    cells: Counter[str] = Counter()
    gaps: Counter[str] = Counter()
    answers, predictions, without = [np.empty(0)], [], 0
    owners, n_series = [np.empty(0, dtype=np.int64)], 0  # of steps, which are not independent
    with open_joined(path, joined, marks) as reader:
        chunks = Chunks(model, reader, path, [target], skip, progress, marks=marks)
        for chunk, prediction in _predictions(chunks, in_memory):
            numbers, n_gaps = answers_of(chunk, chunks, levels, per_series=unit == "series")
            without += n_gaps
            answers.append(numbers[~np.isnan(numbers)])
            predictions.append(prediction[~np.isnan(numbers)])
            if unit == "step" and chunk.series is not None:
                owners.append(n_series + chunk.series[~np.isnan(numbers)])
                n_series += int(chunk.series.max()) + 1
            for name, missing_cells in _gaps(model, chunk).items():
                cells[name] += len(missing_cells)
                gaps[name] += int(missing_cells.sum())
    truth = np.concatenate(answers)
    if not len(truth):
        fact, rule = f"{path} has no answer in {target!r}", "Predictions are compared with answers"
        raise InputError(fact, rule, "Name their column with --target")
    task = "regression" if levels is None else "classification"
    truth = truth if levels is None else truth.astype(np.int64)
    groups = np.concatenate(owners) if unit == "step" else None
    scores, _ = intervals(task, truth, {"model": np.concatenate(predictions)}, groups)
    missing = {name: gaps[name] / cells[name] for name in cells}
    notes = _comparison(model, path.name, len(truth), unit, missing)
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
    return result, [*chunks.notes, *notes]


def target_of(model: Any, target: str | None) -> str:
    """The column with the answers: as requested, or that of training."""
    target = target or about(model).get("target")
    if not target:
        fact, rule = "the model does not know its target's name", "It was saved from Python"
        raise ParameterError(fact, rule, "Pass --target COLUMN")
    return target


def class_numbers(model: Any) -> Levels:
    """The number of each class by its name, as a file may write it."""
    labels = class_labels(model)
    numbers = {str(label): number for number, label in enumerate(labels.tolist())}
    if labels.dtype.kind == "b":
        numbers |= {str(int(name == "True")): number for name, number in numbers.items()}
    return Levels(numbers)


def answers_of(
    chunk: Chunk, chunks: Chunks, levels: Levels | None, per_series: bool
) -> tuple[np.ndarray, int]:
    """Numbers of classes, or numbers, NaN where there is none; and how many are gaps."""
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
    model: Any, file: str, count: int, unit: str, missing: dict[str, float]
) -> list[str]:
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
