from __future__ import annotations

import pytest

from imputefree.errors import ParameterError
from imputefree.lab.studies import load
from tests.refusals import check_error

TEXT = "stay,hour,hr,lab,died\nb,2,80,,1\na,1,70,1.5,0\nb,1,,2.5,1\na,0,60,,\n"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "stays.csv"
    file.write_text(TEXT)
    return file


def test_series_in_the_order_of_the_file_steps_in_the_order_of_time(path):
    study = load(f"series:{path}", id="stay", time="hour", target="died")
    assert study.y.tolist() == [1, 0]  # b comes first
    assert [one["lab"].fillna(-1).tolist() for one in study.X] == [[2.5, -1], [-1, 1.5]]
    assert [one.tolist() for one in study.times] == [[1, 2], [0, 1]]
    assert list(study.X[0].columns) == ["hr", "lab"]
    bare = load(f"series:{path}", id="stay", drop=["died"])
    assert bare.times is None
    assert bare.X[0]["hour"].tolist() == [2, 1]
    assert bare.y.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("hour,hr,died\n1,1,1\n", "has no column 'stay'"),
        ("stay,hour,hr,died\n,1,1,1\n", "has no 'stay' in line 2"),
        ("stay,hour,hr,died\na,noon,1,1\n", "the time 'hour'"),
        ("stay,hour,hr,died\na,,1,1\n", "the time 'hour'"),
        ("stay,hour,hr,died\na,1,1,1\na,2,1,0\n", "changes within a series"),
        ("stay,hour,hr,died\na,1,1,1\nb,2,1,\n", "1 series of"),
        ("stay,hour,died\na,1,1\n", "has no column beside the target"),
    ],
)
def test_files_that_are_no_series(path, text, part):
    path.write_text(text)
    check_error(lambda: load(f"series:{path}", id="stay", time="hour", target="died"), part)


def test_what_is_needed_cannot_be_dropped(path):
    check_error(
        lambda: load(f"series:{path}", id="stay", drop=["stay"]),
        "column 'stay' is needed and to be dropped",
        kind=ParameterError,
    )
