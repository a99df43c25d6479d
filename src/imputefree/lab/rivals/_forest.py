"""Random forests on mean-imputed columns with indicators, and extra trees on gaps as they are.

Each sees a table as suits it better: over twelve tables with natural gaps (the first two of five
folds, 100 trees) forests had a mean score of 0.870 with means and indicators and 0.867 with NaN,
extra trees 0.862 and 0.865.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from ..._rules import check_rules, choice, whole
from ...baselines import (
    Baseline,
    BaselineClassifier,
    BaselineRegressor,
    FitResult,
    LinearEncoder,
    PlainEncoder,
    TrainingSet,
    TreeEncoder,
)

KINDS: dict[str, tuple[Any, Any]] = {  # by kind: for classes, for numbers
    "random_forest": (RandomForestClassifier, RandomForestRegressor),
    "extra_trees": (ExtraTreesClassifier, ExtraTreesRegressor),
}
SETTINGS: list[dict[str, Any]] = [
    {"min_samples_leaf": leaf, "max_features": share}
    for leaf in (1, 3, 10)
    for share in ("sqrt", 1 / 3)
]
TRIAL_TREES = 50  # enough to compare settings


@dataclass(frozen=True)
class Forest:
    """A trained forest of scikit-learn; n_classes : 0 for regression."""

    model: Any
    n_classes: int

    @classmethod
    def train(
        cls, kind: str, data: TrainingSet, rows: np.ndarray, n_trees: int, setting: dict[str, Any]
    ) -> Forest:
        """Grow trees on these rows."""
        classifier, regressor = KINDS[kind]
        make = classifier if data.n_classes else regressor
        model = make(n_trees, random_state=data.seed, **setting)
        return cls(model.fit(data.inputs[rows], data.target[rows]), data.n_classes)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        if not self.n_classes:
            return self.model.predict(inputs)
        probability = np.zeros((len(inputs), self.n_classes))  # a fold may lack a rare class
        probability[:, self.model.classes_] = self.model.predict_proba(inputs)
        return probability


@dataclass(kw_only=True, eq=False, repr=False)
class ForestBaseline(Baseline):
    """What the classifier and the regressor share."""

    kind: str = "random_forest"
    n_estimators: int = 500
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        check_rules(self, {"kind": choice(*KINDS), "n_estimators": whole(1)})

    def _new_encoder(self) -> PlainEncoder:
        kind = TreeEncoder if self.kind == "extra_trees" else LinearEncoder
        return kind(owner=type(self).__name__)

    def _train(self, data: TrainingSet) -> FitResult:
        n_trees, losses = int(self.n_estimators), []
        for setting in SETTINGS:
            tried = []
            for train, validation in data.splits:
                forest = Forest.train(self.kind, data, train, min(n_trees, TRIAL_TREES), setting)
                tried.append(data.loss(forest.predict(data.inputs[validation]), validation))
            losses.append(float(np.mean(tried)))
        best = SETTINGS[int(np.argmin(losses))]
        return Forest.train(self.kind, data, data.train_rows, n_trees, best), dict(best), losses


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(ForestBaseline, BaselineClassifier):
    """Random forest or extra trees, which also draw thresholds at random.

    In a random forest a gap holds the column's mean, with an indicator, and categories are one-hot.
    Extra trees take gaps as they are, and categories as 0, 1, 2, …. Validation chooses
    `min_samples_leaf` and `max_features`.

    Parameters
    ----------
    kind : "random_forest" or "extra_trees"
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
    """Random forest or extra trees for numbers; see `ForestClassifier`."""
