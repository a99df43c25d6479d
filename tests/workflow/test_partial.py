"""Unfinished work: whose it is, what is damaged, when it is removed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imputefree.errors import ModelFileError
from imputefree.io import FileFormat, Understood
from imputefree.workflow import _partial as module
from imputefree.workflow._partial import folder_of, open_partial
from imputefree.workflow._problem import Problem
from imputefree.workflow._request import Request
from tests.refusals import check_error

READ = Understood(FileFormat("d.csv", "CSV"), digest="abc")


@pytest.fixture
def request_(tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,2\n")
    return Request(tmp_path / "d.csv", "y", tmp_path / "m")


def opened(request, resume=False, fresh=False):
    nothing = np.empty(0)
    problem = Problem(request, "d.csv", pd.DataFrame(), nothing, nothing, [], understood=READ)
    return open_partial(problem, None, resume, fresh)


def enter(request, **how):
    with opened(request, **how) as partial:
        return partial


def test_fresh_takes_nothing_from_a_fit_under_way(request_):
    with opened(request_) as partial:
        partial.keep("one", prediction=np.array([1.0]))
        check_error(lambda: enter(request_, fresh=True), "is being written by another fit")
        assert partial.read("one")["prediction"].tolist() == [1.0]
    assert enter(request_, fresh=True).read("one") is None


def test_it_is_removed_while_it_is_locked(request_):
    with opened(request_) as partial:
        partial.keep("one", prediction=np.array([1.0]))
        partial.remove()
        assert not folder_of(request_.output).exists()
        with opened(request_) as other:  # a new folder with a lock of its own
            assert other.begun
    assert folder_of(request_.output).exists()


def test_a_lock_whose_folder_was_removed_is_taken_anew(request_, monkeypatch):
    """Between another fit's open and its lock, this one ends and removes the file."""
    first = opened(request_)
    partial = first.__enter__()
    lock, calls = module.fcntl.flock, []

    def late(file, operation):
        calls.append(file)
        if len(calls) == 1:
            partial.remove()
            first.__exit__(None, None, None)
        return lock(file, operation)

    monkeypatch.setattr(module.fcntl, "flock", late)
    with opened(request_):
        assert len(calls) == 2
        assert (folder_of(request_.output) / "lock").exists()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_of_somebody_else_is_left_alone(request_, fresh):
    folder = folder_of(request_.output)
    folder.mkdir()
    (folder / "diary.txt").write_text("dear diary")
    check_error(lambda: enter(request_, fresh=fresh), "is not a folder of unfinished work")
    assert [path.name for path in folder.iterdir()] == ["diary.txt"]


@pytest.mark.parametrize("parts", [{}, {"asked": [], "date": "", "threads": 1}, {"date": 3}])
def test_an_incomplete_account_of_what_was_asked(request_, parts):
    enter(request_)
    module._write(folder_of(request_.output) / "asked", parts)
    check_error(
        lambda: enter(request_, resume=True), "asked is not whole", "--fresh", kind=ModelFileError
    )
    assert enter(request_, fresh=True).begun


@pytest.mark.parametrize("threads", [0, -1, 10**9, 2**70, 1.5, "2", None])
def test_a_number_of_threads_that_no_machine_has_is_refused(request_, threads):
    enter(request_)
    path = folder_of(request_.output) / "asked"
    state = module._read(path) | {"threads": threads}
    module._write(path, state)
    check_error(lambda: enter(request_, resume=True), "asked is not whole", kind=ModelFileError)


@pytest.mark.parametrize("name", ["one.piece", "asked"])
@pytest.mark.parametrize("change", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b"no"])
def test_a_damaged_piece(request_, name, change):
    with opened(request_) as partial:
        partial.keep("one", prediction=np.ones(50))
    path = partial.folder / name
    path.write_bytes(change(path.read_bytes()))

    def resume():
        enter(request_, resume=True).read("one")

    check_error(resume, f"{name} is truncated", "--fresh", kind=ModelFileError)


def test_a_full_disk(request_, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(request_) as partial:
        monkeypatch.setattr(os, "fsync", full)
        check_error(
            lambda: partial.keep("one", prediction=np.array([1.0])),
            "one.piece cannot be written (No space left",
            "--resume",
            kind=ModelFileError,
        )
    check_error(lambda: enter(request_), "asked cannot be written", kind=ModelFileError)


def test_going_on_is_told_from_beginning(request_):
    assert enter(request_, resume=True).begun
    assert not enter(request_, resume=True).begun


@pytest.mark.parametrize("name", ["the methods to compare with", "the data file's name", "pandas"])
def test_what_ends_up_in_the_card_is_compared(request_, name):
    enter(request_)
    path = folder_of(request_.output) / "asked"
    state = module._read(path)
    del state["asked"][name]
    module._write(path, state)
    check_error(lambda: enter(request_, resume=True), f"{name} differ")


def test_what_marks_the_folder_is_removed_last(request_, monkeypatch):
    """A kill in between leaves a folder that is still known as ours."""
    with opened(request_) as partial:
        for piece in ("aaa", "zzz"):
            partial.keep(piece, prediction=np.array([1.0]))
        removed, unlink = [], Path.unlink

        def noted(path, *args, **how):
            removed.append(path.name)
            return unlink(path, *args, **how)

        monkeypatch.setattr(Path, "unlink", noted)
        partial.remove()
    assert set(removed[:2]) == {"aaa.piece", "zzz.piece"}
    assert removed[2:] == ["asked", "lock"]


def test_few_rows_take_one_thread_and_many_those_of_pytorch(request_, monkeypatch):
    monkeypatch.setattr(module.torch, "get_num_threads", lambda: 7)
    problem = Problem(request_, "d.csv", pd.DataFrame(index=range(9)), *[np.empty(0)] * 2, [])
    for many, threads in ((10, 1), (9, 7)):
        monkeypatch.setattr(module, "MANY_ROWS", many)
        assert module._n_threads(problem) == threads
