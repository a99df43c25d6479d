"""The methods that the benchmarks of tables compare, by name: ours and the rivals.

A method is made from the task ("classification" or "regression") and a seed. Each uses one thread.
Rivals choose their settings by five-fold validation inside the training rows, if they choose any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from imputefree import GILClassifier, GILRegressor, ImputeFreeClassifier, ImputeFreeRegressor
from imputefree.errors import require_extra
from imputefree.lab.rivals import make_method
from imputefree.lab.runs import LEARNING, fingerprint

CLASSES = "classification"


@dataclass(frozen=True)
class Method:
    """A method of the benchmark.

    make : (task, seed) -> estimator
    library : whose version its results belong to; "" for ours
    most_rows : larger tables are left out, since they would cost more than they tell
    """

    make: Callable[[str, int], Any]
    library: str = ""
    most_rows: float = np.inf

    @property
    def version(self) -> str:
        """Results of another version are not results of this method."""
        if self.library:
            return f"{self.library} {version(self.library)}"
        return f"imputefree {version('imputefree')}, sources {fingerprint(LEARNING)}"


def either(classifier: Any, regressor: Any, **options: Any) -> Callable[[str, int], Any]:
    """A method of two estimators with the same options."""
    return lambda task, seed: (classifier if task == CLASSES else regressor)(
        random_state=seed, **options
    )


def blend(**options: Any) -> Callable[[str, int], Any]:
    """Our blend."""
    return either(ImputeFreeClassifier, ImputeFreeRegressor, **options)


def lab(name: str) -> Callable[[str, int], Any]:
    """A method of `imputefree.lab`."""
    return lambda task, seed: make_method(name, task, random_state=seed)


def as_categories(X: Any) -> Any:
    """Strings as pandas' categories, which LightGBM and scikit-learn know as such."""
    if not isinstance(X, pd.DataFrame):
        return X
    strings = X.select_dtypes(exclude="number").columns
    return X.astype(dict.fromkeys(strings, "category"))


def hist_gradient_boosting(task: str, seed: int) -> Any:
    """scikit-learn's boosting as it comes."""
    make = either(HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    return make_pipeline(FunctionTransformer(as_categories), make(task, seed))


def lightgbm_defaults(task: str, seed: int) -> Any:
    """LightGBM as it comes."""
    make = either(LGBMClassifier, LGBMRegressor, n_jobs=1, verbosity=-1)
    return make_pipeline(FunctionTransformer(as_categories), make(task, seed))


class CatBoost:
    """CatBoost as it comes, told which columns hold categories; a gap there is a category."""

    def __init__(self, task: str, seed: int) -> None:
        require_extra("bench", "catboost")
        import catboost

        kind = catboost.CatBoostClassifier if task == CLASSES else catboost.CatBoostRegressor
        self.model = kind(
            random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False
        )

    @property
    def classes_(self) -> np.ndarray:
        return self.model.classes_

    def _strings(self, X: Any) -> Any:
        return X.astype(object).where(X.notna(), "missing").astype(str)

    def _read(self, X: Any) -> tuple[Any, list[str]]:
        if not isinstance(X, pd.DataFrame):
            return X, []
        strings = list(X.select_dtypes(exclude="number").columns)
        return X.assign(**{name: self._strings(X[name]) for name in strings}), strings

    def fit(self, X: Any, y: np.ndarray, callbacks: Sequence[Any] | None = None) -> CatBoost:
        X, strings = self._read(X)
        self.model.fit(X, y, cat_features=strings, callbacks=callbacks)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.model.predict(self._read(X)[0])

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.model.predict_proba(self._read(X)[0])


class LightGBM:
    """LightGBM with validated settings: by five folds, or one held-out fifth of very many rows."""

    many, very_many = 20_000, 500_000

    def __init__(self, task: str, seed: int) -> None:
        self.model, self.seed = make_method("lightgbm", task, random_state=seed), seed

    def fit(self, X: Any, y: np.ndarray, groups: np.ndarray | None = None) -> Any:
        held_out = None
        if len(y) > self.many:
            self.model.set_params(max_iter=2000)  # twice as many as usual
        if len(y) > self.very_many:
            held_out = np.random.default_rng(self.seed).random(len(y)) < 0.2
        return self.model.fit(X, y, held_out=held_out, groups=groups)


def plain_average(task: str, seed: int) -> Any:
    """Two parts of our network, one of boosting, one of extra trees; no learned weights."""
    parts = [
        ("network", either(GILClassifier, GILRegressor)(task, seed)),
        ("boosting", lab("hist_gradient_boosting")(task, seed)),
        ("extra trees", lab("extra_trees")(task, seed)),
    ]
    if task == CLASSES:
        return VotingClassifier(parts, voting="soft", weights=[2, 1, 1])
    return VotingRegressor(parts, weights=[2, 1, 1])


OURS = {
    "blend": Method(blend()),
    "blend fast": Method(blend(quality="fast")),
    "blend best": Method(blend(quality="best")),
    "network": Method(either(GILClassifier, GILRegressor)),
    "trees": Method(blend(families=["trees"])),
    "plain average": Method(plain_average, most_rows=50_000),
}
RIVALS = {
    "LightGBM validated": Method(LightGBM, "lightgbm"),
    "CatBoost defaults": Method(CatBoost, "catboost", 500_000),
    "HistGradientBoosting defaults": Method(hist_gradient_boosting, "scikit-learn"),
    "random forest validated": Method(lab("random_forest"), "scikit-learn", 50_000),
    "extra trees validated": Method(lab("extra_trees"), "scikit-learn", 50_000),
    "linear validated": Method(lab("linear"), "scikit-learn", 20_000),
}
# The same network under every policy, and behind imputers.
POLICIES = {
    f"policy {policy}": Method(either(GILClassifier, GILRegressor, policy=policy))
    for policy in ("none", "observed", "random", "ddpg", "meta")
}
IMPUTERS = {
    "mean, then network": Method(lab("mean+network")),
    "EM, then network": Method(lab("em+network")),
    "EM + indicator, then network": Method(lab("em+indicator+network")),
}
GROUPS = {"ours": OURS, "rivals": RIVALS, "policies": POLICIES, "imputers": IMPUTERS}
LIGHTGBM_DEFAULTS = Method(lightgbm_defaults, "lightgbm")  # for its cost
METHODS = OURS | RIVALS | POLICIES | IMPUTERS
