"""Training on another device: what waits for it, or sends to it, at every step.

There is no GPU here. PyTorch's "meta" device runs the same code on shapes alone, and a dispatch
mode sees every operation.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from imputefree.gil import Batches
from tests.distributed.trainings import SETTINGS, prepare

READ = torch.ops.aten._local_scalar_dense.default
# What a step still does, to be emptied: it should stay on the device.
ROWS_AND_LOSS = {"send int64": 1, "read": 1}
KNOWN = {
    "plain": ROWS_AND_LOSS,
    "hide and dropout": ROWS_AND_LOSS | {"send bool": 1, "send float32": 2},
    "observed": ROWS_AND_LOSS | {"send bool": 1},
    "random": ROWS_AND_LOSS | {"send bool": 1, "send float32": 2},
    "weights": ROWS_AND_LOSS,
    "early stopping": ROWS_AND_LOSS,
    "series": {"send int64": 1, "read": 2, "send bool": 1, "send float32": 2},
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
            here = [tensor for tensor in given if not tensor.is_meta and tensor.ndim]
            self.seen.update(f"send {str(t.dtype).removeprefix('torch.')}" for t in here)
        elif there and made:
            self.seen["fetch"] += 1
        return result


@pytest.mark.parametrize("name", KNOWN)
def test_a_step_stays_on_its_device(name, monkeypatch):
    # Fused Adam, which runs on GPUs, refuses the meta device.
    monkeypatch.setattr(torch.optim, "AdamW", partial(_unfused, torch.optim.AdamW))
    trainer, data, train_rows, _ = prepare(2, name, "meta")
    batches = Batches(train_rows, SETTINGS["batch_size"], trainer.generator)
    steps = trainer.algorithm_1(data, batches)
    with Watch():
        next(steps)  # the first may check more
    with Watch() as watch:
        next(steps)
    assert watch.seen == KNOWN[name]


def _unfused(adam, groups, fused, **options):
    return adam(groups, foreach=False, **options)
