"""A blend that is killed goes on with the family it had reached, to the same model bit for bit."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
import torch

from imputefree import ImputeFreeClassifier, ImputeFreeSequenceRegressor
from imputefree.errors import ModelFileError, ParameterError
from imputefree.families import TreeFamily
from tests.estimators.test_resuming import table
from tests.refusals import check_error

PROGRAM = """
    import sys, torch
    from imputefree import ImputeFreeClassifier
    from imputefree.gil import Checkpoint
    from tests.estimators.test_resuming import table
    torch.set_num_threads(int(sys.argv[2]))
    Checkpoint.__init__.__defaults__ = (0.0,)  # after every epoch
    ImputeFreeClassifier(random_state=0).fit(*table(200), checkpoint=sys.argv[1])
"""


def file_of(model, tmp_path):
    model.save(tmp_path / "model")
    return (tmp_path / "model").read_bytes()


@pytest.mark.slow
def test_a_real_kill(tmp_path, monkeypatch):
    """SIGKILL while the networks train, in another process; this one goes on."""
    path, trees = tmp_path / "fit", tmp_path / "fit.trees"
    words = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path)]
    process = subprocess.Popen([*words, str(torch.get_num_threads())])
    try:
        for _ in range(1200):
            if trees.exists() and path.exists():
                break
            time.sleep(0.05)
        assert trees.exists()
        assert path.exists()
    finally:
        process.kill()
        process.wait()
    undisturbed = file_of(ImputeFreeClassifier(random_state=0).fit(*table(200)), tmp_path)

    def never(self, task):
        raise AssertionError("finished trees are fitted again")

    monkeypatch.setattr(TreeFamily, "fit", never)
    resumed = ImputeFreeClassifier(random_state=0).fit(*table(200), checkpoint=path)
    assert file_of(resumed, tmp_path) == undisturbed
    assert resumed.seconds_["trees"] > 0
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_the_families_of_another_fit_are_refused(tmp_path, monkeypatch):
    X, y = table(60)
    model = ImputeFreeClassifier(families=["trees"], random_state=0)
    monkeypatch.setattr("imputefree.estimators._blend.remove_finished", lambda *_: None)
    model.fit(X, y, checkpoint=tmp_path / "fit")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"belongs to another fit \(it differs in data\)"):
        model.fit(X[::-1], y, checkpoint=tmp_path / "fit")
    model.fit(X, y, checkpoint=tmp_path / "fit")
    assert not any(tmp_path.iterdir())


def test_static_columns_are_part_of_the_data(tmp_path, monkeypatch):
    frame = pd.DataFrame({"who": np.repeat(np.arange(60), 2), "pulse": np.arange(120.0)})
    frame["age"] = frame["who"] % 7.0
    labels = {who: float(who % 5) for who in range(60)}
    model = ImputeFreeSequenceRegressor(id="who", static=["age"], quality="fast", random_state=0)
    monkeypatch.setattr("imputefree.estimators._blend.remove_finished", lambda *_: None)
    model.fit(frame, labels, checkpoint=tmp_path / "fit")
    model.fit(frame, labels, checkpoint=tmp_path / "fit")  # reads what it kept
    with pytest.raises(ModelFileError, match=r"it differs in data\)"):
        model.fit(frame.assign(age=1.0), labels, checkpoint=tmp_path / "fit")


def test_without_a_seed_nothing_could_be_repeated(tmp_path):
    model = ImputeFreeClassifier(quality="fast")
    check_error(
        lambda: model.fit(*table(60), checkpoint=tmp_path / "fit"),
        "random_state is None and a checkpoint is given",
        kind=ParameterError,
    )
