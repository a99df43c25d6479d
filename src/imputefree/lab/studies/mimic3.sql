-- What is read from MIMIC-III, in what DuckDB and PostgreSQL have in common. Times are whole
-- seconds since 1970. The long table of a join comes first, because DuckDB joins in the order
-- written (see `Folder`). Names in braces are filled in by mimic3.py.

-- name: patients
SELECT COUNT(*) AS patients FROM patients

-- name: stays
SELECT s.subject_id, s.hadm_id, s.icustay_id,
       CAST(EXTRACT(EPOCH FROM s.intime) AS BIGINT) AS entered,
       CAST(EXTRACT(EPOCH FROM s.outtime) AS BIGINT) AS leaves,
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

-- Items (mimic3_items.csv). CareVue (2001 to 2008, ids below 220,000) and MetaVision (2008 to 2012)
-- chart the same vital sign under different ids, which follow the public mimic-code project. A value
-- counts if (value - minus) / divide lies between low and high. The ranges are ours, wide on purpose:
-- they remove what is impossible, not what is rare. FiO2 begins below 0.21 because CareVue stores
-- 0.2099999; its fractions and percentages occur under the same id, and no number is plausible as
-- both. Vital signs come from CHARTEVENTS, labs from LABEVENTS only: the labs in CHARTEVENTS are
-- copies, charted by hand at a rounded time. Left out on purpose: 677 and 679, temperatures that
-- CareVue converted; 614, 619 and similar, breaths set at the ventilator or only the spontaneous ones;
-- 834, saturation in a blood sample; 42273 and 42802, vasopressin typed in by hand for two patients,
-- with the rate in the wrong column; dobutamine and milrinone, which do not raise pressure.
-- Values marked as errors do not count. Charted values belong to the ICU stay that their row names.
-- A lab row names the patient and not always the admission, so labs belong to the stay in which the
-- blood was drawn, or which began soon after.
-- name: measurements
SELECT c.icustay_id, r.attribute,
       CAST(EXTRACT(EPOCH FROM c.charttime) AS BIGINT) AS charted,
       (c.valuenum - r.minus) / r.divide AS value
FROM chartevents c
JOIN chart_rules r ON r.itemid = c.itemid
JOIN stays s ON s.icustay_id = c.icustay_id
WHERE COALESCE(c.error, 0) = 0
  AND (c.valuenum - r.minus) / r.divide BETWEEN r.low AND r.high
  AND CAST(EXTRACT(EPOCH FROM c.charttime) AS BIGINT) BETWEEN s.entered AND s.leaves
UNION ALL
SELECT s.icustay_id, r.attribute,
       CAST(EXTRACT(EPOCH FROM l.charttime) AS BIGINT) AS charted,
       (l.valuenum - r.minus) / r.divide AS value
FROM labevents l
JOIN lab_rules r ON r.itemid = l.itemid
JOIN stays s ON s.subject_id = l.subject_id
WHERE (l.valuenum - r.minus) / r.divide BETWEEN r.low AND r.high
  AND CAST(EXTRACT(EPOCH FROM l.charttime) AS BIGINT)
      BETWEEN s.entered - {lactate_age} AND s.leaves

-- name: shock_measurements
SELECT m.icustay_id, m.attribute, m.charted, m.value
FROM measurements m
JOIN shock_stays s ON s.icustay_id = m.icustay_id
WHERE m.attribute IN ({lactate}, {pressure})
ORDER BY 1, 2, 3, 4

-- CareVue charts moments. A row without a rate and without a word (a volume) says nothing.
-- name: carevue_drugs
SELECT d.icustay_id, d.itemid, CAST(EXTRACT(EPOCH FROM d.charttime) AS BIGINT) AS charted, d.rate,
       CASE WHEN d.stopped IN ('Stopped', 'D/C''d') THEN 1 ELSE 0 END AS stopped
FROM inputevents_cv d
JOIN shock_stays s ON s.icustay_id = d.icustay_id
WHERE d.itemid IN ({inputevents_cv}) AND d.charttime IS NOT NULL
ORDER BY 1, 2, 3, 4, 5

-- MetaVision charts intervals: a row with a rate above 0 runs from its start to its end, unless its
-- order was rewritten.
-- name: metavision_drugs
SELECT d.icustay_id,
       CAST(EXTRACT(EPOCH FROM d.starttime) AS BIGINT) AS start,
       CAST(EXTRACT(EPOCH FROM d.endtime) AS BIGINT) AS stop
FROM inputevents_mv d
JOIN shock_stays s ON s.icustay_id = d.icustay_id
WHERE d.itemid IN ({inputevents_mv})
  AND d.rate > 0
  AND d.starttime < d.endtime
  AND COALESCE(d.statusdescription, '') <> 'Rewritten'
ORDER BY 1, 2, 3

-- The first and the last record of an attribute in each stay.
-- name: spans
SELECT m.icustay_id, MIN(m.charted) AS first, MAX(m.charted) AS last
FROM measurements m
JOIN stays s ON s.icustay_id = m.icustay_id
WHERE m.charted >= s.entered
GROUP BY m.icustay_id
ORDER BY m.icustay_id

-- The number of rows in each window.
-- name: row_counts
SELECT w.icustay_id, COUNT(DISTINCT m.charted) AS rows
FROM measurements m
JOIN {windows} w ON w.icustay_id = m.icustay_id
WHERE m.charted >= w.start AND m.charted < w.stop
GROUP BY w.icustay_id
ORDER BY w.icustay_id

-- name: window_rows
SELECT m.icustay_id, m.attribute, m.charted, m.value
FROM measurements m
JOIN {windows} w ON w.icustay_id = m.icustay_id
WHERE m.charted >= w.start AND m.charted < w.stop
ORDER BY 1, 2, 3, 4
