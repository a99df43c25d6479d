"""Random forests on mean-imputed columns with indicators."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from ..._rules import check_rules, whole
from ...baselines import Baseline, BaselineClassifier, BaselineRegressor, FitResult, TrainingSet

SETTINGS: list[dict[str, Any]] = [
    {"min_samples_leaf": leaf, "max_features": share}
    for leaf in (1, 3, 10)
    for share in ("sqrt", 1 / 3)
]


@dataclass(frozen=True)
class Forest:
    """A trained forest of scikit-learn."""

    model: Any

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        return getattr(self.model, "predict_proba", self.model.predict)(inputs)

    def loss(self, data: TrainingSet) -> float:
        """Loss on rows that it was not trained on: out of bag, or the held-out rows if given."""
        if data.held_out_given:
            rows = data.splits[0][1]
            return data.loss(self.predict(data.inputs[rows]), rows)
        model, n_rows = self.model, len(data.target)
        guess = model.oob_decision_function_ if data.n_classes else model.oob_prediction_
        in_bag = [np.bincount(rows, minlength=n_rows) > 0 for rows in model.estimators_samples_]
        rows = np.flatnonzero(~np.all(in_bag, axis=0))  # in every bag: the forest predicts 0
        return data.loss(guess[rows], rows) if len(rows) else np.inf


@dataclass(kw_only=True, eq=False, repr=False)
class ForestBaseline(Baseline):
    """What the classifier and the regressor share."""

    n_estimators: int = 500
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        check_rules(self, {"n_estimators": whole(1)})

    def _train(self, data: TrainingSet) -> FitResult:
        kind = RandomForestClassifier if data.n_classes else RandomForestRegressor
        options = {"oob_score": not data.held_out_given, "random_state": data.seed}
        best, losses = None, []
        for setting in SETTINGS:  # one at a time: forests are large
            model = kind(int(self.n_estimators), **options, **setting)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # some rows always in the bag
                model.fit(data.inputs[data.train_rows], data.target[data.train_rows])
            losses.append(Forest(model).loss(data))
            if best is None or losses[-1] < min(losses[:-1]):
                best = Forest(model), dict(setting)
        assert best is not None
        return *best, losses


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(ForestBaseline, BaselineClassifier):
    """Random forest. A gap holds the column's mean, with an indicator; categories are one-hot.

    `min_samples_leaf` and `max_features` are chosen out of bag, or on held-out rows if given.

    Parameters
    ----------
    n_estimators : number of trees
    random_state : int, RandomState or None; same seed, same forest

    Fitted: classes_, settings_, validation_losses_ (one per setting), encoder_.

    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 5.0], [np.nan, 1.0]] * 5)
    >>> clf = ForestClassifier(n_estimators=20, random_state=0).fit(X, [0, 1, 1, 0] * 5)
    >>> clf.predict(X[:4]), clf.settings_
    (array([0, 1, 1, 0]), {'min_samples_leaf': 1, 'max_features': 'sqrt'})
    """


@dataclass(kw_only=True, eq=False, repr=False)
class ForestRegressor(ForestBaseline, BaselineRegressor):
    """Random forest for numbers; see `ForestClassifier`."""
