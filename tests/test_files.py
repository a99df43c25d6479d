"""A block that fails leaves what was there."""

from __future__ import annotations

import pytest

from imputefree._files import replacing


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
