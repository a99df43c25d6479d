"""`TreesClassifier` and `TreesRegressor`: boosted trees that learn from gaps as they are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._estimator_tools import all_or_nothing, private_generator, remember_columns
from .._rules import check_rules, whole
from ..data import Columns, Examples, Fold, TableEncoder, draw_folds, read_columns, read_target
from ..estimators import RULES, ClassTarget, NumberTarget
from ._growing import TreeData, grow, growth_options
from ._tree_ensemble import TreeEnsemble


class TreeEstimator(BaseEstimator):
    """What the classifier and the regressor share."""

    encoder_: TableEncoder
    trees_: TreeEnsemble

    def __init__(
        self,
        *,
        n_folds: int = 5,
        max_trees: int = 1000,
        categorical_features: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_folds = n_folds
        self.max_trees = max_trees
        self.categorical_features = categorical_features
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, held_out: Any = None
    ) -> Self:
        """Grow trees on a table with gaps; arguments as for `GILClassifier.fit`."""
        rules = {"n_folds": whole(2), "max_trees": whole(1), "random_state": RULES["random_state"]}
        check_rules(self, rules)
        columns = read_columns(X)
        target = read_target(y, columns.n_rows, type(self).__name__)
        examples = Examples.read(columns, target, sample_weight, groups, held_out)
        with all_or_nothing(self):
            self._learn_target(examples.target, None)
            examples = examples.reweighted(self._class_weights(examples.target))
            _, strata = self._encode_target(examples.target)
            rng = private_generator(self.random_state)
            folds = draw_folds(self.n_folds, rng, strata, examples.groups, examples.held_out)
            self.fit_folds(examples, folds, seed=int(rng.integers(2**31 - 1)))
        return self

    def fit_folds(
        self,
        examples: Examples,
        folds: list[Fold],
        *,
        seed: int,
        deadline: float | None = None,
    ) -> np.ndarray:
        """Grow trees on each fold; returns out-of-fold predictions, NaN for rows never held out.

        Shape (n, classes) or (n,). The target must be learned already (`classes_`, or scale).
        """
        codes, _ = self._encode_target(examples.target)
        encoder = TableEncoder(
            self.categorical_features, False, "plain", owner=type(self).__name__
        ).fit(examples.training_inputs())
        n_classes = len(self.classes_) if hasattr(self, "classes_") else 0
        weight = examples.label_weights(np.ones(len(codes)))
        data = TreeData(encoder.numbers(examples.inputs), codes, weight, n_classes)
        self.trees_, raw = grow(
            data,
            folds,
            list(growth_options(len(codes))),
            max_trees=self.max_trees,
            seed=seed,
            deadline=deadline,
        )
        self.encoder_ = encoder
        remember_columns(self, examples.inputs)
        return self._link(raw)

    def predict_inputs(self, columns: Columns) -> np.ndarray:
        """Probabilities (n, classes), or numbers (n,), for columns that were read before."""
        return self._link(self.trees_.predict(self.encoder_.numbers(columns)))

    def _predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "trees_")
        return self.predict_inputs(read_columns(X))

    def _link(self, raw: np.ndarray) -> np.ndarray:
        """From the sums of leaves to predictions; (n, outputs) -> (n, classes) or (n,)."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class TreesClassifier(ClassTarget, TreeEstimator):
    """Classify rows of a table with gaps by boosted trees; a gap goes its own way at every split.

    Several kinds of trees grow on each of a few folds, until the loss on the held-out fold stops
    falling; their log-odds are averaged.

    Parameters
    ----------
    n_folds : int, default=5
    max_trees : int, default=1000
        Maximum number of trees per fold and kind.
    categorical_features, class_weight, random_state : as for `GILClassifier`

    Fitted: classes_, encoder_, trees_ (a `TreeEnsemble`), n_features_in_, feature_names_in_.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] > 0, "high", "low")
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> TreesClassifier(max_trees=50, random_state=0).fit(X, y).predict([[1.0, np.nan], [-1.0, 0]])
    array(['high', 'low'], dtype='<U4')
    """

    def __init__(self, *, class_weight: Any = None, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.class_weight = class_weight

    def _link(self, raw: np.ndarray) -> np.ndarray:
        if raw.shape[1] > 1:
            return softmax(raw, axis=1)
        return np.column_stack([expit(-raw), expit(raw)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; (n, columns) -> (n, classes)."""
        return self._predict(X)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; (n, columns) -> (n,)."""
        probability = self._predict(X)
        return self.classes_[probability.argmax(1)]


class TreesRegressor(NumberTarget, TreeEstimator):
    """Predict a number for rows of a table with gaps by boosted trees; see `TreesClassifier`."""

    def _link(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] * self.target_scale_ + self.target_mean_

    def predict(self, X: Any) -> np.ndarray:
        """A number for each row; (n, columns) -> (n,)."""
        return self._predict(X)
