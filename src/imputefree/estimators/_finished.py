"""Families that a fit has finished, kept on disk: a killed fit resumes with the next one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from ..data import Panel, RowStore
from ..families import FamilyTask
from ..gil import Checkpoint, digest


class Finished(NamedTuple):
    """What a fitted family leaves for the pool.

    out_of_fold : (n, classes) probabilities, or (n, 1) scaled numbers; NaN where there are none
    seconds : how long it took
    """

    out_of_fold: np.ndarray
    seconds: float


def fit_once(name: str, family: Any, task: FamilyTask, identity: dict[str, str]) -> Finished:
    """Fit a family, or read it back if this fit has finished it before.

    With `task.checkpoint`, a finished family is a file of that name and the family's. It holds
    numbers and strings, is written in one go, and the file of another fit is refused.
    """
    kept = _file(task.checkpoint, name, identity)
    state = None if kept is None else kept.read()
    if kept is not None and state is not None:
        with kept.blamed():
            family.restore(state["parts"], state["arrays"])
            predictions, seconds = state["out_of_fold"], float(state["seconds"])
            if predictions.dtype.kind != "f" or len(predictions) != len(task.target):
                raise ValueError("the predictions are not those of the rows")
            return Finished(predictions, seconds)
    begun = time.monotonic()
    finished = Finished(family.fit(task), time.monotonic() - begun)
    if kept is not None:
        arrays: dict[str, np.ndarray] = {}
        state = {"parts": family.parts(arrays), "arrays": arrays, **finished._asdict()}
        kept.save_if_due(lambda: state)
    return finished


def remove_finished(checkpoint: Any, names: list[str]) -> None:
    """Remove the files: the fit is done."""
    for name in names:
        kept = _file(checkpoint, name, {})
        if kept is not None:
            kept.remove()


def task_digest(task: FamilyTask) -> str:
    """SHA-256 of everything that families learn from."""
    inputs = task.examples.inputs
    arrays = [*inputs.columns.arrays, task.target, task.weight]
    if isinstance(inputs, RowStore):
        arrays = [*(values for _, values in inputs.blocks()), *arrays]
    if isinstance(inputs, Panel):
        arrays += [inputs.lengths, inputs.times, *(inputs.statics.arrays if inputs.statics else [])]
    arrays += [rows for fold in task.folds for rows in fold]
    return digest(
        repr(array.tolist()) if array.dtype == object else torch.from_numpy(np.array(array))
        for array in arrays
        if array is not None
    )


def _file(checkpoint: Any, name: str, identity: dict[str, str]) -> Checkpoint | None:
    if checkpoint is None:
        return None
    return Checkpoint(Path(f"{checkpoint}.{name}"), identity, seconds=0)
