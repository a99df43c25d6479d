"""A fit that is stopped and goes on gives the model of an undisturbed fit, bit for bit."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import torch

from imputefree import GILClassifier, GILRegressor, GILSequenceClassifier
from imputefree.errors import ModelFileError, ParameterError
from imputefree.gil import DDPG, Checkpoint, Policy, Predictor
from tests.estimators.series_formats import same

POLICIES = ("none", "observed", "random", "ddpg", "gate", "meta")


class Killed(BaseException):
    """Nothing in training catches this, as nothing catches a SIGKILL."""


def table(n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X, y


def series(n=40):
    rng = np.random.default_rng(1)
    actual = [rng.normal(size=(steps, 3)) for steps in rng.integers(1, 7, n)]
    y = np.array([int(values[-1, 0] > 0) for values in actual])
    for values in actual:
        values[rng.random(values.shape) < 0.4] = np.nan
    return actual, y


@pytest.fixture
def eager(monkeypatch):
    """Checkpoints after every epoch, and a way to die after the n-th of them."""
    keep, due = Checkpoint.save_if_due, {}

    def keep_at_once(self, make):
        self._due = 0
        keep(self, make)
        due["left"] = due.get("left", np.inf) - 1
        if due["left"] <= 0:
            raise Killed

    monkeypatch.setattr(Checkpoint, "save_if_due", keep_at_once)
    return due


def check_resumed(make, X, y, eager, path, kills=(2, 1)):
    undisturbed = make().fit(X, y)
    for epochs in kills:
        eager["left"] = epochs
        with pytest.raises(Killed):
            make().fit(X, y, checkpoint=path)
        assert path.exists()
    eager["left"] = np.inf
    resumed = make().fit(X, y, checkpoint=path)
    assert not path.exists()
    assert same(resumed, undisturbed)
    assert resumed.history_ == undisturbed.history_
    return resumed, undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_tables_resume_bit_for_bit(policy, eager, tmp_path):
    def make():
        return GILClassifier(
            policy=policy, n_members=2, hidden_layer_sizes=(16, 8), max_iter=7, random_state=3,
            batch_size=16, n_iter_no_change=4,
        )  # fmt: skip

    resumed, undisturbed = check_resumed(make, *table(), eager, tmp_path / "fit")
    X = table()[0]
    assert (resumed.importance(X) == undisturbed.importance(X)).all()


@pytest.mark.slow
def test_members_that_are_done_leave_and_a_resumed_fit_knows(eager, tmp_path, monkeypatch):
    left, keep = [], Predictor.keep_members
    monkeypatch.setattr(
        Predictor, "keep_members", lambda self, kept: (left.append(len(kept)), keep(self, kept))
    )

    def make():
        return GILClassifier(
            n_members=4, hidden_layer_sizes=(8, 8), max_iter=40, random_state=3, batch_size=4,
            n_iter_no_change=3, learning_rate_init=0.005,
        )  # fmt: skip

    resumed, _ = check_resumed(make, *table(), eager, tmp_path / "fit", kills=(8, 4, 2))
    assert min(left) < 4
    assert resumed.predictor_.members == len(resumed.predictor_.encoder.weight) == 4


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_series_resume_bit_for_bit(policy, eager, tmp_path):
    def make():
        return GILSequenceClassifier(
            policy=policy, n_members=2, hidden_layer_sizes=(8,), max_iter=6, random_state=3,
            batch_size=8,
        )  # fmt: skip

    check_resumed(make, *series(), eager, tmp_path / "fit")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"early_stopping": False},
        {"weight_averaging": 0.0, "hide": 0.0},
        {"placeholder": "learned", "policy": "meta"},
        {"policy": DDPG(replay_bytes=1), "learning_rate_decay": 0.9},  # the replay wraps around
        {"reward": "contrastive", "policy": "ddpg"},
    ],
)
def test_other_ways_to_train_resume_too(options, eager, tmp_path):
    def make():
        return GILClassifier(
            n_members=2, hidden_layer_sizes=(8,), max_iter=6, random_state=0, batch_size=32,
            **options,
        )  # fmt: skip

    check_resumed(make, *table(), eager, tmp_path / "fit")


@pytest.mark.slow
def test_per_step_and_numbers(eager, tmp_path):
    X, _ = table()
    check_resumed(
        lambda: GILRegressor(n_members=1, max_iter=5, random_state=0, batch_size=16),
        X,
        np.nan_to_num(X[:, 0]),
        eager,
        tmp_path / "fit",
    )
    many, _ = series()
    steps = [np.isnan(one[:, 0]).astype(int) for one in many]
    check_resumed(
        lambda: GILSequenceClassifier(
            per_step=True,
            policy="ddpg",
            n_members=1,
            hidden_layer_sizes=(8,),
            max_iter=5,
            random_state=0,
            batch_size=8,
        ),
        many,
        steps,
        eager,
        tmp_path / "fit",
    )


def killed_checkpoint(eager, path, **options):
    eager["left"] = 1
    model = GILClassifier(n_members=1, max_iter=4, random_state=0, **options)
    with pytest.raises(Killed):
        model.fit(*table(), checkpoint=path)
    eager["left"] = np.inf
    return model


def test_a_checkpoint_of_another_fit_is_refused(eager, tmp_path):
    path = tmp_path / "fit"
    model = killed_checkpoint(eager, path)
    X, y = table()
    with pytest.raises(ModelFileError, match=r"differs in data"):
        model.fit(X[::-1], y, checkpoint=path)
    usual = model.dropout
    model.set_params(dropout=0.4)
    with pytest.raises(ModelFileError, match=r"it differs in parameters\)"):
        model.fit(X, y, checkpoint=path)
    assert path.exists()
    model.set_params(dropout=usual, verbose=True).fit(X, y, checkpoint=path)  # no other model


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04 broken"])
def test_what_is_no_checkpoint_is_refused(content, tmp_path):
    path = tmp_path / "fit"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is truncated or not a checkpoint"):
        GILClassifier(n_members=1, max_iter=1, random_state=0).fit(*table(), checkpoint=path)


@pytest.mark.slow
def test_a_flipped_bit_is_noticed(eager, tmp_path):
    path = tmp_path / "fit"
    model = killed_checkpoint(eager, path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for place in [*range(40), *rng.integers(0, len(content), 40)]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError):
            model.fit(*table(), checkpoint=path)
        assert path.read_bytes() == flipped  # not ours to remove


def test_a_checkpoint_holds_nothing_that_could_run(tmp_path):
    path = tmp_path / "fit"
    torch.save({"identity": {}, "state": GILClassifier()}, path)
    with pytest.raises(ModelFileError, match="is truncated or not a checkpoint"):
        GILClassifier(n_members=1, max_iter=1, random_state=0).fit(*table(), checkpoint=path)


def test_without_a_seed_nothing_could_be_repeated(tmp_path):
    with pytest.raises(ParameterError, match="random_state is None and a checkpoint is given"):
        GILClassifier(max_iter=1).fit(*table(), checkpoint=tmp_path / "fit")


def test_a_policy_that_cannot_be_kept_is_refused(tmp_path):
    class Custom(Policy):
        def importance(self, state):
            return None

    with pytest.raises(ParameterError, match=r"the policy Custom has no state\(\)"):
        GILClassifier(policy=Custom(), random_state=0).fit(*table(), checkpoint=tmp_path / "fit")


def test_a_folder_that_cannot_be_written_to_costs_no_model(eager, tmp_path):
    model = GILClassifier(n_members=1, max_iter=3, random_state=0)
    with pytest.warns(UserWarning, match="cannot be written .* training continues"):
        model.fit(*table(), checkpoint=tmp_path / "nowhere" / "fit")
    assert same(model, GILClassifier(n_members=1, max_iter=3, random_state=0).fit(*table()))


@pytest.mark.slow
def test_a_real_kill(tmp_path):
    """SIGKILL in the middle of training, in another process; this one goes on."""
    path = tmp_path / "fit"
    program = """
        import sys, torch
        from imputefree.gil import Checkpoint
        from tests.estimators.test_resuming import table, big
        torch.set_num_threads(int(sys.argv[2]))
        Checkpoint.__init__.__defaults__ = (0.0,)
        big().fit(*table(), checkpoint=sys.argv[1])
    """
    words = [sys.executable, "-c", textwrap.dedent(program), str(path)]
    process = subprocess.Popen([*words, str(torch.get_num_threads())])
    try:
        for _ in range(600):
            if path.exists():
                break
            time.sleep(0.1)
        assert path.exists()
    finally:
        process.kill()
        process.wait()
    assert same(big().fit(*table(), checkpoint=path), big().fit(*table()))


def big():
    return GILClassifier(n_members=2, max_iter=150, random_state=0, early_stopping=False)
