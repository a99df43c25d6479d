"""The base class of all baselines for tables: reading, validation rows, predictions.

A baseline is a scikit-learn estimator that takes the same tables as `GILClassifier`; `held_out`
rows are for validation (settings, early stopping), never for training. To add one, derive from
`Baseline`, write `_train`, and give it a name in `imputefree.lab.rivals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from .._rules import check_rules, private_generator
from ..data import (
    Examples,
    Fold,
    draw_folds,
    read_classes,
    read_columns,
    read_numbers,
    read_target,
    refuse_empty,
    remember_columns,
    table_tags,
)
from ..errors import InputError
from ..estimators import RULES
from ..metrics import SMALLEST
from ._baseline_encoders import LinearEncoder, PlainEncoder

FOLDS = 5


class Model(Protocol):
    """A trained model."""

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Probabilities (n, classes), or numbers (n,)."""


# A model, its settings, and the validation loss of every setting that was tried.
FitResult = tuple[Model, dict[str, Any], list[float]]


@dataclass(frozen=True)
class TrainingSet:
    """What a baseline is trained on: numbers only.

    inputs : (n, d) float64
    target : (n,) classes 0, 1, 2, … (int64), or numbers with mean 0 and standard deviation 1
    n_classes : 0 for regression
    categories : positions of inputs that hold categories as 0, 1, 2, …
    splits : (training rows, validation rows): the given ones, or one pair per fold
    held_out_given : whether the validation rows were given; if not, the final model may be trained
        on all rows
    seed : for anything random
    """

    inputs: np.ndarray
    target: np.ndarray
    n_classes: int
    categories: list[int]
    splits: list[Fold]
    held_out_given: bool
    seed: int

    @property
    def train_rows(self) -> np.ndarray:
        """Indices of all rows that the final model may be trained on."""
        return self.splits[0][0] if self.held_out_given else np.arange(len(self.target))

    def loss(self, prediction: np.ndarray, rows: np.ndarray) -> float:
        """Log-loss or mean squared error of a prediction for these rows."""
        truth = self.target[rows]
        if not self.n_classes:
            return float(np.mean((prediction - truth) ** 2))
        share = np.clip(prediction[np.arange(len(truth)), truth], SMALLEST, None)
        return float(-np.log(share).mean())


@dataclass(frozen=True)
class Constant:
    """Predicts the class shares, or the mean, of the training rows."""

    value: np.ndarray

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """The same for every row; (n, d) -> (n, classes) or (n,)."""
        return np.repeat(self.value[None], len(inputs), axis=0)


@dataclass(frozen=True)
class Mean:
    """The mean prediction of several models."""

    models: list[Any]

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        return np.mean([model.predict(inputs) for model in self.models], axis=0)


class Baseline(BaseEstimator):
    """Base class of the baselines for tables.

    If there is nothing to learn or to validate on (one class, constant inputs, fewer than four
    rows), it predicts class shares, or the mean.
    """

    random_state: Any
    model_: Model
    encoder_: PlainEncoder

    def _new_encoder(self) -> PlainEncoder:
        """How columns become numbers; learned from training rows."""
        return LinearEncoder(owner=type(self).__name__)

    def _check(self) -> None:
        """Refuse wrong parameters."""
        check_rules(self, {"random_state": RULES["random_state"]})

    def _train(self, data: TrainingSet) -> FitResult:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, *, held_out: Any = None, groups: Any = None) -> Self:
        """Learn from a table with gaps.

        Parameters
        ----------
        X : (n, columns) DataFrame (pandas or polars), array or list of rows; NaN, None and pd.NA
            are missing; strings and categories are allowed
        y : (n,) targets without gaps
        held_out : (n,) True for validation rows, which are never trained on. Default: five folds
            drawn from all rows
        groups : (n,) rows of one group are never in two folds
        """
        self._check()
        columns = read_columns(X)
        target = read_target(y, columns.n_rows, type(self).__name__)
        examples = Examples.read(columns, target, None, groups, held_out)
        refuse_empty(columns)
        encoder = self._new_encoder().fit(examples.training_inputs())
        rng = private_generator(self.random_state)
        codes, fitted = self._encode_target(examples)
        n_classes = len(fitted["trained_classes_"]) if is_classifier(self) else 0
        data = TrainingSet(
            inputs=encoder.as_numbers(columns),
            target=codes,
            n_classes=n_classes,
            categories=encoder.categories,
            splits=_splits(codes, n_classes, examples, rng),
            held_out_given=examples.held_out is not None,
            seed=int(rng.integers(2**31 - 1)),
        )
        nothing_to_learn = n_classes == 1 or not data.splits or not _varies(data)
        model, settings, losses = _constant(data) if nothing_to_learn else self._train(data)
        # Everything is set at the end: a fit that fails changes nothing.
        self.__dict__.update(fitted)
        self.model_, self.settings_, self.validation_losses_ = model, settings, losses
        self.encoder_ = encoder
        remember_columns(self, columns)
        return self

    def _encode_target(self, examples: Examples) -> tuple[np.ndarray, dict[str, Any]]:
        """The encoded target, (n,), and what is needed to decode it."""
        raise NotImplementedError

    def _predict_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.predict(self.encoder_.as_numbers(read_columns(X)))

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())


class BaselineClassifier(ClassifierMixin, Baseline):
    """Predicts classes; a class that only held-out rows have gets the probability 0."""

    def _encode_target(self, examples: Examples) -> tuple[np.ndarray, dict[str, Any]]:
        classes = read_classes(examples.target)
        numbers = np.searchsorted(classes, examples.target)
        held_out = examples.held_out
        trained = np.unique(numbers if held_out is None else numbers[~held_out])
        codes = np.full(len(classes), -1)
        codes[trained] = np.arange(len(trained))
        return codes[numbers], {"classes_": classes, "trained_classes_": trained}

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; (n, columns) -> (n, classes)."""
        known = self._predict_rows(X)
        probability = np.zeros((len(known), len(self.classes_)))
        probability[:, self.trained_classes_] = known
        return probability / probability.sum(1, keepdims=True)  # XGBoost's are float32

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; (n, columns) -> (n,)."""
        probability = self.predict_proba(X)
        return self.classes_[probability.argmax(1)]


class BaselineRegressor(RegressorMixin, Baseline):
    """Predicts numbers."""

    def _encode_target(self, examples: Examples) -> tuple[np.ndarray, dict[str, Any]]:
        training = read_numbers(examples.training_target())
        mean, scale = float(training.mean()), float(training.std()) or 1.0
        scaled = (read_numbers(examples.target) - mean) / scale
        return scaled, {"target_mean_": mean, "target_scale_": scale}

    def predict(self, X: Any) -> np.ndarray:
        """A number for each row; (n, columns) -> (n,)."""
        return self._predict_rows(X) * self.target_scale_ + self.target_mean_


def _splits(
    codes: np.ndarray, n_classes: int, examples: Examples, rng: np.random.Generator
) -> list[Fold]:
    """Training and validation rows, the given ones or fold by fold; [] if there are too few."""
    held_out = examples.held_out
    if held_out is not None:
        validation = np.flatnonzero(held_out & (codes >= 0) if n_classes else held_out)
        if not len(validation):
            raise InputError(
                "held_out marks only rows of classes that no other row has",
                "Classes that are not learned cannot be validated on",
                "Hold out rows of every class, or leave held_out out for folds",
            )
        return [(np.flatnonzero(~held_out), validation)]
    strata = codes if n_classes else np.zeros(len(codes), dtype=int)
    return list(draw_folds(FOLDS, rng, strata, examples.groups))


def _constant(data: TrainingSet) -> FitResult:
    target = data.target[data.train_rows]
    value = np.asarray(target.mean())
    if data.n_classes:
        value = np.bincount(target, minlength=data.n_classes) / len(target)
    return Constant(value), {}, []


def _varies(data: TrainingSet) -> bool:
    """Whether some training input has two different values; a gap counts as one."""
    inputs = data.inputs[data.train_rows]
    gaps = np.isnan(inputs)
    if (gaps.any(0) & ~gaps.all(0)).any():
        return True
    filled = np.where(gaps, 0.0, inputs)
    return bool((filled != filled[:1]).any())
