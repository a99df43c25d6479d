"""Three libraries for gradient boosting, told the same things in their own words.

Each class trains trees on some rows until the loss on others stops falling, and predicts with the
trees up to the best one.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ..errors import ParameterError
from ._baseline import TrainingSet

PATIENCE = 50  # trees without a lower loss


@dataclass(frozen=True)
class Setting:
    """How bold trees are.

    rate : what each tree adds, of what it would like to
    leaves : of a tree, at most
    smallest : rows a leaf must have
    l2 : what shrinks the leaves
    columns : share of the columns that each split chooses from
    rows : share of the rows that each tree sees (not in scikit-learn, which has no such thing)
    trees : at most; early stopping ends most runs before
    """

    rate: float
    leaves: int
    smallest: int
    l2: float
    columns: float
    rows: float
    trees: int = 1000


class Booster(Protocol):
    """Trees that have stopped; `loss` is that on the rows they were stopped by."""

    loss: float

    def __init__(
        self, data: TrainingSet, train: np.ndarray, chosen: np.ndarray, setting: Setting
    ) -> None: ...

    def finish(self, data: TrainingSet, train: np.ndarray) -> None:
        """Called once, if the setting is kept."""

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Probabilities (n, classes), or numbers (n,)."""


def library(name: str) -> Any:
    """A library that need not be installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ParameterError(
            f"{name} is not installed",
            "This rival is made of it",
            "Run pip install 'imputefree[bench]'",
        ) from None


class HistTrees:
    """scikit-learn's HistGradientBoosting."""

    def __init__(
        self, data: TrainingSet, train: np.ndarray, chosen: np.ndarray, setting: Setting
    ) -> None:
        kind = HistGradientBoostingClassifier if data.n_classes else HistGradientBoostingRegressor
        model = kind(
            learning_rate=setting.rate,
            max_iter=setting.trees,
            max_leaf_nodes=setting.leaves,
            min_samples_leaf=setting.smallest,
            l2_regularization=setting.l2,
            max_features=setting.columns,
            categorical_features=data.categories or None,
            early_stopping=True,
            n_iter_no_change=PATIENCE,
            tol=0.0,
            random_state=data.seed,
        )
        self.empty = np.isnan(data.inputs[train]).all(0)  # it cannot bin such columns
        self.model = model
        self._fit(
            data,
            train,
            X_val=self._filled(data.inputs[chosen]),
            y_val=data.target[chosen],
        )
        losses = -np.asarray(model.validation_score_)  # the first is without a tree
        self.trees = max(int(losses.argmin()), 1)
        # Regression halves the squared error.
        self.loss = float(losses[self.trees]) * (1 if data.n_classes else 2)

    def _filled(self, inputs: np.ndarray) -> np.ndarray:
        return np.where(self.empty, 0.0, inputs)

    def _fit(self, data: TrainingSet, train: np.ndarray, **chosen: np.ndarray) -> None:
        self.model.fit(self._filled(data.inputs[train]), data.target[train], **chosen)

    def finish(self, data: TrainingSet, train: np.ndarray) -> None:
        """It keeps the trees after the best one too: grow the same ones again, without those."""
        self.model.set_params(early_stopping=False, max_iter=self.trees)
        self._fit(data, train)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        predict = getattr(self.model, "predict_proba", self.model.predict)
        return predict(self._filled(inputs))


class LightGBMTrees:
    """LightGBM."""

    def __init__(
        self, data: TrainingSet, train: np.ndarray, chosen: np.ndarray, setting: Setting
    ) -> None:
        lightgbm = library("lightgbm")
        objective = {0: "regression", 2: "binary"}.get(data.n_classes, "multiclass")
        told = {
            "objective": objective,
            "learning_rate": setting.rate,
            "num_leaves": setting.leaves,
            "min_data_in_leaf": setting.smallest,
            "min_data_per_group": setting.smallest,  # 100 would leave small tables no category
            "lambda_l2": setting.l2,
            "feature_fraction_bynode": setting.columns,
            "bagging_fraction": setting.rows,
            "bagging_freq": 1,
            "seed": data.seed,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        if objective == "multiclass":
            told["num_class"] = data.n_classes
        dataset = lightgbm.Dataset(
            data.inputs[train],
            data.target[train],
            categorical_feature=data.categories,
        )
        self.booster = lightgbm.train(
            told,
            dataset,
            setting.trees,
            valid_sets=[dataset.create_valid(data.inputs[chosen], data.target[chosen])],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
        self.two = data.n_classes == 2
        self.loss = data.loss(self.predict(data.inputs[chosen]), chosen)

    def finish(self, data: TrainingSet, train: np.ndarray) -> None:
        """Nothing to do: it predicts with the trees up to the best one."""

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        return _both(self.booster.predict(inputs)) if self.two else self.booster.predict(inputs)


class XGBoostTrees:
    """XGBoost."""

    def __init__(
        self, data: TrainingSet, train: np.ndarray, chosen: np.ndarray, setting: Setting
    ) -> None:
        xgboost = library("xgboost")
        objective = {0: "reg:squarederror", 2: "binary:logistic"}
        told = {
            "objective": objective.get(data.n_classes, "multi:softprob"),
            "learning_rate": setting.rate,
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": setting.leaves,
            # It counts the curvature of the loss, of which an undecided row has a quarter.
            "min_child_weight": setting.smallest / (4 if data.n_classes else 1),
            "reg_lambda": setting.l2,
            "colsample_bynode": setting.columns,
            "subsample": setting.rows,
            "seed": data.seed,
        }
        if data.n_classes > 2:
            told["num_class"] = data.n_classes
        self.kinds = ["c" if j in data.categories else "q" for j in range(data.inputs.shape[1])]
        self.two = data.n_classes == 2
        self.booster = xgboost.train(
            told,
            self._data(data.inputs[train], data.target[train]),
            setting.trees,
            evals=[(self._data(data.inputs[chosen], data.target[chosen]), "chosen")],
            early_stopping_rounds=PATIENCE,
            verbose_eval=False,
        )
        self.loss = data.loss(self.predict(data.inputs[chosen]), chosen)

    def _data(self, inputs: np.ndarray, target: np.ndarray | None = None) -> Any:
        options = {"feature_types": self.kinds, "enable_categorical": True}
        return library("xgboost").DMatrix(inputs, target, **options)

    def finish(self, data: TrainingSet, train: np.ndarray) -> None:
        """Nothing to do: it predicts with the trees up to the best one."""

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        up_to = (0, self.booster.best_iteration + 1)
        found = self.booster.predict(self._data(inputs), iteration_range=up_to)
        return _both(found) if self.two else found.astype(np.float64)


def _both(second: np.ndarray) -> np.ndarray:
    """Probabilities of two classes from that of the second; (n,) -> (n, 2)."""
    share = second.astype(np.float64)
    return np.column_stack([1 - share, share])


LIBRARIES: dict[str, type[Booster]] = {
    "hist_gradient_boosting": HistTrees,
    "lightgbm": LightGBMTrees,
    "xgboost": XGBoostTrees,
}
