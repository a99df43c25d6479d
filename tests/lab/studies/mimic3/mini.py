"""A made-up database in the shape of MIMIC-III, and who of its patients is in the cohort.

Every patient is planted for one rule. `case` makes a patient who is a case by all rules: a
vasopressor from hour 20 (the onset), lactate 3 at hour 17, MAP 60 at hour 18, something measured in
the window from hour 14 to hour 16. The others differ from it in one thing.
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from imputefree.lab.studies import mimic3

BEGIN = datetime(2150, 1, 1)
HEADERS = {
    "patients": "row_id subject_id gender dob dod expire_flag",
    "icustays": "row_id subject_id hadm_id icustay_id dbsource intime outtime los",
    "diagnoses_icd": "row_id subject_id hadm_id seq_num icd9_code",
    "chartevents": "row_id subject_id hadm_id icustay_id itemid charttime storetime cgid value"
    " valuenum valueuom warning error resultstatus stopped",
    "labevents": "row_id subject_id hadm_id itemid charttime value valuenum valueuom flag",
    "inputevents_cv": "row_id subject_id hadm_id icustay_id charttime itemid amount rate stopped",
    "inputevents_mv": "row_id subject_id hadm_id icustay_id starttime endtime itemid amount rate"
    " statusdescription",
}
NOREPINEPHRINE, NOREPINEPHRINE_CV = 221906, 30120
MAP, MAP_CV, HEART, HEART_CV, LACTATE = 220052, 52, 220045, 211, 50813


def clock(hour: float | None) -> str:
    return "" if hour is None else str(BEGIN + timedelta(seconds=round(hour * 3600)))


class Mini:
    """Rows by table; hours are counted from BEGIN, when every stay begins if not told otherwise."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.subjects: dict[str, int] = {}

    def add(self, table: str, **row: Any) -> None:
        self.rows[table].append({"row_id": len(self.rows[table]) + 1} | row)

    def patient(self, name: str, born: datetime = datetime(2090, 5, 5)) -> int:
        self.subjects[name] = subject = 1000 + len(self.subjects)
        self.add("patients", subject_id=subject, gender="F", dob=born)
        return subject

    def stay(
        self,
        subject: int,
        nth: int = 0,
        codes: str = "",
        begin: float = 0,
        end: float | None = 72,
        admission: int | None = None,
    ) -> int:
        """The nth ICU stay, of an admission of its own if None; its id."""
        hadm = 20000 + 10 * subject + (nth if admission is None else admission)
        icustay = 3000000 + 10 * subject + nth
        self.add("icustays", subject_id=subject, hadm_id=hadm, icustay_id=icustay,
                 intime=clock(begin), outtime=clock(end))  # fmt: skip
        for code in codes.split():
            self.add("diagnoses_icd", subject_id=subject, hadm_id=hadm, icd9_code=code)
        return icustay

    def chart(self, icustay: int, itemid: int, hour: float, value: Any, error: Any = 0) -> None:
        self.add("chartevents", icustay_id=icustay, itemid=itemid, charttime=clock(hour),
                 value=value, valuenum=value, error=error)  # fmt: skip

    def lab(self, subject: int, itemid: int, hour: float, value: Any) -> None:
        self.add("labevents", subject_id=subject, itemid=itemid, charttime=clock(hour),
                 value=value, valuenum=value)  # fmt: skip

    def drug(self, icustay: int, begin: float, end: float, rate: Any = 0.1,
             itemid: int = NOREPINEPHRINE, status: str = "FinishedRunning") -> None:  # fmt: skip
        self.add("inputevents_mv", icustay_id=icustay, starttime=clock(begin), endtime=clock(end),
                 itemid=itemid, rate=rate, statusdescription=status)  # fmt: skip

    def drug_cv(self, icustay: int, hour: float, rate: Any, stopped: str = "") -> None:
        self.add("inputevents_cv", icustay_id=icustay, charttime=clock(hour),
                 itemid=NOREPINEPHRINE_CV, rate=rate, stopped=stopped)  # fmt: skip

    def case(
        self,
        name: str,
        *,
        born: datetime = datetime(2090, 5, 5),
        codes: str = "99592 78552",
        lactates: Any = ((17, 3.0),),
        pressures: Any = ((18, 60),),
        drugs: Any = ((20, 30),),
        hearts: Any = ((14.5, 90), (15.5, 95)),
        carevue: bool = False,
    ) -> int:
        """A case by all rules but what is changed; the id of the stay."""
        subject = self.patient(name, born)
        icustay = self.stay(subject, codes=codes)
        for lactate in lactates:
            self.lab(subject, LACTATE, *lactate)
        for pressure in pressures:
            self.chart(icustay, MAP_CV if carevue else MAP, *pressure)
        for drug in drugs:
            (self.drug_cv if carevue else self.drug)(icustay, *drug)
        for heart in hearts:
            self.chart(icustay, HEART_CV if carevue else HEART, *heart)
        return icustay

    def shock_again(self, name: str, admission: int = 1) -> None:
        """The same patient's next stay, from hour 100, a case by all rules; onset at 120."""
        subject = self.subjects[name]
        icustay = self.stay(subject, 1, "99592 78552", begin=100, end=150, admission=admission)
        self.lab(subject, LACTATE, 117, 3.0)
        self.chart(icustay, MAP, 118, 60)
        self.drug(icustay, 120, 130)
        self.chart(icustay, HEART, 114.5, 90)

    def control(
        self,
        name: str,
        hours: Any,
        born: datetime = datetime(2090, 5, 5),
        end: float | None = 72,
    ) -> None:
        """Somebody with a heart rate charted at these hours, and nothing else."""
        icustay = self.stay(self.patient(name, born), end=end)
        for hour in hours:
            self.chart(icustay, HEART, hour, 80)

    def write(self, folder: Path, upper: bool = False, gz: bool = False) -> Path:
        """MIMIC's own files are upper case, the demo's headers lower case."""
        folder.mkdir(parents=True, exist_ok=True)
        for table, header in HEADERS.items():
            columns = header.split()
            name = (table.upper() if upper else table) + (".csv.gz" if gz else ".csv")
            opener = gzip.open if gz else open
            with opener(folder / name, "wt", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow([c.upper() if upper else c for c in columns])
                for row in self.rows[table]:
                    writer.writerow([row.get(column, "") for column in columns])
        return folder


def planted() -> Mini:
    """The database of the tests: cases first, then those who fall out, then controls."""
    mini = Mini()
    # Cases
    icu = mini.case("case")
    mini.case("carevue", carevue=True, drugs=[(20, 0.1), (21, 0.2), (22, 0, "Stopped")])
    mini.case("sepsis 995.91", codes="99591 78552")
    mini.case("sixteen", born=datetime(2134, 1, 1))
    mini.case("onset at 6 h", lactates=[(5, 3)], pressures=[(5, 60)], drugs=[(6, 9)],
              hearts=[(1, 90)])  # fmt: skip
    mini.case("lactate before the ICU", lactates=[(-4, 3)], pressures=[(7, 60)], drugs=[(7, 9)],
              hearts=[(1.5, 90)])  # fmt: skip
    mini.case("charted as the window begins", hearts=[(14, 90)])
    mini.case("volume between rates", carevue=True, lactates=[(20, 3)],
              drugs=[(19, 0.1), (19.5, ""), (30, 0)])  # fmt: skip
    mini.case("two shocks")
    mini.shock_again("two shocks")
    mini.case("early, then again", lactates=[(5, 3)], pressures=[(5, 60)], drugs=[(5.5, 9)])
    mini.shock_again("early, then again")
    # 1 to 3: age and diagnoses
    mini.case("fifteen", born=datetime(2134, 1, 2))
    mini.case("no sepsis", codes="78552 0389")
    mini.case("no shock", codes="99592 4019")
    mini.case("codes apart", codes="99592")
    mini.stay(mini.subjects["codes apart"], 1, "78552", begin=100, end=150)
    # 4: onset
    mini.case("lactate of 2", lactates=[(17, 2.0)])
    mini.case("lactate too old", lactates=[(7.9, 3)])
    mini.case("lactate fell", lactates=[(15, 3), (19, 1.5)])
    mini.case("lactate impossible", lactates=[(17, 60)])
    mini.case("lactate after the drug", lactates=[(31, 3)])
    mini.case("MAP of 65", pressures=[(18, 65)])
    mini.case("MAP too old", pressures=[(13.9, 60)], drugs=[(20, 30)])
    mini.case("MAP an error", pressures=[(18, 60, 1)])
    mini.case("MAP impossible", pressures=[(18, 5)])
    twins = mini.case("MAP 66 of 60 and 72", pressures=[(18, 60)])
    mini.chart(twins, 220181, 18, 72)
    mini.case("no drug", drugs=[])
    mini.case("drug rewritten", drugs=[(20, 30, 0.1, NOREPINEPHRINE, "Rewritten")])
    mini.case("drug at rate 0", drugs=[(20, 30, 0)])
    mini.case("drug without a rate", drugs=[(20, 30, "")])
    mini.case("drug dobutamine", drugs=[(20, 30, 5, 221653)])
    mini.case("drug over", drugs=[(5, 16)])
    mini.case("drug of no time", drugs=[(20, 20)])
    mini.case("drug backwards", drugs=[(20, 12)])
    mini.case("lactate after the stay", lactates=[(73, 3)], pressures=[(70, 60)], drugs=[(69, 80)],
              hearts=[(67.5, 90)])  # fmt: skip
    before = {"carevue": True, "pressures": [(15, 60)], "hearts": [(12, 90)]}
    mini.case("CareVue over", drugs=[(16, 0.1), (16.5, "", "D/C'd")], **before)
    mini.case("CareVue rate 0", drugs=[(16, 0.1), (16.5, 0)], **before)
    mini.case("CareVue stopped", carevue=True, drugs=[(20, 0.1, "Stopped")])
    mini.case("CareVue long ago", carevue=True, lactates=[(20, 3)], drugs=[(17.9, 0.1)])
    # 5 to 7
    mini.case("onset at 5.9 h", lactates=[(5, 3)], pressures=[(5, 60)], drugs=[(5.9, 9)],
              hearts=[(0, 90), (1, 90)])  # fmt: skip
    mini.case("again in one admission", lactates=[(5, 3)], pressures=[(5, 60)], drugs=[(5.5, 9)])
    mini.shock_again("again in one admission", admission=0)
    mini.case("nothing in the window", hearts=[(13.99, 90), (16.5, 90)])
    mini.case("charted as the window ends", hearts=[(16, 90)])
    mini.case("impossible in the window", hearts=[(15, 400)])
    # Controls
    for number in range(12):
        mini.control(f"control {number}", [number / 10 + quarter / 4 for quarter in range(60)])
    mini.control("records of 2 h", [3, 4, 5])
    mini.control("no end of stay", [3, 4, 5.5], end=None)
    mini.control("records of 1.9 h", [3, 4, 4.9])
    mini.control("records after the stay", [3, 4, 4.5, 9], end=4.6)
    mini.control("long silence", [0, 60])
    mini.control("shock another time", range(20))
    mini.stay(mini.subjects["shock another time"], 1, "78552", begin=100, end=150)
    mini.control("two stays", range(20))
    other = mini.stay(mini.subjects["two stays"], 1, begin=100, end=150)
    for hour in range(100, 120):
        mini.chart(other, HEART, hour, 70)
    mini.control("child", range(20), born=datetime(2149, 12, 1))
    mini.control("labs before the ICU", [0, 1])
    for hour in (-3, -2, -1):
        mini.lab(mini.subjects["labs before the ICU"], 50912, hour, 1.0)
    young = mini.patient("shock as a child", born=datetime(2134, 1, 2))
    mini.stay(young, 0, "78552", end=20)
    grown = mini.stay(young, 1, begin=100, end=150)
    for hour in range(100, 120):
        mini.chart(grown, HEART, hour, 70)
    # A case after the controls, so that only the order of patients mixes the labels.
    mini.case("codes with blanks")
    for row in mini.rows["diagnoses_icd"][-2:]:
        row["icd9_code"] += "  "
    readings(mini, icu)
    return mini


def readings(mini: Mini, icu: int) -> None:
    """What the first case has in its window at 14.5 h (beside a heart rate of 90), and at 15 h."""
    subject = mini.subjects["case"]
    for itemid, value in [(223761, 98.6), (220050, 120), (220179, 110), (223835, 50), (220277, 0),
                          (220210, 20), (618, 24)]:  # fmt: skip
        mini.chart(icu, itemid, 14.5, value)
    for itemid, value in [(51300, 13.5), (51301, 12.5), (51265, 150), (50912, 1.1), (50885, 0.7),
                          (51144, 4), (51006, 30), (50813, 1.4)]:  # fmt: skip
        mini.lab(subject, itemid, 15, value)
    for itemid, value, error in [(223762, 38, ""), (190, 0.4, ""), (223835, 10, 0), (220045, 99, 1),
                                 (3420, "", 0), (220277, 97, 0)]:  # fmt: skip
        mini.chart(icu, itemid, 15, value, error)


# fmt: off
CASES = {
    "case", "carevue", "sepsis 995.91", "sixteen", "onset at 6 h", "lactate before the ICU",
    "charted as the window begins", "volume between rates", "two shocks", "early, then again",
    "codes with blanks",
}
CONTROLS = {
    *(f"control {number}" for number in range(12)),
    "records of 2 h", "no end of stay", "two stays", "no shock",
}
# fmt: on


def built(files, **options):
    with mimic3.Folder(files) as source:
        return mimic3.build(source, **options)


def names(mini, made, shock):
    """The planted names of the cohort's cases (shock 1) or controls (0)."""
    subjects = set(made.patients.loc[made.patients["shock"] == shock, "subject_id"])
    return {name for name, subject in mini.subjects.items() if subject in subjects}


def assert_same(one, other):
    pd.testing.assert_frame_equal(one.patients, other.patients, check_exact=True)
    pd.testing.assert_frame_equal(one.counts, other.counts, check_exact=True)
    for a, b in zip(one.frames, other.frames, strict=True):
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    for a, b in zip(one.times, other.times, strict=True):
        assert np.array_equal(a, b)
