"""Known tables against their known figures; files of one's own; and files that are not tables."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import InputError, ParameterError
from imputefree.io import read_label_column
from imputefree.lab.studies import KNOWN, load
from tests.lab.studies.real import real
from tests.refusals import check_error

# name: rows, columns, missing rate in %, and counts of the classes (none: a number)
FIGURES = {
    "horse_colic_uci": (300, 21, 25.46, [191, 109]),
    "hepatitis": (155, 19, 5.67, [32, 123]),
    "mammographic_masses": (961, 5, 3.37, [516, 445]),
    "pima_zeros_as_missing": (768, 8, 10.61, [500, 268]),
    "credit_approval": (690, 15, 0.65, [307, 383]),
    "titanic3": (1309, 7, 2.90, [809, 500]),
    "framingham_chd": (4240, 15, 1.01, [3596, 644]),
    "congress_vote": (435, 16, 5.63, [267, 168]),
    "chronic_kidney_disease": (400, 24, 10.54, [250, 150]),
    "soybean": (683, 35, 9.78, 19),
    "anneal": (898, 38, 64.98, [8, 99, 684, 67, 40]),
    "arrhythmia": (452, 279, 0.32, 13),
    "labor": (57, 16, 35.75, [20, 37]),
    "adult": (48842, 14, 0.95, [37155, 11687]),
    "communities_crime": (1994, 122, 15.15, None),
    "ames_housing": (2930, 79, 0.31, None),
}
PATIENTS = (
    "id,age,ward,lactate,outcome\n1,30,None,,well\n2,,NA,1.5,ill\n3,50,A,2.5,\n4,60,B,3,ill\n"
)


def write(tmp_path, text, name="patients.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_figures_cover_every_known_table():
    assert set(FIGURES) == set(KNOWN)


@pytest.mark.parametrize("name", FIGURES)
def test_the_real_tables(name):
    root = real("tabular")
    rows, columns, missing, classes = FIGURES[name]
    study = load(f"table:{name}", root=root)
    assert study.X.shape == (rows, columns)
    assert abs(100 * study.missing_rate - missing) < 0.01
    assert not study.simulated
    assert study.citation
    assert study.licence
    if classes is None:
        assert study.task == "regression"
    else:
        counts = np.unique(study.y, return_counts=True)[1].tolist()
        assert classes in (counts, len(counts))
        assert study.task == "classification"
    assert KNOWN[name].target not in study.X
    assert not set(KNOWN[name].drop) & set(study.X)
    assert len(np.concatenate(study.split(0))) == rows


def test_adult_brings_its_own_test_rows():
    study = load("table:adult", root=real("tabular") / "tabular")
    test = study.split(5).test
    np.testing.assert_array_equal(test, np.arange(32561, 48842))
    assert abs((study.y[test] == ">50K").mean() - (study.y[:32561] == ">50K").mean()) < 0.01
    part = study.take(np.arange(0, 48842, 2))
    assert len(part.split(0).test) == 8140  # take keeps them the test rows
    other = load("table:adult", root=real("tabular"), target="workclass")
    assert len(other.y) == 46043
    assert other.notes == ("2799 rows without a label left out.",)
    assert other.X.loc[other.split(0).test[0], "age"] == 25  # the first line of the test file


def test_ames_none_is_not_a_gap():
    study = load("table:ames_housing", root=real("tabular"))
    assert (study.X["Pool QC"] == "none").sum() > 2900
    assert study.X["Lot Frontage"].isna().sum() == 490
    assert any("is not a gap" in note for note in study.notes)


def test_a_users_file(tmp_path):
    path = write(tmp_path, PATIENTS)
    study = load(f"table:{path}", target="outcome", drop=["id"])
    assert study.name == "table:patients.csv"
    assert list(study.X) == ["age", "ward", "lactate"]
    assert study.X["ward"].fillna("").tolist() == ["None", "", "B"]  # as `fit` reads it
    assert study.y.tolist() == ["well", "ill", "ill"]
    assert study.notes[0] == "1 row without a label left out."
    number = load(f"table:{path}", target="lactate")
    assert number.task == "regression"
    none = load(f"table:{path}")
    assert none.X.shape == (4, 5)
    assert none.notes[0] == "No target was named: y is constant."
    packed = tmp_path / "patients.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    pd.testing.assert_frame_equal(load(f"table:{packed}").X, none.X)


def test_classes_beyond_what_floats_hold_are_never_merged(tmp_path):
    rows = "".join(f"{3 * i},{1 + i % 2}e25\n" for i in range(12))
    path = write(tmp_path, "a,y\n" + rows)
    study = load(f"table:{path}", target="y")
    assert study.task == "regression"
    assert sorted(set(study.y.tolist())) == [1e25, 2e25]
    values = pd.Series([2**53, 2**53 + 1] * 6, name="y")
    check_error(lambda: read_label_column(values, "classification", path), "numbers beyond 2^53")


def test_which_numbers_are_classes(tmp_path):
    few = write(tmp_path, "x,y\n" + "".join(f"{3 * i},{i % 3}\n" for i in range(60)))
    assert load(f"table:{few}", target="y").y.dtype.kind == "i"
    assert load(f"table:{few}", target="y", task="regression").task == "regression"
    assert load(f"table:{few}", target="x").task == "regression"  # 60 whole numbers
    assert load(f"table:{few}", target="x", task="classification").task == "classification"


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,outcome\n", "has column names but no rows"),
        (bytes(range(256)) * 40, "is written in an encoding that does not show"),
        (b"\x00\x01\x02,\x00\n\x00,\x01\n", "line 2: has 2 fields"),
        (b"a,outcome\n1,2\n3,4,5,6\n", "line 3: has 4 fields"),
        (b"a,b\n1,2\n", "has no column 'outcome'. Its columns are 'a', 'b'."),
        (b"outcome\n1\n2\n", "has no column besides the target"),
        (b"a,outcome\n1,\n2,\n", "is empty in all rows"),
    ],
)
def test_a_file_that_is_not_a_table(tmp_path, content, part):
    path = write(tmp_path, content)
    check_error(lambda: load(f"table:{path}", target="outcome"), str(path), part)


@pytest.mark.parametrize("cut", [0.5, 0.0])
def test_a_broken_gzip(tmp_path, cut):
    packed = gzip.compress(PATIENTS.encode() * 100)
    content = packed[: int(cut * len(packed))] if cut else b"not gzip at all"
    path = write(tmp_path, content, "patients.csv.gz")
    check_error(lambda: load(f"table:{path}"), f"{path} is truncated or corrupted (")


def test_files_and_options_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.delenv("IMPUTEFREE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    check_error(lambda: load(f"table:{tmp_path}/no.csv"), "no.csv does not exist")
    check_error(lambda: load("table:moon"), "there is no table 'moon'", kind=ParameterError)
    check_error(
        lambda: load("table:hepatitis"),
        "the table 'hepatitis' is not in",
        "needs hepatitis.csv",
        "Save it as CSV with its header, target 'Class', from UCI",
    )
    path = write(tmp_path, PATIENTS)
    check_error(
        lambda: load(f"table:{path}", target="outcome", drop="id"),
        "drop is the string 'id'",
        kind=ParameterError,
    )
    check_error(lambda: load(f"table:{path}", task="guess"), "task is 'guess'", kind=ParameterError)
    check_error(
        lambda: load(f"table:{path}", target="ward", task="regression"), "holds strings", "numbers"
    )
    with pytest.raises(InputError, match="has no column 'colour'"):
        load(f"table:{path}", target="outcome", drop=["colour"])


def test_a_known_table_of_another_length_is_refused(tmp_path):
    (tmp_path / "tabular").mkdir()
    path = write(tmp_path / "tabular", "Class,AGE\nLIVE,30\nDIE,\n", "hepatitis.csv")
    check_error(
        lambda: load("table:hepatitis", root=tmp_path),
        f"{path} has 2 rows. The table 'hepatitis' has 155. Replace the file",
    )
    assert load(f"table:{path}", target="Class").X.shape == (2, 1)


def test_an_infinite_label_and_a_dropped_target(tmp_path):
    path = write(tmp_path, "x,y\n1,1\n2,inf\n")
    check_error(lambda: load(f"table:{path}", target="y"), "'y'", "holds an infinite number")
    check_error(
        lambda: load(f"table:{path}", target="y", drop=["y"]),
        "column 'y' is both used and dropped",
        kind=ParameterError,
    )


def test_a_leak_may_be_named_as_the_target():
    root = real("tabular")
    assert load("table:titanic3", root=root, target="boat").task == "classification"


def test_words_for_missing_are_told_of(tmp_path):
    path = write(tmp_path, "x,y\n1,0\nNA,1\n")
    study = load(f"table:{path}", target="y")
    assert study.missing_rate == 0.5
    assert study.notes == ("Column 'x': 'NA' (1 row) is a gap.",)


def test_a_file_is_read_as_fit_reads_it(tmp_path):
    rows = "".join(f"{30 + i};{i % 7},5;{'x' if i % 3 else 'y'}\n" for i in range(40))
    path = write(tmp_path, "age;lactate;outcome\n" + rows + 3 * "-9;1,5;x\n")
    study = load(f"table:{path}", target="outcome")
    assert [study.X[name].dtype.kind for name in ("age", "lactate")] == ["f", "f"]
    assert study.X["age"].isna().sum() == 3


SERIES = "stay,hour,hr,lab,died\nb,2,80,,1\na,1,70,1.5,0\nb,1,,2.5,1\na,0,60,,\n"


@pytest.fixture
def stays(tmp_path):
    return write(tmp_path, SERIES, "stays.csv")


def test_series_in_the_order_of_the_file_steps_in_the_order_of_time(stays):
    study = load(f"series:{stays}", id="stay", time="hour", target="died")
    assert study.y.tolist() == [1, 0]  # b comes first
    assert [frame["lab"].fillna(-1).tolist() for frame in study.X] == [[2.5, -1], [-1, 1.5]]
    assert [times.tolist() for times in study.times] == [[1, 2], [0, 1]]
    assert list(study.X[0].columns) == ["hr", "lab"]
    bare = load(f"series:{stays}", id="stay", drop=["died"])
    assert bare.times is None
    assert bare.X[0]["hour"].tolist() == [2, 1]
    assert bare.y.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("hour,hr,died\n1,1,1\n", "has no column 'stay'"),
        ("stay,hour,hr,died\n,1,1,1\n", "id column 'stay' is missing in 1 row"),
        ("stay,hour,hr,died\na,noon,1,1\n", "time column 'hour' holds strings"),
        ("stay,hour,hr,died\na,,1,1\n", "time column 'hour' is missing"),
        ("stay,hour,hr,died\na,1,1,1\na,2,2,0\n", "holds 1 and 0"),
        ("stay,hour,hr,died\na,1,1,1\nb,2,2,\n", "1 series of"),
        ("stay,hour,died\na,1,1\n", "no column of values"),
    ],
)
def test_files_that_are_not_series(stays, text, part):
    stays.write_text(text)
    check_error(lambda: load(f"series:{stays}", id="stay", time="hour", target="died"), part)


def test_what_is_needed_cannot_be_dropped(stays):
    check_error(
        lambda: load(f"series:{stays}", id="stay", drop=["stay"]),
        "column 'stay' is both used and dropped",
        kind=ParameterError,
    )
