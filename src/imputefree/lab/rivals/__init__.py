"""Methods by name: rivals, what people use instead of this package, and ours.

To add one, add a line to TABLES or SERIES. A line maps each task that the method can do
("classification", "regression") to a factory, which makes an estimator from a seed. All of them are
fitted by `fit(X, y, *, held_out=None)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..._rules import check_name
from ...baselines import (
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
from ...errors import ParameterError
from ...estimators import GILClassifier, GILRegressor, GILSequenceClassifier, GILSequenceRegressor
from ..imputers import IMPUTERS, Imputer, SeriesImputer, make_imputer
from ._series_networks import BRITSClassifier, GRUDClassifier, SAITSClassifier
from ._table_rivals import ClasswiseMixture, ForestClassifier, ForestRegressor, ObservedNaiveBayes

CLASSES, NUMBERS = "classification", "regression"
Factory = Callable[[int | None], Any]  # a seed -> an estimator
Method = dict[str, Factory]  # by task

# Our networks, by the paper's names if it has one. "imputefree" is the estimator with its
# defaults; "network" is the same under a name for benchmarks that change its settings.
OURS: dict[str, dict[str, Any]] = {
    "imputefree": {},
    "network": {},
    "gil": {"policy": "ddpg"},
    "gil-d": {"policy": "ddpg", "reward": "contrastive"},
    "gil-h": {"policy": "observed"},
    "meta": {"policy": "meta"},
    "gate": {"policy": "gate"},
    "random": {"policy": "random"},
}
TABLE_NETWORKS = {CLASSES: GILClassifier, NUMBERS: GILRegressor}
SEQUENCES = {CLASSES: GILSequenceClassifier, NUMBERS: GILSequenceRegressor}
_PAPERS: dict[str, Any] = {"cell": "lstm", "learning_rate_decay": 1.0}  # unless a plan says more
SERIES_NETWORKS = {task: partial(network, **_PAPERS) for task, network in SEQUENCES.items()}
ALIASES = {"gpvae_rows": "gpvae"}  # one method, for tables and for series


def _method(
    classifier: Any = None, regressor: Any = None, inner: Method | None = None, **options: Any
) -> Method:
    """A method of these estimators; `inner` is the method that meta-estimators are made around."""
    estimators = {CLASSES: classifier, NUMBERS: regressor}
    return {
        task: partial(_make, partial(estimator, **options), inner[task] if inner else None)
        for task, estimator in estimators.items()
        if estimator
    }


def _make(estimator: Any, inner: Factory | None, seed: int | None) -> Any:
    return estimator(random_state=seed) if inner is None else estimator(inner(seed))


def _boosting(library: str) -> Method:
    return _method(partial(BoostingClassifier, library), partial(BoostingRegressor, library))


_mask_only = partial(_method, MaskOnlyClassifier, MaskOnlyRegressor)
_summaries = partial(_method, SummaryClassifier, SummaryRegressor)


def _impute_then_predict(networks: dict[str, Any], kinds: Any) -> dict[str, Method]:
    """For each imputer "em+network", and "em+indicator+network", which also sees the mask."""
    methods: dict[str, Method] = {}
    for imputer, kind in IMPUTERS.items():
        name = ALIASES.get(imputer, imputer)
        if not issubclass(kind, kinds) or (name != imputer and issubclass(IMPUTERS[name], kinds)):
            continue  # it takes another kind of data, or there is a better one for this kind
        for indicator in (False, True):
            methods[f"{name}{'+indicator' * indicator}+network"] = {
                task: partial(_make_imputing, imputer, network, indicator)
                for task, network in networks.items()
            }
    return methods


def _make_imputing(imputer: str, network: Any, indicator: bool, seed: int | None) -> Any:
    first = make_imputer(imputer, random_state=seed)
    return ImputeThenPredict(first, network(random_state=seed), indicator=indicator)


def _ours(networks: dict[str, Any]) -> dict[str, Method]:
    classifier, regressor = networks[CLASSES], networks[NUMBERS]
    return {  # a contrastive reward needs classes
        name: _method(classifier, None if "reward" in options else regressor, **options)
        for name, options in OURS.items()
    }


LINEAR = _method(LinearClassifier, LinearRegressor)
FOREST = _method(ForestClassifier, ForestRegressor)
EXTRA_TREES = _method(ForestClassifier, ForestRegressor, kind="extra_trees")
TABLES: dict[str, Method] = {
    "mask_only": _mask_only(LINEAR),
    "mask_only_lightgbm": _mask_only(_boosting("lightgbm")),
    "logistic_regression": _method(LinearClassifier),
    "ridge": _method(None, LinearRegressor),
    "linear": LINEAR,
    "random_forest": FOREST,
    "extra_trees": EXTRA_TREES,
    "hist_gradient_boosting": _boosting("hist_gradient_boosting"),
    "lightgbm": _boosting("lightgbm"),
    "xgboost": _boosting("xgboost"),
    "naive_bayes": {CLASSES: lambda seed: ObservedNaiveBayes()},
    "mixture_per_class": _method(ClasswiseMixture),
    **_impute_then_predict(TABLE_NETWORKS, Imputer),
    **_ours(TABLE_NETWORKS),
}
SERIES: dict[str, Method] = {
    "mask_only": _summaries(LINEAR, mask=True),
    "mask_only_lightgbm": _summaries(_boosting("lightgbm"), mask=True),
    "linear": _summaries(LINEAR),
    "random_forest": _summaries(FOREST),
    "hist_gradient_boosting": _summaries(_boosting("hist_gradient_boosting")),
    "lightgbm": _summaries(_boosting("lightgbm")),
    "xgboost": _summaries(_boosting("xgboost")),
    "brits": _method(BRITSClassifier),
    "gru-d": _method(GRUDClassifier),
    "saits": _method(SAITSClassifier),
    **_impute_then_predict(SERIES_NETWORKS, (Imputer, SeriesImputer)),
    **_ours(SERIES_NETWORKS),
    "imputefree": _ours(SEQUENCES)["imputefree"],
}
KINDS = {"table": TABLES, "series": SERIES}


def make_method(
    name: str, task: str = CLASSES, kind: str = "table", random_state: int | None = 0
) -> Any:
    """A new method by name.

    >>> make_method("lightgbm", task="regression")
    BoostingRegressor(random_state=0)
    >>> make_method("mask_only", kind="series")
    SummaryClassifier(estimator=LinearClassifier(random_state=0), mask=True)
    >>> make_method("em+network")
    ImputeThenPredict(estimator=GILClassifier(random_state=0),
                      imputer=EMImputer(random_state=0))
    >>> make_method("naive_bayes", task="regression")
    Traceback (most recent call last):
    imputefree.errors.ParameterError: the method 'naive_bayes' cannot do regression. For tables it \
can do classification. Pass another name.
    """
    check_name("kind of data", kind, KINDS)
    check_name("task", task, (CLASSES, NUMBERS))
    methods, data = KINDS[kind], "series" if kind == "series" else "tables"
    check_name(f"method for {data}", name, methods)
    if task not in methods[name]:
        raise ParameterError(
            f"the method {name!r} cannot do {task}",
            f"For {data} it can do {', '.join(methods[name])}",
            "Pass another name",
        )
    return methods[name][task](random_state)


__all__ = [
    "CLASSES",
    "KINDS",
    "NUMBERS",
    "OURS",
    "SERIES",
    "TABLES",
    "BRITSClassifier",
    "ClasswiseMixture",
    "ForestClassifier",
    "ForestRegressor",
    "GRUDClassifier",
    "ObservedNaiveBayes",
    "SAITSClassifier",
    "make_method",
]
