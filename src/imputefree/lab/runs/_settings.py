"""Settings of methods by plain names, and grids of them to choose from on validation rows.

A setting is a dict of what can be written down as JSON. Names are those of the method's
parameters. What a method does not have itself is sought in the estimator within (the network of
"em+network"); "imputer__NAME" goes to its imputer and "policy__NAME" to its policy. "steps" is a
budget of training steps, for methods that count in epochs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from itertools import product
from typing import Any

from ...errors import ParameterError
from ...gil import POLICIES

Setting = dict[str, Any]

# Appendix D of the paper. All of "gil" are 1,008 fits: choose from it what your time allows.
RATES: dict[str, list[Any]] = {
    "learning_rate_init": [1e-3, 7e-4, 5e-4, 3e-4, 1e-4, 5e-5, 1e-5],
    "learning_rate_decay_steps": [1000, 750, 500],
    "learning_rate_decay": [0.95, 0.9, 0.85, 0.8],
}
PAPER_GRIDS: dict[str, dict[str, list[Any]]] = {
    "gil": {
        **RATES,
        "policy__actor_rate": [5e-4, 1e-4, 5e-5, 1e-5],
        "policy__critic_rate": [1e-3, 5e-4, 1e-4],
    },
    "gil-d": RATES,
    "gil-h": RATES,
    "gain+network": {"imputer__alpha": [0.1, 1.0, 10.0, 100.0]},
    "miwae+network": {"imputer__learning_rate_init": [1e-3, 1e-4]},
}


def settings(grid: Mapping[str, Sequence[Any]]) -> Iterator[Setting]:
    """Every combination of a grid, the last name changing first; one empty setting of no grid.

    >>> list(settings({"max_iter": [5, 10], "dropout": [0.0, 0.5]}))[:2]
    [{'max_iter': 5, 'dropout': 0.0}, {'max_iter': 5, 'dropout': 0.5}]
    >>> list(settings({}))
    [{}]
    """
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def in_epochs(model: Any, setting: Mapping[str, Any], n_rows: int) -> Setting:
    """The setting with "steps", a budget of training steps, as the epochs of n_rows it allows.

    Epochs are whole, and at least one.

    >>> from imputefree.lab.rivals._methods import make_method
    >>> in_epochs(make_method("em+network"), {"steps": 2000, "batch_size": 100}, 10_000)
    {'batch_size': 100, 'max_iter': 20}
    """
    rest = {name: value for name, value in setting.items() if name != "steps"}
    if "steps" not in setting:
        return rest
    has = model.get_params()
    batch = rest.get("batch_size", has.get("batch_size", has.get("estimator__batch_size")))
    if batch is None:
        raise _unknown(model, "steps", [one for one in has if "__" not in one])
    an_epoch = -(-n_rows // int(batch))
    return {**rest, "max_iter": max(1, setting["steps"] // an_epoch)}


def configure(model: Any, setting: Mapping[str, Any], random_state: int) -> Any:
    """The same unfitted method with these settings; random_state is for an imputer made here.

    >>> from imputefree.lab.rivals._methods import make_method
    >>> configure(make_method("em+network"), {"max_iter": 3, "imputer__max_iter": 9}, 0)
    ImputeThenPredict(estimator=GILClassifier(max_iter=3, random_state=0),
                      imputer=EMImputer(max_iter=9, random_state=0))
    >>> configure(make_method("naive_bayes"), {"max_iter": 3}, 0)
    Traceback (most recent call last):
    imputefree.errors.ParameterError: ObservedNaiveBayes has no setting 'max_iter'. Its settings \
are ...
    """
    has = model.get_params()
    parts: dict[str, Setting] = {"imputer": {}, "policy": {}}
    for name, value in setting.items():
        part, _, rest = name.partition("__")
        if part in parts and rest:
            parts[part][rest] = value
        elif name in has:
            model.set_params(**{name: value})
        elif f"estimator__{name}" in has:
            model.set_params(**{f"estimator__{name}": value})
        else:
            raise _unknown(model, name, [one for one in has if "__" not in one])
    for part, given in parts.items():
        if given:
            _configure_part(model, part, given, random_state)
    return model


def _configure_part(model: Any, part: str, given: Setting, random_state: int) -> None:
    named = model.get_params().get(part)
    if part == "imputer" and hasattr(named, "get_params"):
        for name in given:
            if name not in named.get_params():
                raise _unknown(named, name, list(named.get_params()))
        named.set_params(**({"random_state": random_state} | given))
        return
    if not isinstance(named, str):
        raise _unknown(model, f"{part}__{next(iter(given))}", list(model.get_params(deep=False)))
    known = list(signature(POLICIES[named]).parameters) if named in POLICIES else []
    for name in given:
        if name not in known:
            raise _unknown(f"the policy {named!r}", name, known)
    model.set_params(policy=POLICIES[named](**given))


def _unknown(owner: Any, name: str, known: list[str]) -> ParameterError:
    return ParameterError(
        f"{owner if isinstance(owner, str) else type(owner).__name__} has no setting {name!r}",
        f"Its settings are {', '.join(known) or 'none'}",
        "Leave it out, or name one of these",
    )
