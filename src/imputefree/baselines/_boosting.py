"""Gradient boosting, given the care that our own estimators get.

A few settings, from timid to bold, each stopped early; the one with the lowest validation loss is
kept. With held-out rows that is one model. Without, each setting is trained on five folds, and the
five models of the best are averaged, as the members of our ensemble, each validating on a fold of
its own, are.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from .._rules import check_rules, choice, whole
from ._baseline import Baseline, BaselineClassifier, BaselineRegressor, FitResult, Mean, TrainingSet
from ._boosting_libraries import LIBRARIES, Setting
from ._plain_tables import TreeEncoder

SETTINGS = [
    Setting(rate=0.05, leaves=4, smallest=10, l2=5.0, columns=0.5, rows=0.7),
    Setting(rate=0.05, leaves=8, smallest=20, l2=5.0, columns=0.3, rows=0.7),
    Setting(rate=0.03, leaves=16, smallest=10, l2=5.0, columns=0.2, rows=0.7),
    Setting(rate=0.1, leaves=31, smallest=20, l2=1.0, columns=1.0, rows=1.0),
]


class Boosting(Baseline):
    """What the classifier and the regressor share."""

    library: str
    max_iter: int

    def _check(self) -> None:
        super()._check()
        check_rules(self, {"library": choice(*LIBRARIES), "max_iter": whole(1)})

    def _new_encoder(self) -> TreeEncoder:
        return TreeEncoder(owner=type(self).__name__)

    def _train(self, data: TrainingSet) -> FitResult:
        train = LIBRARIES[self.library]
        settings = [replace(setting, trees=int(self.max_iter)) for setting in SETTINGS]
        tried = [[train(data, *part, setting) for part in data.splits] for setting in settings]
        losses = [float(np.mean([booster.loss for booster in boosters])) for boosters in tried]
        best = int(np.argmin(losses))
        for booster, (rows, _) in zip(tried[best], data.splits, strict=True):
            booster.finish(data, rows)
        return Mean(tried[best]), asdict(settings[best]), losses


class BoostingClassifier(Boosting, BaselineClassifier):
    """Classify rows of a table with gaps by gradient-boosted trees.

    Parameters
    ----------
    library : "hist_gradient_boosting" (of scikit-learn), "lightgbm" or "xgboost"
    max_iter : trees at most; early stopping ends most runs before
    random_state : int, RandomState or None; same seed and number of threads, same model

    Fitted: classes_, settings_ (the setting kept), validation_losses_ (one a setting), encoder_.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] > 0, "high", "low")
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> clf = BoostingClassifier("lightgbm", max_iter=50, random_state=0).fit(X, y)
    >>> clf.predict([[1.0, np.nan], [-1.0, 0.0]])
    array(['high', 'low'], dtype='<U4')
    """

    def __init__(
        self, library: str = "lightgbm", *, max_iter: int = 1000, random_state: Any = None
    ) -> None:
        self.library = library
        self.max_iter = max_iter
        self.random_state = random_state


class BoostingRegressor(Boosting, BaselineRegressor):
    """Predict a number for rows of a table with gaps by gradient-boosted trees.

    Parameters and fitted attributes are those of `BoostingClassifier`, without classes_.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> reg = BoostingRegressor("lightgbm", max_iter=50, random_state=0).fit(X, X[:, 0])
    >>> bool(np.diff(reg.predict([[-1.0, 0.0], [1.0, np.nan]])) > 1)
    True
    """

    def __init__(
        self, library: str = "lightgbm", *, max_iter: int = 1000, random_state: Any = None
    ) -> None:
        self.library = library
        self.max_iter = max_iter
        self.random_state = random_state
