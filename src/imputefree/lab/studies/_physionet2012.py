"""PhysioNet/CinC Challenge 2012: 12,000 stays in intensive care, 48 hours each, who died?

Real, public data (ODC-By), read from the challenge's own files, which this package does not bring:
`set-{a,b,c}.tar.gz` (or folders `set-{a,b,c}`) and `Outcomes-{a,b,c}.txt`.

A stay becomes 48 hourly steps of 37 variables: the mean of an hour's measurements, NaN for an hour
without any (about 80 % of the grid). Or it stays what it was, a step whenever something was
measured. Age, sex, height, type of unit and the weight at admission are static. In these files -1
means unknown, and no variable can be negative, so negative values are gaps. Lines without a
variable's name (2,403 in set-c) say nothing and are left out. Twelve stays hold no measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...data import counted
from ...errors import InputError, ParameterError
from ._data_files import Root, find
from ._physionet2012_files import STATICS, VARIABLES, read_events, read_outcomes
from ._study import Study

HOURS = 48
FORMS = ("hourly", "raw")


def study(root: Root = None, form: str = "hourly", sets: Sequence[str] = "abc") -> Study:
    """The challenge as a study; y is 1 where the patient died in hospital.

    Parameters
    ----------
    root : the folder with the files, or the one above
    form : "hourly": X (n, 48, 37), NaN for an hour without a measurement; "raw": a list of n frames
        (T_i, 37), a row whenever something was measured, and times in hours
    sets : the thirds to read, 4,000 stays each
    """
    if form not in FORMS:
        raise ParameterError(
            f"form is {form!r}", "It must be 'hourly' or 'raw'", "Pass form= one of these"
        )
    measured, static, died = _read(root, sets)
    empty = len(died) - measured["stay"].nunique()
    notes = [f"Sets {', '.join(sets)}; {empty} stays hold no measurement at all."]
    X: Any
    times = None
    if form == "hourly":
        X = _hourly(measured, died.index)
        notes.append("Hourly means on a grid of 48 steps.")
    else:
        X, times = _raw(measured, died.index)
        notes.append("A step whenever something was measured; an empty stay has one empty step.")
    return Study(
        "physionet2012",
        X,
        died.to_numpy(),
        citation="Silva et al. 2012, Predicting in-hospital mortality of ICU patients:"
        " the PhysioNet/Computing in Cardiology Challenge 2012",
        licence="Open Data Commons Attribution (ODC-By)",
        simulated=False,
        static=static.reset_index(drop=True),
        times=times,
        groups=None,  # a stay a patient
        notes=tuple(notes),
        columns=tuple(VARIABLES),
    )


def _read(root: Root, sets: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Measurements (stay, minute, variable, value), statics and outcomes of all stays asked for."""
    if not sets or any(one not in "abc" or one == "" for one in sets) or len(set(sets)) < len(sets):
        raise ParameterError(
            f"sets is {sets!r}", "It must hold letters of 'abc', each once", "Pass sets='abc'"
        )
    home = find(
        "PhysioNet 2012",
        "physionet2012",
        [(f"Outcomes-{one}.txt",) for one in sets]
        + [(f"set-{one}.tar.gz", f"set-{one}") for one in sets],
        root=root,
        how="Run `imputefree data get physionet2012`",
    )
    died = pd.concat([read_outcomes(home / f"Outcomes-{one}.txt") for one in sets])
    events = pd.concat([read_events(home, f"set-{one}") for one in sets])
    _check_same_stays(pd.Index(events["stay"].unique()), died.index, home)
    events = events[events["value"] >= 0]
    events = events.reset_index(drop=True)
    # The lines at 00:00 describe the patient; a weight there is the one at admission.
    described = events[(events["minute"] == 0) & events["variable"].isin(STATICS)]
    described = described.drop_duplicates(["stay", "variable"])
    described = described.astype({"variable": str})
    static = described.pivot(index="stay", columns="variable", values="value")
    static = static.reindex(index=died.index, columns=STATICS).rename_axis(columns=None)
    static["ICUType"] = static["ICUType"].astype("Int64").astype("category")  # a code, no number
    measured = events.drop(index=described.index)
    return measured[measured["variable"].isin(VARIABLES)], static, died


def _check_same_stays(texts: pd.Index, outcomes: pd.Index, home: Path) -> None:
    """A text without an outcome, or the other way round: files of a set are missing."""
    for ids, others, what in (
        (outcomes, texts, "an outcome and no text"),
        (texts, outcomes, "a text and no outcome"),
    ):
        alone = ids.difference(others)
        if len(alone):
            raise InputError(
                f"{counted(len(alone), 'stay')} in {home} have {what} (the first: {alone[0]})",
                "Every stay has both",
                "Unpack the sets anew, or run `imputefree data get physionet2012`",
            )


def _hourly(events: pd.DataFrame, stays: pd.Index) -> np.ndarray:
    """Mean of each variable in each hour; (n, 48, 37)."""
    stay = stays.get_indexer(pd.Index(events["stay"]))
    hour = np.minimum(events["minute"].to_numpy() // 60, HOURS - 1)  # 48:00 ends the last hour
    return _means(stay * HOURS + hour, events, len(stays) * HOURS).reshape(len(stays), HOURS, -1)


def _raw(events: pd.DataFrame, stays: pd.Index) -> tuple[list[pd.DataFrame], list[np.ndarray]]:
    """A frame (T_i, 37) a stay, a row for each minute with a measurement, and its hours (T_i,)."""
    stay = stays.get_indexer(pd.Index(events["stay"]))
    longest = 60 * HOURS + 1
    moment = stay * longest + events["minute"].to_numpy()
    empty = np.setdiff1d(np.arange(len(stays)), stay) * longest  # a series has at least one step
    moments = np.unique(np.concatenate([moment, empty]))
    values = _means(np.searchsorted(moments, moment), events, len(moments))
    hours = moments % longest / 60
    ends = np.searchsorted(moments // longest, np.arange(len(stays) + 1))
    frame = pd.DataFrame(values, columns=VARIABLES)
    spans = list(pairwise(ends))
    frames = [frame.iloc[a:b].reset_index(drop=True) for a, b in spans]
    return frames, [hours[a:b] for a, b in spans]


def _means(row: np.ndarray, events: pd.DataFrame, n_rows: int) -> np.ndarray:
    """(n_rows, 37): mean of the events of each row and variable, NaN where there is none."""
    column = pd.Index(VARIABLES).get_indexer(events["variable"].cat.categories)
    place = row * len(VARIABLES) + column[events["variable"].cat.codes]
    size = n_rows * len(VARIABLES)
    total = np.bincount(place, weights=events["value"].to_numpy(), minlength=size)
    count = np.bincount(place, minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(n_rows, len(VARIABLES))
