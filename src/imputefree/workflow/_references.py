"""Our model and what it has to be held against, all learning the same rows in the same way."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..baselines import (
    BoostingClassifier,
    BoostingRegressor,
    ImputeThenPredict,
    LinearClassifier,
    LinearRegressor,
    MaskOnlyClassifier,
    MaskOnlyRegressor,
    SummaryClassifier,
    SummaryRegressor,
)
from ..data import Panel
from ..errors import InterruptedWarning
from ..estimators import (
    GILClassifier,
    GILRegressor,
    GILSequenceClassifier,
    GILSequenceRegressor,
    check_parameters,
)
from ..gil import make_policy
from ._problem import Problem
from ._request import Request

OURS, MASK, MEAN = "imputefree", "mask_only", "mean+indicator+network"
BOOSTING = ("lightgbm", "hist_gradient_boosting")
TITLES = {
    OURS: "this model",
    MASK: "mask only",
    MEAN: "mean + indicator",
    BOOSTING[0]: "gradient boosting (LightGBM)",
    BOOSTING[1]: "gradient boosting (scikit-learn)",
}


def methods() -> list[str]:
    """Ours, then the references; which boosting depends on what is installed."""
    return [OURS, MASK, MEAN, BOOSTING[0] if find_spec("lightgbm") else BOOSTING[1]]


def make(name: str, problem: Problem, request: Request) -> Any:
    """An unfitted estimator; the two networks get the same budget."""
    if name in (OURS, MEAN):
        network = _network(problem, request)
        if name == MEAN:
            return ImputeThenPredict(estimator=network, indicator=True)
        network.set_params(policy=request.policy)
        check_parameters(network)
        make_policy(request.policy)  # refuses an unknown name
        return network
    classes, seed = problem.task == "classification", request.seed
    if name in BOOSTING:
        boosting = BoostingClassifier if classes else BoostingRegressor
        table_model = boosting(name, random_state=seed)
    else:
        table_model = (LinearClassifier if classes else LinearRegressor)(random_state=seed)
    if problem.kind == "series":
        summary = SummaryClassifier if classes else SummaryRegressor
        return summary(table_model, mask=name == MASK)
    if name == MASK:
        return (MaskOnlyClassifier if classes else MaskOnlyRegressor)(table_model)
    return table_model


def _network(problem: Problem, request: Request) -> Any:
    networks = {
        ("table", "classification"): GILClassifier,
        ("table", "regression"): GILRegressor,
        ("series", "classification"): GILSequenceClassifier,
        ("series", "regression"): GILSequenceRegressor,
    }
    budget = {"max_iter": request.epochs, "n_members": request.members}
    chosen = {option: value for option, value in budget.items() if value is not None}
    return networks[problem.kind, problem.task](random_state=request.seed, **chosen)


def learn(model: Any, problem: Problem, units: np.ndarray, checkpoint: Path | None = None) -> Any:
    """Fit on these units (sorted); training goes on from `checkpoint` where an estimator can."""
    takes = inspect.signature(model.fit).parameters
    options: dict[str, Any] = {}
    if checkpoint is not None and "checkpoint" in takes:
        options["checkpoint"] = checkpoint
    rows: Any = problem.rows(units)
    y: Any = problem.y[units]
    if problem.groups is not None and "groups" in takes:
        options["groups"] = problem.groups[units]
    if problem.id:
        owners = problem.owners(units)
        if "groups" in options:
            options["groups"] = dict(zip(owners, options["groups"].tolist(), strict=True))
        # As a column, so that a file with its labels still in it can be predicted.
        rows = rows.assign(**{problem.target: problem.y[problem.unit[rows.index]]})
        y = problem.target
        rows = Panel.from_long(rows, **problem.how, labels=y)
    with _quiet():
        return model.fit(rows, y, **options)


def predict(model: Any, problem: Problem, units: np.ndarray) -> np.ndarray:
    """Probabilities (units, classes) of the problem's classes, or numbers (units,)."""
    rows = problem.rows(units)
    with _quiet():
        if problem.task == "regression":
            return np.asarray(model.predict(rows), dtype=np.float64)
        found = np.asarray(model.predict_proba(rows), dtype=np.float64)
    every = np.zeros((len(found), len(problem.classes)))  # a class not learned has 0
    every[:, np.searchsorted(problem.classes, model.classes_)] = found
    return every


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings of folds that lack a category; Ctrl-C ends all, not only a training."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", InterruptedWarning)
            yield
    except InterruptedWarning:
        raise KeyboardInterrupt from None
