"""What is predicted, classes or numbers: the half of an estimator that is the same for tables and
for series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight

from ..data import as_array, read_classes, read_numbers
from ..errors import InputError, ParameterError

FARTHEST = 1e15  # scaled targets beyond that overflow when squared in float32


@dataclass(kw_only=True, eq=False, repr=False)
class ClassTarget(ClassifierMixin):
    """Classes; fitted: classes_ (the class labels, sorted)."""

    class_weight: Any = None
    _predict: ClassVar[Any]  # of the engine

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

    def _in_units(self, prediction: np.ndarray) -> np.ndarray:
        """Probabilities as they are; (n, classes)."""
        return prediction

    def _decide(self, prediction: np.ndarray) -> np.ndarray:
        """The most probable class; (n, classes) -> (n,)."""
        return self.classes_[prediction.argmax(1)]

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class; (n, classes).

        One row per row of a table. Series are in the order of their first appearance, which
        `series_ids` tells; with `per_step` there is one row per row of a frame, else a list of
        (steps, classes) arrays, one per series.

        X : as for `fit`
        """
        return self._predict(X, lambda probability: probability)

    def predict(self, X: Any) -> Any:
        """The most probable class of each row, series or step; ordered as by `predict_proba`."""
        return self._predict(X, self._decide)


class NumberTarget(RegressorMixin):
    """Numbers; fitted: target_mean_ and target_scale_ (how the target was scaled)."""

    _predict: ClassVar[Any]  # of the engine

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

    def _class_weights(self, target: np.ndarray) -> np.ndarray:
        return np.ones(len(target))

    def _in_units(self, prediction: np.ndarray) -> np.ndarray:
        """Scaled numbers in units of the target; (n, 1) -> (n,)."""
        return prediction[..., 0] * self.target_scale_ + self.target_mean_

    def _decide(self, prediction: np.ndarray) -> np.ndarray:
        """The numbers themselves; (n,)."""
        return prediction

    def predict(self, X: Any) -> Any:
        """A number for each row; (n,).

        Series are in the order of their first appearance, which `series_ids` tells; with
        `per_step` there is one number per row of a frame, else a list of (steps,) arrays, one per
        series.

        X : as for `fit`
        """
        return self._predict(X, self._decide)
