"""The method: exact gradient importance, the policies that decide it, and Algorithm 1.

To add a policy, derive from `Policy` (see `_policies.py` for the interface and an example) and add
it to `POLICIES`; to add a reward, derive from `LossReward` (see `_rewards.py`).
"""

from __future__ import annotations

import copy
from typing import Any

from ..errors import ParameterError
from ._adamw import denormals_as_zero
from ._checkpoint import Checkpoint, digest
from ._ddpg import DDPG
from ._donors import Donors
from ._meta import MetaPolicy
from ._policies import (
    GatePolicy,
    NoPolicy,
    ObservedPolicy,
    Policy,
    RandomPolicy,
    State,
    Task,
    Transition,
)
from ._predictors import (
    ACTIVATIONS,
    CrossEntropy,
    Loss,
    MemberMlp,
    Predictor,
    SquaredError,
    assign_state,
)
from ._recurrent import CELLS
from ._rewards import REWARDS, ContrastiveReward, LossReward
from ._sequence_predictor import SequencePredictor
from ._train import Settings, Trainer
from ._training_data import Batches, TrainingData
from ._trusted_policy import FixedImportance, TrustedPolicy
from ._validation import (
    EarlyStopping,
    HeldOut,
    features,
    importance,
    predict_raw,
    update_average,
)

POLICIES: dict[str, type[Policy]] = {
    "none": NoPolicy,
    "observed": ObservedPolicy,
    "random": RandomPolicy,
    "ddpg": DDPG,
    "gate": GatePolicy,
    "meta": MetaPolicy,
}


def make_policy(policy: Any) -> Policy:
    """A new policy by name, or a copy of a policy object."""
    return _make("policy", policy, POLICIES, Policy)


def make_reward(reward: Any) -> LossReward:
    """A new reward by name, or a copy of a reward object."""
    return _make("reward", reward, REWARDS, LossReward)


def _make(kind: str, value: Any, known: dict[str, Any], base: type) -> Any:
    if isinstance(value, str) and value in known:
        return known[value]()
    if not isinstance(value, base):
        raise ParameterError(
            f"{kind} is {value!r}",
            f"It must be one of {', '.join(map(repr, known))}, or an object of a class derived from"
            f" {base.__name__}",
            f"See imputefree.gil for the {kind} interface",
        )
    return copy.deepcopy(value)  # a policy learns: the caller's object must not change


__all__ = [
    "ACTIVATIONS",
    "CELLS",
    "DDPG",
    "POLICIES",
    "REWARDS",
    "Batches",
    "Checkpoint",
    "ContrastiveReward",
    "CrossEntropy",
    "Donors",
    "EarlyStopping",
    "FixedImportance",
    "GatePolicy",
    "HeldOut",
    "Loss",
    "LossReward",
    "MemberMlp",
    "MetaPolicy",
    "NoPolicy",
    "ObservedPolicy",
    "Policy",
    "Predictor",
    "RandomPolicy",
    "SequencePredictor",
    "Settings",
    "SquaredError",
    "State",
    "Task",
    "Trainer",
    "TrainingData",
    "Transition",
    "TrustedPolicy",
    "assign_state",
    "denormals_as_zero",
    "digest",
    "features",
    "importance",
    "make_policy",
    "make_reward",
    "predict_raw",
    "update_average",
]
