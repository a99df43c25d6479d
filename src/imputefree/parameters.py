"""Constructor parameters: their defaults, their wording, and their check at fit."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .errors import ParameterError
from .gil import make_reward
from .gil.predictors import ACTIVATIONS

PARAMETERS = """
    Rows go into an ensemble of small multilayer perceptrons that train side by side. A missing
    entry is filled with a placeholder, and, for columns that have gaps in training, marked by an
    indicator. While the networks train, a *policy* decides the importance a in [0, 1] of every
    entry x of every row, and the first layer learns from

        dE/dW = sum over rows of Delta (x * a)^T          (Delta: gradient at the layer's output)

    instead of the ordinary sum of Delta x^T. Prediction uses the networks alone: no policy, no
    imputer.

    Parameters
    ----------
    policy : {{"none", "observed", "random", "ddpg", "gate", "meta"}} or policy object
        Who decides the importance. "none" is ordinary training, "observed" lets missing entries
        teach nothing (the paper's GIL-H), "ddpg" is the paper's reinforcement learning (GIL),
        "meta" learns from the exact gradient of the next loss. See `imputefree.gil.policies`.
    reward : {{"loss", "contrastive"}} or reward object
        What "ddpg" is paid for; "contrastive" makes it the paper's GIL-D (classes only).
    n_members : int
        Networks in the ensemble; 1 is the paper's setting.
    hidden_layer_sizes : int or tuple
        Widths of the hidden layers.
    activation : {{"relu", "gelu", "silu", "tanh"}}
    linear_path : bool
        Also connect the inputs to the output directly.
    dropout : float
        Share of hidden units switched off at each training step.
    placeholder : float or "learned"
        What stands for a missing entry, in scaled units (0 is the column's mean without
        its outliers), or one trained value per network input.
    indicator : bool
        Give the networks one input per column with gaps that says "missing here".
    categorical_features : "auto" or list of names or positions
        "auto" takes text and category columns. A missing category is missing; one never seen in
        training counts as missing, with a warning.
    numeric_encoding : {{"auto", "rich", "plain"}}
        "plain" gives a number one input. "rich" adds its normal score (a number with more than
        ten distinct values) or one input a value. "auto" is rich up to 100 columns.
    hide : float
        Chance that a training step hides an observed entry, so that networks get used to gaps.
    learning_rate_init, learning_rate_decay, learning_rate_decay_steps : float, float, int
        Adam's rate, multiplied by `learning_rate_decay` every so many steps, smoothly.
    weight_decay : float
        Decoupled weight decay (AdamW): a step shrinks weights by rate times decay. Biases stay.
    weight_averaging : float
        The weights judged on held-out rows and kept are a running mean over steps, the newest
        weighing 1 minus this; 0 keeps the last step's. Without held-out rows it is not used.
    batch_size : int
        Rows a step and member.
    max_iter : int
        Epochs at most.
    early_stopping : bool
        Hold out rows, keep each member's best weights on them and stop when none improves.
    validation : {{"rotating", "shared"}}
        Whether each member holds out a different fold, so that no row is lost to validation, or
        all hold out the same.
    validation_fraction : float
        About the share of the rows a member holds out, to the nearest 1/2, 1/3, 1/4, …
        (stratified by class; groups stay together). Fewer than four rows hold out none.
    n_iter_no_change, tol : int, float
        Epochs (and at least 80 steps) without improvement by more than `tol` before training
        stops.
{class_weight}    warm_start : bool
        Go on from the weights of the last fit.
    random_state : int, RandomState or None
        Same seed and number of threads, same model, bit for bit.
    device : str
        "auto" (a GPU where there is one), "cpu", "cuda", …
    verbose : bool
        Show a progress bar on a terminal.

    Attributes
    ----------
{fitted}    history_ : dict of lists, one figure an epoch: loss, validation_loss, the policy's
    n_iter_ : epochs run
    n_features_in_, feature_names_in_ : columns of the training table
    encoder_ : the fitted `TableEncoder`; `encoder_.input_names` names the network's inputs
    predictor_ : the networks (a torch module)
    policy_ : the policy after training
"""

CLASS_WEIGHT = """    class_weight : dict, "balanced" or None
        Weight of each class; "balanced" makes all classes count the same.
"""


class Parameters(BaseEstimator):
    """What both estimators can be told; `PARAMETERS` explains each."""

    def __init__(
        self,
        policy: Any = "none",
        reward: Any = "loss",
        n_members: int = 16,
        hidden_layer_sizes: Any = (128, 128),
        activation: str = "relu",
        linear_path: bool = True,
        dropout: float = 0.2,
        placeholder: Any = 0.0,
        indicator: bool = True,
        categorical_features: Any = "auto",
        numeric_encoding: str = "auto",
        hide: float = 0.1,
        learning_rate_init: float = 2e-3,
        learning_rate_decay: float = 1.0,
        learning_rate_decay_steps: int = 1000,
        weight_decay: float = 3.0,
        weight_averaging: float = 0.95,
        batch_size: int = 128,
        max_iter: int = 200,
        early_stopping: bool = True,
        validation: str = "rotating",
        validation_fraction: float = 0.125,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        warm_start: bool = False,
        random_state: Any = None,
        device: str = "auto",
        verbose: bool = False,
    ) -> None:
        self.policy = policy
        self.reward = reward
        self.n_members = n_members
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.linear_path = linear_path
        self.dropout = dropout
        self.placeholder = placeholder
        self.indicator = indicator
        self.categorical_features = categorical_features
        self.numeric_encoding = numeric_encoding
        self.hide = hide
        self.learning_rate_init = learning_rate_init
        self.learning_rate_decay = learning_rate_decay
        self.learning_rate_decay_steps = learning_rate_decay_steps
        self.weight_decay = weight_decay
        self.weight_averaging = weight_averaging
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation = validation
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.verbose = verbose


Rule = tuple[Callable[[Any], bool], str]


def _whole(low: int) -> Rule:
    return (
        lambda v: isinstance(v, numbers.Integral) and not isinstance(v, bool) and int(v) >= low,
        f"a whole number, at least {low}",
    )


def _number(low: float, high: float, open_low: bool = False, open_high: bool = False) -> Rule:
    def holds(value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        number = float(value)
        above = number > low if open_low else number >= low
        return above and (number < high if open_high else number <= high)

    span = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    return holds, f"a number in {span}"


def _choice(*names: str) -> Rule:
    return (
        lambda v: isinstance(v, str) and v in names,
        "one of " + ", ".join(repr(name) for name in names),
    )


def _is_sizes(value: Any) -> bool:
    sizes = value if isinstance(value, Sequence) else [value]
    return len(sizes) > 0 and all(_whole(1)[0](size) for size in sizes)


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
    return (isinstance(value, str) and value == "learned") or _number(-1e6, 1e6)[0](value)


def _is_class_weight(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_number(0, 1e300)[0](weight) for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


FLAG: Rule = (lambda v: isinstance(v, bool | np.bool_ | int), "True or False")
RULES: dict[str, Rule] = {
    "n_members": _whole(1),
    "hidden_layer_sizes": (_is_sizes, "a whole number above 0 or a non-empty tuple of such"),
    "activation": _choice(*ACTIVATIONS),
    "linear_path": FLAG,
    "dropout": _number(0, 1, open_high=True),
    "placeholder": (_is_placeholder, 'a number (in scaled units) or "learned"'),
    "indicator": FLAG,
    "numeric_encoding": _choice("auto", "rich", "plain"),
    "hide": _number(0, 0.9),
    "weight_averaging": _number(0, 1, open_high=True),
    "learning_rate_init": _number(0, 1e3, open_low=True),
    "learning_rate_decay": _number(0, 1, open_low=True),
    "learning_rate_decay_steps": _whole(1),
    "weight_decay": _number(0, 1e3),
    "batch_size": _whole(1),
    "max_iter": _whole(1),
    "early_stopping": FLAG,
    "validation": _choice("rotating", "shared"),
    "validation_fraction": _number(0, 0.5, open_low=True),
    "n_iter_no_change": _whole(1),
    "tol": _number(0, 1e3),
    "warm_start": FLAG,
    "random_state": (_is_seed, "None, a whole number in [0, 2**32 - 1] or a RandomState"),
    "device": (_is_device, '"auto" or a torch device of this machine, such as "cpu" or "cuda"'),
    "verbose": FLAG,
}


def check_parameters(estimator: Any) -> None:
    """Raise a ParameterError for the first parameter outside its valid values."""
    for name, (holds, wording) in RULES.items():
        value = getattr(estimator, name)
        if not holds(value):
            raise ParameterError(
                f"{name} is {value!r}", f"It must be {wording}", f"Pass {name}= such a value"
            )
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
