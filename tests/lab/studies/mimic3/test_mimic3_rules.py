"""Every rule has a planted patient, who changes sides if the rule is dropped."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from imputefree.lab.studies import mimic3
from tests.lab.studies.mimic3.mini import CASES, CONTROLS, built, names

SQL = [
    ("stays", ">= p.dob + INTERVAL '16 years'", ">= p.dob", "fifteen", "child"),
    ("stays", "INTERVAL '16 years'", "INTERVAL '17 years'", "sixteen", ""),
    ("stays", "IN ('99591', '99592')", "IN ('99592')", "sepsis 995.91", ""),
    ("stays", "IN ('99591', '99592')", "IN ('99591', '99592', '0389')", "no sepsis", ""),
    ("stays", "= '78552'", "IN ('78552', '4019')", "no shock", "no shock"),
    ("stays", "TRIM(icd9_code) IN", "icd9_code IN", "codes with blanks", ""),
    ("stays", "TRIM(icd9_code) =", "icd9_code =", "codes with blanks", "codes with blanks"),
    (
        "stays",  # as if only what happened to an adult were shock
        "COALESCE(d.shock, 0)",
        "CASE WHEN s.intime >= p.dob + INTERVAL '16 years' THEN COALESCE(d.shock, 0) ELSE 0 END",
        "",
        "shock as a child",
    ),
    ("measurements", "COALESCE(c.error, 0) = 0", "0 = 0", "MAP an error", ""),
    ("measurements", "s.entered - {lactate_age}", "s.entered", "lactate before the ICU", ""),
    ("measurements", "BETWEEN s.entered AND s.leaves", "> 0", "", "records after the stay"),
    (
        "measurements",
        "BETWEEN s.entered - {lactate_age} AND s.leaves",
        ">= s.entered - {lactate_age}",
        "lactate after the stay",
        "",
    ),
    ("spans", "WHERE m.charted >= s.entered", "", "", "labs before the ICU"),
    ("metavision_drugs", "<> 'Rewritten'", "<> ''", "drug rewritten", ""),
    ("metavision_drugs", "AND d.rate > 0", "AND d.rate >= 0", "drug at rate 0", ""),
    (
        "metavision_drugs",
        "AND d.rate > 0",
        "AND COALESCE(d.rate, 1) > 0",
        "drug without a rate",
        "",
    ),
    ("metavision_drugs", "({inputevents_mv})", "({inputevents_mv}, 221653)", "drug dobutamine", ""),
    ("carevue_drugs", "'D/C''d'", "''", "CareVue over", ""),
    ("carevue_drugs", "'Stopped', ", "", "CareVue stopped", ""),
]


@pytest.mark.parametrize(("query", "rule", "without", "case", "control"), SQL)
def test_without_a_rule_of_the_sql_the_planted_patient_changes(
    mini, files, monkeypatch, query, rule, without, case, control
):
    assert rule in mimic3.SQL[query]
    monkeypatch.setitem(mimic3.SQL, query, mimic3.SQL[query].replace(rule, without))
    changed(mini, built(files, controls_per_case=100), case, control)


HOUR = mimic3.HOUR
NUMBERS = [
    ("LACTATE_ABOVE", 1.99, "lactate of 2"),
    ("LACTATE_AGE", 13 * HOUR, "lactate too old"),
    ("PRESSURE_BELOW", 65.1, "MAP of 65"),
    ("PRESSURE_AGE", 6.2 * HOUR, "MAP too old"),
    ("CAREVUE_RUNS", 2.2 * HOUR, "CareVue long ago"),
]


@pytest.mark.parametrize(("name", "value", "case"), NUMBERS)
def test_with_another_threshold_the_planted_patient_changes(
    mini, files, monkeypatch, name, value, case
):
    monkeypatch.setattr(mimic3, name, value)
    changed(mini, built(files, controls_per_case=100), case, "")


def test_no_onset_before_the_icu():
    """The pressures of a stay are charted in it, so no planted patient could show this."""
    drug, lactates = np.array([[-3600, 7200]]), np.array([[-7200, 3.0]])
    pressures = np.array([[-5400, 60.0], [1800, 60.0]])
    assert mimic3.first_onset(drug, lactates, pressures, entered=0) == 1800
    assert mimic3.first_onset(drug, lactates, pressures, entered=-9000) == -3600


def test_a_drug_that_never_ran_is_no_interval(mini, files):
    """Such an interval holds no time at all, so it is looked for where drugs are read."""
    with mimic3.Folder(files) as source:
        mimic3.build(source)
        drugs = source.rows(mimic3._query("metavision_drugs"))
    subjects = {(icustay - 3000000) // 10 for icustay in drugs["icustay_id"]}
    assert mini.subjects["case"] in subjects
    assert not {mini.subjects["drug of no time"], mini.subjects["drug backwards"]} & subjects


def test_if_every_stay_counted_a_later_worsening_would_bring_an_admission_back(
    mini, files, monkeypatch
):
    once = pd.DataFrame.drop_duplicates
    monkeypatch.setattr(
        pd.DataFrame,
        "drop_duplicates",
        lambda rows, key: rows if key == "hadm_id" else once(rows, key),
    )
    assert names(mini, built(files), 1) ^ CASES == {"again in one admission"}


def latest_does_not_count(charted, value, times, latest=mimic3._latest):
    """As if any lactate of the last 12 hours counted."""
    age, _ = latest(charted, value, times)
    return age, np.full(len(times), value.max())


def first_of_a_moment(rows):
    return rows.groupby(["icustay_id", "attribute", "charted"], as_index=False)["value"].first()


def no_next_row(rows, intervals=mimic3.carevue_intervals):
    """As if a CareVue row ran its two hours whatever came next."""
    return pd.concat([intervals(rows.iloc[[at]]) for at in range(len(rows))])


PARTS = [
    ("ITEMS", mimic3.ITEMS.assign(low=-1e9, high=1e9),
     {"lactate impossible", "MAP impossible", "impossible in the window"}),
    ("_latest", latest_does_not_count, {"lactate fell"}),
    ("_means", first_of_a_moment, {"MAP 66 of 60 and 72"}),
    ("carevue_intervals", no_next_row, {"CareVue over", "CareVue rate 0"}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "other", "cases"), PARTS)
def test_without_a_part_the_planted_patients_change(mini, files, monkeypatch, name, other, cases):
    monkeypatch.setattr(mimic3, name, other)
    assert names(mini, built(files), 1) ^ CASES == cases


@pytest.mark.slow
def test_a_shorter_and_a_later_window_change_who_is_in(mini, files, monkeypatch):
    monkeypatch.setattr(mimic3, "AHEAD", 4 * HOUR - 1)
    changed = names(mini, built(files), 1) ^ CASES
    assert {"charted as the window ends", "charted as the window begins"} <= changed
    monkeypatch.setattr(mimic3, "AHEAD", 3.9 * HOUR)
    assert "onset at 5.9 h" in names(mini, built(files), 1) - CASES
    monkeypatch.setattr(mimic3, "AHEAD", 4 * HOUR)
    monkeypatch.setattr(mimic3, "WINDOW", 1.9 * HOUR)
    assert "records of 1.9 h" in names(mini, built(files, controls_per_case=100), 0)


def changed(mini, made, case, control):
    """Exactly these changed sides; the windows of controls move, so silence may too."""
    assert names(mini, made, 1) ^ CASES == ({case} if case else set())
    assert (names(mini, made, 0) ^ CONTROLS) - {"long silence"} == ({control} if control else set())
