"""PhysioNet: made files with every quirk of the real ones, damaged ones, and the real ones."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest

from imputefree import GILSequenceClassifier
from imputefree.errors import ParameterError
from imputefree.lab.studies import _physionet as study
from imputefree.lab.studies import load
from tests.lab.studies.real import real
from tests.refusals import check_error

FIRST = """Time,Parameter,Value
00:00,RecordID,11
00:00,Age,54
00:00,Gender,-1
00:00,Height,-1
00:00,ICUType,4
00:00,Weight,80.5
00:07,HR,70
00:59,HR,90
00:59,HR,94
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
HEADER = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n"
HR = study.VARIABLES.index("HR")


def pack(folder, texts, name="set-a", kind="gz"):
    with tarfile.open(folder / f"{name}.tar.{kind}", f"w:{kind}") as tar:
        for file, text in texts.items():
            content = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(f"{name}/{file}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def read(folder=None, sets="abc"):
    return load("physionet2012", folder, sets=sets)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    pack(tmp_path, {"11.txt": FIRST, "12.txt": SECOND})
    (tmp_path / "Outcomes-a.txt").write_text(HEADER + "12,1,1,5,-1,1\n11,6,1,5,-1,0\n")
    return tmp_path


def test_hours_statics_and_outcomes(folder):
    stays = read(folder, "a")
    assert stays.X.shape == (2, 48, 37)
    assert stays.columns == tuple(study.VARIABLES)
    assert "1 stays hold no measurement at all." in stays.notes[0]
    assert stays.y.tolist() == [1, 0]
    second, first = stays.X  # in the order of the outcomes
    assert first[0, HR] == pytest.approx((70 + 90 + 94) / 3)  # the mean of an hour
    assert first[1, HR] == 100
    assert first[47, HR] == 60  # 48:00 belongs to the last hour
    assert np.isfinite(first[:, HR]).sum() == 3
    assert np.isnan(first[:, study.VARIABLES.index("Temp")]).all()  # below zero: no measurement
    weight = first[:, study.VARIABLES.index("Weight")]
    assert weight[6] == 81
    assert np.isfinite(weight).sum() == 1  # at admission it is static
    assert np.isnan(second).all()  # a line without a name says nothing
    assert stays.static.loc[1, "Weight"] == 80.5
    assert stays.static["Gender"].isna().tolist() == [False, True]
    assert stays.static["ICUType"].tolist() == [1, 4]


def test_the_papers_attributes(folder):
    everything = read(folder, "a")
    paper = load("physionet2012", folder, sets="a", attributes="paper")
    assert paper.X.shape == (2, 48, 35)
    assert paper.static is None
    assert {"MechVent", "Weight"} == {*everything.columns} - {*paper.columns}
    hr = paper.columns.index("HR")
    np.testing.assert_array_equal(paper.X[..., hr], everything.X[..., HR])
    raw = load("physionet2012", folder, sets="a", form="raw", attributes="paper")
    assert list(raw.X[0].columns) == list(paper.columns)
    check_error(
        lambda: load("physionet2012", folder, attributes="few"),
        "attributes is 'few'",
        kind=ParameterError,
    )


def test_raw_series(folder):
    raw = load("physionet2012", folder, form="raw", sets="a")
    second, first = raw.X
    np.testing.assert_allclose(raw.times[1], [7 / 60, 59 / 60, 1, 6, 48])
    assert first["HR"].tolist()[:3] == [70, 92, 100]  # two at one minute: their mean
    assert first["Weight"].tolist()[3] == 81
    assert second.shape == (1, 37)  # an empty stay is one empty step
    assert second.isna().all(axis=None)
    assert raw.times[0].tolist() == [0]


def test_a_folder_beside_or_instead_of_the_archive(folder):
    from_archive = load("physionet2012", folder, sets="a")
    (folder / "set-a.tar.gz").unlink()
    (folder / "set-a").mkdir()
    (folder / "set-a" / "11.txt").write_text(FIRST)
    (folder / "set-a" / "12.txt").write_text(SECOND)
    np.testing.assert_array_equal(load("physionet2012", folder, sets="a").X, from_archive.X)


def test_a_half_copied_set_is_refused(folder):
    pack(folder, {"11.txt": FIRST})
    check_error(lambda: read(folder, "a"), "1 stay in", "no file (the first: 12)")
    (folder / "Outcomes-a.txt").write_text(HEADER + "12,1,1,5,-1,1\n")
    pack(folder, {"11.txt": FIRST, "12.txt": SECOND})
    check_error(lambda: read(folder, "a"), "have a file and no outcome", "(the first: 11)")


def test_both_forms_can_be_learned_from(folder):
    texts, lines = {}, []
    for stay in range(100, 130):
        text = FIRST.replace("RecordID,11", f"RecordID,{stay}").replace("HR,70", f"HR,{stay}")
        texts[f"{stay}.txt"] = text
        lines.append(f"{stay},1,1,1,1,{stay % 2}\n")
    texts["130.txt"] = SECOND.replace("RecordID,12", "RecordID,130")
    pack(folder, texts)
    (folder / "Outcomes-a.txt").write_text(HEADER + "".join(lines) + "130,1,1,1,1,1\n")
    for form in study.FORMS:
        made = load("physionet2012", folder, form=form, sets="a")
        model = GILSequenceClassifier(max_iter=1, n_members=1, random_state=0)
        model.fit(made.inputs, made.y)
        assert model.predict_proba(made.inputs).shape == (31, 2)


def test_files_that_are_not_there(folder):
    check_error(
        lambda: read(folder),
        f"{folder} has no Outcomes-b.txt, Outcomes-c.txt, set-b.tar.gz, set-c.tar.gz",
        "PhysioNet 2012 needs Outcomes-a.txt",
        "set-a.tar.gz (or set-a)",
        "Run `imputefree data get physionet2012`",
    )
    (folder / "Outcomes-a.txt").unlink()
    check_error(lambda: read(folder, "a"), f"{folder} has no Outcomes-a.txt")
    check_error(read, "PhysioNet 2012 is not in", "the user's cache")


def test_bad_options():
    for sets in ("", "abd", "aa", ["a", ""]):
        check_error(lambda s=sets: read(None, s), "sets is", "'abc'", kind=ParameterError)
    check_error(lambda: load("physionet2012", form="x"), "form is 'x'", kind=ParameterError)


@pytest.mark.parametrize("size", [0, 50, 200])
def test_a_truncated_archive(folder, size):
    path = folder / "set-a.tar.gz"
    path.write_bytes(path.read_bytes()[:size])
    check_error(lambda: read(folder, "a"), f"{path} is truncated or corrupted (", "Remove the file")


@pytest.mark.parametrize(
    "text",
    [
        b"\x00\xff\xfe garbage \x80" * 30,
        FIRST.replace("HR,90", "HR,ninety"),
        FIRST.replace("00:59", "soon"),
        FIRST.replace("48:00", "49:10"),
        FIRST.replace("00:00,RecordID,11\n", ""),
        "",
    ],
)
def test_garbage_in_a_stay_is_named(folder, text):
    pack(folder, {"12.txt": SECOND, "11.txt": text})
    check_error(lambda: read(folder, "a"), "set-a/11.txt in", "cannot be read", "hh:mm")


def test_an_archive_without_stays(folder):
    pack(folder, {"readme.md": "nothing"})
    check_error(lambda: read(folder, "a"), "holds no stay")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ("RecordID,Survival\n1,1\n", "has no column 'In-hospital_death'"),
        (HEADER + "11,6,1,5,-1,0\n12,6,1,5,-1,2\n", "has no outcome in line 3"),
        (HEADER + "x,6,1,5,-1,0\n", "has no outcome in line 2"),
        (HEADER + "11,6,1,5,-1,0\n11,6,1,5,-1,0\n", "names a stay twice"),
    ],
)
def test_bad_outcomes(folder, text, part):
    (folder / "Outcomes-a.txt").write_text(text)
    check_error(lambda: read(folder, "a"), "Outcomes-a.txt", part)


@pytest.mark.slow
def test_the_real_files():
    made = load("physionet2012", real("physionet2012"))
    assert made.X.shape == (12_000, 48, 37)
    assert [int(made.y[start : start + 4000].sum()) for start in (0, 4000, 8000)] == [554, 568, 585]
    assert made.y.mean() == pytest.approx(0.142, abs=0.0005)
    assert made.missing_rate == pytest.approx(0.7978, abs=0.0005)
    assert np.isnan(made.X).all(axis=(1, 2)).sum() == 12
    assert made.notes[0] == "Sets a, b, c; 12 stays hold no measurement at all."
    missing = made.static.isna().sum().to_dict()
    assert missing == {"Age": 0, "Gender": 12, "Height": 5726, "ICUType": 0, "Weight": 1001}


@pytest.mark.slow
def test_the_real_files_as_they_are():
    raw = load("physionet2012", real("physionet2012"), form="raw", sets="c")
    assert len(raw.X) == len(raw.times) == 4000
    lengths = np.array([len(one) for one in raw.X])
    assert lengths.min() == 1
    assert np.median(lengths) == 71
    assert lengths.max() == 214
    assert all((np.diff(one) > 0).all() and one[-1] <= 48 for one in raw.times)
    assert raw.missing_rate == pytest.approx(0.8417, abs=0.0005)


HEADER_2019 = "HR|Temp|Age|Gender|Unit1|Unit2|HospAdmTime|ICULOS|SepsisLabel\n"
STAYS_2019 = {
    "p100001.psv": "NaN|36.5|60|1|0|1|-6.08|1|0\n90|NaN|60|1|0|1|-6.08|2|0\n",
    "p100002.psv": "80|NaN|41|0|NaN|NaN|-0.02|3|0\n85|NaN|41|0|NaN|NaN|-0.02|4|1\n",
    "p100003.psv": "70|37|50|1|0|1|-1.5|1|1\n",
}


def pack_2019(folder, texts):
    pack(folder, texts, "training_setB", "xz")


@pytest.fixture
def hospital(tmp_path):
    pack_2019(tmp_path, {name: HEADER_2019 + body for name, body in STAYS_2019.items()})
    return tmp_path


def test_stays_end_before_the_label_turns(hospital):
    stays = load("physionet2019", hospital)
    assert stays.y.tolist() == [0, 1]
    assert "1 stays in which it is 1 from the first hour are left out" in stays.notes[0]
    first, second = stays.X
    assert list(first) == ["HR", "Temp"]
    np.testing.assert_array_equal(first, [[np.nan, 36.5], [90, np.nan]])
    np.testing.assert_array_equal(second, [[80, np.nan]])
    assert [times.tolist() for times in stays.times] == [[1, 2], [3]]
    assert stays.static["Age"].tolist() == [60, 41]
    assert stays.static["Unit1"].isna().tolist() == [False, True]
    assert stays.inputs.lengths.tolist() == [2, 1]


def test_a_folder_instead_of_the_archive_2019(hospital):
    (hospital / "training_setB.tar.xz").unlink()
    (hospital / "training_setB").mkdir()
    for name, body in STAYS_2019.items():
        (hospital / "training_setB" / name).write_text(HEADER_2019 + body)
    assert load("physionet2019", hospital).y.tolist() == [0, 1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER_2019,
        HEADER_2019 + "soon" + STAYS_2019["p100001.psv"],
        HEADER_2019 + STAYS_2019["p100001.psv"].replace("|2|0", "|1|0"),  # time stands still
        HEADER_2019 + STAYS_2019["p100001.psv"].replace("|2|0", "|2|7"),
        HEADER_2019.replace("HR", "Pulse") + STAYS_2019["p100001.psv"],
    ],
)
def test_garbage_in_a_stay_is_named_2019(hospital, text):
    pack_2019(hospital, {"p1.psv": HEADER_2019 + STAYS_2019["p100002.psv"], "p2.psv": text})
    check_error(lambda: load("physionet2019", hospital), "training_setB/p2.psv in", "SepsisLabel")


def test_damaged_and_empty_archives(hospital):
    path = hospital / "training_setB.tar.xz"
    path.write_bytes(path.read_bytes()[:100])
    check_error(lambda: load("physionet2019", hospital), "is truncated or corrupted (")
    pack_2019(hospital, {})
    check_error(lambda: load("physionet2019", hospital), "holds no stay")


@pytest.mark.slow
def test_the_real_files_2019():
    stays = load("physionet2019", real("physionet2019"))
    lengths = np.array([len(series) for series in stays.X])
    assert len(stays.y) == 20_000 - 223
    assert stays.y.sum() == 1_142 - 223
    assert (lengths.min(), lengths.max()) == (1, 336)
    assert lengths[stays.y == 0].min() == 8
    assert stays.X[0].shape[1] == 34
    assert stays.missing_rate == pytest.approx(0.8094, abs=0.0005)
