"""Dirty files: read right or refused with the remedy, the same way by every door."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from imputefree import read_table
from imputefree.data import TableEncoder, read_columns
from imputefree.io import open_rows
from imputefree.workflow import Chunk, Chunks, Request, read_problem
from tests.io.dirty_files import dirty_files
from tests.refusals import check_error

FILES = dirty_files()
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


@pytest.mark.parametrize("file", READ, ids=lambda file: file.name)
def test_read_right(file):
    found, understood = read_table(file.content, name=file.name)
    same(found, file.frame)
    again, _ = read_table(file.content, name=file.name, columns=understood)
    same(again, file.frame)


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.name)
def test_refused_with_the_remedy(file, tmp_path):
    check_error(lambda: read_table(file.content, name=file.name), *file.refused)
    path = tmp_path / file.name
    path.write_bytes(file.content)
    target = next((name for name in ("ward", "5.1") if name.encode() in file.content), "a")
    request = Request(path, target, tmp_path / "m.imputefree")
    check_error(lambda: read_problem(request), *file.refused)


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
    with open_rows(path) as reader:
        chunks = Chunks(model, reader, path, [target])
        chunk = Chunk.joined(list(chunks))
    same(chunk.inputs.reset_index(drop=True), inputs)
    assert not chunks.notes
