"""A block that fails leaves what was there."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from imputefree._files import replacing, writing


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path):
    path = tmp_path / "figures"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as place:
        place.write_text("ha")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_written_takes_its_place(tmp_path):
    path = tmp_path / "figures"
    path.write_text("old")
    with replacing(path) as place:
        assert place.parent == tmp_path  # the same disk: a move there cannot fail halfway
        place.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("can", [True, False])
def test_a_file_without_a_name_gets_one_at_the_end(tmp_path, monkeypatch, can):
    if not can:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with writing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(KeyboardInterrupt), writing(path) as file:
        file.write(b"ha")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform != "linux", reason="files without a name are Linux's")
def test_a_killed_writer_leaves_nothing(tmp_path):
    if not (child := os.fork()):
        with writing(tmp_path / "model") as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []
