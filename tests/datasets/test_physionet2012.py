"""PhysioNet 2012: a made archive with every quirk of the files, and the real ones where present."""

from __future__ import annotations

import io
import os
import tarfile

import numpy as np
import pytest

from imputefree import InputError
from imputefree.datasets import physionet2012 as study

FIRST = """Time,Parameter,Value
00:00,RecordID,11
00:00,Age,54
00:00,Gender,-1
00:00,Height,-1
00:00,ICUType,4
00:00,Weight,80.5
00:07,HR,70
00:59,HR,90
01:00,HR,100
05:30,Temp,-17.8
06:00,Weight,81
48:00,HR,60
"""
SECOND = """Time,Parameter,Value
00:00,RecordID,12
00:00,Age,70
00:00,Gender,1
00:00,Height,170
00:00,ICUType,1
00:00,Weight,-1
03:10,,5
"""


@pytest.fixture
def folder(tmp_path):
    with tarfile.open(tmp_path / "set-a.tar.gz", "w:gz") as tar:
        for name, text in (("set-a/11.txt", FIRST), ("set-a/12.txt", SECOND)):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    header = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n"
    (tmp_path / "Outcomes-a.txt").write_text(header + "12,1,1,5,-1,1\n11,6,1,5,-1,0\n")
    return tmp_path


def test_hours_statics_and_outcomes(folder):
    stays = study.load(folder, "a")
    assert stays.died.to_dict() == {12: 1, 11: 0}
    second, first = stays.values  # in the order of the outcomes
    rate = study.VARIABLES.index("HR")
    assert first[0, rate] == 80  # the mean of an hour
    assert first[1, rate] == 100
    assert first[47, rate] == 60  # 48:00 belongs to the last hour
    assert np.isfinite(first[:, rate]).sum() == 3
    assert np.isnan(first[:, study.VARIABLES.index("Temp")]).all()  # below zero: no measurement
    weight = first[:, study.VARIABLES.index("Weight")]
    assert weight[6] == 81
    assert np.isfinite(weight).sum() == 1  # at admission it is static
    assert np.isnan(second).all()  # a line without a name says nothing
    assert stays.static.loc[11, "Weight"] == 80.5
    assert stays.static.loc[[11, 12], "Gender"].isna().tolist() == [True, False]
    assert stays.static["ICUType"].tolist() == [1, 4]


def test_a_missing_file_is_named(folder, monkeypatch):
    with pytest.raises(InputError, match=r"Outcomes-b.txt does not exist. PhysioNet 2012 is read"):
        study.load(folder)
    monkeypatch.delenv("IMPUTEFREE_DATA", raising=False)
    with pytest.raises(InputError, match="nobody said where PhysioNet 2012 is"):
        study.load()


def test_the_real_files():
    if "IMPUTEFREE_DATA" not in os.environ:
        pytest.skip("needs the real files: set IMPUTEFREE_DATA to the folder with physionet2012/")
    stays = study.load(sets="a")
    assert stays.values.shape == (4000, 48, 37)
    assert stays.died.sum() == 554
    assert 0.78 < np.isnan(stays.values).mean() < 0.82
    assert stays.static["Age"].notna().all()
