"""GILClassifier and GILRegressor: networks for tables with gaps, with scikit-learn's manners."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight

from .base import GILEstimator
from .data.target import read_classes, read_numbers
from .errors import InputError
from .gil.losses import CrossEntropy, SquaredError

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
        What stands for a missing entry, in scaled units (0 is the column's median), or one
        trained value per column.
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
        Share of the rows a member holds out (stratified by class; groups stay together).
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


class GILClassifier(ClassifierMixin, GILEstimator):
    __doc__ = (
        "Classify rows of a table with gaps: NaN in, probabilities out.\n"
        + PARAMETERS.format(
            class_weight=CLASS_WEIGHT, fitted="    classes_ : the class labels, sorted\n"
        )
        + """
    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> y = ["well", "ill", "ill", "well"] * 10
    >>> clf = GILClassifier(random_state=0, max_iter=30, batch_size=8).fit(X, y)
    >>> clf.predict(X.head(4))
    array(['well', 'ill', 'ill', 'well'], dtype='<U4')
    """
    )

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
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, the mean over members; (n, columns) -> (n, classes)."""
        return self._predict_members(X).mean(0).numpy()

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; (n, columns) -> (n,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(1)]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these rows. The first call fixes columns, scales and, by `classes`, all
        classes there will ever be (default: those of its y)."""
        if not hasattr(self, "predictor_"):
            self.classes_ = read_classes(np.asarray(y if classes is None else classes))
            self._classes_given = True
        return self._partial_fit(X, y, sample_weight)

    def _encode_target(self, y: Any, first: bool) -> tuple[np.ndarray, np.ndarray]:
        given = self.__dict__.pop("_classes_given", False)
        classes = read_classes(y)
        if first and not given:
            self.classes_ = classes
        unknown = [label for label in classes.tolist() if label not in self.classes_.tolist()]
        if unknown:
            raise InputError(
                f"y holds the class {unknown[0]!r}, which earlier training did not have",
                f"The classes were fixed as {self.classes_.tolist()}",
                "Name all classes in the first partial_fit, or fit anew with warm_start=False",
            )
        codes = np.searchsorted(self.classes_, y).astype(np.int64)
        return codes, codes

    def _loss(self) -> CrossEntropy:
        return CrossEntropy(len(self.classes_))

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        if self.class_weight is None:
            return np.ones(len(target))
        return compute_sample_weight(self.class_weight, target)


class GILRegressor(RegressorMixin, GILEstimator):
    __doc__ = (
        "Predict a number for rows of a table with gaps: NaN in, prediction out.\n"
        + PARAMETERS.format(
            class_weight="",
            fitted="    target_mean_, target_scale_ : how the target was scaled for training\n",
        )
        + """
    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 5.0], [np.nan, 1.0]] * 10)
    >>> reg = GILRegressor(random_state=0, max_iter=5).fit(X, np.arange(40.0))
    >>> reg.predict(X).shape
    (40,)
    """
    )

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

    def predict(self, X: Any) -> np.ndarray:
        """The mean prediction of the members; (n, columns) -> (n,)."""
        scaled = self._predict_members(X)[..., 0].mean(0).numpy()
        return scaled * self.target_scale_ + self.target_mean_

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch over these rows. The first call fixes columns and scales."""
        return self._partial_fit(X, y, sample_weight)

    def _encode_target(self, y: Any, first: bool) -> tuple[np.ndarray, np.ndarray]:
        numbers = read_numbers(y)
        if first:
            self.target_mean_ = float(numbers.mean())
            self.target_scale_ = float(numbers.std()) or 1.0
        scaled = (numbers - self.target_mean_) / self.target_scale_
        return scaled.astype(np.float32), np.zeros(len(numbers), dtype=int)

    def _loss(self) -> SquaredError:
        return SquaredError()
