"""Whole files as frames: nothing is filled in, nothing is lost."""

from __future__ import annotations

import gzip
import zipfile

import pandas as pd
import pytest

from imputefree.io._read_files import read_frame
from tests.refusals import check_error

SHORT = "a,b,y\n1,2,3\n\n4,5\n6,,7\n"


@pytest.fixture(params=["d.csv", "d.csv.gz", "d.csv.zip"])
def write(request, tmp_path):
    path = tmp_path / request.param

    def written(text):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("d.csv", text)
        else:
            packed = gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode()
            path.write_bytes(packed)
        return path

    return written


def test_a_line_that_is_too_short_is_named(write):
    path = write(SHORT)
    check_error(lambda: read_frame(path), f"{path}, line 4: has 2 fields where the names are 3")


def test_empty_cells_and_empty_lines_are_fine(write):
    frame, notes = read_frame(write(SHORT.replace("4,5", '4,"5\n6",')))
    assert frame["b"].tolist()[:2] == ["2", "5\n6"]
    assert frame.isna().to_numpy().sum() == 2
    assert notes == ()


@pytest.mark.parametrize("name", ["d.tar", "d.csv.zst", "d.csv.7z"])
def test_other_archives_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"no archive at all")
    check_error(lambda: read_frame(tmp_path / name), name)


def test_an_index_with_a_name_is_a_column(tmp_path):
    frame = pd.DataFrame({"v": [1.0, 2.0]}, index=pd.Index(["p", "q"], name="who"))
    frame.to_parquet(tmp_path / "d.parquet")
    found, _ = read_frame(tmp_path / "d.parquet")
    assert found["who"].tolist() == ["p", "q"]
    frame.rename_axis(None).to_parquet(tmp_path / "d.parquet")
    assert list(read_frame(tmp_path / "d.parquet")[0]) == ["v"]
