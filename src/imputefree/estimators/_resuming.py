"""`fit(checkpoint=…)`: which fit a checkpoint belongs to."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import __version__
from ..errors import ParameterError
from ..gil import Checkpoint, Policy, Trainer, TrainingData, digest
from ..io import _model_file as persist

SILENT = ("verbose",)  # parameters that change nothing about the model


def checkpoint_for(
    model: Any,
    path: str | os.PathLike[str],
    trainer: Trainer,
    data: TrainingData,
    train_rows: Sequence[Tensor],
    held_out: Sequence[Tensor] | None,
) -> Checkpoint:
    """The checkpoint at `path` of this fit, which everything given here tells from others."""
    if not isinstance(model.random_state, int):
        raise ParameterError(
            f"random_state is {model.random_state!r} and a checkpoint is given",
            "A fit that goes on later must draw the same numbers again",
            "Pass a whole number, such as random_state=0",
        )
    if type(trainer.policy).state is Policy.state:
        raise ParameterError(
            f"the policy {type(trainer.policy).__name__} has no state() and a checkpoint is given",
            "What a policy has learned must be kept as well",
            "Define state() and restore(state), or leave the checkpoint out",
        )
    parameters = {
        name: _plain(value)
        for name, value in model.get_params(deep=False).items()
        if name not in SILENT
    }
    tensors = (data.values, data.observed, data.target, data.weight, data.lengths)
    return Checkpoint(
        Path(path),
        {
            "data": digest([*tensors, *train_rows, *(held_out or ())]),
            "parameters": digest([type(model).__name__, json.dumps(parameters, sort_keys=True)]),
            "first weights": digest(trainer.predictor.parameters()),
            "imputefree": __version__,
            "PyTorch": str(torch.__version__),
            "device": str(data.values.device),
            "threads": str(torch.get_num_threads()),
        },
    )


def _plain(value: Any) -> Any:
    """A parameter as JSON; of an object, its class and settings: its repr may be an address."""
    if isinstance(value, np.ndarray | Tensor):
        return digest([torch.as_tensor(value)])
    packed = persist.pack_parameter(value)
    if isinstance(packed, dict) and "dropped" in packed:
        settings = getattr(value, "__dict__", {"": repr(value)})
        return [type(value).__qualname__, {name: _plain(own) for name, own in settings.items()}]
    return packed
