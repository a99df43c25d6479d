"""Resume a fit that was killed, from its own files only.

A fit has an identity (data, parameters, versions, threads), and the checkpoint of another fit is
refused. A blend also keeps each finished family on disk, and resumes with the next one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .. import __version__
from .._ranks import current_ranks
from ..data import Panel, RowStore
from ..errors import ParameterError
from ..families import FamilyTask
from ..gil import Checkpoint, Policy, Trainer, TrainingData, digest
from ..io import pack_parameter


def training_checkpoint(
    path: str | os.PathLike[str],
    model: Any,
    trainer: Trainer,
    data: TrainingData,
    train_rows: Sequence[Tensor],
    held_out: Sequence[Tensor] | None,
) -> Checkpoint:
    """The checkpoint of this very fit: same data, parameters, versions and threads."""
    if type(trainer.policy).state is Policy.state:
        name = type(trainer.policy).__name__
        raise ParameterError(
            f"the policy {name} has no state() and a checkpoint is given",
            "What a policy has learned must be kept as well",
            "Define state() and restore(state), or leave the checkpoint out",
        )
    tensors = data.values, data.observed, data.target, data.weight, data.lengths, data.summaries
    identity = fit_identity(model, digest([*tensors, *train_rows, *(held_out or ())])) | {
        "first weights": digest(trainer.predictor.parameters()),
        "policy": digest([getattr(trainer.policy, "by_input", None)]),
        "device": str(data.values.device),
        "processes": str(current_ranks().size),
    }
    return Checkpoint(Path(path), identity)


def fit_identity(model: Any, data: str) -> dict[str, str]:
    """What distinguishes a fit from others, for its checkpoint; data : the digest of the data."""
    if not isinstance(model.random_state, int):
        raise ParameterError(
            f"random_state is {model.random_state!r} and a checkpoint is given",
            "A resumed fit must draw the same random numbers again",
            "Pass a whole number, such as random_state=0",
        )
    parameters = {k: _plain(v) for k, v in model.get_params(deep=False).items()}
    del parameters["verbose"]  # changes nothing about the model
    return {
        "data": data,
        "parameters": digest([type(model).__name__, json.dumps(parameters, sort_keys=True)]),
        "imputefree": __version__,
        "PyTorch": str(torch.__version__),
        "threads": str(torch.get_num_threads()),
    }


def _plain(value: Any) -> Any:
    """A parameter as JSON; an object by its class and settings, as its repr may be an address."""
    if isinstance(value, np.ndarray | Tensor):
        return digest([torch.as_tensor(value)])
    packed = pack_parameter(value)
    if isinstance(packed, dict) and "dropped" in packed:
        settings = getattr(value, "__dict__", {"": repr(value)})
        return [type(value).__qualname__, {name: _plain(part) for name, part in settings.items()}]
    return packed


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
    if task.checkpoint is None:
        return _fit(family, task)
    kept = _file(task.checkpoint, name, identity)
    state = kept.read()
    if state is not None:
        with kept.blamed():
            family.restore(state["parts"], state["arrays"])
            predictions, seconds = state["out_of_fold"], float(state["seconds"])
            if predictions.dtype.kind != "f" or len(predictions) != len(task.target):
                raise ValueError("the predictions are not those of the rows")
            return Finished(predictions, seconds)
    finished = _fit(family, task)
    arrays: dict[str, np.ndarray] = {}
    state = {"parts": family.parts(arrays), "arrays": arrays, **finished._asdict()}
    kept.save_if_due(lambda: state)
    return finished


def _fit(family: Any, task: FamilyTask) -> Finished:
    begun = time.monotonic()
    return Finished(family.fit(task), time.monotonic() - begun)


def remove_finished(checkpoint: Any, names: list[str]) -> None:
    """Remove the files, if there are any: the fit is done."""
    if checkpoint is not None:
        for name in names:
            _file(checkpoint, name, {}).remove()


def _file(checkpoint: Any, name: str, identity: dict[str, str]) -> Checkpoint:
    return Checkpoint(Path(f"{checkpoint}.{name}"), identity, seconds=0)


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
