"""What is read from MIMIC-III: item ids, units and ranges of the 14 attributes, and the SQL.

CareVue (2001 to 2008, item ids below 220,000) and MetaVision (2008 to 2012) chart the same vital
sign under different ids. The ids are facts of the database: they follow the concepts of the public
mimic-code project, and a test compares every id and label with D_ITEMS and D_LABITEMS of the demo.

Vital signs come from CHARTEVENTS, labs from LABEVENTS only: the labs in CHARTEVENTS are copies of
those, charted by hand at a rounded time. A lab's time is when the blood was drawn. A lab without a
number (VALUE "<5", VALUENUM empty) is a gap.

Left out on purpose: 677 and 679, the same temperatures converted by CareVue; 614, 619 and similar,
breaths set at the ventilator or only the spontaneous ones; 834, saturation in a blood sample; 42273
and 42802, vasopressin typed in by hand for two patients, with the rate in the wrong column.

The SQL uses what DuckDB and PostgreSQL have in common; times are whole seconds. The long table of a
join comes first, because DuckDB joins in the order written (see `Folder`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

HOUR = 3600
LACTATE_AGE = 12 * HOUR  # a lactate counts this long; labs are read from that long before admission
# How a value becomes one in our unit: (value - minus) / divide.
AS_IS = ((0.0, 1.0),)
FAHRENHEIT = ((32.0, 1.8),)
# Fractions and percent occur under the same id. No number is plausible as both: 0.2 to 1 is a
# fraction, 20 to 100 a percentage, and what lies between is neither.
SHARE_OR_PERCENT = ((0.0, 1.0), (0.0, 100.0))


class Attribute(NamedTuple):
    """An attribute: unit, range possible in a living patient (both ends included), items."""

    unit: str
    low: float
    high: float
    chart: dict[int, str]  # item id -> label in D_ITEMS
    lab: dict[int, str]  # item id -> label in D_LABITEMS


# The ranges are ours, wide on purpose: they remove what is impossible (a pressure of 11,647 mmHg, a
# saturation of 0 %), not what is rare. FiO2 begins below 0.21 because CareVue stores 0.2099999.
# fmt: off
ATTRIBUTES = {
    "temperature": Attribute("°C", 25, 45, {
        676: "Temperature C", 678: "Temperature F", 223761: "Temperature Fahrenheit",
        223762: "Temperature Celsius", 226329: "Blood Temperature CCO (C)"}, {}),
    "respiratory_rate": Attribute("1/min", 1, 80, {
        615: "Resp Rate (Total)", 618: "Respiratory Rate", 220210: "Respiratory Rate",
        224690: "Respiratory Rate (Total)"}, {}),
    "heart_rate": Attribute("1/min", 10, 300, {211: "Heart Rate", 220045: "Heart Rate"}, {}),
    "systolic_blood_pressure": Attribute("mmHg", 30, 300, {
        51: "Arterial BP [Systolic]", 442: "Manual BP [Systolic]", 455: "NBP [Systolic]",
        6701: "Arterial BP #2 [Systolic]", 220050: "Arterial Blood Pressure systolic",
        220179: "Non Invasive Blood Pressure systolic",
        224167: "Manual Blood Pressure Systolic Left", 225309: "ART BP Systolic",
        227243: "Manual Blood Pressure Systolic Right"}, {}),
    "mean_arterial_pressure": Attribute("mmHg", 20, 250, {
        52: "Arterial BP Mean", 443: "Manual BP Mean(calc)", 456: "NBP Mean",
        6702: "Arterial BP Mean #2", 220052: "Arterial Blood Pressure mean",
        220181: "Non Invasive Blood Pressure mean", 225312: "ART BP mean"}, {}),
    "spo2": Attribute("%", 20, 100, {646: "SpO2", 220277: "O2 saturation pulseoxymetry"}, {}),
    "fio2": Attribute("share", 0.2, 1, {
        190: "FiO2 Set", 3420: "FIO2", 3422: "FIO2 [Meas]", 223835: "Inspired O2 Fraction"}, {}),
    "white_blood_cells": Attribute(
        "10⁹/L", 0, 500, {}, {51300: "WBC Count", 51301: "White Blood Cells"}),
    "lactate": Attribute("mmol/L", 0.1, 50, {}, {50813: "Lactate"}),
    "platelets": Attribute("10⁹/L", 1, 3000, {}, {51265: "Platelet Count"}),
    "creatinine": Attribute("mg/dL", 0.1, 30, {}, {50912: "Creatinine"}),
    "bilirubin": Attribute("mg/dL", 0.1, 100, {}, {50885: "Bilirubin, Total"}),
    "bands": Attribute("%", 0, 100, {}, {51144: "Bands"}),
    "blood_urea_nitrogen": Attribute("mg/dL", 1, 300, {}, {51006: "Urea Nitrogen"}),
}
# Vasopressors of the paper's Sepsis-3: not dobutamine or milrinone, which do not raise pressure.
VASOPRESSORS_CAREVUE = {  # "-k" is per kilogram
    30047: "Levophed", 30120: "Levophed-k",  # norepinephrine
    30044: "Epinephrine", 30119: "Epinephrine-k", 30309: "Epinephrine Drip",
    30127: "Neosynephrine", 30128: "Neosynephrine-k",  # phenylephrine
    30051: "Vasopressin", 30043: "Dopamine", 30307: "Dopamine Drip",
}
VASOPRESSORS_METAVISION = {
    221906: "Norepinephrine", 221289: "Epinephrine", 221749: "Phenylephrine",
    222315: "Vasopressin", 221662: "Dopamine",
}
# fmt: on
NAMES = list(ATTRIBUTES)
PRESSURE = NAMES.index("mean_arterial_pressure")
LACTATE = NAMES.index("lactate")
CONVERSIONS = dict.fromkeys([678, 223761], FAHRENHEIT) | dict.fromkeys(
    ATTRIBUTES["fio2"].chart, SHARE_OR_PERCENT
)


class ItemRule(NamedTuple):
    """How to read an item: (value - minus) / divide counts if it is between low and high."""

    itemid: int
    attribute: int  # position in NAMES
    minus: float
    divide: float
    low: float
    high: float


def item_rules(table: str) -> Iterator[ItemRule]:
    """How the items of CHARTEVENTS ("chart") or LABEVENTS ("lab") are read.

    >>> [rule for rule in item_rules("chart") if rule.itemid == 678]
    [ItemRule(itemid=678, attribute=0, minus=32.0, divide=1.8, low=25, high=45)]
    """
    for position, attribute in enumerate(ATTRIBUTES.values()):
        for itemid in attribute.chart if table == "chart" else attribute.lab:
            for minus, divide in CONVERSIONS.get(itemid, AS_IS):
                yield ItemRule(itemid, position, minus, divide, attribute.low, attribute.high)


def _seconds(column: str) -> str:
    """SQL for a time as whole seconds since 1970: the same number from every source."""
    return f"CAST(EXTRACT(EPOCH FROM {column}) AS BIGINT)"


def _ids(items: dict[int, str]) -> str:
    return ", ".join(map(str, items))


PATIENTS = "SELECT COUNT(*) AS patients FROM patients"

STAYS = f"""
SELECT s.subject_id, s.hadm_id, s.icustay_id,
       {_seconds("s.intime")} AS entered,
       {_seconds("s.outtime")} AS leaves,
       CASE WHEN s.intime >= p.dob + INTERVAL '16 years' THEN 1 ELSE 0 END AS adult,
       COALESCE(d.sepsis, 0) AS sepsis,
       COALESCE(d.shock, 0) AS shock
FROM icustays s
JOIN patients p ON p.subject_id = s.subject_id
LEFT JOIN (
    SELECT hadm_id,
           MAX(CASE WHEN TRIM(icd9_code) IN ('99591', '99592') THEN 1 ELSE 0 END) AS sepsis,
           MAX(CASE WHEN TRIM(icd9_code) = '78552' THEN 1 ELSE 0 END) AS shock
    FROM diagnoses_icd GROUP BY hadm_id
) d ON d.hadm_id = s.hadm_id
WHERE s.intime IS NOT NULL
ORDER BY s.icustay_id
"""

# A lab row names the patient and not always the admission: its stay is the one it was drawn in.
MEASUREMENTS = f"""
SELECT c.icustay_id, r.attribute,
       {_seconds("c.charttime")} AS charted,
       (c.valuenum - r.minus) / r.divide AS value
FROM chartevents c
JOIN chart_rules r ON r.itemid = c.itemid
JOIN stays s ON s.icustay_id = c.icustay_id
WHERE COALESCE(c.error, 0) = 0
  AND (c.valuenum - r.minus) / r.divide BETWEEN r.low AND r.high
  AND {_seconds("c.charttime")} BETWEEN s.entered AND s.leaves
UNION ALL
SELECT s.icustay_id, r.attribute,
       {_seconds("l.charttime")} AS charted,
       (l.valuenum - r.minus) / r.divide AS value
FROM labevents l
JOIN lab_rules r ON r.itemid = l.itemid
JOIN stays s ON s.subject_id = l.subject_id
WHERE (l.valuenum - r.minus) / r.divide BETWEEN r.low AND r.high
  AND {_seconds("l.charttime")} BETWEEN s.entered - {LACTATE_AGE} AND s.leaves
"""

SHOCK_MEASUREMENTS = f"""
SELECT m.icustay_id, m.attribute, m.charted, m.value
FROM measurements m
JOIN shock_stays s ON s.icustay_id = m.icustay_id
WHERE m.attribute IN ({LACTATE}, {PRESSURE})
ORDER BY 1, 2, 3, 4
"""

CAREVUE_DRUGS = f"""
SELECT d.icustay_id, d.itemid, {_seconds("d.charttime")} AS charted, d.rate,
       CASE WHEN d.stopped IN ('Stopped', 'D/C''d') THEN 1 ELSE 0 END AS stopped
FROM inputevents_cv d
JOIN shock_stays s ON s.icustay_id = d.icustay_id
WHERE d.itemid IN ({_ids(VASOPRESSORS_CAREVUE)}) AND d.charttime IS NOT NULL
ORDER BY 1, 2, 3, 4, 5
"""

METAVISION_DRUGS = f"""
SELECT d.icustay_id, {_seconds("d.starttime")} AS start, {_seconds("d.endtime")} AS stop
FROM inputevents_mv d
JOIN shock_stays s ON s.icustay_id = d.icustay_id
WHERE d.itemid IN ({_ids(VASOPRESSORS_METAVISION)})
  AND d.rate > 0
  AND d.starttime < d.endtime
  AND COALESCE(d.statusdescription, '') <> 'Rewritten'
ORDER BY 1, 2, 3
"""

SPANS = """
SELECT m.icustay_id, MIN(m.charted) AS first, MAX(m.charted) AS last
FROM measurements m
JOIN stays s ON s.icustay_id = m.icustay_id
WHERE m.charted >= s.entered
GROUP BY m.icustay_id
ORDER BY m.icustay_id
"""


def row_counts(windows: str) -> str:
    """The number of rows in each window."""
    return f"""
SELECT w.icustay_id, COUNT(DISTINCT m.charted) AS rows
FROM measurements m
JOIN {windows} w ON w.icustay_id = m.icustay_id
WHERE m.charted >= w.start AND m.charted < w.stop
GROUP BY w.icustay_id
ORDER BY w.icustay_id
"""


WINDOW_ROWS = """
SELECT m.icustay_id, m.attribute, m.charted, m.value
FROM measurements m
JOIN chosen_windows w ON w.icustay_id = m.icustay_id
WHERE m.charted >= w.start AND m.charted < w.stop
ORDER BY 1, 2, 3, 4
"""
