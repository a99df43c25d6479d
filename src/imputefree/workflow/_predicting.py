"""Predictions for a file of any size, piece by piece."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from ..errors import InputError, OutsideRangeWarning, ParameterError
from ..estimators import predicts_steps
from ..inspection import restore_conformal
from ..io import parts_of
from ._chunks import Chunk, Chunks, Progress, about, is_of_series, roles_of
from ._request import NO_MARKS, Marks, split_names
from ._series_files import Joined, open_joined, read_joined

PREDICTION = "prediction"
SET, LOW, HIGH = "set", "low", "high"


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
    marks: Marks = NO_MARKS,
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
    parts, in_folder = parts_of(path), path.is_dir()
    if len(parts) > 1 and is_of_series(model):
        fact = f"{path} has {len(parts)} files, and the model predicts series"
        rule = "A series may be in several files, and would be predicted in each"
        raise InputError(fact, rule, "Predict one file at a time")
    # One for all parts, as it remembers masks.
    conformal = None if coverage is None else conformal_of(model)
    names = _output_names(model, conformal)
    sizes = [part.stat().st_size if in_folder else 0 for part in parts]
    written, notes = 0, list[str]()
    for i, part in enumerate(parts):
        shown = progress
        if progress and in_folder:
            shown = _shifted(progress, sum(sizes[:i]), sum(sizes))
        with open_joined(part, joined, marks) as reader:
            kept = _kept_columns(model, split_names(keep, reader.names), names)
            may_lack_rows = may_be_empty or in_folder
            chunks = Chunks(model, reader, part, kept, skip, shown, may_lack_rows, marks)
            for chunk, values in predictions(chunks, in_memory):
                output = _predicted(model, chunk, values, kept, names)
                if conformal is not None:
                    X = chunk.columns if chunk.series is None else chunk.inputs
                    output |= _within(conformal, coverage, X)
                frame = pd.DataFrame(output)
                if predicts_steps(model):
                    frame = frame[_wanted_steps(chunk, roles_of(model), joined, last)]
                write(frame)
                written += len(frame)
        notes += [*reader.notes, *chunks.notes]
    if not written:  # all rows were left out: a header without rows
        write(pd.DataFrame(columns=[*kept, *names], dtype=object))
    return written, notes


def _output_names(model: Any, conformal: Any) -> list[str]:
    """The columns of the output that hold predictions, and their sets or intervals if wanted."""
    if not is_classifier(model):
        return [PREDICTION] if conformal is None else [PREDICTION, LOW, HIGH]
    names = [PREDICTION, *(f"p_{label}" for label in class_labels(model).tolist())]
    return names if conformal is None else [*names, SET]


def _kept_columns(model: Any, keep: Sequence[str], names: Sequence[str]) -> list[str]:
    """Columns of the file to copy: those that say what is predicted, and those to keep.

    names : of the other columns of the output
    """
    roles = roles_of(model)
    keys = [roles[role] for role in ("id", "time") if role in roles]
    columns = list(dict.fromkeys([*(keys if predicts_steps(model) else keys[:1]), *keep]))
    both = [name for name in columns if name in names]
    if both:
        fact = f"the column {both[0]!r} is to be kept, but a prediction has that name"
        rule = "Columns of the output have different names"
        raise ParameterError(fact, rule, "Leave it out of --keep, or rename it in the file")
    return columns


def _predicted(
    model: Any, chunk: Chunk, values: np.ndarray, kept: list[str], names: Sequence[str]
) -> dict[str, Any]:
    """The columns of the output: those to keep, and predictions under their names."""
    cells = chunk.extra[kept]
    if chunk.series is not None and not predicts_steps(model):
        cells = cells.groupby(chunk.series, sort=True).first()
    output: dict[str, Any] = {name: cells[name].to_numpy() for name in kept}
    if not is_classifier(model):
        return output | {PREDICTION: values}
    output[PREDICTION] = class_labels(model)[values.argmax(1)]
    return output | dict(zip(names[1:], values.T, strict=False))


def read_joined_for(
    model: Any, paths: Sequence[Path], history: Path | None = None, marks: Marks = NO_MARKS
) -> Joined:
    """Files of series, joined as the model's columns say; see `read_joined`."""
    roles = roles_of(model)
    option = "--history" if history else "--join"
    if "id" not in roles or (history and "time" not in roles):
        rule = "Series are joined by id" + " and time" * bool(history)
        fact = f"{option} was given, but the model has no such column"
        raise ParameterError(fact, rule, "Leave it out, or fit with --id and --time")
    clock = (about(model).get("series") or {}).get("clock")
    keys = roles["id"], roles.get("time")
    return read_joined(paths, *keys, clock, history=history, marks=marks)


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    """The progress of one file among several."""
    return lambda done, _: progress(before + done, total)


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


def _within(conformal: Any, coverage: float | None, X: Any) -> dict[str, Any]:
    """The columns of the output that hold a set, its classes separated by "|", or an interval."""
    if is_classifier(conformal):
        names = list(map(str, class_labels(conformal.estimator_).tolist()))
        sets = conformal.predict_set(X, coverage)
        return {SET: ["|".join(itertools.compress(names, members)) for members in sets]}
    low, high = conformal.predict_interval(X, coverage).T
    return {LOW: low, HIGH: high}


def predictions(chunks: Chunks, in_memory: bool) -> Iterator[tuple[Chunk, Any]]:
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


# ---- whole series
class SeenIds:
    """Ids that have appeared, in 8 bytes each: their hashes, in sorted arrays.

    In one of a million files with five million ids two share a hash; then a new one is refused.

    >>> seen = SeenIds()
    >>> seen.add(np.array(["a", "b"], dtype=object))
    >>> seen.has(np.array(["b", "c"], dtype=object))
    array([ True, False])
    """

    def __init__(self) -> None:
        self._sorted: list[np.ndarray] = []

    def has(self, ids: np.ndarray) -> np.ndarray:
        """(n,) -> (n,) bool."""
        keys, known = _hashes(ids), np.zeros(len(ids), dtype=bool)
        for hashes in self._sorted:
            at = np.minimum(np.searchsorted(hashes, keys), len(hashes) - 1)
            known |= hashes[at] == keys
        return known

    def add(self, ids: np.ndarray) -> None:
        """Remember these; (n,)."""
        new = np.sort(_hashes(ids))
        # Arrays of similar size are merged, so that there are few and each id moves rarely.
        while self._sorted and len(self._sorted[-1]) < 2 * len(new):
            new = np.sort(np.concatenate([self._sorted.pop(), new]))
        if len(new):
            self._sorted.append(new)


def _hashes(ids: np.ndarray) -> np.ndarray:
    return pd.util.hash_array(ids.astype(object), categorize=False)


def whole_series(chunks: Chunks, in_memory: bool = False) -> Iterator[Chunk]:
    """Chunks that hold all rows of their series, and say which row belongs to which series.

    in_memory : take all chunks at once, so that rows of a series may be anywhere
    """
    bad, id = chunks.bad, roles_of(chunks.model)["id"]
    if in_memory:
        every = list(chunks)
        if every:
            yield _numbered(every, chunks)
        return
    seen, waiting = SeenIds(), list[Chunk]()
    for chunk in chunks:
        ids = chunk.inputs[id].to_numpy(dtype=object)
        starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
        if waiting and ids[0] == waiting[-1].inputs[id].iloc[-1]:
            starts = starts[1:]
        begun = ids[starts]
        reappears = seen.has(begun) | pd.Series(begun, dtype=object).duplicated().to_numpy()
        if reappears.any():
            row = int(starts[reappears.argmax()])
            raise InputError(
                f"{bad.path}, {bad.word} {chunk.inputs.index[row]}: the series {str(ids[row])!r}"
                " reappears after rows of other series",
                "Rows of one series must be adjacent when a file is read piece by piece",
                f"Sort the file by {id!r}, or read all of it at once with --in-memory",
            )
        seen.add(begun)
        if not len(starts):  # all of it belongs to the series before
            waiting.append(chunk)
            continue
        last = int(starts[-1])
        if waiting or last:
            before = [chunk.rows(slice(0, last))] if last else []
            yield _numbered([*waiting, *before], chunks)
        waiting = [chunk.rows(slice(last, None))]
    if waiting:
        yield _numbered(waiting, chunks)


def _numbered(parts: list[Chunk], chunks: Chunks) -> Chunk:
    """Number series in order of appearance; a second row at the same time is a bad one."""
    chunk, roles = Chunk.joined(parts), roles_of(chunks.model)
    id, time = roles["id"], roles.get("time")
    codes, _ = pd.factorize(chunk.inputs[id].to_numpy(dtype=object))
    if time and "variable" not in roles:
        repeated = chunk.inputs.assign(**{id: codes}).duplicated([id, time]).to_numpy()
        wrong = {}
        for row in np.flatnonzero(repeated).tolist():
            series, when = chunk.inputs[id].iloc[row], chunk.inputs[time].iloc[row]
            fact = f"the series {str(series)!r} already has a row at time {when}"
            wrong[int(chunk.inputs.index[row])] = fact
        chunks.bad.report(wrong)
        if wrong:
            chunk, codes = chunk.rows(~repeated), codes[~repeated]
    return chunk._replace(series=codes)
