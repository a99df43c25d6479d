"""What is predicted, classes or numbers: the half of an estimator that is the same for tables and
for series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight
from torch import Tensor

from ..data import as_array, read_classes, read_numbers
from ..errors import InputError, ParameterError
from ..gil import CrossEntropy, SquaredError

FARTHEST = 1e15  # scaled targets beyond that overflow when squared in float32


@dataclass(kw_only=True, eq=False, repr=False)
class ClassTarget(ClassifierMixin):
    """Classes; fitted: classes_ (the class labels, sorted)."""

    class_weight: Any = None

    def _learn_target(self, target: np.ndarray, classes: Any) -> None:
        """Fix the classes from the first target seen; (n,)."""
        self.classes_ = read_classes(target if classes is None else as_array(classes, "classes"))

    def _encode_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the networks learn, and strata for the folds; (n,) int64 each."""
        known = self.classes_.tolist()
        unknown = [label for label in read_classes(target).tolist() if label not in known]
        if unknown:
            raise InputError(
                f"y holds the class {unknown[0]!r}, which earlier training did not have",
                f"The classes were fixed as {known}",
                "Name all classes in the first partial_fit, or fit again with warm_start=False",
            )
        codes = np.searchsorted(self.classes_, target).astype(np.int64)
        return codes, codes

    def _loss(self) -> CrossEntropy:
        return CrossEntropy(len(self.classes_))

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        """Weight of each label's class; (n,)."""
        if self.class_weight is None:
            return np.ones(len(target))
        if isinstance(self.class_weight, dict):
            unknown = [label for label in self.class_weight if label not in self.classes_.tolist()]
            if unknown:
                raise ParameterError(
                    f"class_weight names {unknown[0]!r}, which is not a class",
                    f"Its keys must be among the classes {self.classes_.tolist()}",
                    "Correct the key, or leave it out",
                )
        return compute_sample_weight(self.class_weight, target)

    def _average(self, members: Tensor) -> np.ndarray:
        """Probabilities, the mean over members; (K, n, classes) -> (n, classes)."""
        return members.mean(0).numpy()

    def _decide(self, members: Tensor) -> np.ndarray:
        """The most probable class; (K, n, classes) -> (n,)."""
        return self.classes_[self._average(members).argmax(1)]


class NumberTarget(RegressorMixin):
    """Numbers; fitted: target_mean_ and target_scale_ (how the target was scaled)."""

    def _learn_target(self, target: np.ndarray, classes: Any) -> None:
        """Fix the scale from the first target seen; (n,)."""
        numbers = read_numbers(target)
        self.target_mean_ = float(numbers.mean())
        self.target_scale_ = float(numbers.std()) or 1.0

    def _encode_target(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the networks learn, float32, and one stratum for the folds; (n,) each."""
        numbers = read_numbers(target)
        scaled = (numbers - self.target_mean_) / self.target_scale_
        if np.abs(scaled).max() > FARTHEST:
            raise InputError(
                f"y reaches {np.abs(scaled).max():.1e} standard deviations of the first targets",
                f"Continued training keeps the first scale; {FARTHEST:.0e} is the limit",
                "Fit from scratch, with targets on one scale",
            )
        return scaled.astype(np.float32), np.zeros(len(numbers), dtype=int)

    def _loss(self) -> SquaredError:
        return SquaredError()

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        return np.ones(len(target))

    def _average(self, members: Tensor) -> np.ndarray:
        """The mean over members in units of the target; (K, n, 1) -> (n,)."""
        return members[..., 0].mean(0).numpy() * self.target_scale_ + self.target_mean_

    _decide = _average
