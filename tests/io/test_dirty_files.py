"""Dirty files: read right or refused with the remedy, the same way by every door.

The doors are `read_table`, `fit`, `predict` and the upload of a served page.
"""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from imputefree import GILClassifier, read_table
from imputefree.data import TableEncoder, read_columns
from imputefree.errors import InputError
from imputefree.io import FileFormat, open_rows, read_raw, understand
from imputefree.workflow import Chunk, Chunks, Request, read_problem
from tests.io.dirty_files import dirty_files
from tests.refusals import check_error

FILES = dirty_files()
WIDE = "comma point utf-8.csv"  # has all traps
READ = [file for file in FILES if file.frame is not None]
REFUSED = [file for file in FILES if file.refused]


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    assert list(found) == list(expected)
    for name in expected:
        values = [None if pd.isna(v) else v for v in expected[name]]
        got = [None if pd.isna(v) else v for v in found[name]]
        if any(isinstance(value, str) for value in values):
            assert got == values, name
        else:
            np.testing.assert_allclose(
                np.array(got, dtype=float), np.array(values, dtype=float), atol=1e-9, err_msg=name
            )


def test_there_are_enough_files():
    assert len(FILES) >= 60
    assert len({file.name for file in FILES}) == len(FILES)


def check_read(file) -> None:
    """It is read right, and again by what was understood."""
    found, understood = read_table(file.content, name=file.name)
    same(found, file.frame)
    again, _ = read_table(file.content, name=file.name, columns=understood)
    same(again, file.frame)


@pytest.mark.parametrize("file", READ, ids=lambda file: file.name)
def test_read_right(file):
    check_read(file)


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.name)
def test_refused_with_the_remedy(file, tmp_path):
    check_error(lambda: read_table(file.content, name=file.name), *file.refused)
    path = tmp_path / file.name
    path.write_bytes(file.content)
    target = next((name for name in ("ward", "5.1") if name.encode() in file.content), "a")
    request = Request(path, target, tmp_path / "m.imputefree")
    check_error(lambda: read_problem(request), *file.refused)
    if file.whole:  # a known model reads piece by piece: strange rows are refused or warned of
        return
    names = re.split("[,;\n]", file.content.decode("latin-1").partition("\n")[0])
    known = [name for name in table() if name in names] or ["a"]
    encoder = TableEncoder().fit(read_columns(table()[known]))
    narrow = SimpleNamespace(encoder_=encoder, about_=served_model().about_)
    check_error(lambda: predicted(narrow, path), *file.refused)
    answer = upload(file)
    assert 400 <= answer.status_code < 500
    error = answer.json()["error"]
    check_error(lambda: raise_again(error), *file.refused)


@pytest.mark.parametrize(
    "file", [file for file in REFUSED if "totals" in file.refused], ids=lambda file: file.name
)
def test_rows_of_totals_are_refused_by_a_model_too(file, tmp_path):
    pytest.importorskip("starlette", reason="needs the extra serve")
    path = tmp_path / file.name
    path.write_bytes(file.content)
    raw = read_raw(path)[0]
    frame, understood = understand(raw[:-1], FileFormat("a.csv", "CSV", ","))
    check_error(lambda: read_table(path, columns=understood), *file.refused)
    model = GILClassifier(max_iter=1, n_members=1, random_state=0)
    model.fit(frame, np.arange(len(frame)) % 2).about_ = {"reading": understood.to_dict()}
    check_error(lambda: predicted(model, path), *file.refused)
    answer = upload(file, served(model)).json()  # where bad rows are left out
    assert len(answer["rows"]) == len(frame)
    assert "holds totals" in answer["notes"][-1]


def predicted(model, path, *extra):
    """What `predict` gives a model to predict, and what it says of the file."""
    with open_rows(path) as reader:
        chunks = Chunks(model, reader, path, extra)
        return Chunk.joined(list(chunks)).inputs.reset_index(drop=True), chunks.notes


def raise_again(error):
    raise InputError(error["fact"], error["rule"], error["remedy"])


def table():
    """The columns of all files, as they should be read."""
    frame = next(file.frame for file in READ if file.name == WIDE)
    more = {name: np.linspace(1, 9, len(frame)) for name in ("size", "a", "b")}
    return frame.assign(**more)


@cache
def served_model():
    """A model that was fitted to a file with all traps, for files in any dialect."""
    file = next(file for file in READ if file.name == WIDE)
    _, understood = read_table(file.content, name=file.name)
    X = table()
    model = GILClassifier(max_iter=1, n_members=1, random_state=0).fit(X, np.arange(len(X)) % 2)
    model.about_ = {"target": "late", "reading": understood.to_dict()}
    return model


def served(model):
    from starlette.testclient import TestClient

    from imputefree.serve import build_app

    return TestClient(build_app(model))


@cache
def client():
    return served(served_model())


def upload(file, by=None):
    headers = {"Content-Type": "application/octet-stream"}
    return (by or client()).post(
        "/read", params={"name": file.name}, content=file.content, headers=headers
    )


@pytest.mark.parametrize("file", READ, ids=lambda file: file.name)
def test_an_upload_is_read_the_same(file):
    pytest.importorskip("starlette", reason="needs the extra serve")
    answer = upload(file).json()
    found = pd.DataFrame([row["row"] for row in answer["rows"]])
    same(found, file.frame.reindex(columns=found.columns).astype(object))
    assert set(file.frame) <= set(found)
    how, *others = answer["notes"]
    assert str(len(file.frame)) in how
    assert all(note.startswith(("Not in the file", "Not used")) for note in others)


@pytest.mark.slow
@pytest.mark.parametrize("file", READ, ids=lambda file: file.name)
def test_fit_and_predict_read_the_same(file, tmp_path):
    path = tmp_path / file.name
    path.write_bytes(file.content)
    target = "ward"  # of two classes and more in all files
    request = Request(path, target, tmp_path / "m.imputefree")
    problem = read_problem(request)
    inputs = file.frame.drop(columns=target)
    same(problem.frame, inputs)
    assert problem.y.tolist() == file.frame[target].tolist()
    encoder = TableEncoder().fit(read_columns(problem.frame))
    about = {"target": target, "reading": problem.understood.to_dict()}
    model = SimpleNamespace(encoder_=encoder, about_=about)
    rows, notes = predicted(model, path, target)
    same(rows, inputs)
    assert not notes
