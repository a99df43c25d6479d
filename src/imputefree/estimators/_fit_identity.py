"""What makes a fit this fit and no other: a checkpoint of another one is not continued."""

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
from .._ranks import current_ranks
from ..errors import ParameterError
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
