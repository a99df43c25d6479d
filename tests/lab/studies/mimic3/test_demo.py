"""The open demo of MIMIC-III, 100 patients: item ids, counts by step, plausible values."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imputefree.lab.studies import _icu as icu
from imputefree.lab.studies import mimic3
from imputefree.lab.studies.mimic3 import _mimic3_items as items

DEMO = Path(os.environ.get("IMPUTEFREE_DATA", "")) / "mimic3_demo"
real = pytest.mark.skipif(
    not (os.environ.get("IMPUTEFREE_DATA") and DEMO.is_dir()),
    reason="IMPUTEFREE_DATA names no folder with mimic3_demo/",
)


def test_the_attributes_are_those_of_the_simulated_cohort():
    assert list(icu.ATTRIBUTES) == items.NAMES
    for name, about in items.ATTRIBUTES.items():
        assert about.unit == icu.ATTRIBUTES[name].unit
        assert bool(about.lab) == bool(icu.ATTRIBUTES[name].panel)
        assert about.low < icu.ATTRIBUTES[name].normal < about.high


def test_no_item_is_read_twice():
    for table in ("chart", "lab"):
        own = {(rule.itemid, rule.attribute) for rule in items.rules(table)}
        assert len({itemid for itemid, _ in own}) == len(own)


@real
def test_every_item_id_has_the_label_we_think():
    charted = pd.read_csv(DEMO / "D_ITEMS.csv.gz").set_index("itemid")
    tested = pd.read_csv(DEMO / "D_LABITEMS.csv.gz").set_index("itemid")
    for about in items.ATTRIBUTES.values():
        for itemid, label in about.chart.items():
            row = charted.loc[itemid]
            assert (row["label"], row["linksto"]) == (label, "chartevents")
            assert row["dbsource"] == ("carevue" if itemid < 220000 else "metavision")
        for itemid, label in about.lab.items():
            assert (tested.loc[itemid, "label"], tested.loc[itemid, "fluid"]) == (label, "Blood")
    for drugs, table in (
        (items.VASOPRESSORS_CAREVUE, "inputevents_cv"),
        (items.VASOPRESSORS_METAVISION, "inputevents_mv"),
    ):
        for itemid, label in drugs.items():
            assert tuple(charted.loc[itemid, ["label", "linksto"]]) == (label, table)


@pytest.fixture(scope="module")
def cohort():
    with mimic3.Folder(DEMO) as source:
        return mimic3.build(source)


@real
def test_counts_by_step(cohort):
    print(cohort.table())
    assert cohort.counts.to_numpy().tolist() == [
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
        ["10 one stay a patient, measured in its window", 83, 83],
        ["11 as many as cases: controls", 5, 5],
    ]


@real
def test_values_are_plausible_and_times_in_the_window(cohort):
    for name, about in items.ATTRIBUTES.items():
        values = np.concatenate([frame[name].dropna() for frame in cohort.frames])
        assert ((values >= about.low) & (values <= about.high)).all()
    for frame, hours in zip(cohort.frames, cohort.times, strict=True):
        assert hours[0] == 0
        assert (np.diff(hours) > 0).all()
        assert hours[-1] < 2
        assert frame.notna().any(axis=1).all()
    cases = cohort.patients[cohort.patients["shock"] == 1]
    assert np.allclose(cases["onset"] - cases["start"], 6)
    assert (cases["start"] >= 0).all()


@real
def test_the_study_of_the_demo(cohort):
    study = mimic3.study(cohort)
    lengths = [len(frame) for frame in study.X]
    print(f"{study.missing_rate:.1%} missing, {min(lengths)} to {max(lengths)} rows")
    assert (len(study.X), study.y.sum()) == (10, 5)
    assert 0.6 < study.missing_rate < 0.75  # the paper has 71.63 %
    assert study.notes[1] == "Read from the folder mimic3_demo, the demo of 100 patients."
    assert mimic3.study(cohort, "fixed").X.shape == (10, 8, 14)
    split = study.split()
    assert (len(split.test), study.y[split.test].sum()) == (2, 1)
