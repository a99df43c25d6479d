"""The method: exact importance, policies that decide it, and Algorithm 1.

To add a policy, write it in a file of its own (see `policies.py` for the interface and an
example) and give it a name in `POLICIES`.
"""

from __future__ import annotations

import copy
from typing import Any

from ..errors import ParameterError
from ._batches import Batches
from ._checkpoint import Checkpoint, digest
from ._ddpg import DDPG
from ._losses import CrossEntropy, Loss, SquaredError
from ._meta import MetaPolicy
from ._noise import denormals_as_zero
from ._policies import GatePolicy, NoPolicy, ObservedPolicy, Policy, RandomPolicy
from ._predictors import ACTIVATIONS, MemberMlp, Predictor
from ._recurrent import CELLS
from ._rewards import REWARDS, ContrastiveReward, LossReward
from ._sequence_predictor import SequencePredictor
from ._train import Progress, Settings, Trainer
from ._training_data import TrainingData
from ._validation import predict_raw

POLICIES: dict[str, type[Policy]] = {
    "none": NoPolicy,
    "observed": ObservedPolicy,
    "random": RandomPolicy,
    "ddpg": DDPG,
    "gate": GatePolicy,
    "meta": MetaPolicy,
}


def make_policy(policy: Any) -> Policy:
    """A fresh policy from its name, or a copy of the user's object."""
    return _make("policy", policy, POLICIES, Policy)


def make_reward(reward: Any) -> LossReward:
    """A fresh reward from its name, or a copy of the user's object."""
    return _make("reward", reward, REWARDS, LossReward)


def _make(what: str, given: Any, known: dict[str, Any], base: type) -> Any:
    if isinstance(given, str) and given in known:
        return known[given]()
    if not isinstance(given, base):
        raise ParameterError(
            f"{what} is {given!r}",
            f"It must be one of {', '.join(map(repr, known))}, or an object of a class derived from"
            f" {base.__name__}",
            f"See imputefree.gil for the {what} interface",
        )
    return copy.deepcopy(given)  # a policy learns: the caller's object stays as it was


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
    "GatePolicy",
    "Loss",
    "LossReward",
    "MemberMlp",
    "MetaPolicy",
    "NoPolicy",
    "ObservedPolicy",
    "Policy",
    "Predictor",
    "Progress",
    "RandomPolicy",
    "SequencePredictor",
    "Settings",
    "SquaredError",
    "Trainer",
    "TrainingData",
    "denormals_as_zero",
    "digest",
    "make_policy",
    "make_reward",
    "predict_raw",
]
