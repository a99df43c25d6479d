"""Who is in the cohort of the made database, and what the series and the study look like."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree import GILSequenceClassifier, InputError
from imputefree.errors import ParameterError
from imputefree.lab.studies import mimic3
from imputefree.lab.studies.mimic3 import _mimic3_items as items
from tests.lab.studies.mimic3.expected import CASES, CONTROLS, assert_same, built, names
from tests.lab.studies.mimic3.mini import Mini


@pytest.fixture(scope="module")
def made(files):
    return built(files, controls_per_case=100)


def frame_of(mini, made, name):
    at = int(np.flatnonzero(made.patients["subject_id"] == mini.subjects[name])[0])
    return made.frames[at], made.times[at], made.patients.iloc[at]


def test_the_planted_cases_and_controls_are_in_and_nobody_else(mini, made):
    assert names(mini, made, 1) == CASES
    assert names(mini, made, 0) == CONTROLS


def test_counts_by_step(made):
    counts = {step: (patients, admissions) for step, patients, admissions in made.counts.to_numpy()}
    assert counts == {
        "ICU stays": (65, 71),
        "1 aged 16 or more": (63, 68),
        "2 sepsis: ICD-9 995.91 or 995.92": (41, 43),
        "3 and septic shock: ICD-9 785.52": (39, 41),
        "4 with an onset by Sepsis-3": (16, 18),
        "5 at least 6 h after ICU admission": (14, 15),
        "6 first such admission of the patient": (14, 14),
        "7 measured in the window: cases": (11, 11),
        "8 aged 16 or more, never 785.52": (20, 21),
        "9 at least 2 h of records": (17, 18),
        "10 one stay a patient, measured in its window": (16, 16),
        "11 all there are: controls": (16, 16),
    }


def test_a_patient_is_one_series_the_first_that_qualifies(mini, made):
    assert made.patients["subject_id"].is_unique
    _, _, first = frame_of(mini, made, "two shocks")
    assert (first["icustay_id"] % 10, first["onset"]) == (0, 20)
    _, _, later = frame_of(mini, made, "early, then again")
    assert (later["icustay_id"] % 10, later["onset"], later["start"]) == (1, 20, 14)


def test_the_order_of_patients_does_not_tell_the_label(files):
    patients = built(files).patients
    assert patients["subject_id"].is_monotonic_increasing
    shock = patients["shock"].to_numpy()
    assert (shock[0], shock.min(), shock[-1]) == (1, 0, 1)  # not cases first, nor controls


def test_onsets(mini, made):
    hours = {name: frame_of(mini, made, name)[2]["onset"] for name in CASES}
    assert hours.pop("onset at 6 h") == 6
    assert hours.pop("lactate before the ICU") == 7
    assert set(hours.values()) == {20}


def test_units_ranges_and_means_of_a_series(mini, made):
    frame, times, _ = frame_of(mini, made, "case")
    assert list(frame) == items.NAMES
    assert times.tolist() == [0, 0.5, 1]
    first, second, third = (frame.loc[row].dropna().to_dict() for row in range(3))
    assert first == {
        "temperature": pytest.approx(37),  # 98.6 °F
        "respiratory_rate": 22,  # of 20 and 24
        "heart_rate": 90,
        "systolic_blood_pressure": 115,  # arterial line and cuff
        "fio2": 0.5,  # 50 %; a saturation of 0 cannot be
    }
    assert second == {
        "temperature": 38,
        "spo2": 97,
        "fio2": 0.4,  # a fraction; 10 is neither fraction nor percentage
        "white_blood_cells": 13,  # of two items, 13.5 and 12.5
        "lactate": 1.4,
        "platelets": 150,
        "creatinine": 1.1,
        "bilirubin": 0.7,
        "bands": 4,
        "blood_urea_nitrogen": 30,
    }
    assert third == {"heart_rate": 95}


def test_controls_are_as_many_as_cases_and_the_seed_decides(files):
    one, same, other = built(files), built(files), built(files, seed=1)
    assert one.patients["shock"].value_counts().to_dict() == {0: 11, 1: 11}
    assert_same(one, same)
    assert not one.patients.equals(other.patients)


def test_the_windows_of_controls_are_inside_their_records(mini, files):
    starts = []
    for seed in range(4):
        made = built(files, seed=seed, controls_per_case=100)
        for frame in made.frames:
            assert len(frame) >= 1
        starts.append(frame_of(mini, made, "control 0")[2]["start"])
    assert len(set(starts)) == 4
    assert 0 <= min(starts) <= max(starts) <= 59 / 4 - 2
    exactly = frame_of(mini, made, "records of 2 h")
    assert exactly[2]["start"] == 3
    assert exactly[1].tolist() == [0, 1]  # the record at the end is not in the window


def test_the_order_of_rows_and_the_spelling_of_files_do_not_matter(mini, files, tmp_path):
    other = Mini()
    other.rows = {table: rows[::-1] for table, rows in mini.rows.items()}
    upper = other.write(tmp_path / "upper", upper=True, gz=True)
    assert_same(built(files), built(upper))


def test_shortest(mini, files):
    made = built(files, shortest=2)
    assert min(map(len, made.frames)) == 2
    assert "charted as the window begins" not in names(mini, made, 1)


def test_the_study_of_variable_length(files):
    study = mimic3.load(files)
    assert (study.name, study.kind, study.task, study.simulated) == (
        "mimic3", "series", "classification", False)  # fmt: skip
    assert len(study.X) == len(study.times) == len(study.groups) == 22
    train, validation, test = study.split(seed=0)
    assert (len(train), len(validation), len(test)) == (16, 2, 4)
    assert study.y[test].sum() == 2
    assert not set(study.groups[test]) & set(study.groups[train])
    assert "7 measured in the window: cases, 11;" in study.notes[0]


def test_the_study_of_fixed_length(mini, files):
    varied, fixed = mimic3.load(files), mimic3.load(files, form="fixed")
    assert fixed.X.shape == (22, 8, 14)
    assert fixed.columns == tuple(items.NAMES)
    assert np.array_equal(varied.groups, fixed.groups)
    assert {len(one) for one in varied.X} >= {1, 3, 8}
    for frame, X in zip(varied.X, fixed.X, strict=True):
        rows = frame.to_numpy()[:8]
        assert np.array_equal(X[: len(rows)], rows, equal_nan=True)
        for at in range(len(rows), 8):
            assert np.array_equal(X[at], rows[-1], equal_nan=True)


@pytest.mark.parametrize("form", ["variable", "fixed"])
def test_an_estimator_takes_the_study_as_it_is(files, form):
    study = mimic3.load(files, form=form)
    model = GILSequenceClassifier(max_iter=1, n_members=1, random_state=0)
    model.fit(study.inputs, study.y)
    assert model.predict_proba(study.inputs).shape == (22, 2)


def test_long_series_end_after_8_rows(tmp_path):
    mini = Mini()
    mini.case("long", hearts=[(14 + minute / 60, 80 + minute) for minute in range(20)])
    mini.control("other", range(9))
    study = mimic3.load(mini.write(tmp_path), form="fixed")
    assert study.X[study.y == 1][0, :, 2].tolist() == list(range(80, 88))
    with pytest.raises(InputError, match="balanced test part"):
        study.splits.__class__(test=1.0, balanced_test=True).of(study.y)


def test_no_case_is_one_sentence(tmp_path):
    mini = Mini()
    mini.control("only", range(9))
    with pytest.raises(InputError, match=r"^the cohort has 0 cases and 0 controls; patients left"):
        mimic3.load(mini.write(tmp_path))


def test_parameters(files):
    with pytest.raises(ParameterError, match=r'form is \'long\'. It must be "variable" or "fixed"'):
        mimic3.load(files, form="long")
    with pytest.raises(ParameterError, match="root and dsn are both given"):
        mimic3.load(files, dsn="dbname=mimic")


@pytest.mark.parametrize("value", [-1, 0, float("inf"), float("nan"), "x", None, True])
def test_controls_per_case_is_a_number_above_0(value):
    with pytest.raises(ParameterError) as caught:
        mimic3.load("nowhere", controls_per_case=value)
    assert str(caught.value) == (
        f"controls_per_case is {value!r}. It must be a number in (0, 1e+06]."
        " Pass controls_per_case= such a value."
    )


@pytest.mark.parametrize("value", [-1, 1.5, "x", None])
def test_the_seed_is_a_whole_number(value):
    with pytest.raises(ParameterError) as caught:
        mimic3.load("nowhere", seed=value)
    assert str(caught.value) == (
        f"seed is {value!r}. It must be a whole number, at least 0. Pass seed= such a value."
    )


def test_shortest_is_a_whole_number(files):
    with pytest.raises(ParameterError, match=r"shortest is 0\. It must be a whole number"):
        built(files, shortest=0)


@pytest.mark.parametrize("value", ["lots", "2", "", None])
def test_the_memory_limit_has_a_unit(files, value):
    with pytest.raises(ParameterError) as caught:
        mimic3.load(files, memory_limit=value)
    assert str(caught.value) == (
        f"memory_limit is {value!r}. It must be a number and a unit: KB, MB, GB or TB."
        ' Pass memory_limit="2GB".'
    )
    with pytest.raises(InputError, match="the memory limit does not suffice"):
        mimic3.load(files, memory_limit="1KB")


def test_the_notes_say_what_was_read_and_whether_controls_ran_short(files):
    study = mimic3.load(files)
    assert study.notes[1:-1] == (f"Read from the folder {files.name}.",)
    assert "11 as many as cases: controls, 11." in study.notes[0]
    fewer = mimic3.load(files, controls_per_case=0.5)
    assert "11 0.5 for each case: controls, 6." in fewer.notes[0]
    assert len(fewer.notes) == 3
    short = mimic3.load(files, controls_per_case=2)
    assert "11 all there are: controls, 16." in short.notes[0]
    assert short.notes[2] == "Controls run short: 16 of 22 asked for, 2 for each case."


def test_the_notes_name_the_demo(tmp_path, monkeypatch):
    mini = Mini()
    mini.case("one")
    mini.control("other", range(9))
    for number in range(98):
        mini.patient(f"never in an ICU {number}")
    monkeypatch.chdir(mini.write(tmp_path / "own"))
    assert mimic3.load(".").notes[1] == "Read from the folder own, the demo of 100 patients."
