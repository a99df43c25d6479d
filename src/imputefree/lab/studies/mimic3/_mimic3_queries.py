"""The SQL of the cohort, in what DuckDB and PostgreSQL have in common; times are whole seconds.

The long table of a join stands first: DuckDB joins as it is written here (folder.py says why).
"""

from __future__ import annotations

from ._mimic3_items import LACTATE, PRESSURE, VASOPRESSORS_CAREVUE, VASOPRESSORS_METAVISION
from ._mimic3_onset import LACTATE_AGE
from ._mimic3_source import seconds


def _ids(items: dict[int, str]) -> str:
    return ", ".join(map(str, items))


PATIENTS = "SELECT COUNT(*) FROM patients"

STAYS_COLUMNS = [
    "subject_id",
    "hadm_id",
    "icustay_id",
    "entered",
    "leaves",
    "adult",
    "sepsis",
    "shock",
]
STAYS = f"""
SELECT s.subject_id, s.hadm_id, s.icustay_id,
       {seconds("s.intime")} AS entered,
       {seconds("s.outtime")} AS leaves,
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

RULE_COLUMNS = ["itemid", "attribute", "minus", "divide", "low", "high"]
MEASUREMENT_COLUMNS = ["icustay_id", "attribute", "charted", "value"]
# Labs know the patient, and not always the admission: the stay is the one they were drawn in.
MEASUREMENTS = f"""
SELECT c.icustay_id, r.attribute,
       {seconds("c.charttime")} AS charted,
       (c.valuenum - r.minus) / r.divide AS value
FROM chartevents c
JOIN chart_rules r ON r.itemid = c.itemid
JOIN stays s ON s.icustay_id = c.icustay_id
WHERE COALESCE(c.error, 0) = 0
  AND (c.valuenum - r.minus) / r.divide BETWEEN r.low AND r.high
  AND {seconds("c.charttime")} BETWEEN s.entered AND s.leaves
UNION ALL
SELECT s.icustay_id, r.attribute,
       {seconds("l.charttime")} AS charted,
       (l.valuenum - r.minus) / r.divide AS value
FROM labevents l
JOIN lab_rules r ON r.itemid = l.itemid
JOIN stays s ON s.subject_id = l.subject_id
WHERE (l.valuenum - r.minus) / r.divide BETWEEN r.low AND r.high
  AND {seconds("l.charttime")} BETWEEN s.entered - {LACTATE_AGE} AND s.leaves
"""

SHOCK_MEASUREMENTS = f"""
SELECT m.icustay_id, m.attribute, m.charted, m.value
FROM measurements m
JOIN shock_stays s ON s.icustay_id = m.icustay_id
WHERE m.attribute IN ({LACTATE}, {PRESSURE})
ORDER BY 1, 2, 3, 4
"""

CAREVUE_COLUMNS = ["icustay_id", "itemid", "charted", "rate", "stopped"]
CAREVUE_DRUGS = f"""
SELECT d.icustay_id, d.itemid, {seconds("d.charttime")} AS charted, d.rate,
       CASE WHEN d.stopped IN ('Stopped', 'D/C''d') THEN 1 ELSE 0 END AS stopped
FROM inputevents_cv d
JOIN shock_stays s ON s.icustay_id = d.icustay_id
WHERE d.itemid IN ({_ids(VASOPRESSORS_CAREVUE)}) AND d.charttime IS NOT NULL
ORDER BY 1, 2, 3, 4, 5
"""

METAVISION_COLUMNS = ["icustay_id", "start", "stop"]
METAVISION_DRUGS = f"""
SELECT d.icustay_id, {seconds("d.starttime")} AS start, {seconds("d.endtime")} AS stop
FROM inputevents_mv d
JOIN shock_stays s ON s.icustay_id = d.icustay_id
WHERE d.itemid IN ({_ids(VASOPRESSORS_METAVISION)})
  AND d.rate > 0
  AND d.starttime < d.endtime
  AND COALESCE(d.statusdescription, '') <> 'Rewritten'
ORDER BY 1, 2, 3
"""

SPANS_COLUMNS = ["icustay_id", "first", "last"]
SPANS = """
SELECT m.icustay_id, MIN(m.charted), MAX(m.charted)
FROM measurements m
JOIN stays s ON s.icustay_id = m.icustay_id
WHERE m.charted >= s.entered
GROUP BY m.icustay_id
ORDER BY m.icustay_id
"""


def row_counts(windows: str) -> str:
    """How many rows the series of each window has."""
    return f"""
SELECT w.icustay_id, COUNT(DISTINCT m.charted)
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
