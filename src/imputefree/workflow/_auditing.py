"""An audit of a model on a file with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from ..errors import InputError, InputTypeError
from ..estimators import predicts_steps
from ..inspection import Audit, audit_missingness
from ._chunks import Chunk, Chunks, Marks, Progress, is_of_series, roles_of, whole_series
from ._joined_files import open_joined
from ._predicting import answers_of, class_numbers, target_of


def audit_file(
    model: Any,
    path: Path,
    target: str | None = None,
    group: str | None = None,
    progress: Progress | None = None,
    marks: Marks | None = None,
    **options: Any,
) -> tuple[Audit, list[str]]:
    """Audit a model on a whole file; -> the audit, and notes on the file.

    target : the column with the answers; default: that of training
    group : the column that says which group a row, or series, belongs to
    marks : how the file is written, where it is not to be found by itself
    options : of `audit_missingness`
    """
    target, series = target_of(model, target), is_of_series(model)
    if series and predicts_steps(model):
        raise InputTypeError(
            "the model predicts every step",
            "An audit compares one answer per row or series",
            "Audit a model with per_step=False",
        )
    levels = class_numbers(model) if is_classifier(model) else None
    with open_joined(path, None, marks) as reader:
        extra = [target] if group is None else [target, group]
        chunks = Chunks(model, reader, path, extra, progress=progress, marks=marks)
        parts = list(whole_series(chunks, in_memory=True) if series else chunks)
        chunk = Chunk.joined(parts) if parts and not series else next(iter(parts), None)
        if chunk is None:
            raise InputError(f"{path} has no rows", "Rows are audited", "Check the file")
        answers, without = answers_of(chunk, chunks, levels, per_series=series)
    known = ~np.isnan(answers)
    if not known.any():
        fact, rule = f"{path} has no answer in {target!r}", "Predictions are compared with answers"
        raise InputError(fact, rule, "Name their column with --target")
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
    notes = list(chunks.notes)
    if without:
        notes.append(f"Without an answer, left out: {without}.")
    return audit_missingness(model, frame, y, groups=names, **options), notes
