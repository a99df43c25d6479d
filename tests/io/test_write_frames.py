"""Frames as files: read back as they were, or not written at all."""

from __future__ import annotations

import pandas as pd
import pytest

from imputefree.io._read_files import read_frame
from imputefree.io._write_frames import check_format, write_frame

FRAME = pd.DataFrame({"a": [0.1, None, 1e-300], "b": ["x, y", None, '"']})


@pytest.mark.parametrize("name", ["f.csv", "f.csv.gz", "f.parquet"])
def test_what_is_written_is_read(tmp_path, name):
    write_frame(FRAME, tmp_path / name)
    found, _ = read_frame(tmp_path / name)
    assert found["a"].tolist()[0] == 0.1
    assert found["a"].isna().tolist() == [False, True, False]
    assert found["b"].dropna().tolist() == ["x, y", '"']
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_same_frame_is_the_same_file(tmp_path):
    write_frame(FRAME, tmp_path / "f.csv.gz")
    first = (tmp_path / "f.csv.gz").read_bytes()
    write_frame(FRAME, tmp_path / "f.csv.gz")
    assert (tmp_path / "f.csv.gz").read_bytes() == first


@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_a_failure_leaves_nothing(tmp_path, name):
    with pytest.raises(ValueError, match="cannot be written"):
        write_frame(FRAME, tmp_path / "nowhere" / name)
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match="cannot be written"):
        write_frame(FRAME, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ValueError, match="must end in"):
        check_format(tmp_path / "f.xlsx")
