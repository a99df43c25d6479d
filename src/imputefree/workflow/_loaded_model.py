"""A model file as the commands use it: load it, and find its columns in a file."""

from __future__ import annotations

import os
from typing import Any

from ..data import Category, Plan
from ..errors import InputError, ModelFileError, shorten
from ..estimators import GILEstimator

KIND_OF_ROLE = {"id": "id", "time": "time", "variable": "text", "value": "number"}


def load_model(path: str | os.PathLike[str]) -> GILEstimator:
    """Any fitted estimator from its file; a ModelFileError says in one sentence what is wrong."""
    try:
        return GILEstimator.load(path)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        fact = f"{os.fspath(path)!r} cannot be read ({error})"  # such as a path with a zero byte
        raise ModelFileError(fact, "", "Check the path") from None


def is_of_series(model: Any) -> bool:
    """Whether a model predicts series, not rows of a table."""
    return hasattr(model.encoder_, "steps")


def static_names(model: Any) -> list[str]:
    """Names of the columns that are constant within a series; a table has none."""
    statics = getattr(model.encoder_, "statics", None)
    return [] if statics is None else list(statics.names)


def roles_of(model: Any) -> dict[str, str]:
    """For series: the columns with a role, {"id": name, "time": …, "variable": …, "value": …}.

    Roles that the model does not have are left out. A table has none.
    """
    layout = model.layout_ if is_of_series(model) else {}
    return {role: layout[role] for role in KIND_OF_ROLE if layout.get(role)}


def about(model: Any) -> dict[str, Any]:
    """What a model made by `imputefree fit` knows about itself; {} if it was saved from Python."""
    return getattr(model, "about_", None) or {}


def file_inputs(model: Any, names: list[str]) -> dict[str, Plan | str]:
    """The columns of a file that the model reads, in its order; or an InputError.

    Each is described by its encoding in training, or by its kind if it has a role: "id", "time",
    "text" or "number". A model trained on an array has no names: then columns are taken in their
    order, if there are as many as in training.

    >>> import pandas as pd
    >>> from imputefree import GILRegressor
    >>> X = pd.DataFrame({"dose": [1.0, None, 3.0, 4.0], "age": [31, 42, 53, 64]})
    >>> model = GILRegressor(max_iter=1).fit(X, [1.0, 2.0, 3.0, 4.0])
    >>> list(file_inputs(model, ["age", "ward", "dose"]))
    ['dose', 'age']
    """
    roles, encoder = roles_of(model), model.encoder_
    wanted: dict[str, Plan | str] = {name: KIND_OF_ROLE[role] for role, name in roles.items()}
    series = is_of_series(model)
    if series and "id" not in roles:
        raise InputError(
            "the model was trained on series without an id column",
            "A file of series has a column that identifies the series",
            "Train with id=, or predict from Python",
        )
    plans = list(encoder.steps.plans if series else encoder.plans)
    if "variable" in roles:
        if any(isinstance(plan, Category) for plan in plans):
            raise InputError(
                "the model was trained on pairs of variable and value, some of them strings",
                "A column of values from a file must be numbers",
                "Predict from Python, or train with one column per variable",
            )
        plans = []
    if series and encoder.statics is not None:
        plans += encoder.statics.plans
    wanted |= {plan.name: plan for plan in plans if plan.name not in wanted}
    lacking = [name for name in wanted if name not in set(names)]
    if lacking and not series and not encoder.named:
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
