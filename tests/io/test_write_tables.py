"""Tables are written whole or not at all, and read back as they were."""

from __future__ import annotations

import pandas as pd
import pytest

from imputefree.errors import ParameterError, ResultsError
from imputefree.io import check_format, read_frame, table_output, write_frame

FIRST = pd.DataFrame({"a": ["x", None], "b": [1.5, 1e-300]})
SECOND = pd.DataFrame({"a": ['y, "z"'], "b": [float("nan")]})


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out"])
def test_pieces_become_one_file(tmp_path, name):
    path = tmp_path / name
    with table_output(str(path)) as write:
        write(FIRST)
        write(SECOND)
        assert not path.exists()
    whole = pd.concat([FIRST, SECOND], ignore_index=True)
    pd.testing.assert_frame_equal(read_frame(path).frame, whole, check_dtype=False)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_failure_leaves_what_was_there(tmp_path, name):
    path = tmp_path / name
    path.write_text("older")
    with pytest.raises(KeyboardInterrupt), table_output(str(path)) as write:
        write(FIRST)
        raise KeyboardInterrupt
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_frame_is_the_same_file(tmp_path):
    for name in ("f.csv.gz", "g.csv.gz"):
        write_frame(FIRST, tmp_path / name)
    assert (tmp_path / "f.csv.gz").read_bytes() == (tmp_path / "g.csv.gz").read_bytes()


def test_a_parquet_column_that_is_empty_at_first(tmp_path):
    path = tmp_path / "out.parquet"
    with table_output(str(path)) as write:
        write(FIRST.assign(a=pd.Series([None, None], dtype=object)))
        write(SECOND)
    assert pd.read_parquet(path)["a"].fillna("").tolist() == ["", "", 'y, "z"']


@pytest.mark.parametrize("name", ["nowhere/out.csv", "nowhere/out.csv.gz", "nowhere/out.parquet"])
def test_a_folder_that_does_not_exist(tmp_path, name):
    with pytest.raises(ResultsError, match="cannot be written"):
        write_frame(FIRST, tmp_path / name)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="a folder"), table_output(str(tmp_path)):
        pass


def test_a_full_device(tmp_path):
    with pytest.raises(ResultsError, match="No space left"), table_output("/dev/full") as write:
        for _ in range(300):
            write(FIRST)
    assert not list(tmp_path.parent.glob("full.*"))


@pytest.mark.parametrize("name", ["out.csv.zst", "out.xlsx", "out.parquet.gz", "out.tsv"])
def test_endings_that_cannot_be_written(tmp_path, name):
    with pytest.raises(ParameterError, match="cannot be written"):
        check_format(tmp_path / name)
    with pytest.raises(ParameterError), table_output(str(tmp_path / name)):
        pass
    assert not list(tmp_path.iterdir())


def test_errors_of_the_caller_stay_theirs(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(TimeoutError), table_output(str(path)):
        raise TimeoutError
    with pytest.raises(ResultsError, match="cannot be written"), table_output(str(path)) as write:
        write(FIRST)
        path.mkdir()
