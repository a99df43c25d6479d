"""Training on another device: what waits for it, or sends to it, at every step.

There is no GPU here. PyTorch's "meta" device runs the same code on shapes alone, and a dispatch
mode sees every operation.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from imputefree import GILClassifier
from imputefree.gil import (
    Batches,
    CrossEntropy,
    LossReward,
    NoPolicy,
    Predictor,
    Settings,
    Trainer,
)
from tests.distributed.trainings import SETTINGS, draw, prepare

READ = torch.ops.aten._local_scalar_dense.default
COPY = torch.ops.aten._to_copy.default
# What a step still does, to be emptied: it should stay on the device.
ROWS = {"send int64": 1}
KNOWN = {
    "plain": ROWS,
    "hide and dropout": ROWS | {"send bool": 1, "send float32": 2},
    "observed": ROWS | {"send bool": 1},
    "random": ROWS | {"send bool": 1, "send float32": 2},
    "weights": ROWS,
    "early stopping": ROWS,
    "series": ROWS | {"read": 1, "send bool": 1, "send float32": 2},
}


class Watch(TorchDispatchMode):
    """Counts numbers read from the meta device, and tensors sent to it or fetched from it."""

    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        there = [tensor for tensor in given if tensor.is_meta]
        if operation is READ and there:
            self.seen["read"] += 1
            return 1
        result = operation(*args, **(kwargs or {}))
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        if any(tensor.is_meta for tensor in made):  # numbers without dimensions go with the call
            here = [t for t in given if not t.is_meta and (t.ndim or operation is COPY)]
            self.seen.update(f"send {str(t.dtype).removeprefix('torch.')}" for t in here)
        elif there and made:
            self.seen["fetch"] += 1
        return result


def watched(trainer, data, train_rows):
    """What the second step does; the first may check more."""
    batches = Batches(train_rows, SETTINGS["batch_size"], trainer.generator)
    steps = trainer.algorithm_1(data, batches)
    with Watch():
        next(steps)
    with Watch() as watch:
        next(steps)
    return watch.seen


@pytest.mark.parametrize("name", KNOWN)
def test_a_step_stays_on_its_device(name):
    trainer, data, train_rows, _ = prepare(2, name, "meta")
    assert watched(trainer, data, train_rows) == KNOWN[name]


@pytest.mark.parametrize("encoding", ["rich", "piecewise", "plain"])
def test_inputs_are_expanded_on_the_device(encoding):
    """The same for rows as an estimator keeps them, a few numbers per column."""
    X, y = np.array([[1.0, np.nan], [2.5, 5.0], [np.nan, 7.5]] * 20), np.arange(60) % 2
    model = GILClassifier(numeric_encoding=encoding, random_state=0, max_iter=1).fit(X, y)
    data, *_ = model._training_data(model._examples(X, y, None, None, None))
    assert data.expansion is not None
    net = Predictor(**model.predictor_.shape, generator=draw()).to("meta")
    settings = Settings(hide=0.1)
    trainer = Trainer(net, NoPolicy(), LossReward(), CrossEntropy(2), settings, draw(), draw())
    rows = [torch.arange(60)] * net.members
    assert watched(trainer, data.to(torch.device("meta")), rows) == KNOWN["hide and dropout"]
