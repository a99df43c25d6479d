"""A model file as the commands use it: load it, describe its columns, find them in a file."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

from ..data import Category, Number
from ..errors import InputError, ModelFileError, shorten
from ..estimators import GILEstimator

KIND_OF_ROLE = {"id": "id", "time": "time", "variable": "text", "value": "number"}
USUAL = 2.0  # standard deviations around the mean, if training kept no more of a column


class Input(NamedTuple):
    """A column that a model reads.

    kind : "number" or "category"
    known : for a category its levels, rare ones last; for a number (low, high) as seen in
        training, or () if the model file does not say
    exact : whether these cover all values of training, or most of them
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
    """What a model reads, in the order of training; for series the static columns last.

    >>> import pandas as pd
    >>> from imputefree import GILClassifier
    >>> X = pd.DataFrame({"age": [20.0, None, 40.0, 30.0], "sex": ["f", "m", None, "f"]})
    >>> for column in inputs_of(GILClassifier(max_iter=1).fit(X, [0, 1, 0, 1])):
    ...     print(column.name, column.kind, column.known)
    age number (20.0, 40.0)
    sex category ['f', 'm']
    """
    encoder = model.encoder_
    parts = [encoder]
    if is_of_series(model):
        parts = [encoder.steps] if encoder.statics is None else [encoder.steps, encoder.statics]
    return [described(plan) for part in parts for plan in part.plans]


def static_names(model: Any) -> list[str]:
    """Names of the columns that are constant within a series; a table has none."""
    statics = getattr(model.encoder_, "statics", None)
    return [] if statics is None else list(statics.names)


def roles_of(model: Any) -> dict[str, str]:
    """For series: the columns with a role, {"id": name, "time": …, "variable": …, "value": …}.

    Roles that the model does not have are left out. A table has none.
    """
    if not is_of_series(model):
        return {}
    layout = model.layout_
    return {role: layout[role] for role in ("id", "time", "variable", "value") if layout[role]}


def about(model: Any) -> dict[str, Any]:
    """What a model made by `imputefree fit` knows about itself; {} if it was saved from Python."""
    return getattr(model, "about_", None) or {}


def clock_of(model: Any) -> dict[str, Any] | None:
    """How times were written in training (see `Clock`); None for models saved from Python."""
    return (about(model).get("series") or {}).get("clock")


def file_inputs(model: Any, names: list[str]) -> dict[str, Input]:
    """The columns of a file that the model reads, in its order; or an InputError.

    Their kinds are also "id", "time" and "text". A model trained on an array has no names: then
    columns are taken in their order, if there are as many as in training.

    >>> import pandas as pd
    >>> from imputefree import GILRegressor
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0], "age": [31, 42, 53, 64]})
    >>> model = GILRegressor(max_iter=1).fit(X, [1.0, 2.0, 3.0, 4.0])
    >>> list(file_inputs(model, ["age", "ward", "dose"]))
    ['dose', 'age']
    """
    roles, inputs = roles_of(model), inputs_of(model)
    if is_of_series(model) and "id" not in roles:
        raise InputError(
            "the model was trained on series without an id column",
            "A file of series has a column that identifies the series",
            "Train with id=, or predict from Python",
        )
    if "variable" in roles:
        static = set(static_names(model))
        if any(column.kind != "number" for column in inputs if column.name not in static):
            raise InputError(
                "the model was trained on pairs of variable and value, some of them strings",
                "A column of values from a file must be numbers",
                "Predict from Python, or train with one column per variable",
            )
        inputs = [column for column in inputs if column.name in static]
    wanted = {name: Input(name, KIND_OF_ROLE[role], []) for role, name in roles.items()}
    wanted |= {column.name: column for column in inputs if column.name not in wanted}
    lacking = [name for name in wanted if name not in set(names)]
    if lacking and not is_of_series(model) and not model.encoder_.named:
        if len(names) == len(wanted):
            return dict(zip(names, wanted.values(), strict=True))
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


def described(plan: Number | Category) -> Input:
    """The name, kind and known values of a column, from its encoding."""
    if isinstance(plan, Category):
        return Input(plan.name, "category", [*plan.levels, *plan.rare_levels])
    values, exact = plan.knots or plan.levels, True
    if not values and plan.values:  # all of few values, or quantiles of many
        values, exact = plan.values, len(plan.values) <= 2
    if values:
        return Input(plan.name, "number", (float(values[0]), float(values[-1])), exact)
    reach = USUAL * plan.spread
    low, high = plan.center - reach, plan.center + reach
    empty = plan.center == 0.0 and plan.spread == 1.0  # what a column without entries has
    if empty or not (math.isfinite(low) and math.isfinite(high)):
        return Input(plan.name, "number", (), exact=False)
    return Input(plan.name, "number", (rounded(low), rounded(high)), exact=False)


def rounded(value: float) -> float:
    """Rounded to four significant digits, for display.

    >>> rounded(0.0123456), rounded(12345.678)
    (0.01235, 12350.0)
    """
    return float(f"{value:.4g}")
