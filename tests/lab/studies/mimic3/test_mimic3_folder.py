"""Bad files: one sentence each, never a stack trace from the depths."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from pathlib import Path

import pytest

from imputefree import InputError
from imputefree.lab.studies import mimic3
from imputefree.lab.studies.mimic3 import _mimic3_source as source
from tests.lab.studies.mimic3.mini import Mini


@pytest.fixture
def files(tmp_path):
    mini = Mini()
    mini.case("one")
    mini.control("other", range(9))
    return mini.write(tmp_path / "files")


def sentence(folder):
    with pytest.raises(InputError) as caught:
        mimic3.load(folder)
    return str(caught.value)


def test_no_folder(tmp_path, monkeypatch):
    assert sentence(tmp_path / "nowhere").startswith(
        f"the folder {tmp_path}/nowhere does not exist. MIMIC-III is looked for in root, then in"
        " IMPUTEFREE_DATA, then in the user's cache. Correct root="
    )
    (tmp_path / "file").write_text("")
    assert sentence(tmp_path / "file").startswith(f"the file {tmp_path}/file is not a folder. ")
    monkeypatch.delenv("IMPUTEFREE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert sentence(None).startswith(f"MIMIC-III is not in {tmp_path}/imputefree/mimic3 (the")
    assert "imputefree data get mimic3" in sentence(None)


def test_the_environment_names_the_folder(files, tmp_path, monkeypatch):
    monkeypatch.setenv("IMPUTEFREE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert sentence(None).startswith(f"MIMIC-III is not in {tmp_path}/mimic3 (IMPUTEFREE_DATA)")
    files.rename(tmp_path / "mimic3_demo")
    assert mimic3.load().y.sum() == 1


def test_missing_tables(files, tmp_path, monkeypatch):
    """A folder that is named and holds a part is not passed over for another one."""
    whole = tmp_path / "elsewhere" / "mimic3"
    whole.parent.mkdir()
    shutil.copytree(files, whole)
    monkeypatch.setenv("IMPUTEFREE_DATA", str(whole.parent))
    (files / "labevents.csv").unlink()
    (files / "icustays.csv").unlink()
    assert sentence(files).startswith(
        f"{files} has no ICUSTAYS.csv, LABEVENTS.csv. MIMIC-III needs CHARTEVENTS.csv (or"
    )


def test_a_column_is_missing(files):
    path = files / "chartevents.csv"
    path.write_text(path.read_text().replace("valuenum", "number"))
    assert sentence(files) == (
        f"{path} has no column VALUENUM. CHARTEVENTS must have ICUSTAY_ID, ITEMID, CHARTTIME,"
        " VALUENUM, ERROR. Use the files as PhysioNet gives them, with their header."
    )


REPAIR = "Download it again, and compare its sum with PhysioNet's SHA256SUMS.txt."


def test_garbage_where_a_number_or_a_time_should_be(files):
    path = files / "chartevents.csv"
    good = path.read_text().splitlines()
    fields = good[4].split(",")
    for column, value, rule in [
        ("valuenum", "abc", "a number"),
        ("charttime", "yesterday", "a time"),
        ("itemid", "2.5e", "a whole number"),
    ]:
        bad = list(fields)
        bad[good[0].split(",").index(column)] = value
        path.write_text("\n".join([*good[:4], ",".join(bad), *good[5:]]))
        assert sentence(files) == (
            f"{path}, line 5: {column.upper()} is '{value}'. It must be {rule} or empty. {REPAIR}"
        )


def test_files_cut_off(files):
    path = files / "chartevents.csv"
    text = path.read_text()
    path.write_text(text[:-6])
    assert sentence(files) == (
        f"{path}, line {len(text.splitlines())} has 11 columns."
        f" Every line must have 15, as the header has. {REPAIR}"
    )
    path.write_text("")
    assert sentence(files) == f"{path} is empty. Its first line must name the columns. {REPAIR}"


@pytest.mark.parametrize("left", [0.6, 0.02])
def test_a_gzip_file_cut_off(files, left):
    path = files / "labevents.csv"
    lines = path.read_text().splitlines()
    whole = gzip.compress("\n".join([lines[0], *lines[1:] * 20000]).encode(), compresslevel=1)
    (files / "labevents.csv.gz").write_bytes(whole[: max(int(left * len(whole)), 15)])
    path.unlink()
    assert sentence(files) == f"{path}.gz is cut off, or no gzip file. {REPAIR}"


def test_no_gzip_at_all(files):
    (files / "patients.csv").rename(files / "patients.csv.gz")
    assert sentence(files) == f"{files}/patients.csv.gz is cut off, or no gzip file. {REPAIR}"


def test_without_duckdb_the_remedy_is_named(files, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(source, "import_module", missing)
    assert sentence(files) == (
        "duckdb is not installed. A folder of MIMIC-III files is read with it. Install it with"
        " pip install 'imputefree[data]'."
    )


def test_nothing_is_left_behind(files, tmp_path):
    spill = tmp_path / "spill"
    spill.mkdir()
    with mimic3.Folder(files, temp_directory=spill) as opened:
        assert os.listdir(spill)
        mimic3.build(opened)
    assert not os.listdir(spill)


def test_importing_the_package_needs_no_database_library():
    for path in Path(mimic3.__file__).parent.glob("*.py"):
        assert not re.search(r"^\s*(import|from) (duckdb|psycopg)", path.read_text(), re.MULTILINE)


def test_the_command_prints_counts_or_one_sentence(files, capsys):
    from imputefree.lab.studies.mimic3.__main__ import main

    assert main([str(files)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["step", "patients", "admissions"]
    assert printed[-1].split() == ["11", "as", "many", "as", "cases:", "controls", "1", "1"]
    assert main(["nowhere"]) == 1
    assert capsys.readouterr().err.startswith("the folder nowhere does not exist. ")
