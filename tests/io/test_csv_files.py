"""What a CSV file may look like, and the sentence where it may not."""

from __future__ import annotations

import zipfile

import pandas as pd
import pytest

from imputefree.errors import ParameterError
from imputefree.io._csv_files import need_columns, read_csv, words_as_gaps
from tests.refusals import check_error


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"a,b\n1,2,3\n3,4,5\n", "has lines with more values than there are column names"),
        (b"a;b;y\n1;;0\n", "seems to have semicolons between its columns"),
        (b"a\tb\n1\t2\n", "seems to have tabs between its columns"),
        (b"PAR1\0\0\x15\n1\n", "holds zero bytes"),
        (b"", "is empty"),
        (b"a,b\n", "has column names but no rows"),
    ],
)
def test_no_table(tmp_path, content, part):
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    check_error(lambda: read_csv(path), str(path), part)


def test_a_comma_at_the_end_of_lines_moves_nothing(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("a,b\n1,2,\n3,,\n")
    assert read_csv(path).fillna(-1).to_numpy().tolist() == [[1, 2], [3, -1]]


def test_packed_junk(tmp_path):
    path = tmp_path / "file.zip"
    path.write_bytes(b"no archive at all")
    check_error(lambda: read_csv(path), "is truncated or corrupted")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("file.csv", "a,b\n1,\n")
    assert read_csv(path).isna().to_numpy().tolist() == [[False, True]]


@pytest.mark.parametrize("name", ["file.tar", "file.csv.zst"])
def test_archives_that_cannot_be_read(tmp_path, name):
    (tmp_path / name).write_bytes(b"no archive at all")
    check_error(lambda: read_csv(tmp_path / name), name)


def test_words_for_missing_are_gaps_among_numbers_and_categories_among_texts(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("age,ward,code,all\n31,NA,1,NA\n?,B,2x,NA\nNA,None,3,NA\n")
    frame, notes = words_as_gaps(read_csv(path))
    assert frame["age"].isna().tolist() == [False, True, True]
    assert frame["age"].dtype == float
    assert frame["ward"].tolist() == ["NA", "B", "None"]
    assert frame["code"].tolist() == ["1", "2x", "3"]
    assert frame["all"].tolist() == ["NA"] * 3  # not a single number: who knows
    assert notes == ("In column 'age' '?', 'NA' (2 rows) was taken for a gap.",)


def test_a_column_cannot_be_needed_and_dropped(tmp_path):
    frame = pd.DataFrame({"y": [1], "x": [2]})
    need_columns(frame, ["y"], tmp_path, ["x"])
    check_error(
        lambda: need_columns(frame, ["y"], tmp_path, ["y"]),
        "column 'y' is needed and to be dropped",
        kind=ParameterError,
    )
