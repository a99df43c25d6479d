"""All that training needs to go on after an epoch, taken from a trainer and put back into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from ._batches import Batches
from ._validation import Keeper

if TYPE_CHECKING:
    from ._train import Trainer


def standing(
    trainer: Trainer, epoch: int, batches: Batches, keeper: Keeper | None
) -> dict[str, Any]:
    """After an epoch, in tensors, numbers and texts.

    Algorithm 1 has looked at the next batch by then. What it saw cannot be kept (there is a graph
    behind it), but which rows it looked at and where chance stood can: it looks again.
    """
    return {
        "epoch": epoch,
        "steps": trainer.steps,
        "history": dict(trainer.history),
        "predictor": trainer.predictor.state_dict(),
        "average": None if trainer.average is None else trainer.average.state_dict(),
        "optimizer": trainer.optimizer.state_dict(),
        "policy": trainer.policy.state(),
        "keeper": None if keeper is None else keeper.state(),
        "batches": batches.state(),
        "looked_at": trainer.looked_at,
        "chance": chance(trainer),
    }


def put_back(
    trainer: Trainer, saved: dict[str, Any], batches: Batches, keeper: Keeper | None
) -> int:
    """All but the policy, which takes up its part once it has begun; -> the next epoch."""
    trainer.steps = saved["steps"]
    trainer.history.update(saved["history"])
    trainer.predictor.load_state_dict(saved["predictor"])
    trainer.optimizer.load_state_dict(saved["optimizer"])
    if trainer.average is not None:
        trainer.average.load_state_dict(saved["average"])
    if keeper is not None:
        keeper.set_state(saved["keeper"])
    batches.set_state(saved["batches"])
    return int(saved["epoch"]) + 1


def chance(trainer: Trainer) -> dict[str, Tensor]:
    """Where the two sources of randomness stand."""
    return {
        "own": trainer.generator.get_state(),
        "policy": trainer.policy_generator.get_state(),
    }


def set_chance(trainer: Trainer, state: dict[str, Tensor]) -> None:
    """The reverse of `chance`."""
    trainer.generator.set_state(state["own"])
    trainer.policy_generator.set_state(state["policy"])
