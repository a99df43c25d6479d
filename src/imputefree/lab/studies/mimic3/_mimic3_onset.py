"""When septic shock began: Sepsis-3, written out for what MIMIC-III charts.

What Sepsis-3 says (Singer et al., JAMA 2016): septic shock is sepsis with persisting hypotension
that needs vasopressors to keep the mean arterial pressure (MAP) at 65 mmHg or above, and with a
serum lactate above 2 mmol/L, despite adequate volume resuscitation.

What the paper leaves open: how far apart vasopressor, lactate and MAP may be, and which of them
gives the time. What we chose: onset is the first time t in an ICU stay at which all three hold, as
a person at the bedside could have known them at t:

1. a vasopressor is running at t: norepinephrine, epinephrine, phenylephrine, vasopressin or
   dopamine, given as an infusion (item ids in items.py);
2. the latest lactate, drawn at most 12 hours before t, is above 2 mmol/L;
3. a MAP below 65 mmHg was charted at most 6 hours before t. It may come from before the
   vasopressor was started, because the drug is there to raise it.

The three can only become true together when a vasopressor starts, a lactate is drawn or a MAP is
charted, so these times are looked at, in order. Lactates count from 12 hours before ICU admission
on; MAPs and vasopressors from ICU admission on. Volume resuscitation is not asked for: neither the
paper nor the charts say what would have been adequate.

When a vasopressor runs. MetaVision (INPUTEVENTS_MV) charts intervals: a row with a rate above 0
runs from STARTTIME to ENDTIME, unless its order was rewritten (STATUSDESCRIPTION 'Rewritten').
CareVue (INPUTEVENTS_CV) charts moments: a row with a rate above 0 runs until the next row of the
same item that has a rate or says 'Stopped' or "D/C'd", at most 2 hours (rates are charted hourly),
and not at all if the row itself says so. A row without a rate and without such a word (a volume)
says nothing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

HOUR = 3600
LACTATE_ABOVE, LACTATE_AGE = 2.0, 12 * HOUR  # mmol/L, seconds
PRESSURE_BELOW, PRESSURE_AGE = 65.0, 6 * HOUR  # mmHg, seconds
CAREVUE_RUNS = 2 * HOUR  # at most, after a row with a rate


def carevue_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """From rows (icustay_id, itemid, charted, rate, stopped = 0 or 1) to icustay_id, start, stop.

    >>> rows = pd.DataFrame({"icustay_id": 1, "itemid": 30120, "charted": [0, 3600, 9999, 99999],
    ...                      "rate": [0.1, np.nan, 0.2, 0.0], "stopped": 0})
    >>> carevue_intervals(rows)[["start", "stop"]].to_numpy().tolist()
    [[0, 7200], [9999, 17199]]
    """
    # Rows of one moment become one: the drug runs if any has a rate, and not if any says stopped.
    keys = ["icustay_id", "itemid", "charted"]
    says = rows[rows["rate"].notna() | (rows["stopped"] == 1)]
    moments = says.groupby(keys, as_index=False)[["rate", "stopped"]].max()
    until = moments.groupby(keys[:2])["charted"].shift(-1)
    longest = moments["charted"] + CAREVUE_RUNS
    moments["start"] = moments["charted"]
    moments["stop"] = until.fillna(np.inf).clip(upper=longest).astype(np.int64)
    runs = (moments["rate"] > 0) & (moments["stopped"] == 0)
    return moments.loc[runs, ["icustay_id", "start", "stop"]]


def first_onset(
    running: np.ndarray, lactates: np.ndarray, pressures: np.ndarray, entered: int
) -> int | None:
    """The first second at which all three hold, or None.

    running : (n, 2), start and stop of vasopressors; stop is no longer running
    lactates, pressures : (m, 2) and (k, 2), second and value, sorted by second
    entered : ICU admission; onset is not before

    >>> first_onset(np.array([[7200, 9000]]), np.array([[3600, 2.5]]), np.array([[1800, 60.0]]), 0)
    7200
    """
    low = pressures[pressures[:, 1] < PRESSURE_BELOW, 0]
    if not (len(running) and len(lactates) and len(low)):
        return None
    times = np.unique(np.concatenate([running[:, 0], lactates[:, 0], low]))
    times = times[times >= entered]
    drug = ((running[:, 0] <= times[:, None]) & (times[:, None] < running[:, 1])).any(axis=1)
    age, value = _latest(lactates[:, 0], lactates[:, 1], times)
    acid = (age <= LACTATE_AGE) & (value > LACTATE_ABOVE)
    age, _ = _latest(low, low, times)
    met = times[drug & acid & (age <= PRESSURE_AGE)]
    return int(met[0]) if len(met) else None


def _latest(
    charted: np.ndarray, value: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Age and value of the latest record at each time; an age of infinity where there is none."""
    at = np.searchsorted(charted, times, side="right") - 1
    age = np.where(at >= 0, times - charted[at], np.inf)
    return age, value[at]
