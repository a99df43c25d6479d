"""Lines of results as a frame of runs, with the settings named as in the tables.

>>> line = {"study": "mnist", "method": "gil", "options": {"rate": 0.9}, "mask_seed": 1,
...         "split_seed": 0, "status": "done", "simulated": False, "rows": [50, 10, 10],
...         "scores": {"accuracy": 0.78}, "cost": {"fit_seconds": 2.5}}
>>> frame_of([line])[["setting", "accuracy", "fit_seconds", "n_train", "n_test"]]
   setting  accuracy  fit_seconds  n_train  n_test
0  mcar-90      0.78          2.5       60      10
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

# What a study does where an option is not given; these need no mention.
DEFAULTS: dict[str, dict[str, Any]] = {
    "mnist": {"mechanism": "mcar", "masks": "fixed", "rate": None},
    "mimic3": {"form": "variable"},
    "icu": {"form": "variable"},
    "physionet2012": {"form": "hourly", "sets": "abc"},
}

# What tells how good a method is, the first that a study has first.
SCORES = ("accuracy", "auc", "average_precision", "r2", "rmse")
# Studies whose columns share a unit; elsewhere the largest numbers would decide an error alone.
ONE_UNIT = frozenset({"mnist"})


def setting_name(study: str, options: Mapping[str, Any]) -> str:
    """The setting as `paper_figures` calls it; what the paper does not have is written out.

    >>> setting_name("mnist", {"mechanism": "mar"}), setting_name("mnist", {})
    ('mar', 'mcar-50')
    >>> setting_name("ophthalmic-simulated", {"rate": 0.35}), setting_name("physionet2012", {})
    ('rate-35', 'natural')
    >>> setting_name("icu", {"n_series": 60})
    'variable, n_series 60'
    """
    defaults = DEFAULTS.get(study, {})
    left = {**defaults, **options}
    rate = left.pop("rate", None)
    if study == "mnist":
        kind = str(left.pop("mechanism"))
        rate = 0.5 if rate is None and kind == "mcar" else rate  # as the study has it
        name = kind if rate is None else f"{kind}-{_percent(rate)}"
    elif study in ("mimic3", "icu"):
        name = str(left.pop("form"))
    else:
        name = "natural" if rate is None else f"rate-{_percent(rate)}"
    rest = [f"{key} {left[key]}" for key in sorted(left) if left[key] != defaults.get(key)]
    return ", ".join([name, *rest])


def frame_of(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A line a record, for `bench.stats` and `bench.tables`.

    Columns: study, setting, method, mask_seed, split, status, simulated, n_train (what the method
    was given: training and validation rows), n_test, then all scores and costs, and of imputers
    imputation_error: imputation_mse of studies in ONE_UNIT, else imputation_mse_scaled. A failed
    run has NaN there; "simulated" is None where a run could not even say that.

    Parameters of a method have no column: of two runs that differ in nothing else, the statistics
    say that one is there twice.
    """
    return pd.DataFrame([_line(record) for record in records])


def has(runs: pd.DataFrame, metric: str) -> bool:
    """Whether any run has this figure."""
    return metric in runs and bool(runs[metric].notna().any())


def _line(record: Mapping[str, Any]) -> dict[str, Any]:
    rows = record.get("rows")
    return {
        "study": record["study"],
        "setting": setting_name(record["study"], record["options"]),
        "method": record["method"],
        "mask_seed": record["mask_seed"],
        "split": record["split_seed"],
        "status": record["status"],
        "simulated": record.get("simulated"),
        "n_train": None if rows is None else rows[0] + rows[1],
        "n_test": None if rows is None else rows[2],
        **_scores(record),
        **record.get("cost", {}),
    }


def _scores(record: Mapping[str, Any]) -> dict[str, Any]:
    scores = record.get("scores", {})
    in_units = record["study"] in ONE_UNIT
    error = scores.get("imputation_mse" if in_units else "imputation_mse_scaled")
    return {**scores, **({} if error is None else {"imputation_error": error})}


def _percent(rate: Any) -> str:
    """A share in per cent; what is none stays as it was written."""
    try:
        return f"{100 * rate:.6g}" if isinstance(rate, int | float) else str(rate)
    except OverflowError:  # a whole number that no float holds
        return str(rate)
