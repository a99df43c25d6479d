"""When a checkpoint is written, whose it is, and what is blamed on it."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree import GILClassifier
from imputefree.errors import InterruptedWarning, ModelFileError, ParameterError
from imputefree.gil import _checkpoint as module
from imputefree.gil._checkpoint import SHARE, Checkpoint


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_a_state_is_written_when_it_is_due(tmp_path, clock):
    checkpoint = Checkpoint(tmp_path / "c", {"data": "a"}, seconds=20.0)
    asked = []

    def save(at):
        clock.now = at
        checkpoint.save_if_due(lambda: asked.append(at) or {"at": at})
        return checkpoint.read()

    assert [save(at) for at in (100.0, 119.0)] == [None, None]
    assert save(120.0) == {"at": 120.0}
    assert save(139.0) == {"at": 120.0}
    assert save(140.0) == {"at": 140.0}
    assert asked == [120.0, 140.0]  # a state costs time to make


def test_writing_takes_a_bounded_share_of_the_time(tmp_path, clock, monkeypatch):
    write = module.write_sealed

    def slowly(*args):
        clock.now += 7.0
        return write(*args)

    monkeypatch.setattr(module, "write_sealed", slowly)
    checkpoint = Checkpoint(tmp_path / "c", {}, seconds=1.0)
    clock.now = 101.0
    checkpoint.save_if_due(dict)
    due = 108.0 + SHARE * 7.0
    for now, written in ((due - 0.5, {}), (due, {"new": 1})):
        clock.now = now
        checkpoint.save_if_due(lambda: {"new": 1})
        assert checkpoint.read() == written


def test_a_checkpoint_belongs_to_one_fit(tmp_path):
    mine = Checkpoint(tmp_path / "c", {"data": "a", "seed": "1"}, seconds=0.0)
    mine.save_if_due(lambda: {"epoch": 3})
    assert Checkpoint(tmp_path / "c", {"seed": "1", "data": "a"}).read() == {"epoch": 3}
    for other in ({"data": "b", "seed": "1"}, {"data": "a"}, {"data": "a", "seed": "1", "k": ""}):
        with pytest.raises(ModelFileError, match="belongs to another fit"):
            Checkpoint(tmp_path / "c", other).read()
    mine.remove()
    assert mine.read() is None


@pytest.mark.parametrize(
    ("error", "begun", "blamed"),
    [
        (ValueError("no"), True, True),
        (KeyError("no"), True, True),
        (RuntimeError("no"), True, True),
        (ValueError("no"), False, False),  # nothing was read that could be wrong
        (ParameterError("no", "no", "no"), True, False),  # it says what is wrong itself
        (OSError("no"), True, False),
    ],
)
def test_what_a_state_that_was_read_leads_to_is_blamed_on_it(error, begun, blamed, tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", {}, seconds=0.0)
    if begun:
        checkpoint.save_if_due(dict)
    checkpoint.read()
    with pytest.raises(ModelFileError if blamed else type(error)), checkpoint.blamed():
        raise error


def test_training_does_not_resume_before_its_start(tmp_path, monkeypatch):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    model = GILClassifier(n_members=2, hidden_layer_sizes=4, max_iter=3, random_state=0)
    save = Checkpoint.save_if_due

    def forge_and_die(checkpoint, make_state):
        checkpoint._due = 0
        save(checkpoint, lambda: [{**state, "epoch": -100_000} for state in make_state()])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "save_if_due", forge_and_die)
        with pytest.warns(InterruptedWarning):
            model.fit(X, y, checkpoint=tmp_path / "c")
    with pytest.raises(ModelFileError, match="negative"):
        model.fit(X, y, checkpoint=tmp_path / "c")
