"""Whole files as frames: nothing is filled in, nothing is lost, and each is opened once."""

from __future__ import annotations

import gzip
import hashlib
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imputefree.cli import main
from imputefree.errors import ParameterError
from imputefree.io import header, need_columns, read_csv, read_frame, read_label_column
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
    check_error(lambda: read_frame(path), f"{path}, line 4: has 2 fields, but there are 3 column")


def test_empty_cells_and_empty_lines_are_fine(write):
    path = write(SHORT.replace("4,5", '4,"5\n6",'))
    frame, notes, digest = read_frame(path)
    assert frame["b"].tolist()[:2] == ["2", "5\n6"]
    assert frame.isna().to_numpy().sum() == 2
    assert notes == ()
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert header(path) == ["a", "b", "y"]


def test_no_rows(write):
    check_error(lambda: read_frame(write("a,b\n")), "has column names but no rows")


def test_missing_files_and_folders(tmp_path):
    for name in ("d.csv", "d.parquet"):
        check_error(lambda name=name: read_frame(tmp_path / name), f"{name} does not exist")
        (tmp_path / name).mkdir()
        check_error(lambda name=name: read_frame(tmp_path / name), f"{name} holds no table")
        assert header(tmp_path / name) == []


def test_words_for_missing_are_gaps_among_numbers_and_categories_among_strings(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("age,ward,code,all\n31,NA,1,NA\n?,B,2x,NA\nNA,None,3,NA\n")
    frame, notes, _ = read_frame(path)
    assert frame["age"].isna().tolist() == [False, True, True]
    assert frame["age"].dtype == float
    assert frame["ward"].tolist() == ["NA", "B", "None"]
    assert frame["code"].tolist() == ["1", "2x", "3"]
    assert frame["all"].tolist() == ["NA"] * 3  # not a single number: who knows
    assert notes == ("In column 'age' '?', 'NA' (2 rows) was read as a gap.",)
    assert read_csv(path)["age"].tolist() == ["31", "?", "NA"]


def test_an_index_with_a_name_is_a_column(tmp_path):
    frame = pd.DataFrame({"v": [1.0, 2.0]}, index=pd.Index(["p", "q"], name="who"))
    frame.to_parquet(tmp_path / "d.parquet")
    assert read_frame(tmp_path / "d.parquet").frame["who"].tolist() == ["p", "q"]
    frame.rename_axis(None).to_parquet(tmp_path / "d.parquet")
    assert list(read_frame(tmp_path / "d.parquet").frame) == ["v"]


def test_parquet_that_cannot_be_read(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "d.parquet"
    path.write_bytes(b"PAR1 no")
    check_error(lambda: read_frame(path), "is not a Parquet file")
    assert header(path) == []
    parquet.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    check_error(lambda: read_frame(path), "more than one column named 'a'")


@pytest.mark.parametrize("wrong", ["Lactat", "LACTATE", "lactate "])
def test_a_near_miss_is_suggested(wrong):
    columns = ["age", "lactate", "outcome"]
    check_error(
        lambda: need_columns(columns, [wrong], Path("d.csv"), option="--drop"),
        f"d.csv has no column {wrong!r} (--drop)",
        "Perhaps you mean 'lactate'",
    )
    check_error(lambda: need_columns(columns, ["zzzzzzz"], Path("d.csv")), "Correct the name")


def test_a_column_cannot_be_needed_and_dropped():
    frame = pd.DataFrame({"y": [1], "x": [2]})
    need_columns(frame, ["y"], Path("a.csv"), ["x"])
    check_error(
        lambda: need_columns(frame, ["y"], Path("a.csv"), ["y"]),
        "column 'y' is both used and dropped",
        kind=ParameterError,
    )


@pytest.mark.parametrize(
    ("values", "task", "part"),
    [
        (["a", "b"], "regression", "Regression needs numbers"),
        ([1.0, np.inf], None, "infinite"),
        ([1.0, 2.0**60], "classification", "beyond 2^53"),
    ],
)
def test_labels_that_do_not_fit_the_task(values, task, part):
    series = pd.Series(values, name="y")
    check_error(lambda: read_label_column(series, task, Path("a.csv")), part)


def test_a_fit_opens_its_file_at_most_twice(tmp_path):
    """Once for the column names and once for everything else; counted by Python itself."""
    path, output = tmp_path / "d.csv", tmp_path / "m.imputefree"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=30), "y": rng.choice(["p", "q"], 30)})
    frame.to_csv(path, index=False)
    opened = []
    counting = True

    def count(event, arguments):
        if counting and event == "open" and str(arguments[0]) == str(path):
            opened.append(arguments[0])

    sys.addaudithook(count)
    with pytest.raises(SystemExit) as ended:
        words = ["--target", "y", "-o", output, "--quality", "fast", "--no-estimate"]
        main(list(map(str, ["fit", path, *words])))
    counting = False
    assert (ended.value.code, output.exists()) == (0, True)
    assert len(opened) == 2
