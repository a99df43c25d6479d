"""Gradient boosting with scikit-learn, LightGBM or XGBoost, tuned as carefully as our estimators.

A few settings, from cautious to bold, each with early stopping; the one with the lowest validation
loss wins. With held-out rows the result is one model. Without, each setting is trained on five
folds, and the five models of the best one are averaged, like the members of our ensemble. With
many rows one of the folds (at most a tenth of a million rows of it) is enough to choose, and bolder
settings replace the most cautious.
"""

from __future__ import annotations

import importlib
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from .._rules import check_rules, choice, whole
from ..errors import require_extra
from ._baseline import (
    Baseline,
    BaselineClassifier,
    BaselineRegressor,
    FitResult,
    Mean,
    TrainingSet,
)
from ._baseline_encoders import TreeEncoder

MANY_ROWS = 10_000  # of fewer, one thread grows trees faster than several
PATIENCE = 50  # trees without a lower validation loss
MANY, MOST_TO_CHOOSE = 20_000, 100_000  # rows
LEVELS = 1000  # more than any category has


@dataclass(frozen=True)
class Setting:
    """Hyperparameters of the trees.

    rate : learning rate
    leaves : maximum number of leaves of a tree
    smallest : minimum number of rows in a leaf
    l2 : L2 regularisation of the leaves
    columns : share of the columns that each split chooses from
    rows : share of the rows that each tree sees (scikit-learn has no such option)
    one_level : splits of a category choose one level, not any set of them (LightGBM and XGBoost)
    random_thresholds : a split chooses from one random threshold per column (LightGBM)
    trees : maximum number of trees
    """

    rate: float
    leaves: int
    smallest: int
    l2: float
    columns: float
    rows: float
    one_level: bool = False
    random_thresholds: bool = False
    trees: int = 1000


# Tried on adult, flights and simulated tables: one_level is better on adult and not elsewhere.
# Random thresholds among the choices gain 0.001 on eleven small tables (three of five folds).
QUICK = Setting(rate=0.1, leaves=31, smallest=20, l2=1.0, columns=1.0, rows=1.0, one_level=True)
RANDOM = Setting(
    rate=0.05, leaves=16, smallest=10, l2=1.0, columns=0.5, rows=0.8, random_thresholds=True
)
SETTINGS = [
    Setting(rate=0.05, leaves=4, smallest=10, l2=5.0, columns=0.5, rows=0.7, one_level=True),
    Setting(rate=0.05, leaves=8, smallest=20, l2=5.0, columns=0.3, rows=0.7),
    Setting(rate=0.03, leaves=16, smallest=10, l2=5.0, columns=0.2, rows=0.7),
    RANDOM,
    QUICK,
]
SETTINGS_FOR_MANY = [
    QUICK,
    Setting(rate=0.05, leaves=8, smallest=20, l2=5.0, columns=0.3, rows=0.7),
    Setting(rate=0.05, leaves=31, smallest=20, l2=1.0, columns=0.5, rows=0.8),
    Setting(rate=0.05, leaves=63, smallest=50, l2=5.0, columns=0.5, rows=0.8, one_level=True),
    RANDOM,
]


class Trees:
    """Trees trained on some rows until the loss on others stops falling.

    Prediction uses the trees up to the best one. `loss` is that on the validation rows.
    """

    loss: float

    def __init__(
        self, data: TrainingSet, train: np.ndarray, validation: np.ndarray, setting: Setting
    ) -> None:
        raise NotImplementedError

    def finish(self, data: TrainingSet, train: np.ndarray) -> None:
        """Called once if the setting wins."""

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Probabilities (n, classes), or numbers (n,)."""
        raise NotImplementedError


class HistTrees(Trees):
    """scikit-learn's HistGradientBoosting."""

    def __init__(
        self, data: TrainingSet, train: np.ndarray, validation: np.ndarray, setting: Setting
    ) -> None:
        kind = HistGradientBoostingClassifier if data.n_classes else HistGradientBoostingRegressor
        self.model = kind(
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
        held_out = {
            "X_val": self._filled(data.inputs[validation]),
            "y_val": data.target[validation],
        }
        self._fit(data, train, **held_out)
        losses = -np.asarray(self.model.validation_score_)  # the first is without a tree
        self.trees = max(int(losses.argmin()), 1)
        # Regression halves the squared error.
        self.loss = float(losses[self.trees]) * (1 if data.n_classes else 2)

    def _filled(self, inputs: np.ndarray) -> np.ndarray:
        return np.where(self.empty, 0.0, inputs)

    def _fit(self, data: TrainingSet, train: np.ndarray, **held_out: np.ndarray) -> None:
        self.model.fit(self._filled(data.inputs[train]), data.target[train], **held_out)

    def finish(self, data: TrainingSet, train: np.ndarray) -> None:
        """Grow the same trees again without those after the best one, which it would keep."""
        self.model.set_params(early_stopping=False, max_iter=self.trees)
        self._fit(data, train)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        predict = getattr(self.model, "predict_proba", self.model.predict)
        return predict(self._filled(inputs))


class LightGBMTrees(Trees):
    """LightGBM."""

    def __init__(
        self, data: TrainingSet, train: np.ndarray, validation: np.ndarray, setting: Setting
    ) -> None:
        lightgbm = _library("lightgbm")
        options = {
            "objective": {0: "regression", 2: "binary"}.get(data.n_classes, "multiclass"),
            "learning_rate": setting.rate,
            "num_leaves": setting.leaves,
            "min_data_in_leaf": setting.smallest,
            "min_data_per_group": setting.smallest,  # 100 would leave small tables no category
            "max_cat_to_onehot": LEVELS if setting.one_level else 4,
            "extra_trees": setting.random_thresholds,
            "lambda_l2": setting.l2,
            "feature_fraction_bynode": setting.columns,
            "bagging_fraction": setting.rows,
            "bagging_freq": 1,
            "seed": data.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1 if len(train) < MANY_ROWS else 0,  # 0: all cores
            "verbosity": -1,
            **({"num_class": data.n_classes} if data.n_classes not in (0, 2) else {}),
        }
        dataset = lightgbm.Dataset(
            data.inputs[train], data.target[train], categorical_feature=data.categories
        )
        self.booster = lightgbm.train(
            options,
            dataset,
            setting.trees,
            valid_sets=[dataset.create_valid(data.inputs[validation], data.target[validation])],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
        self.binary = data.n_classes == 2
        self.loss = data.loss(self.predict(data.inputs[validation]), validation)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        raw = self.booster.predict(inputs)
        return _two_columns(raw) if self.binary else raw


class XGBoostTrees(Trees):
    """XGBoost."""

    def __init__(
        self, data: TrainingSet, train: np.ndarray, validation: np.ndarray, setting: Setting
    ) -> None:
        objectives = {0: "reg:squarederror", 2: "binary:logistic"}
        options = {
            "objective": objectives.get(data.n_classes, "multi:softprob"),
            "learning_rate": setting.rate,
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": setting.leaves,
            # It counts the curvature of the loss, which is a quarter for an undecided row.
            "min_child_weight": setting.smallest / (4 if data.n_classes else 1),
            "max_cat_to_onehot": LEVELS if setting.one_level else 4,
            "reg_lambda": setting.l2,
            "colsample_bynode": setting.columns,
            "subsample": setting.rows,
            "seed": data.seed,
            **({"num_class": data.n_classes} if data.n_classes > 2 else {}),
        }
        self.kinds = ["c" if j in data.categories else "q" for j in range(data.inputs.shape[1])]
        self.binary = data.n_classes == 2
        self.booster = _library("xgboost").train(
            options,
            self._matrix(data.inputs[train], data.target[train]),
            setting.trees,
            evals=[(self._matrix(data.inputs[validation], data.target[validation]), "validation")],
            early_stopping_rounds=PATIENCE,
            verbose_eval=False,
        )
        self.loss = data.loss(self.predict(data.inputs[validation]), validation)

    def _matrix(self, inputs: np.ndarray, target: np.ndarray | None = None) -> Any:
        options = {"feature_types": self.kinds, "enable_categorical": True}
        return _library("xgboost").DMatrix(inputs, target, **options)

    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """(n, d) -> (n, classes) or (n,)."""
        best = (0, self.booster.best_iteration + 1)
        raw = self.booster.predict(self._matrix(inputs), iteration_range=best)
        return _two_columns(raw) if self.binary else raw.astype(np.float64)


LIBRARIES: dict[str, type[Trees]] = {
    "hist_gradient_boosting": HistTrees,
    "lightgbm": LightGBMTrees,
    "xgboost": XGBoostTrees,
}


def _library(name: str) -> Any:
    require_extra("bench", name)
    return importlib.import_module(name)


def _two_columns(second: np.ndarray) -> np.ndarray:
    """Probabilities of two classes from that of the second; (n,) -> (n, 2)."""
    share = second.astype(np.float64)
    return np.column_stack([1 - share, share])


class Boosting(Baseline):
    """Base class of the classifier and the regressor."""

    def __init__(
        self, library: str = "lightgbm", *, max_iter: int = 1000, random_state: Any = None
    ) -> None:
        self.library = library
        self.max_iter = max_iter
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_rules(self, {"library": choice(*LIBRARIES), "max_iter": whole(1)})

    def _new_encoder(self) -> TreeEncoder:
        return TreeEncoder(owner=type(self).__name__)

    def _train(self, data: TrainingSet) -> FitResult:
        train = LIBRARIES[self.library]
        many = len(data.target) > MANY
        settings = [
            replace(setting, trees=int(self.max_iter))
            for setting in (SETTINGS_FOR_MANY if many else SETTINGS)
        ]
        choosing = data.splits
        if many:
            rows, validation = data.splits[0]
            choosing = [(rows[:: -(-len(rows) // MOST_TO_CHOOSE)], validation)]
        tried = [[train(data, *split, setting) for split in choosing] for setting in settings]
        losses = [float(np.mean([trees.loss for trees in folds])) for folds in tried]
        best = int(np.argmin(losses))
        chosen = tried[best]
        if many:
            chosen = [train(data, *split, settings[best]) for split in data.splits]
        for trees, (rows, _) in zip(chosen, data.splits, strict=True):
            trees.finish(data, rows)
        return Mean(chosen), asdict(settings[best]), losses


class BoostingClassifier(Boosting, BaselineClassifier):
    """Classify rows of a table with gaps by gradient-boosted trees.

    Parameters
    ----------
    library : "hist_gradient_boosting" (scikit-learn's), "lightgbm" or "xgboost"
    max_iter : maximum number of trees
    random_state : int, RandomState or None; same seed and number of threads, same model

    Fitted: classes_, settings_ (the best one), validation_losses_ (one per setting), encoder_.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] > 0, "high", "low")
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> clf = BoostingClassifier("lightgbm", max_iter=50, random_state=0).fit(X, y)
    >>> clf.predict([[1.0, np.nan], [-1.0, 0.0]])
    array(['high', 'low'], dtype='<U4')
    """


class BoostingRegressor(Boosting, BaselineRegressor):
    """Predict a number for rows of a table with gaps by gradient-boosted trees.

    Parameters and fitted attributes are those of `BoostingClassifier`, without classes_.
    """
