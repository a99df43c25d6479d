"""MIMIC-III: does septic shock follow within 4 hours? The paper's study, on your copy of the data.

Real patients' data under an access agreement: this package contains none, and sends none anywhere.
The open demo of 100 patients has the same files. `_mimic3_source.py` reads files and databases.

The cohort is the paper's (Appendix D.1). Every step counts who is left; the study's notes say so,
and `imputefree data describe mimic3` prints them. The queries, and what counts as a measurement,
are in mimic3.sql.

Cases

1. All ICU stays (ICUSTAYS) of patients who were at least 16 years old at ICU admission. The paper
   says "roughly 40,000 patients": MIMIC-III has 38,597 of 16 and older, and 7,870 newborns.
2. Admissions with a diagnosis of sepsis, ICD-9 995.91 or 995.92.
3. Of these, admissions with septic shock, ICD-9 785.52. The paper does not say whether both codes
   must belong to the same admission; here they must.
4. Admissions with an onset by Sepsis-3 in one of their ICU stays; the first counts (see below).
5. Onset at least 6 hours after admission to that ICU stay. An admission whose first onset is
   earlier is removed; a later worsening does not bring it back. The paper removes *patients* whose
   onset was earlier; we apply that to admissions: a patient may return with a later one.
6. The first such admission of each patient: a patient is one series.
7. Something was measured in the window, which is 2 hours and ends 4 hours before onset: from
   6 hours before onset (included) to 4 hours before (not included).

Controls

8. ICU stays of at least 16-year-olds without any admission with 785.52: a patient who was ever in
   septic shock is never a control, whether or not they are a case.
9. At least 2 hours between the first and the last record of an attribute in the ICU stay.
10. For every stay a random window of 2 hours within these records, starting a whole number of
    minutes after the first; one random stay per patient; something was measured in its window.
11. As many of these, at random, as there are cases; all of them if there are fewer.

Random numbers are drawn in the order of ICUSTAY_ID, so that the seed alone decides.

Series. A row is a time at which any attribute was charted in the window; columns not charted then
are gaps. Several values of one attribute at one time (arterial line and cuff) become their mean.
`times` are hours since the first row, not since the beginning of the window. An onset is itself a
charted time, often on the hour, so the hours since the beginning of a case's window would often be
whole, and a control's would not: a clock that gives the label away. For the same reason a window
does not include its end: hourly charting gives two rows whether or not it begins on the hour.

Onset. By Sepsis-3 (Singer et al., JAMA 2016), septic shock is sepsis with hypotension that needs
vasopressors to keep the mean arterial pressure (MAP) at 65 mmHg, and a serum lactate above
2 mmol/L, despite adequate volume resuscitation. The paper leaves open how far apart these may be
and which of them gives the time. Here onset is the first time t in an ICU stay at which all three
hold, as a person at the bedside could have known them at t:

1. a vasopressor is running at t, given as an infusion;
2. the latest lactate, drawn at most 12 hours before t, is above 2 mmol/L;
3. a MAP below 65 mmHg was charted at most 6 hours before t. It may come from before the
   vasopressor was started, because the drug is there to raise it.

Lactates count from 12 hours before admission to the ICU, MAPs and vasopressors from admission.
Volume resuscitation is not required: neither the paper nor the charts say what would have been
adequate.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._progress import step_progress
from ..._rules import check_value, choice, number, whole
from ...data import Splits
from ...errors import InputError, ParameterError
from ._data_files import ABOUT, SOURCES, Root, find, packaged
from ._mimic3_source import ID, NUMBER, Folder, Postgres, Source
from ._study import FORMS, Study, in_form

__all__ = ["Cohort", "Folder", "Postgres", "build", "load", "study"]

HOUR = 3600
WINDOW, AHEAD = 2 * HOUR, 4 * HOUR  # observed, and then predicted
LACTATE_ABOVE, LACTATE_AGE = 2.0, 12 * HOUR  # mmol/L, seconds
PRESSURE_BELOW, PRESSURE_AGE = 65.0, 6 * HOUR  # mmHg, seconds
CAREVUE_RUNS = 2 * HOUR  # at most, after a row with a rate: rates are charted hourly
NEVER = 2**60  # the end of a stay without an end
DEMO = 100  # patients of the open demo

ITEMS = pd.read_csv(StringIO(packaged("mimic3_items.csv")))
NAMES = [name for name in ITEMS["attribute"].unique() if name != "vasopressor"]
RULES = {  # how an item is read; attribute is a position in NAMES
    **{"itemid": ID, "attribute": ID},
    **{"minus": NUMBER, "divide": NUMBER, "low": NUMBER, "high": NUMBER},
}
LACTATE, PRESSURE = NAMES.index("lactate"), NAMES.index("mean_arterial_pressure")
# name: query, from "-- name: …" to the next comment
SQL = dict(re.findall(r"-- name: (\w+)\n([^-].*?)\n(?=\n--|\Z)", packaged("mimic3.sql"), re.DOTALL))
STEPS = 5
DEFINITION = (
    "Onset: vasopressor running, latest lactate (at most 12 h old) above 2 mmol/L, MAP below 65"
    " mmHg in the last 6 h; the paper names Sepsis-3 and leaves these distances open."
)


def load(
    root: Root = None,
    *,
    dsn: str | None = None,
    schema: str = "mimiciii",
    form: str = "variable",
    seed: int = 0,
    controls_per_case: float = 1.0,
    memory_limit: str = "2GB",
    verbose: bool = False,
) -> Study:
    """The septic-shock study.

    root : folder of MIMIC-III's csv or csv.gz files, or its parent. If None: `mimic3`, or
        else `mimic3_demo`, in the folder named by IMPUTEFREE_DATA or in the user's cache
    dsn, schema : a PostgreSQL database instead
    form : "variable": a list of n frames (T_i, 14); "fixed": an array (n, 8, 14), as in the paper:
        a shorter series repeats its last row, a longer one ends after 8 rows; no times
    seed : decides which controls are drawn, and their windows
    controls_per_case : the paper has 1; the study's notes say if there are fewer
    memory_limit : how much DuckDB may hold in memory while it reads files
    verbose : show progress on a terminal

    >>> load("nowhere")
    Traceback (most recent call last):
    imputefree.errors.InputError: the folder nowhere does not exist. MIMIC-III is looked ...
    """
    check_value("form", form, choice(*FORMS))
    if dsn is not None and root is not None:
        raise ParameterError(
            "root and dsn are both set",
            "MIMIC-III is read from a folder or from a database",
            "Leave one of them out",
        )
    source: Source = Folder(_home(root), memory_limit) if dsn is None else Postgres(dsn, schema)
    with source, step_progress(verbose, STEPS, "MIMIC-III") as report:
        cohort = build(source, seed, controls_per_case, report=report)
    return study(cohort, form)


def _home(root: Root) -> Path:
    """The folder of its files: the whole data before the demo."""
    tables = [file.name for file in SOURCES["mimic3"].files]
    return find(
        "MIMIC-III",
        ["mimic3", "mimic3_demo"],
        [(name, f"{name}.gz", name.lower(), f"{name.lower()}.gz") for name in tables],
        root=root,
        remedy="Get access at physionet.org,"
        " or run `imputefree data get mimic3` for the public demo",
    )


def study(cohort: Cohort, form: str = "variable") -> Study:
    """A cohort as a study; see `load`."""
    y = cohort.patients["shock"].to_numpy()
    counts = zip(cohort.counts["step"], cohort.counts["patients"], strict=True)
    steps = "; ".join(f"{step}, {patients:,}" for step, patients in counts)
    if len(np.unique(y)) < 2:
        raise InputError(
            f"the cohort has {y.sum()} cases and {len(y) - y.sum()} controls;"
            f" patients left by step: {steps}",
            "A study needs both",
            "Check that the tables are complete",
        )
    return Study(
        "mimic3",
        y=y,
        **in_form(form, cohort.frames, cohort.times),
        **ABOUT["mimic3"],
        groups=cohort.patients["subject_id"].to_numpy(),
        splits=Splits(test=0.2, validation=0.1, balanced_test=True),
        notes=(f"Patients left by step: {steps}.", *cohort.notes, DEFINITION),
    )


@dataclass(frozen=True)
class Cohort:
    """The septic-shock cohort: n series, in the order of subject_id.

    frames : n frames (T_i, 14), NaN = gap
    times : n arrays (T_i,), hours since the first row
    patients : one row per series: subject_id, hadm_id, icustay_id, shock (1 = case), start (of the
        window) and onset (NaN for controls), both in hours since ICU admission
    counts : one row per step: step, patients, admissions
    notes : what was read, and whether there were too few controls
    """

    frames: list[pd.DataFrame]
    times: list[np.ndarray]
    patients: pd.DataFrame
    counts: pd.DataFrame
    notes: tuple[str, ...] = ()


def build(
    source: Source,
    seed: int = 0,
    controls_per_case: float = 1.0,
    shortest: int = 1,
    report: Callable[[str], None] = lambda step: None,
) -> Cohort:
    """Build the cohort from a source.

    seed : decides which controls are drawn, and their windows
    controls_per_case : the paper has 1
    shortest : minimum number of rows per series; the paper's have 3 to 125, but it states no rule
    report : called with the name of each step as it begins
    """
    check_value("seed", seed, whole(0))
    check_value("controls_per_case", controls_per_case, number(0, 1e6, open_low=True))
    check_value("shortest", shortest, whole(1))
    counts: list[tuple[str, int, int]] = []

    def count(step: str, left: pd.DataFrame) -> pd.DataFrame:
        counts.append((step, left["subject_id"].nunique(), left["hadm_id"].nunique()))
        return left

    report("ICU stays and diagnoses")
    stays = source.rows(_query("stays"))
    stays["leaves"] = stays["leaves"].fillna(NEVER).astype(np.int64)
    count("ICU stays", stays)
    adults = count("1 aged 16 or more", stays[stays["adult"] == 1])
    sepsis = count("2 sepsis: ICD-9 995.91 or 995.92", adults[adults["sepsis"] == 1])
    shock = count("3 and septic shock: ICD-9 785.52", sepsis[sepsis["shock"] == 1])
    ever = stays.loc[stays["shock"] == 1, "subject_id"]
    others = adults[~adults["subject_id"].isin(ever)]

    report("Chart and lab events (the long step)")
    _keep_measurements(source, pd.concat([shock, others]))

    report("Onset of shock")
    onsets = count("4 with an onset by Sepsis-3", _onsets(source, shock))
    late = onsets[onsets["onset"] - onsets["entered"] >= WINDOW + AHEAD]
    count("5 at least 6 h after ICU admission", late)
    cases = late.sort_values(["subject_id", "onset"]).drop_duplicates("subject_id")
    count("6 first such admission of the patient", cases)
    cases = cases.assign(start=cases["onset"] - WINDOW - AHEAD)
    cases = _measured(source, "case_windows", cases, shortest)
    count("7 measured in the window: cases", cases)

    report("Controls")
    count("8 aged 16 or more, never 785.52", others)
    spans = source.rows(_query("spans"))
    others = others.merge(spans, on="icustay_id").sort_values("icustay_id", ignore_index=True)
    others = others[others["last"] - others["first"] >= WINDOW]
    count("9 at least 2 h of records", others)
    controls = _random_windows(others, np.random.default_rng(seed))
    controls = _measured(source, "control_windows", controls, shortest)
    count("10 one stay per patient, measured in its window", controls)
    wanted = round(controls_per_case * len(cases))
    each = f"{controls_per_case:g} per case"
    demo = source.rows(_query("patients"))["patients"].iloc[0] == DEMO
    notes = [f"Read from {source.name}{f', the demo of {DEMO} patients' if demo else ''}."]
    if len(controls) < wanted:
        notes.append(f"Too few controls: {len(controls):,} of {wanted:,}, {each}.")
        each = "all available"
    elif controls_per_case == 1:
        each = "as many as cases"
    controls = count(f"11 {each}: controls", controls.iloc[:wanted])

    report("Series")
    chosen = pd.concat([cases, controls.assign(onset=np.nan)]).sort_values("subject_id")
    frames, times = _series(source, chosen)
    patients = chosen[["subject_id", "hadm_id", "icustay_id"]].astype(np.int64)
    patients = patients.assign(
        shock=chosen["onset"].notna().astype(np.int64),
        start=(chosen["start"] - chosen["entered"]) / HOUR,
        onset=(chosen["onset"] - chosen["entered"]) / HOUR,
    )
    steps = pd.DataFrame(counts, columns=["step", "patients", "admissions"])
    return Cohort(frames, times, patients.reset_index(drop=True), steps, tuple(notes))


def _query(name: str, windows: str = "") -> str:
    """A query of mimic3.sql; `windows` is the table of windows that it reads."""
    drugs = {
        table: ", ".join(map(str, ITEMS.loc[ITEMS["table"] == table, "itemid"]))
        for table in ("inputevents_cv", "inputevents_mv")
    }
    constants = {"lactate": LACTATE, "pressure": PRESSURE, "lactate_age": LACTATE_AGE}
    return SQL[name].format(windows=windows, **constants, **drugs)


def _keep_measurements(source: Source, stays: pd.DataFrame) -> None:
    """Keep the values of our items in these stays, in one scan of CHARTEVENTS and LABEVENTS."""
    columns = ["icustay_id", "subject_id", "entered", "leaves"]
    source.put("stays", dict.fromkeys(columns, ID), stays)
    for name, table in (("chart_rules", "chartevents"), ("lab_rules", "labevents")):
        rules = ITEMS[ITEMS["table"] == table]
        source.put(name, RULES, rules.assign(attribute=rules["attribute"].map(NAMES.index)))
    source.keep("measurements", _query("measurements"))


def _onsets(source: Source, shock: pd.DataFrame) -> pd.DataFrame:
    """The stays with the first onset of their admission, and when it was."""
    source.put("shock_stays", {"icustay_id": ID}, shock)
    charted = _means(source.rows(_query("shock_measurements")))
    lactates, pressures = (
        _by_stay(charted[charted["attribute"] == which], ["charted", "value"])
        for which in (LACTATE, PRESSURE)
    )
    moments = source.rows(_query("carevue_drugs"))
    intervals = source.rows(_query("metavision_drugs"))
    drugs = _by_stay(pd.concat([carevue_intervals(moments), intervals]), ["start", "stop"])
    none = np.empty((0, 2))
    onset = [
        first_onset(drugs.get(k, none), lactates.get(k, none), pressures.get(k, none), entered)
        for k, entered in zip(shock["icustay_id"], shock["entered"], strict=True)
    ]
    onsets = shock.assign(onset=np.array(onset, dtype=np.float64)).dropna(subset="onset")
    return onsets.sort_values(["onset", "icustay_id"]).drop_duplicates("hadm_id")


def _random_windows(stays: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """A random window of each stay; one random stay per patient, in random order."""
    minutes = (stays["last"] - WINDOW - stays["first"]) // 60 + 1
    begun = 60 * np.floor(rng.random(len(stays)) * minutes).astype(np.int64)
    stays = stays.assign(start=stays["first"] + begun)
    return stays.iloc[rng.permutation(len(stays))].drop_duplicates("subject_id")


def _measured(source: Source, name: str, windows: pd.DataFrame, shortest: int) -> pd.DataFrame:
    """The windows with at least `shortest` rows, in the same order."""
    _put_windows(source, name, windows)
    count = source.rows(_query("row_counts", name))
    enough = count.loc[count["rows"] >= shortest, "icustay_id"]
    return windows[windows["icustay_id"].isin(enough)]


def _put_windows(source: Source, name: str, windows: pd.DataFrame) -> None:
    start = windows["start"].astype(np.int64)
    windows = windows.assign(start=start, stop=start + WINDOW)
    source.put(name, dict.fromkeys(["icustay_id", "start", "stop"], ID), windows)


def _series(source: Source, chosen: pd.DataFrame) -> tuple[list[pd.DataFrame], list[np.ndarray]]:
    """Values and times of the chosen windows, in their order."""
    _put_windows(source, "chosen_windows", chosen)
    charted = _means(source.rows(_query("window_rows", "chosen_windows")))
    wide = charted.pivot(index=["icustay_id", "charted"], columns="attribute", values="value")
    wide = wide.reindex(columns=range(len(NAMES))).set_axis(NAMES, axis=1).astype(np.float64)
    values = _by_stay(wide.reset_index(), ["charted", *NAMES])
    frames, times = [], []
    for stay in chosen["icustay_id"]:
        frames.append(pd.DataFrame(values[stay][:, 1:], columns=wide.columns))
        times.append((values[stay][:, 0] - values[stay][0, 0]) / HOUR)
    return frames, times


def _by_stay(rows: pd.DataFrame, columns: list[str]) -> dict[int, np.ndarray]:
    """These columns of each stay's rows, (rows of the stay, columns), in their order."""
    groups: Any = rows.groupby("icustay_id")[columns]
    return {int(stay): part.to_numpy(np.float64) for stay, part in groups}


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """One value for each stay, time and attribute; rows come sorted, so sums never differ."""
    keys = ["icustay_id", "attribute", "charted"]
    return rows.groupby(keys)["value"].mean().reset_index()


def carevue_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """When CareVue's vasopressors ran: icustay_id, start, stop.

    A row with a rate above 0 runs until the next row of the same item that has a rate or says
    stopped, at most CAREVUE_RUNS, and not at all if the row itself says so.

    rows : icustay_id, itemid, charted, rate, stopped (0 or 1)

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

    They can only become true together when a vasopressor starts, a lactate is drawn or a MAP is
    charted, so only these times are checked.

    running : (n, 2), start and stop of vasopressors; at `stop` it no longer runs
    lactates, pressures : (m, 2) and (k, 2), second and value, sorted by second
    entered : second of ICU admission; no onset is earlier

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
