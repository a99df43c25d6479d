"""GILClassifier and GILRegressor: networks for tables with gaps, with scikit-learn's manners."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight

from .base import GILEstimator
from .data.target import as_array, read_classes, read_numbers
from .errors import InputError, ParameterError
from .gil.losses import CrossEntropy, SquaredError
from .parameters import CLASS_WEIGHT, PARAMETERS

FARTHEST = 1e15  # scaled targets beyond that overflow when squared in float32


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
        super().__init__(
            policy=policy,
            reward=reward,
            n_members=n_members,
            hidden_layer_sizes=hidden_layer_sizes,
            activation=activation,
            linear_path=linear_path,
            dropout=dropout,
            placeholder=placeholder,
            indicator=indicator,
            categorical_features=categorical_features,
            numeric_encoding=numeric_encoding,
            hide=hide,
            learning_rate_init=learning_rate_init,
            learning_rate_decay=learning_rate_decay,
            learning_rate_decay_steps=learning_rate_decay_steps,
            weight_decay=weight_decay,
            weight_averaging=weight_averaging,
            batch_size=batch_size,
            max_iter=max_iter,
            early_stopping=early_stopping,
            validation=validation,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            warm_start=warm_start,
            random_state=random_state,
            device=device,
            verbose=verbose,
        )
        self.class_weight = class_weight

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
        return self._partial_fit(X, y, sample_weight, classes)

    def _learn_target(self, target: np.ndarray, classes: Any) -> None:
        self.classes_ = read_classes(target if classes is None else as_array(classes, "classes"))

    def _encode_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        known = self.classes_.tolist()
        unknown = [label for label in read_classes(target).tolist() if label not in known]
        if unknown:
            raise InputError(
                f"y holds the class {unknown[0]!r}, which earlier training did not have",
                f"The classes were fixed as {known}",
                "Name all classes in the first partial_fit, or fit anew with warm_start=False",
            )
        codes = np.searchsorted(self.classes_, target).astype(np.int64)
        return codes, codes

    def _loss(self) -> CrossEntropy:
        return CrossEntropy(len(self.classes_))

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        if self.class_weight is None:
            return np.ones(len(target))
        if isinstance(self.class_weight, dict):
            strange = [label for label in self.class_weight if label not in self.classes_.tolist()]
            if strange:
                raise ParameterError(
                    f"class_weight names {strange[0]!r}, which is no class",
                    f"Its keys must be among the classes {self.classes_.tolist()}",
                    "Correct the key, or leave it out",
                )
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

    def predict(self, X: Any) -> np.ndarray:
        """The mean prediction of the members; (n, columns) -> (n,)."""
        scaled = self._predict_members(X)[..., 0].mean(0).numpy()
        return scaled * self.target_scale_ + self.target_mean_

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch over these rows. The first call fixes columns and scales."""
        return self._partial_fit(X, y, sample_weight)

    def _learn_target(self, target: np.ndarray, classes: Any) -> None:
        numbers = read_numbers(target)
        self.target_mean_ = float(numbers.mean())
        self.target_scale_ = float(numbers.std()) or 1.0

    def _encode_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = read_numbers(target)
        scaled = (numbers - self.target_mean_) / self.target_scale_
        if np.abs(scaled).max() > FARTHEST:
            raise InputError(
                f"y reaches {np.abs(scaled).max():.1e} standard deviations of the first targets",
                f"Training that goes on keeps the first scale; {FARTHEST:.0e} is the limit",
                "Fit anew, with targets of one kind",
            )
        return scaled.astype(np.float32), np.zeros(len(numbers), dtype=int)

    def _loss(self) -> SquaredError:
        return SquaredError()
