"""Files of strangers: read right or refused with the remedy, the same way by every door."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, read_table
from imputefree.data import TableEncoder, read_columns
from imputefree.workflow import Request, read_problem
from tests.io.stranger_books import books
from tests.io.stranger_dumps import dumps
from tests.io.stranger_exports import exports
from tests.io.stranger_rest import rest
from tests.io.stranger_surveys import surveys
from tests.io.stranger_times import times
from tests.io.test_dirty_files import check_read, predicted, same, served, upload
from tests.refusals import check_error

FILES = [*exports(), *surveys(), *dumps(), *times(), *books(), *rest()]
READ = [file for file in FILES if file.frame is not None]
REFUSED = [file for file in FILES if file.refused]


def test_every_file_has_a_name_of_its_own():
    assert len({file.name for file in FILES}) == len(FILES) == len(READ) + len(REFUSED)


@pytest.mark.parametrize("file", READ, ids=lambda file: file.name)
def test_read_right(file):
    check_read(file)


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.name)
def test_refused_with_the_remedy(file, tmp_path):
    check_error(lambda: read_table(file.content, name=file.name), *file.refused)
    path = tmp_path / file.name
    path.write_bytes(file.content)
    request = Request(path, "class", tmp_path / "m.imputefree")
    check_error(lambda: read_problem(request), *file.refused)
    if file.whole:  # a known model reads piece by piece: strange rows are refused or warned of
        return
    names = re.split(r'[,; "\n]+', file.content.decode("latin-1").partition("\n")[0])
    known = {name: np.linspace(1, 9, 20) for name in names if name in ("n", "m", "Menge")}
    encoder = TableEncoder().fit(read_columns(pd.DataFrame(known or {"n": np.linspace(1, 9, 20)})))
    model = SimpleNamespace(encoder_=encoder, about_={})
    check_error(lambda: predicted(model, path), *file.refused)


@pytest.mark.slow
@pytest.mark.parametrize("file", READ, ids=lambda file: file.name)
def test_the_same_by_every_door(file, tmp_path):
    pytest.importorskip("starlette", reason="needs the extra serve")
    path, target = tmp_path / file.name, "class"
    path.write_bytes(file.content)
    if list(file.frame) == [target]:
        return
    problem = read_problem(Request(path, target, tmp_path / "m.imputefree"))
    inputs = file.frame.drop(columns=target)
    same(problem.frame, inputs)
    about = {"target": target, "reading": problem.understood.to_dict()}
    encoder = TableEncoder().fit(read_columns(problem.frame))
    model = SimpleNamespace(encoder_=encoder, about_=about)
    rows, notes = predicted(model, path, target)
    same(rows, inputs)
    assert not notes
    model = GILClassifier(max_iter=1, n_members=1, random_state=0).fit(problem.frame, problem.y)
    model.about_ = about
    answer = upload(file, served(model)).json()
    same(pd.DataFrame([row["row"] for row in answer["rows"]]), inputs.astype(object))


def test_a_model_refuses_times_that_are_written_in_another_way(tmp_path):
    """Minutes and seconds beside hours, minutes and seconds would be sixty times too long."""
    frame, understood = read_table(pd.DataFrame({"took": ["1:30", "26:15", "0:45"] * 9}))
    np.testing.assert_allclose(frame["took"][:3], [1.5, 26.25, 0.75])
    assert any("is read as 1.5" in note for note in understood.notes)
    new = pd.DataFrame({"took": ["1:30", "0:01:30"]})
    check_error(lambda: read_table(new, columns=understood), "'0:01:30'")
    clock = read_table(pd.DataFrame({"at": ["08:30", "23:10", "00:15"] * 9}))[1]
    assert not clock.notes
    new = pd.DataFrame({"at": ["08:30:30", "9:15 pm"]})
    found = read_table(new, columns=clock)[0]["at"]
    np.testing.assert_allclose(found, [8.5 + 30 / 3600, 21.25])
    check_error(lambda: read_table(pd.DataFrame({"at": ["26:15"]}), columns=clock), "'26:15'")


def test_chapters_are_warned_of():
    """They are numbers, as 2.5 and 2.50 are, but two of them were one."""
    notes = read_table(pd.DataFrame({"x": ["1.1", "1.2", "1.10"] * 9}))[1].notes
    assert any("'1.1' and '1.10'" in note for note in notes)
    assert not read_table(pd.DataFrame({"x": ["1.0", "2.0", "2.5"] * 9}))[1].notes
