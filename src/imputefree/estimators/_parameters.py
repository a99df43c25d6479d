"""Constructor parameters: names, defaults and what they mean. `rules.py` says what they may be.

They are dataclass fields, so that each estimator's signature (which scikit-learn reads) is written
by Python and a default stands in one place.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from textwrap import indent
from typing import Any

from sklearn.base import BaseEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters(BaseEstimator):
    """What every estimator can be told; `MEANING` explains each."""

    policy: Any = "none"
    reward: Any = "loss"
    n_members: int = 16
    hidden_layer_sizes: Any = (128, 128)
    activation: str = "relu"
    dropout: float = 0.2
    placeholder: Any = 0.0
    indicator: bool = True
    categorical_features: Any = "auto"
    numeric_encoding: str = "auto"
    hide: float = 0.1
    learning_rate_init: float = 2e-3
    learning_rate_decay: float = 1.0
    learning_rate_decay_steps: int = 1000
    weight_decay: float = 3.0
    weight_averaging: float = 0.95
    batch_size: int = 128
    max_iter: int = 200
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
    """What only tables have."""

    linear_path: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceParameters(Parameters):
    """What only series have, and where their defaults differ."""

    id: str | None = None
    time: str | None = None
    static: Any = None
    variable: str | None = None
    value: str | None = None
    axes: str = "ntd"
    n_members: int = 4
    cell: str = "lstm"
    hidden_layer_sizes: Any = (64, 64)
    dropout: float = 0.5
    hide: float = 0.0
    weight_decay: float = 1.0
    n_iter_no_change: int = 5
    numeric_encoding: str = "plain"
    time_since: bool = True
    summary: bool = True
    per_step: bool = False


MEANING = {
    "id": """str or None
    For long frames: the column that identifies the series.""",
    "time": """str or None
    For long frames: the column of time stamps, numbers or dates; None takes rows in order.""",
    "static": """str, list of str or None
    For frames: columns that do not change within a series. A table of static values comes in a
    `Panel`.""",
    "variable": """str or None
    For frames of (variable, value) pairs: the column that says what was measured.""",
    "value": """str or None
    For frames of (variable, value) pairs: the column of values.""",
    "axes": """{"ntd", "ndt"}
    Whether 3D arrays are (series, time, columns) or (series, columns, time).""",
    "policy": """{"none", "observed", "random", "ddpg", "gate", "meta"} or policy object
    Who decides the importance. "none" is ordinary training, "observed" lets missing entries
    teach nothing (the paper's GIL-H), "ddpg" is the paper's reinforcement learning (GIL),
    "meta" learns from the exact gradient of the next loss. See `imputefree.gil._policies`.""",
    "reward": """{"loss", "contrastive"} or reward object
    What "ddpg" is paid for; "contrastive" makes it the paper's GIL-D (classes only).""",
    "n_members": """int
    Networks in the ensemble; 1 is the paper's setting.""",
    "cell": """{"lstm", "gru"}
    The recurrent cell.""",
    "hidden_layer_sizes": """int or tuple
    Widths of the hidden layers; of series, the first is the width of the recurrent layer.""",
    "activation": """{"relu", "gelu", "silu", "tanh"}
    Of the dense hidden layers.""",
    "linear_path": """bool
    Also connect the inputs to the output directly.""",
    "dropout": """float
    Share of hidden units switched off at each training step.""",
    "placeholder": """float or "learned"
    What stands for a missing entry, in scaled units (0 is the column's mean without
    its outliers), or one trained value per network input.""",
    "indicator": """bool
    Give the networks one input per column with gaps that says "missing here".""",
    "time_since": """bool
    Give the networks, per column with gaps, the time since it was last observed before this
    step and, where steps are not evenly spaced, the time since the last step.""",
    "summary": """bool
    Give the output layers, beside the last hidden state, seven numbers on what was observed of
    each column that changes: mean, standard deviation, maximum, minimum, last, last minus first,
    how many. Importance does not act on them; the paper's network has none.""",
    "categorical_features": """"auto" or list of names or positions
    "auto" takes text and category columns. A missing category is missing; one never seen in
    training counts as missing, with a warning.""",
    "numeric_encoding": """{"auto", "rich", "plain", "unscaled"}
    "plain" gives a number one input. "unscaled" does not scale it either: for numbers on one
    scale, such as pixels; a placeholder is in their units then. "rich" adds its normal
    score (a number with more than ten distinct values) or one input a value. "auto" is rich up to
    100 columns.""",
    "hide": """float
    Chance that a training step hides an observed entry, so that networks get used to gaps.""",
    "learning_rate_init": """float
    Adam's rate.""",
    "learning_rate_decay": """float
    Multiplies the rate every `learning_rate_decay_steps` steps, smoothly.""",
    "learning_rate_decay_steps": """int""",
    "weight_decay": """float
    Decoupled weight decay (AdamW): a step shrinks weights by rate times decay. Biases stay.""",
    "weight_averaging": """float
    The weights judged on held-out rows and kept are a running mean over steps, the newest
    weighing 1 minus this; 0 keeps the last step's. Without held-out rows it is not used.""",
    "batch_size": """int
    Rows (series) a step and member.""",
    "max_iter": """int
    Epochs at most.""",
    "early_stopping": """bool
    Hold out rows, keep each member's best weights on them and stop when none improves.""",
    "validation": """{"rotating", "shared"}
    Whether each member holds out a different fold, so that no row is lost to validation, or
    all hold out the same.""",
    "validation_fraction": """float
    About the share of the rows a member holds out, to the nearest 1/2, 1/3, 1/4, …
    (stratified by class; groups stay together). Fewer than four rows hold out none.""",
    "n_iter_no_change": """int
    Epochs (and at least 80 steps) without improvement before training stops.""",
    "tol": """float
    By how much the validation loss must fall to count as improvement.""",
    "warm_start": """bool
    Go on from the weights of the last fit.""",
    "random_state": """int, RandomState or None
    Same seed and number of threads, same model, bit for bit.""",
    "device": """str
    "auto" (a GPU where there is one), "cpu", "cuda", …""",
    "verbose": """bool
    Show a progress bar on a terminal.""",
    "per_step": """bool
    Learn and predict a label for every step, not one for the series.""",
    "class_weight": """dict, "balanced" or None
    Weight of each class; "balanced" makes all classes count the same.""",
}
METHOD = """
While the networks train, a *policy* decides the importance a in [0, 1] of every entry x of
every {row}, and the {layer} learns from

    dE/dW = sum over {row}s of Delta (x * a)^T          (Delta: gradient at {where})

instead of the ordinary sum of Delta x^T. Prediction uses the networks alone: no policy, no
imputer.
"""
ATTRIBUTES = """
Attributes
----------
history_ : dict of lists, one figure an epoch: loss, validation_loss, the policy's
n_iter_ : epochs run
n_features_in_, feature_names_in_ : columns of the training data
encoder_ : how columns become inputs; `encoder_.input_names` names the network's inputs
predictor_ : the networks (a torch module)
policy_ : the policy after training
"""


def document(cls: Any, network: str, **method: str) -> Any:
    """Write an estimator's docstring: its own first line, the method, all parameters, the rest."""
    first, _, rest = cls.__doc__.partition("\n")
    parameters = "\n".join(f"{field.name} : {MEANING[field.name]}" for field in fields(cls))
    parts = [network, METHOD.format(**method), "Parameters\n----------", parameters, ATTRIBUTES]
    text = "\n" + "\n".join(parts)
    cls.__doc__ = first + "\n" + indent(text, "    ") + rest
    return cls
