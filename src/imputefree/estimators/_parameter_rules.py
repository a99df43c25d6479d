"""What each constructor parameter may be; checked at fit, with the rule in the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from sklearn.utils import check_random_state

from .._rules import FLAG, Rule, check_rules, choice, number, whole
from ..errors import ParameterError
from ..gil import ACTIVATIONS, CELLS, make_reward


def _is_sizes(value: Any) -> bool:
    sizes = value if isinstance(value, Sequence) else [value]
    return len(sizes) > 0 and all(whole(1)[0](size) for size in sizes)


def _is_device(value: Any) -> bool:
    try:
        name = "cpu" if isinstance(value, str) and value == "auto" else value
        return torch.empty(0, device=torch.device(name)).device.type != "meta"
    except (RuntimeError, TypeError, AssertionError):  # AssertionError: PyTorch without CUDA
        return False


def _is_seed(value: Any) -> bool:
    try:
        return check_random_state(value) is not None
    except ValueError:
        return False


def _is_placeholder(value: Any) -> bool:
    return (isinstance(value, str) and value == "learned") or number(-1e6, 1e6)[0](value)


def _is_class_weight(value: Any) -> bool:
    if isinstance(value, dict):
        return all(number(0, 1e300)[0](weight) for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


RULES: dict[str, Rule] = {
    "n_members": whole(1),
    "hidden_layer_sizes": (_is_sizes, "a whole number above 0 or a non-empty tuple of such"),
    "activation": choice(*ACTIVATIONS),
    "linear_path": FLAG,
    "cell": choice(*CELLS),
    "per_step": FLAG,
    "time_since": FLAG,
    "summary": FLAG,
    "dropout": number(0, 1, open_high=True),
    "placeholder": (_is_placeholder, 'a number (in scaled units) or "learned"'),
    "indicator": FLAG,
    "numeric_encoding": choice("auto", "rich", "plain", "unscaled"),
    "hide": number(0, 0.9),
    "weight_averaging": number(0, 1, open_high=True),
    "learning_rate_init": number(0, 1e3, open_low=True),
    "learning_rate_decay": number(0, 1, open_low=True),
    "learning_rate_decay_steps": whole(1),
    "weight_decay": number(0, 1e3),
    "batch_size": whole(1),
    "max_iter": whole(1),
    "early_stopping": FLAG,
    "validation": choice("rotating", "shared"),
    "validation_fraction": number(0, 0.5, open_low=True),
    "n_iter_no_change": whole(1),
    "tol": number(0, 1e3),
    "warm_start": FLAG,
    "random_state": (_is_seed, "None, a whole number in [0, 2**32 - 1] or a RandomState"),
    "device": (_is_device, '"auto" or a torch device of this machine, such as "cpu" or "cuda"'),
    "verbose": FLAG,
}


def check_parameters(estimator: Any) -> None:
    """Raise a ParameterError for the first parameter outside its valid values."""
    check_rules(estimator, RULES)
    if hasattr(estimator, "class_weight"):
        if not _is_class_weight(estimator.class_weight):
            raise ParameterError(
                f"class_weight is {estimator.class_weight!r}",
                'It must be None, "balanced" or a dict from classes to numbers of at least 0',
                "Write class_weight={label: weight, …}",
            )
    elif make_reward(estimator.reward).balanced:
        raise ParameterError(
            f"reward is {estimator.reward!r} for a regressor",
            "The contrastive reward compares features of different classes",
            "Use reward='loss'",
        )
