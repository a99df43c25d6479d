"""The one place that reads lines of results: normalised dicts, a frame of runs, and its checks.

A report is written long after its runs, from files of several machines and versions. What a line
does not say is empty after `tidy_lines`, so nothing later has to ask.

>>> line = {"study": "mnist", "method": "gil", "options": {"rate": 0.9}, "mask_seed": 1,
...         "rows": [50, 10, 10], "scores": {"accuracy": 0.78}, "cost": {"fit_seconds": 2.5}}
>>> runs_frame([line])[["setting", "accuracy", "fit_seconds", "n_train", "n_test", "status"]]
   setting  accuracy  fit_seconds  n_train  n_test status
0  mcar-90      0.78          2.5       60      10   done
"""

from __future__ import annotations

import json
import math
import re
import zlib
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InputError, ParameterError, counted, shorten
from ..runs import Record

# Options that a study has by default; these need no mention.
DEFAULTS: dict[str, dict[str, Any]] = {
    "mnist": {"mechanism": "mcar", "masks": "fixed", "rate": None},
    "mimic3": {"form": "variable"},
    "icu": {"form": "variable"},
    "physionet2012": {"form": "hourly", "sets": "abc", "attributes": "all"},
}
SCORES = ("accuracy", "auc", "average_precision", "r2", "rmse")  # the most informative first
# Studies whose columns share a unit; elsewhere the largest numbers alone would decide an error.
ONE_UNIT = frozenset({"mnist"})
# Characters that no HTML page may hold, even escaped; an error message of a run may.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
MAX_PIXELS = 10**6  # anything larger is not a digit
DICTS = ("options", "setting", "grid", "scores", "cost", "versions", "chosen", "pictures")
# By place, not by options: {} and {"rate": 0.5} may be the same.
IDENTITY = (
    *("study", "method", "place", "setting", "grid", "settings_tried", "mask_seed", "split_seed"),
)
PLACE = ["study", "setting"]  # columns of a frame: where methods are compared
RUN = ["mask_seed", "split"]  # what makes runs at one place differ


def tidy_lines(records: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Lines with all keys and `place`, the name of the study's setting; the last line of each run.

    Where a method ran with several parameters on the same data, its name says which.
    """
    tidied = {}
    for record in records:
        line = _tidy(record)
        tidied[as_json([line[key] for key in IDENTITY])] = line
    if not tidied:
        rule, remedy = "A report needs at least one run", "Run the bench, or name another file"
        raise ParameterError("there are no results to report", rule, remedy)
    lines = list(tidied.values())
    _name_parameters(lines)
    return lines


def _tidy(record: Mapping[str, Any]) -> Record:
    line = dict(record)
    drawn = line.get("grid")  # a list of settings, or values by name
    line["settings_tried"] = len(drawn) if isinstance(drawn, list) else 0
    for key in DICTS:
        line[key] = dict(line[key]) if isinstance(line.get(key), Mapping) else {}
    for key in ("notes", "warnings"):
        line[key] = [clean(text) for text in line[key]] if isinstance(line.get(key), list) else []
    for key in ("study", "method"):
        line[key] = clean(line.get(key) or f"unnamed {key}")
    for key in ("mask_seed", "split_seed"):
        seed = line.get(key)
        line[key] = 0 if seed is None else seed if isinstance(seed, int) else clean(seed)
    for key in ("scores", "cost"):
        line[key] = {clean(name): _finite(value) for name, value in line[key].items()}
    line["status"] = line.get("status") or ("done" if line["scores"] else "failed")
    if not (isinstance(line.get("rows"), list) and len(line["rows"]) == 3):
        line["rows"] = None
    line["options"] = json.loads(clean(json.dumps(line["options"], default=str)))
    line["place"] = clean(setting_name(line["study"], line["options"]))
    return line


def clean(value: object) -> str:
    """As a string, without characters that a page or a UTF-8 file must not hold."""
    return FORBIDDEN.sub("\ufffd", str(value))


def _finite(value: Any) -> float | None:
    """A finite number, or None: infinity would spoil every mean."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def as_json(value: Any) -> str:
    """A string that is the same for equal values."""
    return json.dumps(value, sort_keys=True, default=str)


def _name_parameters(lines: list[Record]) -> None:
    """Where runs differ only by the method's parameters, add these to its name."""
    methods: dict[tuple[str, str], list[tuple[Record, dict[str, Any]]]] = defaultdict(list)
    for line in lines:
        grid = {f"{name} of": value for name, value in line["grid"].items()}
        if line["settings_tried"]:
            grid["settings tried"] = line["settings_tried"]
        methods[line["study"], line["method"]].append((line, {**line["setting"], **grid}))
    for variants in methods.values():
        runs = {(line["place"], line["mask_seed"], line["split_seed"]) for line, _ in variants}
        if len(runs) == len(variants):
            continue
        for line, parameters in variants:
            special = [
                f"{name} {value}"
                for name, value in sorted(parameters.items())
                if any(as_json(other.get(name)) != as_json(value) for _, other in variants)
            ]
            line["method"] += clean(f" [{', '.join(special)}]" if special else "")


def setting_name(study: str, options: Mapping[str, Any]) -> str:
    """The setting as `_paper_figures` calls it; what the paper does not have is spelled out."""
    defaults = DEFAULTS.get(study, {})
    rest = {**defaults, **options}
    rate = rest.pop("rate", None)
    if study == "mnist":
        mechanism = str(rest.pop("mechanism"))
        rate = 0.5 if rate is None and mechanism == "mcar" else rate  # the study's default
        name = mechanism if rate is None else f"{mechanism}-{_percent(rate)}"
    elif study in ("mimic3", "icu"):
        name = str(rest.pop("form"))
    else:
        name = "natural" if rate is None else f"rate-{_percent(rate)}"
    special = [f"{key} {rest[key]}" for key in sorted(rest) if rest[key] != defaults.get(key)]
    return ", ".join([name, *special])


def _percent(rate: Any) -> str:
    """A share in per cent; anything else unchanged."""
    try:
        return f"{100 * rate:.6g}" if isinstance(rate, int | float) else str(rate)
    except OverflowError:  # a whole number that no float holds
        return str(rate)


def runs_frame(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per run, for statistics and tables.

    Columns: study, setting, method, mask_seed, split, status, simulated, n_train (training and
    validation rows), n_test, then all scores and costs, and for imputers imputation_error:
    imputation_mse in studies of ONE_UNIT, else imputation_mse_scaled. A failed run has NaN there;
    "simulated" is None where a run could not even say that.
    """
    return pd.DataFrame([_row(line) for line in tidy_lines(records)])


def _row(line: Record) -> dict[str, Any]:
    train, validation, test = line["rows"] or (None, None, None)
    error = "imputation_mse" if line["study"] in ONE_UNIT else "imputation_mse_scaled"
    scores = line["scores"]
    return {
        "study": line["study"],
        "setting": line["place"],
        "method": line["method"],
        "mask_seed": line["mask_seed"],
        "split": line["split_seed"],
        "status": line["status"],
        "simulated": line.get("simulated"),
        "n_train": None if train is None else train + validation,
        "n_test": test,
        **scores,
        **({} if scores.get(error) is None else {"imputation_error": scores[error]}),
        **line["cost"],
    }


def has_figures(runs: pd.DataFrame, metric: str) -> bool:
    """Whether any run has this metric."""
    return metric in runs and bool(runs[metric].notna().any())


def checked_runs(runs: pd.DataFrame, *metrics: str) -> pd.DataFrame:
    """The columns that statistics need, numbered from 0: names and seeds as strings, metrics float.

    Each run is there once; a metric is a finite number, or NaN for a failed run. Where runs have
    n_test and n_train, a column test_to_train holds their ratio.
    """
    names = [*PLACE, "method"]
    rule = "A run has a study, setting, method, mask_seed, split and its metrics"
    missing = [name for name in (*names, *RUN, *metrics) if name not in runs]
    if missing:
        columns = shorten(list(runs), limit=20)
        raise InputError(
            f"the runs have no column {shorten(missing)}", rule, f"there are {columns}"
        )
    if runs.empty:
        raise InputError("there are no runs", "Statistics need at least one", "Run the bench first")
    runs = runs.reset_index(drop=True)
    if unnamed := int(runs[names].isna().any(axis=1).sum()):
        fact = f"study, setting or method is empty in {counted(unnamed, 'run')}"
        raise InputError(fact, rule, "Fill these in, such as 'natural' for natural gaps")
    table = runs[names].astype(str)
    for name in RUN:
        table[name] = runs[name].astype(object).where(runs[name].notna(), "none").map(str)
    if repeated := table[table.duplicated()].to_dict("records"):
        run = ", ".join(f"{name} {value!r}" for name, value in repeated[0].items())
        rule = "Pairs need each run once"
        raise InputError(f"the run {run} is there more than once", rule, "Remove the other lines")
    for metric in metrics:
        table[metric] = _numbers(runs, metric)
    if {"n_test", "n_train"} <= set(runs):
        table["test_to_train"] = _numbers(runs, "n_test") / _numbers(runs, "n_train")
    return table


def _numbers(runs: pd.DataFrame, metric: str) -> pd.Series:
    values = pd.to_numeric(runs[metric], errors="coerce").astype(np.float64)
    wrong = (values.isna() & runs[metric].notna()) | np.isinf(values)
    if wrong.any():
        first = runs[wrong].iloc[0]
        where = f"{str(first[metric])!r}, method {first['method']!r}, study {first['study']!r}"
        raise InputError(
            f"{metric} is not a finite number in {counted(int(wrong.sum()), 'run')} ({where})",
            "A metric must be a finite number, or NaN for a failed run",
            "Fix these lines, or leave them out",
        )
    return values


def check_methods(table: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise an error for a method without runs."""
    known = list(table["method"].unique())
    for name in names:
        if name not in known:
            fact = f"there are no runs of the method {name!r}"
            have = f"The runs have {shorten(known, limit=20)}"
            raise ParameterError(fact, have, "Pass one of these names")


def unpacked_digits(digits: Mapping[str, Any], part: str) -> np.ndarray:
    """The digits of a line's picture; (digits, height, width) of bytes.

    digits : `line["pictures"]["digits"]`
    part : "truth", "observed" or "filled"
    """
    height, width = (int(side) for side in digits["shape"])
    if not 0 < height * width <= MAX_PIXELS:
        raise ValueError(f"images of {height} x {width} pixels")
    packed = b64decode(digits[part], validate=True)
    data = zlib.decompressobj().decompress(packed, MAX_PIXELS)  # a foreign file may hold a bomb
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, height, width)
