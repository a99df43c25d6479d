"""A model file as the commands use it: loaded, its columns described, a frame cut to them."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

import pandas as pd

from ..data import Category, Number, shorten
from ..errors import InputError, ModelFileError
from ..estimators import GILEstimator

USUAL = 2.0  # standard deviations around the mean, where training kept no more of a column
DIGITS = 4


class Input(NamedTuple):
    """A column that a model reads.

    kind : "number" or "category"
    known : of a category its levels, rare ones last; of a number (low, high), what training saw,
        or () where the file does not say
    exact : whether these hold all of training, or most of it
    """

    name: str
    kind: str
    known: list[str] | tuple[float, ...]
    exact: bool = True


def load_model(path: str | os.PathLike[str]) -> GILEstimator:
    """Any fitted estimator from its file; a ModelFileError says in one sentence what is wrong."""
    try:
        return GILEstimator.load(path)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(  # such as a path with a zero byte
            f"{os.fspath(path)!r} cannot be read ({error})", "", "Check the path"
        ) from None


def is_of_series(model: Any) -> bool:
    """Whether a model predicts series, not rows of a table."""
    return hasattr(model.encoder_, "steps")


def inputs_of(model: Any) -> list[Input]:
    """What a model reads, in the order of training: columns of a table; of series those of a step,
    then the static ones.

    >>> from imputefree import GILClassifier
    >>> X = pd.DataFrame({"age": [20.0, None, 40.0, 30.0], "sex": ["f", "m", None, "f"]})
    >>> for one in inputs_of(GILClassifier(max_iter=1).fit(X, [0, 1, 0, 1])):
    ...     print(one.name, one.kind, one.known)
    age number (20.0, 40.0)
    sex category ['f', 'm']
    """
    encoder = model.encoder_
    parts = [encoder]
    if is_of_series(model):
        parts = [encoder.steps] if encoder.statics is None else [encoder.steps, encoder.statics]
    return [described(plan) for part in parts for plan in part.plans]


def static_names(model: Any) -> list[str]:
    """Names of the columns that do not change within a series; a table has none."""
    statics = getattr(model.encoder_, "statics", None)
    return [] if statics is None else list(statics.names)


def roles_of(model: Any) -> dict[str, str]:
    """Of series: the columns that say whose a value is, when and of what; {"id": name, …}.

    Roles that the model does not have are left out. A table has none.
    """
    if not is_of_series(model):
        return {}
    layout = model.layout_
    return {role: layout[role] for role in ("id", "time", "variable", "value") if layout[role]}


def clock_of(model: Any) -> dict[str, Any] | None:
    """What times were in training (see `clock.Clock`); None of models saved from Python."""
    about = getattr(model, "about_", None) or {}
    return (about.get("series") or {}).get("clock")


def wanted_columns(model: Any) -> list[str]:
    """The columns that a file must have to be predicted: those with a role, then the inputs."""
    roles = roles_of(model)
    inputs = static_names(model) if "variable" in roles else [one.name for one in inputs_of(model)]
    return list(dict.fromkeys([*roles.values(), *inputs]))


def choose_columns(model: Any, names: list[str]) -> list[str]:
    """Those of a file's columns that the model reads, in its order; or an InputError.

    A model trained on an array knows no names: then the columns are taken in their order, if
    there are as many as in training.
    """
    wanted = wanted_columns(model)
    if is_of_series(model) and "id" not in roles_of(model):
        raise InputError(
            "the model was trained on series without an id column",
            "A file of series has a column that says whose a row is",
            "Train with id=, or predict from Python",
        )
    lacking = [name for name in wanted if name not in set(names)]
    if lacking and not is_of_series(model) and not model.encoder_.named:
        if len(names) == len(wanted):
            return names
        raise InputError(
            f"there are {len(names)} columns where the model was trained on {len(wanted)}",
            "A model trained without column names takes columns by their order",
            f"Give it {len(wanted)} columns, in the order of training",
        )
    if lacking:
        raise InputError(
            f"there is no column {shorten(lacking)}",
            f"The model was trained with it; the columns here are {shorten(names, limit=8)}",
            "Rename or add the columns; empty ones are allowed",
        )
    return wanted


def select_inputs(model: Any, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The columns the model reads, in its order, and the names of those it ignores.

    frame : (rows, columns), named in any order; columns that the model does not know are left out

    >>> from imputefree import GILRegressor
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0], "age": [31, 42, 53, 64]})
    >>> model = GILRegressor(max_iter=1).fit(X, [1.0, 2.0, 3.0, 4.0])
    >>> kept, ignored = select_inputs(model, X[["age", "dose"]].assign(ward="B"))
    >>> list(kept.columns), ignored
    (['dose', 'age'], ['ward'])
    """
    names = [str(name) for name in frame.columns]
    chosen = choose_columns(model, names)
    ignored = [name for name in names if name not in set(chosen)]
    kept = frame.iloc[:, [names.index(name) for name in chosen]]
    if chosen != wanted_columns(model):
        return kept.set_axis(range(len(chosen)), axis=1), ignored  # by order, without names
    return kept.set_axis(chosen, axis=1), ignored


def described(plan: Number | Category) -> Input:
    """What a column of training was, for all who tell of it or hold new values against it."""
    if isinstance(plan, Category):
        return Input(plan.name, "category", [*plan.levels, *plan.rare_levels])
    whole, some = plan.knots or plan.levels, plan.values  # all; few values, or quantiles of many
    if whole:
        return Input(plan.name, "number", (float(whole[0]), float(whole[-1])))
    if some:
        return Input(plan.name, "number", (float(some[0]), float(some[-1])), len(some) <= 2)
    reach = USUAL * plan.spread
    low, high = plan.center - reach, plan.center + reach
    empty = plan.center == 0.0 and plan.spread == 1.0  # what a column without entries has
    if empty or not (math.isfinite(low) and math.isfinite(high)):
        return Input(plan.name, "number", (), exact=False)
    return Input(plan.name, "number", (rounded(low), rounded(high)), exact=False)


def rounded(value: float) -> float:
    """To a few digits, for people.

    >>> rounded(0.0123456), rounded(12345.678)
    (0.01235, 12350.0)
    """
    return float(f"{value:.{DIGITS}g}")
