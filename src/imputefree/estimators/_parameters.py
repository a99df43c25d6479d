"""Constructor parameters: names, defaults, valid values, and what "auto" becomes.

They are dataclass fields, so that Python writes each estimator's signature (which scikit-learn
reads) and every default is in one place. The docstrings of `GILClassifier` and
`GILSequenceClassifier` explain them. What "auto" becomes was chosen by cross-validation over the
tables of the benchmarks; docs/decisions.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .._rules import FLAG, Rule, check_rules, choice, number, or_the_word, whole
from ..errors import ParameterError
from ..gil import ACTIVATIONS, CELLS, make_reward


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters(BaseEstimator):
    """Parameters of all four estimators; "auto" follows the size of the table."""

    policy: Any = "none"
    reward: Any = "loss"
    n_members: Any = "auto"
    hidden_layer_sizes: Any = "auto"
    activation: str = "relu"
    dropout: Any = "auto"
    placeholder: Any = 0.0
    relevance: bool = True
    indicator: bool = True
    missingness: str = "use"
    categorical_features: Any = "auto"
    numeric_encoding: str = "auto"
    encoder: Any = None
    hide: Any = "auto"
    learning_rate_init: Any = "auto"
    learning_rate_decay: Any = "auto"
    learning_rate_decay_steps: Any = "auto"
    weight_decay: Any = "auto"
    weight_averaging: float = 0.95
    batch_size: Any = "auto"
    max_iter: Any = "auto"
    early_stopping: bool = True
    validation: str = "rotating"
    validation_fraction: float = 0.125
    n_iter_no_change: int = 10
    tol: float = 0.0
    warm_start: bool = False
    random_state: Any = None
    device: str = "auto"
    verbose: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class TableParameters(Parameters):
    """Parameters of the estimators for tables."""

    linear_path: Any = "auto"


@dataclass(kw_only=True, eq=False, repr=False)
class SeriesParameters(BaseEstimator):
    """How series are read: which columns or axes mean what."""

    id: str | None = None
    time: str | None = None
    static: Any = None
    variable: str | None = None
    value: str | None = None
    axes: str = "ntd"


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceParameters(SeriesParameters, Parameters):
    """Parameters of the networks for series, and defaults that differ."""

    n_members: int = 4
    cell: str = "gru"
    hidden_layer_sizes: Any = (32,)
    dropout: float = 0.3
    hide: float = 0.0
    learning_rate_init: float = 2e-3
    learning_rate_decay: float = 0.1
    learning_rate_decay_steps: int = 1000
    weight_decay: float = 0.3
    batch_size: int = 128
    max_iter: int = 30
    n_iter_no_change: int = 3
    numeric_encoding: str = "plain"
    time_since: bool = True
    summary: bool = True
    per_step: bool = False


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


def _is_class_weight(value: Any) -> bool:
    if isinstance(value, dict):
        return all(number(0, 1e300)[0](weight) for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


RULES: dict[str, Rule] = {
    "n_members": whole(1),
    "hidden_layer_sizes": (_is_sizes, "a whole number above 0 or a non-empty tuple of such"),
    "activation": choice(*ACTIVATIONS),
    "linear_path": FLAG,
    "relevance": FLAG,
    "cell": choice(*CELLS),
    "per_step": FLAG,
    "time_since": FLAG,
    "summary": FLAG,
    "dropout": number(0, 1, open_high=True),
    "placeholder": or_the_word("learned", or_the_word("3max", number(-1e6, 1e6))),
    "indicator": FLAG,
    "missingness": choice("use", "ignore"),
    "numeric_encoding": choice("auto", "rich", "piecewise", "plain", "unscaled"),
    "encoder": (lambda v: v is None or callable(v), "None or a function of an encoder"),
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
    "class_weight": (
        _is_class_weight,
        'None, "balanced" or a dict from classes to numbers of at least 0',
    ),
}
AUTO = [
    "n_members",
    "hidden_layer_sizes",
    "linear_path",
    "dropout",
    "hide",
    "weight_decay",
    "batch_size",
    "max_iter",
    "learning_rate_init",
    "learning_rate_decay",
    "learning_rate_decay_steps",
]
NETWORK_RULES = RULES | {name: or_the_word("auto", RULES[name]) for name in AUTO}


def check_parameters(estimator: Any) -> None:
    """Raise a ParameterError for the first parameter outside its valid values."""
    check_rules(estimator, NETWORK_RULES)
    if estimator.missingness == "ignore" and estimator.encoder is not None:
        raise ParameterError(
            "missingness is 'ignore' and a custom encoder is given",
            "Gaps of other rows are put into what the default encoder keeps of a row",
            "Leave the encoder out, or use missingness='use'",
        )
    if not make_reward(estimator.reward).balanced:
        return
    if not hasattr(estimator, "class_weight"):
        raise ParameterError(
            f"reward is {estimator.reward!r} for a regressor",
            "The contrastive reward compares features of different classes",
            "Use reward='loss'",
        )
    if getattr(estimator, "per_step", False):
        raise ParameterError(
            f"reward is {estimator.reward!r} with per_step=True",
            "The contrastive reward compares series of different classes",
            "Use reward='loss'",
        )


LARGE, HUGE = 5_000, 50_000  # rows from which on training follows a schedule; networks are wider
BLENDED, BLENDED_ROWS = 5, 500  # number of networks beside other families, from this many rows on
DECAYED = 0.02  # of the learning rate that is left at the end of a schedule


def auto_settings(rows: int, inputs: int, outputs: int, blended: bool = False) -> dict[str, Any]:
    """Parameters by name, for a table with this many rows and networks of this shape.

    A small table needs many networks that are nearly linear unless the data insist, and it is
    cheap to wait until they stop improving. A large one needs wider networks, less
    regularisation and a learning rate that falls over a few epochs. In a blend, five networks do
    as well as eight unless the table is very small.

    >>> small, huge = (auto_settings(rows, inputs=20, outputs=1) for rows in (500, 100_000))
    >>> small["weight_decay"], round(huge["weight_decay"], 3)
    (3.0, 0.3)
    >>> small["n_members"], huge["n_members"], small["max_iter"], huge["max_iter"]
    (8, 4, 200, 6)
    >>> [auto_settings(n, 20, 1, blended=True)["n_members"] for n in (499, 500, 5_000, 100_000)]
    [8, 5, 8, 4]
    """
    huge = rows >= HUGE
    size = (rows >= LARGE) + huge + (rows >= 10 * HUGE)
    few = blended and BLENDED_ROWS <= rows < LARGE
    return {
        "n_members": BLENDED if few else (8, 8, 4, 2)[size],
        "hidden_layer_sizes": (256, 256) if huge else (128, 128),
        "linear_path": inputs * outputs <= rows,  # else it has more weights than there are rows
        "dropout": 0.1 if huge else 0.2,
        "hide": 0.0 if huge else 0.1,
        "weight_decay": 3.0 * min(1.0, math.sqrt(1000 / rows)),
        "batch_size": (128, 256, 512, 1024)[size],
        "learning_rate_init": (4e-3, 8e-3, 4e-3, 4e-3)[size],
        "learning_rate_decay": DECAYED if size else 1.0,
        "max_iter": (200, 9, 6, 5)[size],
    }


def resolve(
    parameters: dict[str, Any], rows: int, inputs: int, outputs: int, blended: bool = False
) -> dict[str, Any]:
    """The values of those parameters that are "auto".

    The learning rate reaches its last value when training ends; a rate that was asked for does
    not fall by itself.
    """
    auto = {name for name in AUTO if isinstance(parameters.get(name), str)}
    settings = auto_settings(rows, inputs, outputs, blended)
    if "learning_rate_init" not in auto:
        settings["learning_rate_decay"] = 1.0
    epochs, batch = (
        settings[name] if name in auto else int(parameters[name])
        for name in ("max_iter", "batch_size")
    )
    settings["learning_rate_decay_steps"] = epochs * math.ceil(rows / batch)
    return {name: value for name, value in settings.items() if name in auto}
