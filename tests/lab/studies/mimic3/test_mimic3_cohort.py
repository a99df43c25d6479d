"""The septic-shock cohort: in a made-up database and in the open demo, and the study."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imputefree import GILSequenceClassifier
from imputefree.errors import InputError, ParameterError
from imputefree.lab.studies import _icu as icu
from imputefree.lab.studies import mimic3
from tests.lab.studies.mimic3.mini import CASES, CONTROLS, Mini, assert_same, built, names


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
        "10 one stay per patient, measured in its window": (16, 16),
        "11 all available: controls": (16, 16),
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


def test_units_ranges_and_means_of_a_series(mini, made):
    frame, times, _ = frame_of(mini, made, "case")
    assert list(frame) == mimic3.NAMES
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
    assert fixed.columns == tuple(mimic3.NAMES)
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


def test_long_series_end_after_eight_steps(tmp_path):
    mini = Mini()
    mini.case("long", hearts=[(14 + minute / 60, 80 + minute) for minute in range(20)])
    mini.control("other", range(9))
    study = mimic3.load(mini.write(tmp_path), form="fixed")
    assert study.X[study.y == 1][0, :, 2].tolist() == list(range(80, 88))


def test_no_case_is_one_sentence(tmp_path):
    mini = Mini()
    mini.control("only", range(9))
    with pytest.raises(InputError, match=r"^the cohort has 0 cases and 0 controls; patients left"):
        mimic3.load(mini.write(tmp_path))


def test_a_lowest_number_of_rows(mini, files):
    made = built(files, shortest=2)
    assert min(map(len, made.frames)) == 2
    assert "charted as the window begins" not in names(mini, made, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"form": "long"},
        {"controls_per_case": 0},
        {"controls_per_case": float("nan")},
        {"seed": -1},
        {"seed": 1.5},
        {"memory_limit": "lots"},
        {"memory_limit": "2"},
    ],
    ids=str,
)
def test_bad_parameters(files, options):
    ((name, value),) = options.items()
    with pytest.raises(ParameterError, match=rf"^{name} is {value!r}\. It must be "):
        mimic3.load(files, **options)


def test_sources_and_memory(files):
    with pytest.raises(InputError, match="the memory limit is too low"):
        mimic3.load(files, memory_limit="1KB")
    with pytest.raises(ParameterError, match="root and dsn are both set"):
        mimic3.load(files, dsn="dbname=mimic")


def test_the_notes_say_what_was_read_and_whether_controls_are_too_few(files):
    study = mimic3.load(files)
    assert study.notes[1:-1] == (f"Read from the folder {files.name}.",)
    assert "11 as many as cases: controls, 11." in study.notes[0]
    fewer = mimic3.load(files, controls_per_case=0.5)
    assert "11 0.5 per case: controls, 6." in fewer.notes[0]
    assert len(fewer.notes) == 3
    short = mimic3.load(files, controls_per_case=2)
    assert "11 all available: controls, 16." in short.notes[0]
    assert short.notes[2] == "Too few controls: 16 of 22, 2 per case."


DEMO = Path(os.environ.get("IMPUTEFREE_DATA", "")) / "mimic3_demo"
real = pytest.mark.skipif(
    not (os.environ.get("IMPUTEFREE_DATA") and DEMO.is_dir()),
    reason="IMPUTEFREE_DATA names no folder with mimic3_demo/",
)


ATTRIBUTES = mimic3.ITEMS[mimic3.ITEMS["attribute"] != "vasopressor"]


def test_the_attributes_are_those_of_the_simulated_cohort():
    assert list(icu.ATTRIBUTES) == mimic3.NAMES
    for item in ATTRIBUTES.itertuples():
        about = icu.ATTRIBUTES[item.attribute]
        assert item.unit == about.unit
        assert (item.table == "labevents") == bool(about.panel)
        assert item.low < about.normal < item.high


def test_no_item_is_read_twice():
    items = ATTRIBUTES[["table", "itemid", "attribute", "unit", "low", "high"]].drop_duplicates()
    assert not items.duplicated(["table", "itemid"]).any()
    assert (items.groupby("attribute")[["unit", "low", "high"]].nunique() == 1).all(axis=None)


@real
def test_every_item_id_has_the_label_we_think():
    charted = pd.read_csv(DEMO / "D_ITEMS.csv.gz").set_index("itemid")
    tested = pd.read_csv(DEMO / "D_LABITEMS.csv.gz").set_index("itemid")
    for item in mimic3.ITEMS.itertuples():
        if item.table == "labevents":
            assert tuple(tested.loc[item.itemid, ["label", "fluid"]]) == (item.label, "Blood")
        else:
            row = charted.loc[item.itemid]
            assert (row["label"], row["linksto"]) == (item.label, item.table)
            assert row["dbsource"] == ("carevue" if item.itemid < 220000 else "metavision")


@pytest.fixture(scope="module")
def demo():
    with mimic3.Folder(DEMO) as source:
        return mimic3.build(source)


@real
def test_counts_of_the_demo(demo):
    assert demo.counts.to_numpy().tolist() == [
        ["ICU stays", 100, 129],
        ["1 aged 16 or more", 100, 129],
        ["2 sepsis: ICD-9 995.91 or 995.92", 23, 35],
        ["3 and septic shock: ICD-9 785.52", 10, 16],
        ["4 with an onset by Sepsis-3", 8, 12],
        ["5 at least 6 h after ICU admission", 5, 6],
        ["6 first such admission of the patient", 5, 5],
        ["7 measured in the window: cases", 5, 5],
        ["8 aged 16 or more, never 785.52", 90, 101],
        ["9 at least 2 h of records", 87, 98],
        ["10 one stay per patient, measured in its window", 83, 83],
        ["11 as many as cases: controls", 5, 5],
    ]


@real
def test_values_are_plausible_and_times_in_the_window(demo):
    for name, low, high in ATTRIBUTES[["attribute", "low", "high"]].itertuples(index=False):
        values = np.concatenate([frame[name].dropna() for frame in demo.frames])
        assert ((values >= low) & (values <= high)).all()
    for frame, hours in zip(demo.frames, demo.times, strict=True):
        assert hours[0] == 0
        assert (np.diff(hours) > 0).all()
        assert hours[-1] < 2
        assert frame.notna().any(axis=1).all()
    cases = demo.patients[demo.patients["shock"] == 1]
    assert np.allclose(cases["onset"] - cases["start"], 6)
    assert (cases["start"] >= 0).all()


@real
def test_the_study_of_the_demo(demo):
    study = mimic3.study(demo)
    lengths = [len(frame) for frame in study.X]
    print(f"{study.missing_rate:.1%} missing, {min(lengths)} to {max(lengths)} rows")
    assert (len(study.X), study.y.sum()) == (10, 5)
    assert 0.6 < study.missing_rate < 0.75  # the paper has 71.63 %
    assert study.notes[1] == "Read from the folder mimic3_demo, the demo of 100 patients."
    assert mimic3.study(demo, "fixed").X.shape == (10, 8, 14)
    split = study.split()
    assert (len(split.test), study.y[split.test].sum()) == (2, 1)
