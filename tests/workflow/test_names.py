"""Names on the command line against names in a file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from imputefree.workflow._names import header, need_names, refuse_twins, split_names
from tests.refusals import check_error


def test_commas_and_repeats_mean_the_same():
    assert split_names(["a,b", "c"]) == split_names(["a", "b", "c"]) == ("a", "b", "c")
    assert split_names(["a", "a , b,"]) == ("a", "b")
    assert split_names(None) == ()


def test_a_name_may_hold_a_comma():
    assert split_names(["pH, arterial", "x,y"], ["pH, arterial", "x"]) == ("pH, arterial", "x", "y")


@pytest.mark.parametrize("wrong", ["Lactat", "LACTATE", "lactate "])
def test_a_near_miss_is_suggested(wrong):
    columns = ["age", "lactate", "outcome"]
    check_error(
        lambda: need_names(columns, {"--drop": [wrong]}, Path("d.csv")),
        f"d.csv has no column {wrong!r} (--drop)",
        "Perhaps you mean 'lactate'",
    )


def test_nothing_is_suggested_that_is_far():
    with pytest.raises(ValueError, match="Correct the name"):
        need_names(["age"], {"--id": ["zzzzzzz"]}, Path("d.csv"))


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz"])
def test_twins_are_refused(tmp_path, name):
    path = tmp_path / name
    pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]).to_csv(path, index=False)
    check_error(lambda: refuse_twins(path), "more than one column named 'a'")


def test_twins_in_parquet_are_refused(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    parquet.write_table(table, tmp_path / "d.parquet")
    check_error(lambda: refuse_twins(tmp_path / "d.parquet"), "more than one column named 'a'")


def test_what_cannot_be_read_has_no_header(tmp_path):
    (tmp_path / "d.parquet").write_bytes(b"no")
    (tmp_path / "d.csv.gz").write_bytes(b"no")
    (tmp_path / "d.csv").write_bytes(b"")
    (tmp_path / "d.tar").write_bytes(b"no")
    (tmp_path / "d.csv.zst").write_bytes(b"no")
    for name in ("d.parquet", "d.csv.gz", "d.csv", "absent.csv", "d.tar", "d.csv.zst"):
        assert header(tmp_path / name) == []
