"""Who of the planted patients is a case and who can be a control, and how to ask."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imputefree.lab.studies import mimic3

CASES = {
    "case",
    "carevue",
    "sepsis 995.91",
    "sixteen",
    "onset at 6 h",
    "lactate before the ICU",
    "charted as the window begins",
    "volume between rates",
    "two shocks",
    "early, then again",
    "codes with blanks",
}
CONTROLS = {f"control {number}" for number in range(12)} | {
    "records of 2 h",
    "no end of stay",
    "two stays",
    "no shock",
}


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
