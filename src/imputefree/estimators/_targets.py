"""What is predicted, classes or numbers: the half of an estimator that does not depend on whether
rows of a table or series come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight

from ..data import as_array, read_classes, read_numbers
from ..errors import InputError, ParameterError
from ..gil import CrossEntropy, SquaredError

FARTHEST = 1e15  # scaled targets beyond that overflow when squared in float32


@dataclass(kw_only=True, eq=False, repr=False)
class ClassTarget(ClassifierMixin):
    """Classes: what `GILClassifier` and `GILSequenceClassifier` share.

    Fitted: classes_ (the class labels, sorted).
    """

    class_weight: Any = None

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


class NumberTarget(RegressorMixin):
    """Numbers: what `GILRegressor` and `GILSequenceRegressor` share.

    Fitted: target_mean_ and target_scale_ (how the target was scaled for training).
    """

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

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        return np.ones(len(target))

    def _unscaled(self, members: Any) -> np.ndarray:
        """The mean over members in the target's own units; (K, n, 1) -> (n,)."""
        return members[..., 0].mean(0).numpy() * self.target_scale_ + self.target_mean_
