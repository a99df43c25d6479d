"""PhysioNet/CinC Challenge 2012: 12,000 ICU stays of 48 hours; the target is death in hospital.

Real, public data (ODC-By), read from the challenge's files, which this package does not contain:
`set-{a,b,c}.tar.gz` (or folders `set-{a,b,c}`) and `Outcomes-{a,b,c}.txt`.

A stay becomes 48 hourly steps of 37 variables: the mean of an hour's measurements, NaN for an hour
without any (about 80 % of the grid). Or it keeps its own times, with a step whenever something was
measured. Age, sex, height, type of unit and weight at admission are static. In these files -1 means
unknown, and no variable can be negative, so negative values are gaps. Lines without the name of a
variable (2,403 in set-c) are left out. Twelve stays hold no measurement. The paper has 35 of the
variables, without ventilation and weight, and no statics (`attributes="paper"`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._rules import check_value, choice
from ...errors import InputError, ParameterError, counted
from ...io import need_columns, read_csv
from ._data_files import ABOUT, Root, find, read_archive, read_together
from ._study import Study, by_series

HOURS = 48
FORMS = ("hourly", "raw")
ATTRIBUTES = ("all", "paper")
REPAIR = "Remove the file and run `imputefree data get physionet2012`"
RULE = "A stay is lines of hh:mm,variable,value; the first line after the header is RecordID"
DEATH = "In-hospital_death"
STATICS = ["Age", "Gender", "Height", "ICUType", "Weight"]
# fmt: off
VARIABLES = [
    "ALP", "ALT", "AST", "Albumin", "BUN", "Bilirubin", "Cholesterol", "Creatinine", "DiasABP",
    "FiO2", "GCS", "Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "MAP", "MechVent", "Mg",
    "NIDiasABP", "NIMAP", "NISysABP", "Na", "PaCO2", "PaO2", "Platelets", "RespRate", "SaO2",
    "SysABP", "Temp", "TroponinI", "TroponinT", "Urine", "WBC", "Weight", "pH",
]
# fmt: on
NOT_IN_THE_PAPER = ("MechVent", "Weight")
NAMES = sorted({*STATICS, *VARIABLES, "RecordID"})  # RecordID shows that a stay has a file


def study(
    root: Root = None,
    form: str = "hourly",
    sets: Sequence[str] = "abc",
    attributes: str = "all",
) -> Study:
    """The challenge as a study; y is 1 if the patient died in hospital.

    Parameters
    ----------
    root : the folder with the files, or its parent
    form : "hourly": X (n, 48, 37), NaN for an hour without a measurement; "raw": a list of n frames
        (T_i, 37), one row whenever something was measured, and times in hours
    sets : the thirds to read, 4,000 stays each
    attributes : "all": 37 variables and 5 statics; "paper": the 35 variables of the paper alone
    """
    check_value("form", form, choice(*FORMS))
    check_value("attributes", attributes, choice(*ATTRIBUTES))
    measured, static, died = _read(root, sets)
    empty = len(died) - measured["stay"].nunique()
    X: Any
    if form == "hourly":
        X, times = _hourly(measured, died.index), None
        note = "Hourly means on a grid of 48 steps."
    else:
        X, times = _raw(measured, died.index)
        note = "A step whenever something was measured; an empty stay has one empty step."
    columns = list(VARIABLES)
    if attributes == "paper":
        columns = [name for name in VARIABLES if name not in NOT_IN_THE_PAPER]
        places = [VARIABLES.index(name) for name in columns]
        X = X[:, :, places] if form == "hourly" else [frame[columns] for frame in X]
        note += f" The paper's {len(columns)} variables, without statics."
    return Study(
        "physionet2012",
        X,
        died.to_numpy(),
        **ABOUT["physionet2012"],
        static=static.reset_index(drop=True) if attributes == "all" else None,
        times=times,
        notes=(f"Sets {', '.join(sets)}; {empty} stays hold no measurement at all.", note),
        columns=tuple(columns),
    )


def _read(root: Root, sets: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Measurements (stay, minute, variable, value), statics and outcomes of all stays in `sets`."""
    if not sets or not set(sets) <= set("abc") or len(set(sets)) < len(sets):
        raise ParameterError(
            f"sets is {sets!r}", "It must hold letters of 'abc', each once", "Pass sets='abc'"
        )
    home = find(
        "PhysioNet 2012",
        ["physionet2012"],
        [(f"Outcomes-{part}.txt",) for part in sets]
        + [(f"set-{part}.tar.gz", f"set-{part}") for part in sets],
        root=root,
        remedy="Run `imputefree data get physionet2012`",
    )
    died = pd.concat([read_outcomes(home / f"Outcomes-{part}.txt") for part in sets])
    events = pd.concat([read_events(home, f"set-{part}") for part in sets])
    alone = pd.Index(events["stay"].unique()).symmetric_difference(died.index)
    if len(alone):
        raise InputError(
            f"{counted(len(alone), 'stay')} in {home} have a file and no outcome, or an outcome and"
            f" no file (the first: {alone[0]})",
            "Every stay has both",
            "Unpack the sets again, or run `imputefree data get physionet2012`",
        )
    events = events[events["value"] >= 0].reset_index(drop=True)
    # The lines at 00:00 describe the patient; a weight there is the one at admission.
    described = events[(events["minute"] == 0) & events["variable"].isin(STATICS)]
    described = described.drop_duplicates(["stay", "variable"]).astype({"variable": str})
    static = described.pivot(index="stay", columns="variable", values="value")
    static = static.reindex(index=died.index, columns=STATICS).rename_axis(columns=None)
    static["ICUType"] = static["ICUType"].astype("Int64").astype("category")  # a code
    measured = events.drop(index=described.index)
    return measured[measured["variable"].isin(VARIABLES)], static, died


def _hourly(events: pd.DataFrame, stays: pd.Index) -> np.ndarray:
    """Mean of each variable in each hour; (n, 48, 37)."""
    stay = stays.get_indexer(pd.Index(events["stay"]))
    hour = np.minimum(events["minute"].to_numpy() // 60, HOURS - 1)  # 48:00 ends the last hour
    return _means(stay * HOURS + hour, events, len(stays) * HOURS).reshape(len(stays), HOURS, -1)


def _raw(events: pd.DataFrame, stays: pd.Index) -> tuple[list[pd.DataFrame], list[np.ndarray]]:
    """Frames (T_i, 37), one row for each minute with a measurement; and their hours, (T_i,)."""
    stay = stays.get_indexer(pd.Index(events["stay"]))
    longest = 60 * HOURS + 1
    moment = stay * longest + events["minute"].to_numpy()
    empty = np.setdiff1d(np.arange(len(stays)), stay) * longest  # a series has at least one step
    moments = np.unique(np.concatenate([moment, empty]))
    values = _means(np.searchsorted(moments, moment), events, len(moments))
    hours = moments % longest / 60
    frame = pd.DataFrame(values, columns=VARIABLES)
    begins = np.searchsorted(moments // longest, np.arange(len(stays)))
    return by_series(frame, begins), by_series(hours, begins)


def _means(row: np.ndarray, events: pd.DataFrame, n_rows: int) -> np.ndarray:
    """(n_rows, 37): mean of the events of each row and variable, NaN where there is none."""
    column = pd.Index(VARIABLES).get_indexer(events["variable"].cat.categories)
    place = row * len(VARIABLES) + column[events["variable"].cat.codes]
    size = n_rows * len(VARIABLES)
    total = np.bincount(place, weights=events["value"].to_numpy(), minlength=size)
    count = np.bincount(place, minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(n_rows, len(VARIABLES))


def read_outcomes(path: Path) -> pd.Series:
    """Who died (0 or 1), by RecordID."""
    table = read_csv(path)
    need_columns(table, ["RecordID", DEATH], path)
    stay, died = (
        pd.to_numeric(table[name], errors="coerce").to_numpy(float) for name in ("RecordID", DEATH)
    )
    bad = ~(np.isfinite(stay) & np.isin(died, [0, 1]))
    fact = f"{path} names a stay twice" if len(np.unique(stay)) < len(stay) else ""
    if bad.any():
        fact = f"{path} has no outcome in line {int(np.flatnonzero(bad)[0]) + 2}"
    if fact:
        rule = f"Every line must have a RecordID of its own, and 0 or 1 as {DEATH}"
        raise InputError(fact, rule, REPAIR)
    index = pd.Index(stay.astype(np.int64), name="RecordID")
    return pd.Series(died.astype(np.int64), index=index, name=DEATH)


def read_events(home: Path, name: str) -> pd.DataFrame:
    """All measurements of a set, from its folder or its archive: stay, minute, variable, value."""
    archive = home / f"{name}.tar.gz"
    path = archive if archive.exists() else home / name
    return read_together(read_archive(path, ".txt", REPAIR), _parse, path, RULE, REPAIR)


def _parse(files: list[tuple[str, bytes]]) -> pd.DataFrame:
    """All files at once, which is many times faster than one by one; a ValueError if any is bad."""
    bodies = [content.partition(b"\n")[2].strip() for _, content in files]
    if not all(body.startswith(b"00:00,RecordID,") for body in bodies):
        raise ValueError
    kinds: dict[str, Any] = {"time": "category", "variable": "category", "value": float}
    lines = pd.read_csv(
        io.BytesIO(b"\n".join(bodies)), names=list(kinds), dtype=kinds, index_col=False
    )
    # Every file begins with its RecordID: the lines up to the next one belong to that stay.
    begins = lines["variable"] == "RecordID"
    clocks = lines["time"].cat.categories.astype(str)  # at most 2,881 of them
    if begins.sum() != len(files) or lines["time"].isna().any():
        raise ValueError
    if not clocks.str.fullmatch(r"[0-4]\d:[0-5]\d").all() or clocks.max() > "48:00":
        raise ValueError
    minutes = 60 * clocks.str[:2].astype(int) + clocks.str[3:].astype(int)
    lines["stay"] = lines["value"].where(begins).ffill().astype("int64")
    lines["minute"] = minutes.to_numpy()[lines["time"].cat.codes]
    lines["variable"] = lines["variable"].cat.set_categories(NAMES)  # other names become gaps
    return lines.loc[lines["variable"].notna(), ["stay", "minute", "variable", "value"]]
