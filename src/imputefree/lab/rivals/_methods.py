"""All methods by name, ours and the rivals. To add one, write its line here.

A line says how to make the estimator: from the task ("classification" or "regression") and a seed.
All of them are fitted by `fit(X, y, *, held_out=None)`. Those of series take the options of
`GILSequenceClassifier.fit` too; "brits", "gru-d" and "saits" only lengths= and static=, numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from ._forest import ForestClassifier, ForestRegressor
from ._marginal import ClasswiseMixture, ObservedNaiveBayes
from ._series_networks import BRITSClassifier, GRUDClassifier, SAITSClassifier

CLASSES, NUMBERS = "classification", "regression"
Factory = Callable[[int | None], Any]  # a seed -> an estimator


def _boosting(library: str) -> dict[str, Factory]:
    return {
        CLASSES: lambda seed: BoostingClassifier(library, random_state=seed),
        NUMBERS: lambda seed: BoostingRegressor(library, random_state=seed),
    }


LINEAR: dict[str, Factory] = {
    CLASSES: lambda seed: LinearClassifier(random_state=seed),
    NUMBERS: lambda seed: LinearRegressor(random_state=seed),
}


def _mask_only(of: dict[str, Factory]) -> dict[str, Factory]:
    return {
        CLASSES: lambda seed: MaskOnlyClassifier(of[CLASSES](seed)),
        NUMBERS: lambda seed: MaskOnlyRegressor(of[NUMBERS](seed)),
    }


def _summaries(of: dict[str, Factory], mask: bool = False) -> dict[str, Factory]:
    return {
        CLASSES: lambda seed: SummaryClassifier(of[CLASSES](seed), mask=mask),
        NUMBERS: lambda seed: SummaryRegressor(of[NUMBERS](seed), mask=mask),
    }


def _two_step(imputer: str, indicator: bool, networks: dict[str, Any]) -> dict[str, Factory]:
    def factory(network: Any) -> Factory:
        return lambda seed: ImputeThenPredict(
            make_imputer(imputer, random_state=seed),
            network(random_state=seed),
            indicator=indicator,
        )

    return {task: factory(network) for task, network in networks.items()}


def _two_steps(networks: dict[str, Any], kinds: Any) -> dict[str, dict[str, Factory]]:
    """ "em+network", and "em+indicator+network", which is shown where gaps were."""
    return {
        f"{SAME.get(name, name)}{'+indicator' * indicator}+network": _two_step(
            name, indicator, networks
        )
        for name, imputer in IMPUTERS.items()
        if issubclass(imputer, kinds) and not _better(name, kinds)
        for indicator in (False, True)
    }


def _better(name: str, kinds: Any) -> bool:
    """Whether the method has an imputer that fits these data better."""
    return name in SAME and issubclass(IMPUTERS[SAME[name]], kinds)


def _ours(networks: dict[str, Any]) -> dict[str, dict[str, Factory]]:
    def factory(network: Any, options: dict[str, Any]) -> Factory:
        return lambda seed: network(random_state=seed, **options)

    return {
        name: {
            task: factory(network, options)
            for task, network in networks.items()
            if task == CLASSES or "reward" not in options  # contrast needs classes
        }
        for name, options in OURS.items()
    }


SAME = {"gpvae_rows": "gpvae"}  # one method, on tables and on series
# By the paper's names, where it has one. "imputefree" is the estimator as it comes; "network" the
# same under a name for those that a benchmark gives another network to.
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
SERIES_NETWORKS = {CLASSES: GILSequenceClassifier, NUMBERS: GILSequenceRegressor}
# Name -> task -> factory; a task that is not there cannot be done.
TABLES: dict[str, dict[str, Factory]] = {
    "mask_only": _mask_only(LINEAR),
    "mask_only_lightgbm": _mask_only(_boosting("lightgbm")),
    "logistic_regression": {CLASSES: LINEAR[CLASSES]},
    "ridge": {NUMBERS: LINEAR[NUMBERS]},
    "linear": LINEAR,
    "random_forest": {
        CLASSES: lambda seed: ForestClassifier(random_state=seed),
        NUMBERS: lambda seed: ForestRegressor(random_state=seed),
    },
    "hist_gradient_boosting": _boosting("hist_gradient_boosting"),
    "lightgbm": _boosting("lightgbm"),
    "xgboost": _boosting("xgboost"),
    "naive_bayes": {CLASSES: lambda seed: ObservedNaiveBayes()},
    "mixture_per_class": {CLASSES: lambda seed: ClasswiseMixture(random_state=seed)},
    **_two_steps(TABLE_NETWORKS, Imputer),
    **_ours(TABLE_NETWORKS),
}
SERIES: dict[str, dict[str, Factory]] = {
    "mask_only": _summaries(LINEAR, mask=True),
    "mask_only_lightgbm": _summaries(_boosting("lightgbm"), mask=True),
    "linear": _summaries(LINEAR),
    "random_forest": _summaries(TABLES["random_forest"]),
    "hist_gradient_boosting": _summaries(_boosting("hist_gradient_boosting")),
    "lightgbm": _summaries(_boosting("lightgbm")),
    "xgboost": _summaries(_boosting("xgboost")),
    "brits": {CLASSES: lambda seed: BRITSClassifier(random_state=seed)},
    "gru-d": {CLASSES: lambda seed: GRUDClassifier(random_state=seed)},
    "saits": {CLASSES: lambda seed: SAITSClassifier(random_state=seed)},
    **_two_steps(SERIES_NETWORKS, (Imputer, SeriesImputer)),
    **_ours(SERIES_NETWORKS),
}
KINDS = {"table": TABLES, "series": SERIES}


def make_method(
    name: str, task: str = CLASSES, kind: str = "table", random_state: int | None = 0
) -> Any:
    """A method by its name, unfitted.

    >>> make_method("lightgbm", task="regression")
    BoostingRegressor(random_state=0)
    >>> make_method("mask_only", kind="series")
    SummaryClassifier(estimator=LinearClassifier(random_state=0), mask=True)
    >>> make_method("em+network")
    ImputeThenPredict(estimator=GILClassifier(random_state=0),
                      imputer=EMImputer(random_state=0))
    >>> make_method("naive_bayes", task="regression")
    Traceback (most recent call last):
    imputefree.errors.ParameterError: the method 'naive_bayes' cannot do regression. Of tables it \
can do classification. Pass another name.
    """
    _known("kind of data", kind, KINDS)
    _known("task", task, (CLASSES, NUMBERS))
    methods = KINDS[kind]
    _known(f"method for {_plural(kind)}", name, methods)
    if task not in methods[name]:
        raise ParameterError(
            f"the method {name!r} cannot do {task}",
            f"Of {_plural(kind)} it can do {', '.join(methods[name])}",
            "Pass another name",
        )
    return methods[name][task](random_state)


def _plural(kind: str) -> str:
    return "series" if kind == "series" else "tables"


def _known(what: str, name: Any, names: Any) -> None:
    if not isinstance(name, str) or name not in names:
        raise ParameterError(
            f"there is no {what} {name!r}",
            f"Known are {', '.join(names)}",
            "Pass one of these names",
        )
