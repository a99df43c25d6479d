"""PhysioNet 2019: made files, damaged ones, and the real ones."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest

from imputefree.lab.studies import load
from tests.lab.studies.real import real
from tests.refusals import check_error

HEADER = "HR|Temp|Age|Gender|Unit1|Unit2|HospAdmTime|ICULOS|SepsisLabel\n"
STAYS = {
    "p100001.psv": "NaN|36.5|60|1|0|1|-6.08|1|0\n90|NaN|60|1|0|1|-6.08|2|0\n",
    "p100002.psv": "80|NaN|41|0|NaN|NaN|-0.02|3|0\n85|NaN|41|0|NaN|NaN|-0.02|4|1\n",
    "p100003.psv": "70|37|50|1|0|1|-1.5|1|1\n",
}


def pack(folder, stays):
    with tarfile.open(folder / "training_setB.tar.xz", "w:xz") as tar:
        for name, text in stays.items():
            content = text.encode()
            info = tarfile.TarInfo(f"training_setB/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


@pytest.fixture
def folder(tmp_path):
    pack(tmp_path, {name: HEADER + body for name, body in STAYS.items()})
    return tmp_path


def test_stays_end_before_the_label_turns(folder):
    stays = load("physionet2019", folder)
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


def test_a_folder_instead_of_the_archive(folder):
    (folder / "training_setB.tar.xz").unlink()
    (folder / "training_setB").mkdir()
    for name, body in STAYS.items():
        (folder / "training_setB" / name).write_text(HEADER + body)
    assert load("physionet2019", folder).y.tolist() == [0, 1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        HEADER + "soon" + STAYS["p100001.psv"],
        HEADER + STAYS["p100001.psv"].replace("|2|0", "|1|0"),  # time stands still
        HEADER + STAYS["p100001.psv"].replace("|2|0", "|2|7"),
        HEADER.replace("HR", "Pulse") + STAYS["p100001.psv"],
    ],
)
def test_garbage_in_a_stay_is_named(folder, text):
    pack(folder, {"p1.psv": HEADER + STAYS["p100002.psv"], "p2.psv": text})
    check_error(lambda: load("physionet2019", folder), "training_setB/p2.psv in", "SepsisLabel")


def test_damaged_and_empty_archives(folder):
    path = folder / "training_setB.tar.xz"
    path.write_bytes(path.read_bytes()[:100])
    check_error(lambda: load("physionet2019", folder), "is truncated or corrupted (")
    pack(folder, {})
    check_error(lambda: load("physionet2019", folder), "holds no stay")


@pytest.mark.slow
def test_the_real_files():
    stays = load("physionet2019", real("physionet2019"))
    lengths = np.array([len(series) for series in stays.X])
    assert len(stays.y) == 20_000 - 223
    assert stays.y.sum() == 1_142 - 223
    assert (lengths.min(), lengths.max()) == (1, 336)
    assert lengths[stays.y == 0].min() == 8
    assert stays.X[0].shape[1] == 34
    assert stays.missing_rate == pytest.approx(0.8094, abs=0.0005)
