"""A frame of runs, checked: each run once, each metric a number or NaN for a run that failed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...errors import InputError, ParameterError, counted, shorten

PLACE = ["study", "setting"]  # where methods are compared
RUN = ["mask_seed", "split"]  # what makes runs at one place differ
NAMES = [*PLACE, "method"]


def checked(runs: pd.DataFrame, *metrics: str) -> pd.DataFrame:
    """The columns of NAMES, RUN and the metrics, numbered from 0, metrics as float64.

    mask_seed and split come back as text; empty ones, of studies with gaps of their own, are one
    more kind. Where runs have n_test and n_train, a column test_to_train holds their ratio.

    >>> checked(pd.DataFrame({"study": ["mnist"], "accuracy": [0.9]}), "accuracy")
    Traceback (most recent call last):
    imputefree.errors.InputError: the runs have no column 'setting', 'method', 'mask_seed', ...
    """
    missing = [name for name in (*NAMES, *RUN, *metrics) if name not in runs]
    if missing:
        raise InputError(
            f"the runs have no column {shorten(missing)}",
            "A run is a line with study, setting, method, mask_seed, split and its metrics",
            f"Name the columns so; there are {shorten(list(runs), limit=20)}",
        )
    if runs.empty:
        raise InputError("there are no runs", "Statistics need at least one", "Run the bench first")
    runs = runs.reset_index(drop=True)
    unnamed = runs[NAMES].isna().any(axis=1)
    if unnamed.any():
        raise InputError(
            f"study, setting or method is empty in {counted(int(unnamed.sum()), 'run')}",
            "Every run must say where it belongs",
            "Fill these in, such as 'natural' for a study's own gaps",
        )
    table = runs[NAMES].astype(str)
    for name in RUN:
        table[name] = runs[name].astype(object).where(runs[name].notna(), "none").map(str)
    _check_once(table)
    for metric in metrics:
        table[metric] = _numbers(runs, metric)
    if {"n_test", "n_train"} <= set(runs):
        table["test_to_train"] = _numbers(runs, "n_test") / _numbers(runs, "n_train")
    return table


def check_methods(table: pd.DataFrame, names: Iterable[str]) -> None:
    """Every name has runs."""
    known = table["method"].unique()
    for name in names:
        if name not in known:
            raise ParameterError(
                f"there are no runs of the method {name!r}",
                f"The runs have {shorten(list(known), limit=20)}",
                "Pass one of these names",
            )


def _check_once(table: pd.DataFrame) -> None:
    twice = table.duplicated()
    if twice.any():
        one = table[twice].iloc[0].to_dict()
        raise InputError(
            f"the run {', '.join(f'{name} {value!r}' for name, value in one.items())} is there "
            "more than once",
            "Pairs need each run once",
            "Keep one of these lines",
        )


def _numbers(runs: pd.DataFrame, metric: str) -> pd.Series:
    values = pd.to_numeric(runs[metric], errors="coerce").astype(np.float64)
    text = values.isna() & runs[metric].notna()
    for wrong, what in ((text, "is no number"), (np.isinf(values), "is infinite")):
        if wrong.any():
            first = runs[wrong].iloc[0]
            raise InputError(
                f"{metric} {what} in {counted(int(wrong.sum()), 'run')} (first: "
                f"{str(first[metric])!r}, method {first['method']!r}, study {first['study']!r})",
                "A metric must be a finite number, or NaN for a run that failed",
                "Mend these lines, or leave them out",
            )
    return values
