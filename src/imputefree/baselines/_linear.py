"""Logistic and ridge regression on means and indicators: the first thing anybody tries."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from ._baseline import Baseline, BaselineClassifier, BaselineRegressor, FitResult, TrainingSet

STRENGTHS = 10.0 ** np.arange(-3, 2.5, 0.5)  # C of logistic, 1 / alpha of ridge regression


@dataclass(frozen=True)
class LinearModel:
    """A fitted linear model of scikit-learn."""

    model: Any

    @classmethod
    def train(cls, data: TrainingSet, rows: np.ndarray, strength: float) -> LinearModel:
        """Train on these rows; the larger the strength, the less coefficients are shrunk."""
        model = Ridge(alpha=1 / strength)
        if data.n_classes:
            model = LogisticRegression(C=strength, max_iter=2000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a poor fit is not chosen
            return cls(model.fit(data.inputs[rows], data.target[rows]))

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        return getattr(self.model, "predict_proba", self.model.predict)(inputs)


class LinearBaseline(Baseline):
    """Base class of the classifier and the regressor: validation decides how much to shrink."""

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _train(self, data: TrainingSet) -> FitResult:
        losses = []
        for strength in STRENGTHS:
            models = [LinearModel.train(data, train, strength) for train, _ in data.splits]
            scores = [
                data.loss(model.predict(data.inputs[validation]), validation)
                for model, (_, validation) in zip(models, data.splits, strict=True)
            ]
            losses.append(float(np.mean(scores)))
        strength = float(STRENGTHS[int(np.argmin(losses))])
        return LinearModel.train(data, data.train_rows, strength), {"strength": strength}, losses


class LinearClassifier(LinearBaseline, BaselineClassifier):
    """Logistic regression with an L2 penalty. A gap becomes the column's mean, with an indicator;
    a category one input per level; all numbers are on one scale.

    Parameters
    ----------
    random_state : int, RandomState or None; draws the folds

    Fitted: classes_, settings_ ("strength": scikit-learn's C), validation_losses_, encoder_.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0] * 10, "sex": ["f", "m", None, "m"] * 10})
    >>> y = ["well", "ill", "ill", "well"] * 10
    >>> LinearClassifier(random_state=0).fit(X, y).predict(X.head(4))
    array(['well', 'ill', 'ill', 'well'], dtype='<U4')
    """


class LinearRegressor(LinearBaseline, BaselineRegressor):
    """Ridge regression; see `LinearClassifier`. Its strength is 1 / alpha.

    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 5.0], [4.0, 1.0]] * 5)
    >>> LinearRegressor(random_state=0).fit(X, 2 * X[:, 0]).predict([[2.5, np.nan]]).round(1)
    array([5.])
    """
