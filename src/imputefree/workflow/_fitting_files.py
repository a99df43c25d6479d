"""From files that need not fit in memory to a model and its card: one pass, then training."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data import MOST_CLASSES
from ..errors import ParameterError
from ..estimators import fit_stored
from ..io import TASKS, StoredRows, left_out, need_columns, open_rows, parts_of, stored_rows
from ._card import describe, render
from ._column_kinds import CATEGORY, NUMBER, Column
from ._fitting import make, quiet
from ._partial import today, write_durably
from ._problem import Problem
from ._request import Request

# Options for files in memory
MEMORY_ONLY = (
    "id",
    "time",
    "static",
    "category",
    "test",
    "folds",
    "sep",
    "decimal",
    "encoding",
    "missing",
    "columns",
    "by_time",
    "trusted",
)


def fit_larger(request: Request, report: Callable[[str], None]) -> Any:
    """Read a file or a folder into a store, train, and write model and card; -> the model.

    References would have to fit in memory, so the model is scored on its own held-out rows only.
    """
    asked = [name for name in MEMORY_ONLY if getattr(request, name)]
    if asked:
        raise ParameterError(
            f"--{asked[0]} was given for data larger than memory",
            "Such data is one table, which is read once",
            "Leave the option out, or fit a file that fits in memory",
        )
    if request.model == "blend" and request.quality is None:
        request = replace(request, quality="fast")
    task = request.task or target_task(request.data, request.target)
    report("reading")
    roles: Any = {"groups": request.group, "drop": request.drop, "folder": request.output.parent}
    classes = task == TASKS[0]
    with stored_rows(request.data, request.target, classes=classes, **roles) as rows:
        problem = _problem(request, rows)
        report("the model, on everything")
        with quiet():
            model = fit_stored(make("imputefree", problem), rows)
        about = describe(problem, today(), None, model)
    if rows.classes is not None:
        counts = about["data"]["target"]["classes"].values()
        labels = map(str, rows.classes.tolist())
        about["data"]["target"]["classes"] = dict(zip(labels, counts, strict=True))
    about["larger"] = True
    model.about_, model.card_ = about, render("card.md.jinja", about)
    place = request.output.with_name(f"{request.output.name}.{os.getpid()}")
    try:
        model.save(place)
        write_durably(request.output, place.read_bytes())
    finally:
        place.unlink(missing_ok=True)
    write_durably(request.card, model.card_.encode())
    return model


def _problem(request: Request, rows: StoredRows) -> Problem:
    """What the card says of the rows; the target is class numbers or numbers."""
    store = rows.store
    columns = [
        Column(name, CATEGORY if j in store.levels else NUMBER, float(share))
        for j, (name, share) in enumerate(zip(store.names, store.missing, strict=True))
    ]
    columns += [Column(name, "", 0.0, left_out="as requested") for name in request.drop]
    notes = tuple(note for note in [left_out(rows)] if note)
    frame = pd.DataFrame(index=range(store.n_rows))
    name = request.data.resolve().name
    return Problem(request, name, frame, np.empty(0), rows.target, columns, None, notes)


def target_task(path: Path, target: str) -> str:
    """Whether a column holds classes or numbers, as `read_label_column` would say.

    Numbers with more than 20 different values, or not whole, end the search early.
    """
    distinct: set[float] = set()
    for part in parts_of(path):
        with open_rows(part) as reader:
            need_columns(reader.names, [target], part, option="--target")
            for raw in reader.rows({target: "text"}):
                cells = raw.frame[target].dropna()
                if cells.dtype.kind not in "iuf":
                    numbers = pd.to_numeric(cells, errors="coerce")
                    if numbers.isna().any() or cells.dtype.kind == "b":
                        return TASKS[0]
                    cells = numbers
                distinct |= set(cells.unique().tolist())
                if len(distinct) > MOST_CLASSES or any(v != round(v) for v in distinct):
                    return TASKS[1]
    return TASKS[0]
