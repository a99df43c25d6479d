"""From files that need not fit in memory to a model and its card: one pass, then training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import ParameterError
from ..estimators import fit_stored
from ..io import DROP, NUMBER, StoredRows, left_out, stored_rows
from ._card import describe, render
from ._fitting import make, quiet
from ._partial import today, write_model
from ._problem import Problem
from ._problem_columns import Column
from ._request import Request

# Options for files in memory
MEMORY_ONLY = ("id", "time", "static", "test", "folds", "by_time", "trusted")


def fit_larger(
    request: Request, report: Callable[[str], None], show: Callable[[Problem], None]
) -> Any:
    """Read a file or a folder into a store, train, and write model and card; -> the model.

    show : called with how the files were read, before training

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
    report("reading")
    columns = {n: col for n, col in request.roles["columns"].items() if n not in request.drop}
    how: Any = {**request.marks.of_csv, "missing": request.marks.missing, "columns": columns}
    how["task"] = request.task
    how |= {"groups": request.group, "drop": request.drop, "folder": request.output.parent}
    with stored_rows(request.data, request.target, **how) as rows:
        problem = _problem(request, rows)
        show(problem)
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
    write_model(model, request.output, request.card)
    return model


def _problem(request: Request, rows: StoredRows) -> Problem:
    """What the card says of the rows; the target is class numbers or numbers."""
    store, roles = rows.store, (request.target, request.group)
    shares = dict(zip(store.names, store.missing.tolist(), strict=True))
    readings = [col for name, col in rows.understood.columns.items() if name not in roles]
    columns = [
        Column(name, reading.kind if name == reading.name else NUMBER, shares[name], reading.note)
        for reading in readings
        for name in reading.parts or (reading.name,)
        if name in shares
    ]
    columns += [Column(c.name, "", c.gaps, left_out=c.note) for c in readings if c.kind == DROP]
    columns += [Column(name, "", 0.0, left_out="as requested") for name in request.drop]
    notes = (*rows.understood.notes, *filter(None, [left_out(rows)]))
    frame, name = pd.DataFrame(index=range(store.n_rows)), request.data.resolve().name
    about: Any = (columns, None, notes, rows.understood)
    return Problem(request, name, frame, np.empty(0), rows.target, *about)
